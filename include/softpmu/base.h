/* SPDX-License-Identifier: MIT */
/*
 * base.h: what every other header of libsoftpmu needs: version, export mark,
 * host-side status codes and the outcome of what a guest does.
 *
 * Two kinds of result never mix.  `enum spmu_status` tells the embedding
 * program (the host) whether its call was right.  `enum spmu_outcome` tells
 * the host what the architecture does to the guest's instruction.
 *
 * Structures
 * ----------
 * A structure whose first field is `size` may get more fields at its end in a later version.  The
 * caller sets `size` to the sizeof of the structure as its own headers declare it.  It sets all
 * fields that it does not use to 0.  A program that was compiled with older headers passes a
 * smaller size; for the library the missing fields are 0.  A larger size is accepted as long as the
 * fields that the library does not know are 0.  Otherwise the call returns SPMU_E_ARGUMENT, because
 * the program asks for something that this library does not do.
 *
 * Some structures have no size: struct spmu_insn, spmu_branch, spmu_meters and others.  They and
 * the values of enumerators do not change while the library's soname stays the same.
 *
 * Example: examples/base.c.
 */
#ifndef SOFTPMU_BASE_H
#define SOFTPMU_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SPMU_VERSION_MAJOR  0
#define SPMU_VERSION_MINOR  1
#define SPMU_VERSION_PATCH  0
#define SPMU_VERSION_STRING "0.1.0"

#if defined(__GNUC__)
#define SPMU_API      __attribute__((visibility("default")))
#define SPMU_MUST_USE __attribute__((warn_unused_result))
#else
#define SPMU_API
#define SPMU_MUST_USE
#endif

/* Host errors.  A call that returns anything but SPMU_OK changed nothing. */
enum spmu_status {
	SPMU_OK = 0,
	SPMU_E_ARGUMENT,    /* a pointer or number outside what the call takes */
	SPMU_E_MODEL,	    /* no model of that name */
	SPMU_E_SPACE,	    /* the memory given is too small */
	SPMU_E_VERSION,	    /* a saved state of another version, model, errata or threads */
	SPMU_E_CORRUPT,	    /* a saved state that is damaged */
	SPMU_E_EVENT,	    /* an event that the model does not have */
	SPMU_E_COUNTER,	    /* no free counter can count the event */
	SPMU_E_UNAVAILABLE, /* CPUID or MISC_ENABLE says that the facility does not exist */
	SPMU_E_FORMAT,	    /* bytes that are not a record of the format */
	SPMU_E_FAULT,	    /* linear memory that the procedure needs cannot be accessed */
};

/* What happens to a guest's instruction (RDMSR, WRMSR, RDPMC). */
enum spmu_outcome {
	SPMU_DONE = 0, /* it completes */
	SPMU_GP,       /* it raises #GP(0); nothing changed */
	SPMU_NOT_OURS, /* the register does not belong to the unit; the host decides */
	SPMU_UD,       /* the processor has no such instruction: #UD */
};

/* Returns one line of English for a status; never NULL, static lifetime. */
SPMU_API const char *spmu_status_text(enum spmu_status status);

/* Returns the version of the linked library, as "major.minor.patch". */
SPMU_API const char *spmu_version(void);

#ifdef __cplusplus
}
#endif

#endif
