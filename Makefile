# softpmu: build, test, install.  `make help` lists the targets.
#
# The newcomer's commands are `make demo` and `make check`; both install what
# they need when run as root and name the apt command otherwise.

VERSION := 0.1.0
SOVERSION := 0
B ?= build
PREFIX ?= /usr/local
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?= -O2 -g
SANITIZE ?=

include mk/sources.mk

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla \
        -Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough -Werror
BASE := -std=gnu11 -Iinclude -I. $(WARN) $(CFLAGS) -MMD -MP

# The library is freestanding and leaves vector registers alone, so that one
# build serves programs, emulators and the engine of hosts/user.  Its objects are machine code, whatever
# CFLAGS say, so that their names can be made local (mk/library.mk).
LIB_FLAGS := -std=c11 -Iinclude -I. $(WARN) $(CFLAGS) -MMD -MP -ffreestanding -fPIC \
             -fvisibility=hidden -fno-stack-protector -fno-lto
ifeq ($(SANITIZE),)
LIB_FLAGS += -mgeneral-regs-only
else
BASE += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
LIB_FLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=all
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
# Commands are shown with V=1.
ifndef V
.SILENT:
endif
.PHONY: all
all: $(B)/softpmu $(B)/softpmu.engine $(B)/libsoftpmu.a $(B)/libsoftpmu.so $(B)/softpmu.pc
	echo 'built: $(B)/softpmu $(B)/libsoftpmu.a $(B)/libsoftpmu.so'

include mk/library.mk mk/costs.mk mk/engine.mk mk/tool.mk mk/test.mk mk/docs.mk mk/lint.mk mk/bench.mk \
         mk/fuzz.mk mk/qemu.mk mk/unicorn.mk mk/install.mk mk/deps.mk mk/demo.mk

.PHONY: clean help
clean:
	rm -rf $(B)

help:
	@echo 'make                build the tool and the library below $(B)'
	@echo 'make demo           profile two programs and show their hot spots'
	@echo 'make check          the tests, a few minutes'
	@echo 'make check-long     real programs and more random cases'
	@echo 'make check-more     programs and servers that are large to install'
	@echo 'make soak           servers and a compiler for SOAK_SECONDS (3600) each'
	@echo 'make check-stress   signals, threads, changing code and children again and again, STRESS_SECONDS (3600)'
	@echo 'make check-sanitize, check-clang, check-install, fuzz, fuzz-selftest'
	@echo 'make lint           formatting, analysers, layering;  make format'
	@echo 'make docs           the pages of docs/reference, libsoftpmu.3, and the API as HTML in $(B)/api'
	@echo 'make bench          speed beside native, callgrind and qemu-user;  make bench-unit'
	@echo 'make bench-cold     short programs, whose code runs a few times'
	@echo 'make bench-threads  busy threads beside each other'
	@echo 'make bench-machine  the model of a machine, next to cachegrind'
	@echo 'make bench-pgo      what a branch profile is worth to the Lua interpreter'
	@echo 'make accuracy       clocks of the machine model beside those of this processor: kernels'
	@echo '                    accuracy-programs: real programs;  accuracy-pairs: builds of loops'
	@echo 'make costs          costs of instructions for that model, from LLVM'
	@echo 'make qemu           QEMU 10.0 with the unit inside; make check-guest boots Linux on it'
	@echo 'make check-vm       softpmu vm with that QEMU; make bare-metal: the driver without a system'
	@echo 'make unicorn        the unit in the Unicorn emulator, as an example;  make check-unicorn'
	@echo 'make install        to PREFIX=$(PREFIX) below DESTDIR;  make uninstall'
	@echo 'make deps           packages that the above need'
	@echo 'variables: B, CC, CFLAGS, SANITIZE, PREFIX, DESTDIR, V, FUZZ_SECONDS, BENCH_ONLY, BENCH_SLOW'

-include $(shell find $(B) -path $(B)/tests/programs-built -prune -o -name '*.d' -type f -print 2>/dev/null)
