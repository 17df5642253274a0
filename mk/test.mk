# The tests. `make check` is the quick half; check-long, check-sanitize and check-clang run
# the rest. tests/run.sh runs programs and adds up their counts.
#
#   tests/unit/*.c       the library; property_*.c also link tests/reference/*.c
#   tests/scenarios/     what the manual says, as small texts for all models
#   tests/conformance/   the manual's statements and the test cases that cover each
#   tests/decode/*.c     the translator's decoder against Zydis
#   tests/examples/*.sh  examples/*.c as a stranger builds them; the library in C++; docs/adding-a-model.md, followed
#   tests/tool/*.sh      the command line
#   tests/user/*.sh      programs under the translator; stress.sh: for an hour (check-stress)
#   tests/programs/*.sh  real programs, byte by byte (long); more.sh and servers.sh: those that are
#                        large to install (check-more), servers for an hour (soak); perf_event.sh: PAPI;
#                        pages.sh: the pages of `report --html` in a browser
TESTS_QUICK := unit scenarios conformance decode examples tool user
PROPERTY_LONG_SEEDS ?= 200

UNIT_TESTS   := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/*.c))
DECODE_TESTS := $(patsubst %.c,$(B)/%,$(wildcard tests/decode/*.c))
SCENARIO_TESTS := $(wildcard tests/scenarios/*.sh)
SCENARIO_OBJ := $(patsubst tests/%.c,$(B)/tests/obj/%.o,$(wildcard tests/scenarios/*.c)) \
                $(patsubst tests/%.c,$(B)/tests/obj/%.o,$(wildcard tests/reference/family*.c))
CONFORMANCE_TESTS := $(wildcard tests/conformance/*.sh)
EXAMPLE_TESTS := $(wildcard tests/examples/*.sh)
TOOL_TESTS   := $(filter-out %/lib.sh,$(wildcard tests/tool/*.sh))
STRESS_TESTS := tests/user/stress.sh
USER_TESTS   := $(filter-out %/lib.sh $(STRESS_TESTS),$(wildcard tests/user/*.sh))
MORE_TESTS   := tests/programs/exports.sh tests/programs/pages.sh tests/programs/more.sh tests/programs/perf_event.sh tests/programs/servers.sh tests/programs/glibc.sh tests/programs/kernel-selftests.sh
LONG_TESTS   := $(filter-out %/lib.sh $(MORE_TESTS),$(wildcard tests/programs/*.sh))
SOAK_SECONDS ?= 3600
STRESS_SECONDS ?= 3600
PROPERTY_TESTS := $(filter $(B)/tests/unit/property_%,$(UNIT_TESTS))
REFERENCE_OBJ  := $(patsubst tests/%.c,$(B)/tests/obj/%.o,$(wildcard tests/reference/*.c))

# Programs under test are built with gcc, whatever builds softpmu: clang's assembler lacks BND.
RUN_TESTS = CC=gcc SOFTPMU='$(abspath $(B)/softpmu)' B='$(abspath $(B))' \
            tests/run.sh $(B)/tests/log

$(B)/tests/obj/%.o: tests/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE) -c $< -o $@

$(B)/tests/obj/decode/%.o: tests/decode/%.c $(B)/gen/decode_table.inc
	@mkdir -p $(@D)
	$(CC) $(BASE) -I$(B)/gen -c $< -o $@

# A file of the engine that needs the library alone.
$(B)/tests/obj/engine/%.o: hosts/user/engine/count/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE) -Ihosts/user -c $< -o $@
$(B)/tests/unit/event_set: $(B)/tests/obj/engine/event_set.o

# Events that programs open, as ordinary code.
PERF_EVENT_OBJ := $(PERF_EVENT_SRC:%.c=$(B)/tests/obj/perf/%.o)
$(B)/tests/obj/perf/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(BASE) -c $< -o $@
$(B)/tests/unit/perf_event $(B)/tests/unit/perf_ring: $(PERF_EVENT_OBJ)
# softpmu with an engine that writes what it reports to the unit (tests/user/accesses.sh).
ACCESSES_TOOL := $(B)/tests/user/softpmu-accesses
$(B)/tests/obj/user/accesses-engine.o: tests/user/accesses-engine.c
	@mkdir -p $(@D)
	$(CC) $(ENGINE_FLAGS) -c $< -o $@
$(B)/tests/user/engine.elf: $(ENGINE_OBJ) $(B)/tests/obj/user/accesses-engine.o
	@mkdir -p $(@D)
	$(LINK_ENGINE) -fno-lto -Wl,--wrap=spmu_retire -o $@ $^ -lgcc
$(B)/tests/user/engine_image: $(B)/tests/user/engine.elf
	strip -o $@ $<
$(B)/tests/user/engine_image.o: $(B)/tests/user/engine_image
	$(ENGINE_IMAGE_OBJ)
$(ACCESSES_TOOL): $(TOOL_OBJ) $(B)/tests/user/engine_image.o $(TOOL_PARTS)
	$(LINK_TOOL)

# The decoder again as ordinary code, so that sanitizers check it.
DECODER_OBJ := $(DECODE_SRC:%.c=$(B)/tests/obj/decoder/%.o)
$(B)/tests/obj/decoder/%.o: %.c $(B)/gen/decode_table.inc
	@mkdir -p $(@D)
	$(CC) $(BASE) -I$(B)/gen -c $< -o $@

$(B)/tests/unit/property_%: $(B)/tests/obj/unit/property_%.o $(REFERENCE_OBJ) $(B)/lib/objects.a
	@mkdir -p $(@D)
	$(CC) $(BASE) -o $@ $^ -lpfm -lZydis

# The library comes last, because the linker takes from it what the objects before it need.
$(B)/tests/unit/%: $(B)/tests/obj/unit/%.o $(B)/lib/objects.a
	@mkdir -p $(@D)
	$(CC) $(BASE) -o $@ $(filter %.o,$^) $(filter %.a,$^) -lpfm -lZydis

$(B)/tests/scenarios/run: $(SCENARIO_OBJ) $(B)/libsoftpmu.a
	@mkdir -p $(@D)
	$(CC) $(BASE) -o $@ $^

$(B)/tests/decode/%: $(B)/tests/obj/decode/%.o $(DECODER_OBJ) $(B)/libsoftpmu.a
	@mkdir -p $(@D)
	$(CC) $(BASE) -o $@ $^ -lZydis -lelf

.SECONDARY: $(patsubst $(B)/tests/%,$(B)/tests/obj/%.o,$(UNIT_TESTS) $(DECODE_TESTS)) $(REFERENCE_OBJ)

.PHONY: check check-run check-unit check-scenarios check-decode check-tool check-user check-long check-long-run \
        check-sanitize check-clang tests
tests: $(UNIT_TESTS) $(DECODE_TESTS) $(B)/tests/scenarios/run $(if $(SANITIZE),,$(ACCESSES_TOOL))

check: deps-test
	@$(MAKE) --no-print-directory check-run

# A folder that lost its tests must not pass because it is empty.
check-run: all tests
	@for group in $(TESTS_QUICK); do ls tests/$$group/*.c tests/$$group/*.sh 2>/dev/null | \
		grep -qv '/lib\.sh$$' || { echo "no tests in tests/$$group" >&2; exit 1; }; done
	@$(RUN_TESTS) $(UNIT_TESTS) $(SCENARIO_TESTS) $(CONFORMANCE_TESTS) $(DECODE_TESTS) $(EXAMPLE_TESTS) $(TOOL_TESTS) $(USER_TESTS)

check-unit: $(UNIT_TESTS)
	@$(RUN_TESTS) $(UNIT_TESTS)
check-scenarios: $(B)/tests/scenarios/run
	@$(RUN_TESTS) $(SCENARIO_TESTS)
check-decode: $(DECODE_TESTS)
	@$(RUN_TESTS) $(DECODE_TESTS)
check-tool: all
	@$(RUN_TESTS) $(TOOL_TESTS)
check-user: all $(ACCESSES_TOOL)
	@$(RUN_TESTS) $(USER_TESTS)

# Property tests read the number of random cases from PROPERTY_SEEDS.
check-long: deps-test deps-pgo deps-many
	@$(MAKE) --no-print-directory check-long-run
check-long-run: all $(PROPERTY_TESTS)
	@PROPERTY_SEEDS=$(PROPERTY_LONG_SEEDS) TEST_TIMEOUT=3600 $(RUN_TESTS) $(PROPERTY_TESTS) $(LONG_TESTS)

# Programs that are large to install; with `soak` servers and a compiler for SOAK_SECONDS each.
.PHONY: check-more check-more-run soak
check-more: deps-test deps-more
	@$(MAKE) --no-print-directory check-more-run
check-more-run: all
	@TEST_TIMEOUT=3600 $(RUN_TESTS) $(MORE_TESTS)
soak: deps-more all
	@SOAK_SECONDS=$(SOAK_SECONDS) TEST_TIMEOUT=$$((4 * $(SOAK_SECONDS) + 900)) $(RUN_TESTS) tests/programs/servers.sh

# Signals, threads, code that changes and children, repeatedly for STRESS_SECONDS.
.PHONY: check-stress
check-stress: deps-test all
	@STRESS_SECONDS=$(STRESS_SECONDS) TEST_TIMEOUT=$$(($(STRESS_SECONDS) + 300)) nice -n 19 env $(RUN_TESTS) $(STRESS_TESTS)

check-sanitize: deps-test
	@$(MAKE) --no-print-directory B=$(B)/asan SANITIZE=address,undefined CFLAGS='-O1 -g' \
		check-sanitize-run
.PHONY: check-sanitize-run
check-sanitize-run: tests
	@ASAN_OPTIONS=detect_leaks=0:abort_on_error=0 $(RUN_TESTS) $(UNIT_TESTS) $(SCENARIO_TESTS) $(DECODE_TESTS)

check-clang: deps-test
	@$(MAKE) --no-print-directory B=$(B)/clang CC=clang check-run
