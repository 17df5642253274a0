# Installation below $(DESTDIR)$(PREFIX).
LIBDIR      ?= $(PREFIX)/lib
MANDIR      ?= $(PREFIX)/share/man
COMPLETIONS ?= $(PREFIX)/share/bash-completion/completions

HEADERS  := $(wildcard include/softpmu/*.h)
MAN1     := $(wildcard docs/man/*.1)
MAN3     := $(wildcard docs/man/*.3)
COMPLETE := $(wildcard tools/completion/softpmu.bash)

# The file contains the prefix, so it is written again when the prefix changes.
define PC_TEXT
prefix=$(PREFIX)
libdir=$(LIBDIR)
includedir=$${prefix}/include

Name: softpmu
Description: Intel performance-monitoring unit in software
Version: $(VERSION)
Libs: -L$${libdir} -lsoftpmu
Cflags: -I$${includedir}
endef

.PHONY: force
$(B)/softpmu.pc: export TEXT = $(PC_TEXT)
$(B)/softpmu.pc: force
	@mkdir -p $(@D)
	@printf '%s\n' "$$TEXT" | cmp -s - $@ || printf '%s\n' "$$TEXT" > $@

.PHONY: install uninstall check-install
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/softpmu
	install -m 755 $(B)/softpmu $(DESTDIR)$(PREFIX)/bin/softpmu
	ln -sf softpmu $(DESTDIR)$(PREFIX)/bin/softpmu-valgrind
	install -m 755 $(B)/softpmu.engine $(DESTDIR)$(PREFIX)/libexec/softpmu.engine
	install -m 644 $(B)/libsoftpmu.a $(DESTDIR)$(LIBDIR)/libsoftpmu.a
	install -m 755 $(B)/libsoftpmu.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libsoftpmu.so.$(VERSION)
	ln -sf libsoftpmu.so.$(VERSION) $(DESTDIR)$(LIBDIR)/libsoftpmu.so.$(SOVERSION)
	ln -sf libsoftpmu.so.$(SOVERSION) $(DESTDIR)$(LIBDIR)/libsoftpmu.so
	install -m 644 $(B)/softpmu.pc $(DESTDIR)$(LIBDIR)/pkgconfig/softpmu.pc
	install -m 644 $(HEADERS) $(DESTDIR)$(PREFIX)/include/softpmu
ifneq ($(MAN1),)
	install -d $(DESTDIR)$(MANDIR)/man1
	install -m 644 $(MAN1) $(DESTDIR)$(MANDIR)/man1
endif
ifneq ($(MAN3),)
	install -d $(DESTDIR)$(MANDIR)/man3
	install -m 644 $(MAN3) $(DESTDIR)$(MANDIR)/man3
endif
ifneq ($(COMPLETE),)
	install -d $(DESTDIR)$(COMPLETIONS)
	install -m 644 $(COMPLETE) $(DESTDIR)$(COMPLETIONS)/softpmu
	ln -sf softpmu $(DESTDIR)$(COMPLETIONS)/softpmu-valgrind
endif

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/softpmu $(DESTDIR)$(PREFIX)/bin/softpmu-valgrind $(DESTDIR)$(PREFIX)/libexec/softpmu.engine \
	      $(addprefix $(DESTDIR)$(LIBDIR)/libsoftpmu.,a so so.$(SOVERSION) so.$(VERSION)) \
	      $(DESTDIR)$(LIBDIR)/pkgconfig/softpmu.pc $(DESTDIR)$(COMPLETIONS)/softpmu $(DESTDIR)$(COMPLETIONS)/softpmu-valgrind \
	      $(addprefix $(DESTDIR)$(PREFIX)/,$(HEADERS)) \
	      $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(MAN1))) \
	      $(addprefix $(DESTDIR)$(MANDIR)/man3/,$(notdir $(MAN3)))
	-rmdir $(DESTDIR)$(PREFIX)/include/softpmu

check-install: deps-test all
	@B='$(abspath $(B))' MAKE='$(MAKE)' tests/install/run.sh
