# The pages that are made from the library's lists, and the manual's statements with the results
# of their tests.  `make lint` and tests/conformance/run.sh refuse stale ones.
$(B)/reference: tools/docs/reference.c $(B)/libsoftpmu.a
	$(CC) $(BASE) -o $@ $< $(B)/libsoftpmu.a

.PHONY: docs
docs: $(B)/reference $(UNIT_TESTS) $(B)/tests/scenarios/run
	mkdir -p docs/reference
	rm -f docs/reference/*.md
	$(B)/reference docs/reference
	tools/docs/conformance.py $(B) docs/reference/conformance.md tests/conformance/*.list
