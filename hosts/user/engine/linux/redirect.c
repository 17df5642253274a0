/* SPDX-License-Identifier: MIT */
/*
 * redirect.c: replaces the files in /sys and /proc in which programs read about the machine's unit.
 * The tool has made a folder with other files for the run (link.tree).  Without this folder no path
 * changes.
 *
 * Paths relative to a directory that a program has opened there are in that folder, too.
 */
#include "engine/linux/redirect.h"

#include <asm/errno.h>
#include <asm/unistd.h>

#include "engine/linux/pass_on.h"
#include "engine/memory/access.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

/* Paths, and what is in the folder for each.  The rest of a path follows if it is a folder. */
static const struct {
	const char *path, *in_tree;
} places[] = {
	{"/sys/bus/event_source/devices", "/devices"},
	{"/sys/devices/cpu", "/devices/cpu"},
	{"/proc/sys/kernel/perf_event_paranoid", "/perf_event_paranoid"},
	{"/proc/cpuinfo", "/cpuinfo"},
};

/* Returns what follows `name` in the path, or NULL if the path is another. */
static const char *after(const char *path, const char *name)
{
	while (*name && *path == *name) {
		path++;
		name++;
	}
	return !*name && (!*path || *path == '/') ? path : NULL;
}

/* Writes the path in the folder.  Returns false if the path is none of the places. */
static bool find(const char *path, char *to)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *rest = after(path, places[i].path);
		struct text t;

		if (!rest)
			continue;
		text_start(&t, to, LINK_PATH_MAX);
		text_add(&t, engine_link->tree);
		text_add(&t, places[i].in_tree);
		text_add(&t, rest);
		return true;
	}
	return false;
}

static bool opens(long nr)
{
	return nr == __NR_open || nr == __NR_openat || nr == __NR_openat2;
}

long redirect_call(struct syscall_arguments *c, unsigned at)
{
	long result = pass_on(c), other;
	uint64_t path = c->a[at];
	char to[LINK_PATH_MAX];

	/* Now it is known that the path can be read. */
	if (!engine_link->tree[0] || result == -EFAULT || !access_readable(path, 1) ||
	    *(const char *)path != '/' || !find((const char *)path, to))
		return result;
	c->a[at] = (uint64_t)to;
	other = pass_on(c);
	c->a[at] = path;
	if (other == -ENOENT && !is_error(result) && after((const char *)path, "/proc"))
		return result; /* the folder is gone */
	if (opens(c->nr) && !is_error(result))
		syscall1(__NR_close, result);
	return other;
}
