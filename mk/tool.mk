# build/softpmu: the command line with the engine's image inside.
TOOL_OBJ := $(TOOL_SRC:%.c=$(B)/tool/%.o)
# libpfm4's tables contain many addresses: linked in, at a fixed place, they need no relocation at each start.
# libiberty exists as a static library only.
TOOL_LIBS := -no-pie -Wl,-Bstatic -lpfm -liberty -Wl,-Bdynamic -Wl,--as-needed -lm
# With this option a square root is an instruction, and libm is not needed.
TOOL_FLAGS := -fno-math-errno

$(B)/tool/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) $(TOOL_FLAGS) -c $< -o $@

# The decoder, for `softpmu profile`.
$(B)/tool/hosts/user/decode/decode.o: $(B)/gen/decode_table.inc
$(B)/tool/hosts/user/decode/decode.o: TOOL_FLAGS += -I$(B)/gen

# The image is in the tool, and a file beside it (launch.c). It has no names and lines; gdb finds them in engine.elf.
$(B)/tool/engine_image: $(B)/engine.elf
	@mkdir -p $(@D)
	strip -o $@ $<

$(B)/softpmu.engine: $(B)/tool/engine_image
	cp $< $@.tmp
	chmod 755 $@.tmp
	mv $@.tmp $@

define ENGINE_IMAGE_OBJ
	printf '.section .rodata\n.balign 16\n.global engine_image, engine_image_end, engine_image_sum\nengine_image_sum: .quad 0x%.16s\n.balign 16\nengine_image:\n.incbin "%s"\nengine_image_end:\n.section .note.GNU-stack,"",@progbits\n' \
		"$$(sha256sum $<)" $< | $(CC) -c -x assembler - -o $@
endef
$(B)/tool/engine_image.o: $(B)/tool/engine_image
	$(ENGINE_IMAGE_OBJ)

# What the libraries of delayed_loading.c are called at run time: delayed_elf is the string "libelf.so.1".
soname = $$(objdump -p "$$($(CC) -print-file-name=lib$(1).so)" | sed -n 's/^ *SONAME *//p')
$(B)/tool/delayed_names.o: mk/tool.mk
	@mkdir -p $(@D)
	printf '.section .note.GNU-stack,"",@progbits\n.section .rodata\n.global delayed_elf, delayed_dw, delayed_zydis, delayed_zstd\ndelayed_elf: .asciz "%s"\ndelayed_dw: .asciz "%s"\ndelayed_zydis: .asciz "%s"\ndelayed_zstd: .asciz "%s"\n' \
		$(foreach name,elf dw Zydis zstd,"$(call soname,$(name))") | $(CC) -c -x assembler - -o $@

# The scripts of `softpmu vm`: vm_image.sh is the string vm_image_script.
VM_SCRIPTS := vm_packages vm_image vm_init
$(B)/tool/vm_scripts.o: $(VM_SCRIPTS:%=tools/softpmu/vm/%.sh) mk/tool.mk
	@mkdir -p $(@D)
	( printf '.section .note.GNU-stack,"",@progbits\n.section .rodata\n'; \
	  printf '.global %s_script\n%s_script: .incbin "tools/softpmu/vm/%s.sh"\n.byte 0\n' \
		$(foreach name,$(VM_SCRIPTS),$(name) $(name) $(name)) ) | $(CC) -c -x assembler - -o $@

# The parts of the HTML report (formats/html.c): html_style is a string with the files of HTML_STYLE.
HTML_STYLE := colors.css style.css
HTML_BODY := body.html
HTML_SCRIPT := model.js page.js graph.js timeline.js tables.js code.js start.js
html_string = .global $(1)\n$(1):\n$(foreach file,$(2),.incbin "tools/softpmu/html/$(file)"\n).byte 0\n
$(B)/tool/html_parts.o: $(addprefix tools/softpmu/html/,$(HTML_STYLE) $(HTML_BODY) $(HTML_SCRIPT)) mk/tool.mk
	@mkdir -p $(@D)
	printf '.section .note.GNU-stack,"",@progbits\n.section .rodata\n$(call html_string,html_style,$(HTML_STYLE))$(call html_string,html_body,$(HTML_BODY))$(call html_string,html_script,$(HTML_SCRIPT))' | $(CC) -c -x assembler - -o $@

# What the tool is linked with besides its own files, and the engine's image.
TOOL_PARTS := $(B)/tool/vm_scripts.o $(B)/tool/html_parts.o $(B)/tool/delayed_names.o $(B)/libsoftpmu.a
LINK_TOOL = $(CC) $(if $(SANITIZE),-fsanitize=$(SANITIZE)) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(TOOL_LIBS)
$(B)/softpmu: $(TOOL_OBJ) $(B)/tool/engine_image.o $(TOOL_PARTS)
	$(LINK_TOOL)
	ln -sf softpmu $(B)/softpmu-valgrind
