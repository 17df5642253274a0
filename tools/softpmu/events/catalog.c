/* SPDX-License-Identifier: MIT */
/*
 * catalog.c: walks libpfm4's event table of any processor, whether or not it is this machine's.
 *
 * An event whose unit masks must be combined (offcore responses) appears once for each mask.
 * Modifiers that every event takes are not walked.
 */
#include "tools/softpmu/events/catalog.h"

#include <perfmon/pfmlib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/events/event_names.h"
#include "tools/softpmu/events/events.h"

#define NAME_MAX_BYTES 256

struct walk {
	const char *pfm;
	void (*each)(void *opaque, const struct catalog_event *event);
	void *opaque;
};

static bool find_table(const char *pfm, pfm_pmu_info_t *info)
{
	int pmu;

	/* This machine's own processor is not needed. */
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	if (pfm_initialize() != PFM_SUCCESS)
		return false;
	pfm_for_all_pmus(pmu)
	{
		memset(info, 0, sizeof(*info));
		info->size = sizeof(*info);
		if (pfm_get_pmu_info((pfm_pmu_t)pmu, info) == PFM_SUCCESS &&
		    strcmp(info->name, pfm) == 0)
			return true;
	}
	return false;
}

/* Computes the select register for "skl::EVENT:MASK".  Returns false if the event needs more than
 * that. */
static bool encode(const char *text, uint64_t *select)
{
	pfm_pmu_encode_arg_t arg;
	bool encoded;

	memset(&arg, 0, sizeof(arg));
	arg.size = sizeof(arg);
	encoded = pfm_get_os_event_encoding(text, PFM_PLM3, PFM_OS_NONE, &arg) == PFM_SUCCESS &&
		  arg.count > 0;
	if (encoded)
		*select = arg.codes[0] & SELECT_CHOSEN;
	free(arg.codes);
	return encoded;
}

static void show(const struct walk *walk, const pfm_event_info_t *event, const char *mask,
		 const char *description, bool precise)
{
	char text[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
	struct catalog_event found = {.name = name, .description = description, .precise = precise};

	snprintf(text, sizeof(text), "%s::%s%s%s", walk->pfm, event->name, mask ? ":" : "",
		 mask ? mask : "");
	snprintf(name, sizeof(name), "%s%s%s", event->name, mask ? "." : "", mask ? mask : "");
	if (!encode(text, &found.select))
		found.select = event->code;
	walk->each(walk->opaque, &found);
}

static void show_event(const struct walk *walk, int index)
{
	pfm_event_info_t event;
	bool masks = false;
	int i;

	memset(&event, 0, sizeof(event));
	event.size = sizeof(event);
	if (pfm_get_event_info(index, PFM_OS_NONE, &event) != PFM_SUCCESS)
		return;
	pfm_for_each_event_attr(i, &event)
	{
		pfm_event_attr_info_t attr;

		memset(&attr, 0, sizeof(attr));
		attr.size = sizeof(attr);
		if (pfm_get_event_attr_info(index, i, PFM_OS_NONE, &attr) != PFM_SUCCESS ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		show(walk, &event, attr.name, attr.desc, attr.is_precise);
		masks = true;
	}
	if (!masks)
		show(walk, &event, NULL, event.desc, event.is_precise);
}

bool catalog_each(const char *pfm, void (*each)(void *opaque, const struct catalog_event *event),
		  void *opaque)
{
	struct walk walk = {.pfm = pfm, .each = each, .opaque = opaque};
	pfm_pmu_info_t info;
	int index;

	if (!find_table(pfm, &info))
		return false;
	for (index = info.first_event; index != -1; index = pfm_get_event_next(index))
		show_event(&walk, index);
	return true;
}

enum spmu_fidelity catalog_fidelity(const struct spmu_model *model, const char *name,
				    const char **reason)
{
	struct event_list list = {0};
	enum spmu_fidelity fidelity = SPMU_ABSENT;
	char *error = NULL;

	*reason = "it needs more unit masks or modifiers";
	if (events_parse(&list, model, name, &error) && list.count == 1) {
		fidelity = list.event[0].fidelity;
		*reason = fidelity == SPMU_ABSENT ? list.event[0].absent_reason : NULL;
	}
	events_free(&list);
	free(error);
	return fidelity;
}

const char *catalog_fidelity_text(enum spmu_fidelity fidelity)
{
	switch (fidelity) {
	case SPMU_EXACT:
		return "exact";
	case SPMU_MODELLED:
		return "modelled";
	case SPMU_ABSENT:
		break;
	}
	return "absent";
}
