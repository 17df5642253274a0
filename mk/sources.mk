# What is compiled into what.  A new file in one of these folders is picked up.
LIB_SRC := $(wildcard src/pmu/*.c src/ds/*.c src/lbr/*.c src/driver/*.c)
# The units outside the cores.
UNCORE_SRC := $(wildcard src/uncore/*.c)
# The model of machines.
UARCH_SRC := $(wildcard src/uarch/*.c)
DECODE_SRC := $(addprefix hosts/user/decode/,decode.c decode_cache.c decode_operands.c)
# Events that programs open, as the kernel shows them.
PERF_EVENT_SRC := $(wildcard hosts/user/perf_event/*.c)
ENGINE_SRC := $(wildcard hosts/user/engine/*/*.c)
ENGINE_ASM := $(wildcard hosts/user/engine/*/*.S)
TOOL_SRC := $(wildcard tools/softpmu/*.c tools/softpmu/*/*.c src/perfdata/*.c hosts/user/*.c) \
	    hosts/user/decode/decode.c hosts/user/perf_event/perf_caches.c
