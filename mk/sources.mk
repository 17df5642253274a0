# What is compiled into what.  A new file in one of these folders is picked up.
LIB_SRC := $(wildcard src/pmu/*.c src/ds/*.c src/lbr/*.c src/driver/*.c)
DECODE_SRC := hosts/user/decode/decode.c hosts/user/decode/heads.c
ENGINE_SRC := $(wildcard hosts/user/engine/*.c)
ENGINE_ASM := $(wildcard hosts/user/engine/*.S)
TOOL_SRC := $(wildcard tools/softpmu/*.c src/perfdata/*.c hosts/user/*.c)
