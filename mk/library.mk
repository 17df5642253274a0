# libsoftpmu: static, shared with a versioned soname, and its pkg-config file.
LIB_OBJ := $(LIB_SRC:%.c=$(B)/lib/%.o) $(UNCORE_SRC:%.c=$(B)/lib/%.o) $(UARCH_SRC:%.c=$(B)/lib/%.o)

$(B)/lib/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(LIB_FLAGS) -c $< -o $@

# One object: functions that the library's files share with each other become local in it, so that
# a program may use their names.
$(B)/lib/libsoftpmu.o: $(LIB_OBJ)
	$(CC) $(CFLAGS) -r -nostdlib -o $@ $^
	objcopy --localize-hidden $@

# For tests of functions that are not public.
$(B)/lib/objects.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(B)/libsoftpmu.a: $(B)/lib/libsoftpmu.o
	rm -f $@
	$(AR) rcs $@ $^

# The map gives each public function the version in which it came.
$(B)/libsoftpmu.so.$(VERSION): $(LIB_OBJ) src/libsoftpmu.map
	$(CC) -shared -Wl,-soname,libsoftpmu.so.$(SOVERSION) -Wl,--version-script=src/libsoftpmu.map -Wl,-z,defs $(if $(SANITIZE),-fsanitize=$(SANITIZE),-nostartfiles) $(CFLAGS) -o $@ $(LIB_OBJ) -lc

$(B)/libsoftpmu.so: $(B)/libsoftpmu.so.$(VERSION)
	ln -sf libsoftpmu.so.$(VERSION) $(B)/libsoftpmu.so.$(SOVERSION)
	ln -sf libsoftpmu.so.$(SOVERSION) $@
