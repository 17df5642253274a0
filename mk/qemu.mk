# QEMU with the unit inside, and guests that use it.  Source and objects are in
# $SOFTPMU_CACHE/qemu (by default ~/.cache/softpmu/qemu).
DEPS_QEMU := libfdt-dev libglib2.0-dev ninja-build pkgconf zlib1g-dev python3-venv gcc g++ \
             dpkg-dev patch xz-utils

.PHONY: qemu deps-qemu deps-guest check-guest
deps-qemu:
	@tools/install-deps.sh $(DEPS_QEMU)

qemu: deps-qemu $(B)/libsoftpmu.a $(B)/softpmu.pc
	@hosts/qemu/build.sh $(B) $(B)/softpmu-qemu-system-x86_64

# GUEST="Haswell others" selects families, and what does not depend on the family. GUEST_JOBS guests run
# at a time.
deps-guest: deps-qemu
	@tools/install-deps.sh linux-perf cpio binutils
check-guest: qemu deps-guest all
	@B='$(abspath $(B))' tests/guest/guest.sh $(GUEST)

# QEMU with the unit and its firmware, below $(DESTDIR)$(PREFIX); not part of `make install`.
QEMU_CACHE := $(or $(SOFTPMU_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/softpmu)/qemu
QEMU_DIR   := $(PREFIX)/lib/softpmu-qemu
.PHONY: install-qemu uninstall-qemu
install-qemu: qemu
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(QEMU_DIR)
	install -m 755 -s $(QEMU_CACHE)/unit/build/qemu-system-x86_64 $(DESTDIR)$(QEMU_DIR)/
	install -m 644 $(QEMU_CACHE)/firmware/*.bin $(DESTDIR)$(QEMU_DIR)/
	printf '#!/bin/sh\nexec $(QEMU_DIR)/qemu-system-x86_64 -L $(QEMU_DIR) "$$@"\n' \
		> $(DESTDIR)$(PREFIX)/bin/softpmu-qemu-system-x86_64
	chmod 755 $(DESTDIR)$(PREFIX)/bin/softpmu-qemu-system-x86_64
uninstall-qemu:
	rm -rf $(DESTDIR)$(PREFIX)/bin/softpmu-qemu-system-x86_64 $(DESTDIR)$(QEMU_DIR)

# Whole guests in addition to those of tests/guest/guest.sh.
GUEST_TESTS := $(filter-out %/guest.sh %/image.sh %/init.sh %/tools.sh %/legacy_image.sh,$(wildcard tests/guest/*.sh))
.PHONY: check-vm
check-vm: qemu deps-guest all bare-metal
	@JOBS=1 TEST_TIMEOUT=3000 $(RUN_TESTS) $(GUEST_TESTS)

# examples/bare-metal: the driver without a system, a flat image for a multiboot loader.
BARE_FLAGS := -std=gnu11 -Iinclude $(WARN) $(CFLAGS) -ffreestanding -fno-pic -fno-stack-protector \
              -fcf-protection=none -mgeneral-regs-only -mno-red-zone
BARE_OBJ := $(patsubst %,$(B)/bare-metal/%.o,start machine main)
.PHONY: bare-metal
bare-metal: $(B)/bare-metal.bin
$(B)/bare-metal/%.o: examples/bare-metal/%.c $(wildcard examples/bare-metal/*.h include/softpmu/*.h)
	@mkdir -p $(@D)
	$(CC) $(BARE_FLAGS) -c $< -o $@
$(B)/bare-metal/%.o: examples/bare-metal/%.S
	@mkdir -p $(@D)
	$(CC) -c $< -o $@
$(B)/bare-metal.elf: $(BARE_OBJ) $(B)/libsoftpmu.a examples/bare-metal/bare-metal.ld
	$(CC) -nostdlib -static -Wl,-T,examples/bare-metal/bare-metal.ld,--build-id=none,--no-warn-rwx-segments \
		-o $@ $(BARE_OBJ) $(B)/libsoftpmu.a
$(B)/bare-metal.bin: $(B)/bare-metal.elf
	objcopy -O binary $< $@

# What the unit costs a guest, compared with an unmodified QEMU.
.PHONY: bench-guest
bench-guest: qemu deps-guest
	@hosts/qemu/build.sh $(B) $(B)/stock-qemu-system-x86_64 stock
	@bench/guest.py --unit $(abspath $(B))/softpmu-qemu-system-x86_64 \
		--stock $(abspath $(B))/stock-qemu-system-x86_64 --turns $(BENCH_RUNS) \
		$(if $(BENCH_ONLY),--only $(BENCH_ONLY)) $(if $(BENCH_COLUMNS),--columns $(BENCH_COLUMNS))
