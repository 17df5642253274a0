# The unit in Unicorn (hosts/unicorn); libunicorn-dev is needed for this alone.
.PHONY: deps-unicorn unicorn check-unicorn
deps-unicorn:
	@tools/install-deps.sh libunicorn-dev $(DEPS_BUILD)
unicorn: deps-unicorn
	@$(MAKE) --no-print-directory $(B)/unicorn
$(B)/unicorn: hosts/unicorn/unicorn.c hosts/unicorn/program.S $(B)/libsoftpmu.a
	$(CC) $(BASE) -o $@ hosts/unicorn/unicorn.c hosts/unicorn/program.S $(B)/libsoftpmu.a -lunicorn
check-unicorn: unicorn all
	@$(RUN_TESTS) $(wildcard tests/unicorn/*.sh)
