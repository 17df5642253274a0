# QEMU with the unit inside, and guests that use it.  Source and objects are in
# $SOFTPMU_CACHE/qemu (by default ~/.cache/softpmu/qemu).
DEPS_QEMU := libfdt-dev libglib2.0-dev ninja-build pkgconf zlib1g-dev python3-venv gcc g++ \
             dpkg-dev patch xz-utils

.PHONY: qemu deps-qemu deps-guest check-guest
deps-qemu:
	@tools/install-deps.sh $(DEPS_QEMU)

qemu: deps-qemu $(B)/libsoftpmu.a $(B)/softpmu.pc
	@hosts/qemu/build.sh $(B) $(B)/softpmu-qemu-system-x86_64

# GUEST="Haswell others": these families alone, and what is not by family.
deps-guest: deps-qemu
	@tools/install-deps.sh linux-perf cpio
check-guest: qemu deps-guest
	@B='$(abspath $(B))' tests/guest/guest.sh $(GUEST)
