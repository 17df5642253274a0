/* SPDX-License-Identifier: MIT */
/* filter.c: compares samples with lists of names and numbers. */
#include "tools/softpmu/profile/filter.h"

#include <stdio.h>
#include <string.h>

#include "tools/softpmu/profile/profile.h"
#include "tools/softpmu/symbols/demangle.h"

bool filter_is_empty(const struct filter *filter)
{
	return !filter->comms && !filter->pids && !filter->tids && !filter->dsos &&
	       !filter->symbols;
}

/* Returns whether the list has the word. */
static bool has(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
		if (!strncmp(list, word, length) && (!list[length] || list[length] == ','))
			return true;
	return false;
}

static bool has_number(const char *list, uint32_t number)
{
	char word[16];

	snprintf(word, sizeof(word), "%u", number);
	return !list || has(list, word);
}

bool filter_takes(const struct filter *filter, const char *comm, uint32_t pid, uint32_t tid,
		  const struct profile_place *at)
{
	return (!filter->comms || has(filter->comms, comm)) && has_number(filter->pids, pid) &&
	       has_number(filter->tids, tid) &&
	       (!filter->dsos || has(filter->dsos, at->object) ||
		has(filter->dsos, profile_short(at->object))) &&
	       (!filter->symbols ||
		(at->symbol && has(filter->symbols, demangle_name(at->symbol->name))));
}

bool filter_option(struct filter *filter, int option, const char *argument)
{
	switch (option) {
	case 'c':
		filter->comms = argument;
		return true;
	case 'd':
		filter->dsos = argument;
		return true;
	case 'S':
		filter->symbols = argument;
		return true;
	case FILTER_PID:
		filter->pids = argument;
		return true;
	case FILTER_TID:
		filter->tids = argument;
		return true;
	default:
		return false;
	}
}
