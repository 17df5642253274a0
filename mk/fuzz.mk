# libFuzzer targets. `make fuzz FUZZ_SECONDS=60` runs each for that time. A
# finding, or a target that executed nothing, fails. clang is needed.
FUZZ_SECONDS ?= 60
FUZZ_CC ?= clang
FUZZ_SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
                 -fno-omit-frame-pointer
FUZZ_FLAGS := -std=gnu11 -Iinclude -I. -I$(B)/gen $(WARN) -O2 -g -MMD -MP $(FUZZ_SANITIZE)

# Most comparisons in the library are its search for registers; tracing them all costs a third.
FUZZ_LIB_FLAGS := $(FUZZ_FLAGS) -fno-sanitize-coverage=trace-cmp

# The oracle itself is not under test. Without sanitizers and coverage it runs several times as fast.
FUZZ_PLAIN_FLAGS := $(filter-out $(FUZZ_SANITIZE),$(FUZZ_FLAGS))

FUZZ_LIB_OBJ := $(LIB_SRC:%.c=$(B)/fuzz/obj/%.o)
FUZZ_REFERENCE_OBJ := $(patsubst %.c,$(B)/fuzz/obj/%.o,$(wildcard tests/reference/*.c))
FUZZ_DECODE_OBJ := $(DECODE_SRC:%.c=$(B)/fuzz/obj/%.o)
FUZZ_PERFDATA_OBJ := $(patsubst %.c,$(B)/fuzz/obj/%.o,$(wildcard src/perfdata/*.c))
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(wildcard tests/fuzz/fuzz_*.c))

$(B)/fuzz/obj/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -c $< -o $@

$(B)/fuzz/obj/src/pmu/%.o: src/pmu/%.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_LIB_FLAGS) -c $< -o $@

$(B)/fuzz/obj/tests/reference/%.o: tests/reference/%.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_PLAIN_FLAGS) -c $< -o $@

$(FUZZ_DECODE_OBJ) $(B)/fuzz/obj/tests/fuzz/fuzz_decode.o: $(B)/gen/decode_table.inc

FUZZ_LINK = $(FUZZ_CC) -fsanitize=fuzzer,address,undefined -o $@ $^

$(B)/fuzz/fuzz_msr: $(B)/fuzz/obj/tests/fuzz/fuzz_msr.o $(FUZZ_REFERENCE_OBJ) $(FUZZ_LIB_OBJ)
	$(FUZZ_LINK)
$(B)/fuzz/fuzz_state: $(B)/fuzz/obj/tests/fuzz/fuzz_state.o $(FUZZ_REFERENCE_OBJ) $(FUZZ_LIB_OBJ)
	$(FUZZ_LINK)
$(B)/fuzz/fuzz_ds: $(B)/fuzz/obj/tests/fuzz/fuzz_ds.o $(FUZZ_LIB_OBJ)
	$(FUZZ_LINK)
FUZZ_UARCH_OBJ := $(UARCH_SRC:%.c=$(B)/fuzz/obj/%.o)
$(B)/fuzz/fuzz_uarch: $(B)/fuzz/obj/tests/fuzz/fuzz_uarch.o $(FUZZ_UARCH_OBJ)
	$(FUZZ_LINK)
$(B)/fuzz/fuzz_decode: $(B)/fuzz/obj/tests/fuzz/fuzz_decode.o $(FUZZ_DECODE_OBJ)
	$(FUZZ_LINK) -lZydis
$(B)/fuzz/fuzz_perfdata: $(B)/fuzz/obj/tests/fuzz/fuzz_perfdata.o $(FUZZ_PERFDATA_OBJ)
	$(FUZZ_LINK) -ldw -lelf -lzstd

.SECONDARY: $(patsubst tests/fuzz/%.c,$(B)/fuzz/obj/tests/fuzz/%.o,$(wildcard tests/fuzz/fuzz_*.c))
.PHONY: fuzz fuzz-build fuzz-selftest
fuzz-build: $(FUZZ_TARGETS)
fuzz: fuzz-build
	@tests/fuzz/run.sh $(FUZZ_SECONDS) $(B)/fuzz $(FUZZ_TARGETS)

# Shows that `make fuzz` can fail: on a wrong oracle, and on a target that runs nothing.
$(B)/fuzz/selftest/fuzz_msr: tests/fuzz/fuzz_msr.c $(FUZZ_REFERENCE_OBJ) $(FUZZ_LIB_OBJ)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -DFUZZ_DEFECT=REFERENCE_RELOAD_MISSING -fsanitize=fuzzer,address,undefined -o $@ $^

fuzz-selftest: $(B)/fuzz/selftest/fuzz_msr
	@! tests/fuzz/run.sh 60 $(B)/fuzz/selftest $< >$(B)/fuzz/selftest/log && \
		grep -q FINDING $(B)/fuzz/selftest/log
	@! tests/fuzz/run.sh 1 $(B)/fuzz/selftest true >$(B)/fuzz/selftest/log && \
		grep -q 'NOTHING RAN' $(B)/fuzz/selftest/log
	@! tests/fuzz/run.sh 1 $(B)/fuzz/selftest >$(B)/fuzz/selftest/log
	@echo "3 passed, 0 failed"
