/* SPDX-License-Identifier: MIT */
/*
 * access.c: checks whether the program's memory can be read or written, before the engine does
 * so for the program.
 */
#include "engine/memory/access.h"

#include "engine/rt/sys.h"
#include "engine/x86/enter.h"

bool access_readable(uint64_t start, uint64_t bytes)
{
	for (uint64_t at = start; at < start + bytes; at = (at & -PAGE) + PAGE)
		if (!probe_read(at))
			return false;
	return start + bytes >= start && (!bytes || probe_read(start + bytes - 1));
}

bool access_writable(uint64_t start, uint64_t bytes)
{
	for (uint64_t at = start; at < start + bytes; at = (at & -PAGE) + PAGE)
		if (!probe_write(at))
			return false;
	return start + bytes >= start && (!bytes || probe_write(start + bytes - 1));
}
