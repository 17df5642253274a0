# The engine of hosts/user: a freestanding static image that becomes the
# observed process.  It uses no vector register, so the program's stay untouched.
ENGINE_BASE := 0x551000000000
# Sanitizer builds check the library and the tool; the engine has no runtime for them.
# memcpy and the like are written here, and a loop in them must not become a call of themselves; clang
# has no such option and leaves loops with an asm barrier alone.
NO_LOOP_CALLS := $(if $(findstring clang,$(CC)),,-fno-tree-loop-distribute-patterns)
ENGINE_FLAGS := -std=gnu11 -Iinclude -I. -I$(B)/gen $(WARN) -O2 -g -MMD -MP -ffreestanding -fbuiltin $(NO_LOOP_CALLS) -fPIE \
                -fdata-sections -fvisibility=hidden -fno-stack-protector -mgeneral-regs-only -mno-red-zone \
                -fno-asynchronous-unwind-tables
ENGINE_OBJ := $(ENGINE_SRC:%.c=$(B)/engine/%.o) $(ENGINE_ASM:%.S=$(B)/engine/%.o) \
              $(LIB_SRC:%.c=$(B)/engine/%.o) $(DECODE_SRC:%.c=$(B)/engine/%.o)

$(B)/gen/generate: hosts/user/decode/generate.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $< -o $@ -lZydis

$(B)/gen/decode_table.inc: $(B)/gen/generate
	$(B)/gen/generate > $@.tmp
	mv $@.tmp $@

$(B)/engine/%.o: %.c $(B)/gen/decode_table.inc
	@mkdir -p $(@D)
	$(CC) $(ENGINE_FLAGS) -c $< -o $@

$(B)/engine/%.o: %.S
	@mkdir -p $(@D)
	$(CC) $(ENGINE_FLAGS) -c $< -o $@

# clang reaches data through a table of addresses; --no-relax leaves it be, so far from zero.
# Sorted by alignment, small variables are together and large arrays are not between them: a forked
# process writes to fewer pages, each of which the kernel copies.
$(B)/engine.elf: $(ENGINE_OBJ)
	$(CC) -static -nostdlib -Wl,-Ttext-segment=$(ENGINE_BASE) -Wl,-z,noexecstack \
	      -Wl,--build-id=none -Wl,-z,norelro -Wl,--no-relax \
	      -Wl,--sort-section=alignment -o $@ $^ -lgcc
