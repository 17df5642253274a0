# libsoftpmu: static, shared with a versioned soname, and its pkg-config file.
LIB_OBJ := $(LIB_SRC:%.c=$(B)/lib/%.o)

$(B)/lib/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(LIB_FLAGS) -c $< -o $@

$(B)/libsoftpmu.a: $(LIB_OBJ)
	rm -f $@
	$(AR) rcs $@ $^

$(B)/libsoftpmu.so.$(VERSION): $(LIB_OBJ)
	$(CC) -shared -Wl,-soname,libsoftpmu.so.$(SOVERSION) -Wl,-z,defs $(if $(SANITIZE),-fsanitize=$(SANITIZE),-nostartfiles) $(CFLAGS) -o $@ $^ -lc

$(B)/libsoftpmu.so: $(B)/libsoftpmu.so.$(VERSION)
	ln -sf libsoftpmu.so.$(VERSION) $(B)/libsoftpmu.so.$(SOVERSION)
	ln -sf libsoftpmu.so.$(SOVERSION) $@
