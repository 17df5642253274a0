# The pages that are made from the library's lists.  `make lint` refuses stale ones.
$(B)/reference: tools/docs/reference.c $(B)/libsoftpmu.a
	$(CC) $(BASE) -o $@ $< $(B)/libsoftpmu.a

.PHONY: docs
docs: $(B)/reference
	mkdir -p docs/reference
	rm -f docs/reference/*.md
	$(B)/reference docs/reference
