# Speed and memory, side by side in one run.  BENCH_SLOW=0 leaves callgrind and qemu-user out,
# BENCH_ONLY=xz,perl picks programs, BENCH_JSON=FILE keeps the figures.
BENCH_RUNS ?= 3
.PHONY: bench
bench: $(B)/softpmu
	@bench/run.py --softpmu $(B)/softpmu --folder $(B)/bench --runs $(BENCH_RUNS) \
		$(if $(BENCH_ONLY),--only $(BENCH_ONLY)) $(if $(BENCH_JSON),--json $(BENCH_JSON))

# The unit alone: nanoseconds and bytes of branches and records.
$(B)/bench/unit: bench/unit.c $(B)/libsoftpmu.a
	@mkdir -p $(@D)
	$(CC) $(BASE) -o $@ $< $(B)/libsoftpmu.a

.PHONY: bench-unit
bench-unit: $(B)/bench/unit
	@$(B)/bench/unit

# Optimizes a real program by its last branch records: docs/pgo.md.
.PHONY: bench-pgo
bench-pgo: deps-pgo
	@$(MAKE) --no-print-directory $(B)/softpmu
	@SOFTPMU=$(abspath $(B)/softpmu) bench/pgo.sh $(B)/bench/pgo

# The cost of code that runs a few times: short programs, cold.
.PHONY: bench-cold
bench-cold: $(B)/softpmu
	@bench/cold.py --softpmu $(B)/softpmu --folder $(B)/bench $(if $(BENCH_ONLY),--only $(BENCH_ONLY))

# The cost of the first run in a new container, with translations that were copied from elsewhere.
.PHONY: bench-ci
bench-ci: $(B)/softpmu
	@bench/ci.py --softpmu $(B)/softpmu --folder $(B)/bench $(if $(BENCH_ONLY),--only $(BENCH_ONLY))

# The cost of the model of a machine, next to cachegrind.
.PHONY: bench-machine
bench-machine: $(B)/softpmu
	@bench/machine.py --softpmu $(B)/softpmu --folder $(B)/bench $(if $(BENCH_ONLY),--only $(BENCH_ONLY))

# The cost of busy threads at the same time.
.PHONY: bench-threads
bench-threads: $(B)/softpmu
	@bench/threads.py --softpmu $(B)/softpmu --folder $(B)/bench

# How far the clocks of the machine model are from those of the processor at hand (docs/accuracy.md).
.PHONY: accuracy
accuracy: all $(B)/accuracy/kernels
	@bench/accuracy.py --softpmu $(B)/softpmu --kernels $(B)/accuracy/kernels
ACCURACY_FLAGS = -std=gnu11 $(WARN) -mavx -fno-pie
$(B)/accuracy/kernels.o: tests/accuracy/kernels.c tests/accuracy/kernels.h
	@mkdir -p $(@D)
	$(CC) $(ACCURACY_FLAGS) -O1 -c -o $@ $<
$(B)/accuracy/kernels: $(B)/accuracy/kernels.o tests/accuracy/loops.c
	$(CC) $(ACCURACY_FLAGS) -O2 -no-pie -o $@ $^

.PHONY: accuracy-programs
accuracy-programs: all $(B)/accuracy/kernels
	@bench/accuracy_programs.py --softpmu $(B)/softpmu --kernels $(B)/accuracy/kernels

# The loops alone, compiled in several ways.
ACCURACY_BUILDS := O0 O1 O2 O3 Os O2-native
ACCURACY_O2-native := -O2 -march=native
$(B)/accuracy/kernels-%: $(B)/accuracy/kernels.o tests/accuracy/loops.c
	$(CC) $(ACCURACY_FLAGS) $(or $(ACCURACY_$*),-$*) -no-pie -o $@ $^
.PHONY: accuracy-pairs
accuracy-pairs: all $(B)/accuracy/kernels $(ACCURACY_BUILDS:%=$(B)/accuracy/kernels-%)
	@bench/accuracy_pairs.py --softpmu $(B)/softpmu --kernels $(B)/accuracy/kernels

# Static clocks against the whole model.
.PHONY: accuracy-static
accuracy-static: all $(B)/accuracy/kernels $(ACCURACY_BUILDS:%=$(B)/accuracy/kernels-%)
	@bench/accuracy_static.py --softpmu $(B)/softpmu --kernels $(B)/accuracy/kernels
