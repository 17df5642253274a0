# The costs of instructions in data/uarch/costs*.inc. Only someone who regenerates them needs LLVM.
DEPS_COSTS := llvm-19-dev g++ python3
LLVM_CONFIG ?= llvm-config-19

.PHONY: costs costs-run deps-costs
deps-costs:
	@tools/install-deps.sh $(DEPS_BUILD) $(DEPS_COSTS)
costs: deps-costs
	@$(MAKE) --no-print-directory costs-run
costs-run: $(B)/costs/forms $(B)/costs/llvm
	tools/costs/tables.py $(B)/costs/forms $(B)/costs/llvm tools/costs/corrections.txt data/uarch

$(B)/costs/forms: tools/costs/forms.c data/uarch/forms.h $(wildcard hosts/user/decode/generate_*.h)
	@mkdir -p $(@D)
	$(CC) $(BASE) -Ihosts/user/decode $< -o $@ -lZydis
$(B)/costs/llvm: tools/costs/llvm.cc
	@mkdir -p $(@D)
	g++ -std=c++17 -O2 -Wall -Wextra -isystem $$($(LLVM_CONFIG) --includedir) $< -o $@ \
		$$($(LLVM_CONFIG) --ldflags --libs)
