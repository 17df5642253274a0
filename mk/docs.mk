# The pages that are generated from the library's lists, and the manual's statements with the results
# of their tests. `make lint` and tests/conformance/run.sh refuse outdated ones.
$(B)/reference: tools/docs/reference.c $(B)/libsoftpmu.a
	$(CC) $(BASE) -o $@ $< $(B)/libsoftpmu.a

# The public headers as HTML pages in $(B)/api/html, and as the manual page libsoftpmu.3.
.PHONY: docs
docs: deps-docs $(B)/reference $(UNIT_TESTS) $(B)/tests/scenarios/run
	mkdir -p docs/reference
	rm -f docs/reference/*.md
	$(B)/reference docs/reference
	tools/docs/api.sh $(B)/api docs/man/libsoftpmu.3
	tools/docs/conformance.py $(B) docs/reference/conformance.md tests/conformance/*.list
