# The checkers of tools/lint, each a program that counts, and the proof that each refuses
# a bad input.
LINTERS := $(filter-out %/lib.sh,$(wildcard tools/lint/*.sh))

.PHONY: lint lint-run format
lint: deps-lint
	@$(MAKE) --no-print-directory lint-run
lint-run: $(B)/softpmu $(B)/libsoftpmu.a $(B)/libsoftpmu.so $(B)/reference $(B)/gen/decode_table.inc
	@JOBS=1 TEST_TIMEOUT=2400 CC='$(CC)' B='$(abspath $(B))' tests/run.sh $(B)/lint $(LINTERS) tests/lint/run.sh

format:
	git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i
