/* SPDX-License-Identifier: MIT */
/* timed_code.h: instructions for the tests of the model of time. */
#ifndef UNIT_TIMED_CODE_H
#define UNIT_TIMED_CODE_H

#include <stdlib.h>

#include <softpmu/uarch_time.h>

#include "check.h"

#define AT    UINT64_C(0x401000)
#define DATA  UINT64_C(0x10000000)
#define TURNS 100u

/* Instructions. */
#define ADD_RAX                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x48\x83\xc0\x01", 4                                             \
	} /* ADD RAX, 1 */
#define ADD_RBX                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x48\x83\xc3\x01", 4                                             \
	}
#define ADD_RCX                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x48\x83\xc1\x01", 4                                             \
	}
#define ADD_RDX                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x48\x83\xc2\x01", 4                                             \
	}
#define ADD_R8                                                                                     \
	{                                                                                          \
		(const uint8_t *)"\x49\x83\xc0\x01", 4                                             \
	}
#define ADD_R9                                                                                     \
	{                                                                                          \
		(const uint8_t *)"\x49\x83\xc1\x01", 4                                             \
	}
#define ADD_R10                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x49\x83\xc2\x01", 4                                             \
	}
#define IMUL_RAX                                                                                   \
	{                                                                                          \
		(const uint8_t *)"\x48\x0f\xaf\xc6", 4                                             \
	} /* IMUL RAX, RSI */
#define IMUL_RBX                                                                                   \
	{                                                                                          \
		(const uint8_t *)"\x48\x0f\xaf\xde", 4                                             \
	}
#define IMUL_RCX                                                                                   \
	{                                                                                          \
		(const uint8_t *)"\x48\x0f\xaf\xce", 4                                             \
	}
#define LOAD_RAX                                                                                   \
	{                                                                                          \
		(const uint8_t *)"\x48\x8b\x06", 3                                                 \
	} /* MOV RAX, [RSI] */
#define LOAD_RBX                                                                                   \
	{                                                                                          \
		(const uint8_t *)"\x48\x8b\x1e", 3                                                 \
	}
#define CHASE                                                                                      \
	{                                                                                          \
		(const uint8_t *)"\x48\x8b\x36", 3                                                 \
	} /* MOV RSI, [RSI] */
#define STORE                                                                                      \
	{                                                                                          \
		(const uint8_t *)"\x48\x89\x06", 3                                                 \
	} /* MOV [RSI], RAX */
#define XOR_EAX                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x31\xc0", 2                                                     \
	}
#define MOV_RBX                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x48\x89\xc3", 3                                                 \
	} /* MOV RBX, RAX */
#define MOV_RAX                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x48\x89\xd8", 3                                                 \
	} /* MOV RAX, RBX */
#define NOP                                                                                        \
	{                                                                                          \
		(const uint8_t *)"\x90", 1                                                         \
	}
#define DEC                                                                                        \
	{                                                                                          \
		(const uint8_t *)"\x48\xff\xcf", 3                                                 \
	}
#define CMP                                                                                        \
	{                                                                                          \
		(const uint8_t *)"\x48\x39\xc3", 3                                                 \
	} /* CMP RBX, RAX */
#define JNZ                                                                                        \
	{                                                                                          \
		(const uint8_t *)"\x75\x80", 2                                                     \
	}
#define JB                                                                                         \
	{                                                                                          \
		(const uint8_t *)"\x72\x80", 2                                                     \
	}
#define JS                                                                                         \
	{                                                                                          \
		(const uint8_t *)"\x78\x80", 2                                                     \
	}
#define ADDSD                                                                                      \
	{                                                                                          \
		(const uint8_t *)"\xf2\x0f\x58\xc1", 4                                             \
	} /* ADDSD XMM0, XMM1 */
#define VADDPD                                                                                     \
	{                                                                                          \
		(const uint8_t *)"\xc5\xfd\x58\xc1", 4                                             \
	} /* VADDPD YMM0, YMM0, YMM1 */
#define EVADDPD                                                                                    \
	{                                                                                          \
		(const uint8_t *)"\x62\xf1\xfd\x48\x58\xc1", 6                                     \
	} /* VADDPD ZMM0, ZMM0, ZMM1 */
#define ADC                                                                                        \
	{                                                                                          \
		(const uint8_t *)"\x48\x11\xd0", 3                                                 \
	} /* ADC RAX, RDX */
#define MOV_AH                                                                                     \
	{                                                                                          \
		(const uint8_t *)"\x88\xcc", 2                                                     \
	} /* MOV AH, CL */
#define LEA                                                                                        \
	{                                                                                          \
		(const uint8_t *)"\x48\x8d\x04\x18", 4                                             \
	} /* LEA RAX, [RAX+RBX] */
#define LEA_THREE                                                                                  \
	{                                                                                          \
		(const uint8_t *)"\x48\x8d\x44\x18\x01", 5                                         \
	} /* LEA RAX, [RAX+RBX+1] */
#define LEA_SCALED                                                                                 \
	{                                                                                          \
		(const uint8_t *)"\x48\x8d\x04\x43", 4                                             \
	} /* LEA RAX, [RBX+RAX*2] */
#define FADD                                                                                       \
	{                                                                                          \
		(const uint8_t *)"\xd8\xc1", 2                                                     \
	} /* FADD ST, ST(1) */
#define LOCKED                                                                                     \
	{                                                                                          \
		(const uint8_t *)"\xf0\x48\xff\x06", 4                                             \
	} /* LOCK INC [RSI] */
#define CPUID                                                                                      \
	{                                                                                          \
		(const uint8_t *)"\x0f\xa2", 2                                                     \
	}
#define ADD_LOAD                                                                                   \
	{                                                                                          \
		(const uint8_t *)"\x48\x03\x06", 3                                                 \
	} /* ADD RAX, [RSI] */
#define INC_MEMORY                                                                                 \
	{                                                                                          \
		(const uint8_t *)"\x48\xff\x06", 3                                                 \
	} /* INC [RSI] */
#define RET                                                                                        \
	{                                                                                          \
		(const uint8_t *)"\xc3", 1                                                         \
	}

static inline struct spmu_core_shape shape_of(const char *name)
{
	const struct spmu_core_shape *found = spmu_core_shape_find(name);

	if (!found) {
		CHECK(!"the library has the core");
		exit(test_summary());
	}
	return *found;
}

static inline bool is_about(uint64_t a, uint64_t b)
{
	return a + 2 + b / 100 >= b && b + 2 + b / 100 >= a;
}

#endif
