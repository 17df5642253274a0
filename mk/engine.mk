# The engine of hosts/user: a freestanding static image that becomes the
# observed process. It uses no vector register, so it does not change the program's.
ENGINE_BASE := 0x551000000000
# Sanitizer builds check the library and the tool; the engine has no runtime for them.
# The engine implements memcpy and similar functions, and gcc must not turn a loop in them into a call of themselves. clang
# has no such option, and does not change loops with an asm barrier.
NO_LOOP_CALLS := $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)
ENGINE_FLAGS := -std=gnu11 -Iinclude -I. -Ihosts/user -I$(B)/gen $(WARN) -O2 -g -MMD -MP -ffreestanding -fbuiltin $(NO_LOOP_CALLS) -fPIE \
                -ffunction-sections -fdata-sections -fvisibility=hidden -fno-stack-protector -mgeneral-regs-only -mno-red-zone \
                -fno-asynchronous-unwind-tables
# gcc optimizes the engine as a whole, except what it must not change: the functions in place of a libc, and the
# entry, which is assembly. The objects have machine code as well, which tools/lint/objects.sh reads.
ENGINE_LTO := $(if $(findstring clang,$(CC)),,-flto=auto)
ENGINE_ALONE := hosts/user/engine/rt/sys.c hosts/user/engine/run/start.c
$(ENGINE_ALONE:%.c=$(B)/engine/%.o): ENGINE_LTO :=
# Code that runs while a program is translated comes first. So it is together, in few pages.
ENGINE_FIRST := $(DECODE_SRC) $(foreach folder,translate cache x86 run memory persist watch rt count,\
                  $(filter hosts/user/engine/$(folder)/%,$(ENGINE_SRC)))
ENGINE_ALL := $(ENGINE_FIRST) $(filter-out $(ENGINE_FIRST),$(ENGINE_SRC) $(LIB_SRC) $(UARCH_SRC) $(PERF_EVENT_SRC))
ENGINE_OBJ := $(ENGINE_ASM:%.S=$(B)/engine/%.o) $(ENGINE_ALL:%.c=$(B)/engine/%.o)

$(B)/gen/generate: hosts/user/decode/generate.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $< -o $@ -lZydis

$(B)/gen/decode_table.inc: $(B)/gen/generate
	$(B)/gen/generate > $@.tmp
	mv $@.tmp $@

$(B)/engine/%.o: %.c $(B)/gen/decode_table.inc
	@mkdir -p $(@D)
	$(CC) $(ENGINE_FLAGS) $(ENGINE_LTO:%=% -ffat-lto-objects) -c $< -o $@

$(B)/engine/%.o: %.S
	@mkdir -p $(@D)
	$(CC) $(ENGINE_FLAGS) -c $< -o $@

# clang reads the address of data from a table. --no-relax keeps that, because the image is far from address 0.
# A run may have to write the image to a memory file, so functions and data that nothing needs are left out.
# The build-id tells images apart (launch.c).
# Sorted by alignment, small variables are together, without large arrays between them. So a forked
# process writes to fewer pages, each of which the kernel copies.
LINK_ENGINE = $(CC) -static -nostdlib -Wl,-Ttext-segment=$(ENGINE_BASE) -Wl,-z,noexecstack \
              -Wl,--build-id=sha1 -Wl,-z,norelro -Wl,--no-relax -Wl,--sort-section=alignment -Wl,--gc-sections
$(B)/engine.elf: $(ENGINE_OBJ)
	$(LINK_ENGINE) $(ENGINE_LTO) $(filter-out -M%,$(ENGINE_FLAGS)) -o $@ $^ -lgcc
