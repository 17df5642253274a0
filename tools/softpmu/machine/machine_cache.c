/* SPDX-License-Identifier: MIT */
/* machine_cache.c: --cache: a cache by LEVEL=SIZE,WAYS[,LINE]. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/machine/parameter.h"

/* Sets LEVEL.NAME, or NAME if there is no level. */
static char *set_part(struct spmu_machine *machine, const char *level, const char *name,
		      const char *value)
{
	char *key = level ? tool_print("%s.%s", level, name) : tool_copy(name);
	char *message = parameter_set(machine, key, value);

	free(key);
	return message;
}

char *machine_cache_set(struct spmu_machine *machine, const char *text)
{
	static const char *const levels[] = {"l1i", "l1d", "l2", "llc"};
	char *copy = tool_copy(text), *message = NULL, *part[4] = {NULL};
	const char *level = NULL;
	unsigned parts = 0;

	for (char *at = strpbrk(copy, "="); at && parts < 4; at = strpbrk(at, ",")) {
		*at++ = '\0';
		part[parts++] = at;
	}
	for (unsigned i = 0; i < 4; i++)
		if (!strcasecmp(levels[i], copy))
			level = levels[i];
	if (!level)
		message = tool_print("the levels are L1I, L1D, L2 and LLC, not '%s'", copy);
	else if (parts < 2 || parts > 3)
		message = tool_print(
			"a cache is LEVEL=SIZE,WAYS[,LINE], such as L2=1M,16, not '%s'", text);
	if (!message)
		message = set_part(machine, level, "size", part[0]);
	if (!message)
		message = set_part(machine, level, "ways", part[1]);
	if (!message && parts == 3)
		message = set_part(machine, NULL, "line", part[2]);
	free(copy);
	return message;
}
