/* SPDX-License-Identifier: MIT */
/*
 * demangle.h: the names of functions as their source has them.
 *
 * A compiler encodes namespaces, types and parameters in a symbol's name.  These functions decode
 * names of C++ (Itanium ABI), Rust (both forms) and D.
 */
#ifndef SOFTPMU_TOOL_DEMANGLE_H
#define SOFTPMU_TOOL_DEMANGLE_H

#include <stdbool.h>

/* Shows names as the compiler wrote them from now on (--no-demangle). */
void demangle_switch_off(void);

/*
 * Returns the name as people read it: "ns::list<int>::add".  As in perf, only D names keep their
 * parameters.
 * Returns `name` itself if it is not encoded.  The same text always gives the same pointer, which
 * lives until the tool ends.
 */
const char *demangle_name(const char *name);

/*
 * Returns true if the name is the text, or matches it as a shell pattern.  The name is tried as the
 * compiler wrote it, without its version ("puts@@GLIBC_2.2.5"), and decoded, without and with its
 * parameters.
 */
bool demangle_matches(const char *name, const char *pattern);

#endif
