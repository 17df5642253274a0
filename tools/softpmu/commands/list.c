/* SPDX-License-Identifier: MIT */
/*
 * list.c: `softpmu list`: the events of a model, and how far each count can be trusted when softpmu
 * runs a program.
 *
 * There are three groups: perf's generic names, the model's own table (Vol. 3B chapter 19), and
 * what else libpfm4 knows.  A name of libpfm4 that is also in the model's table is listed once, in
 * that table's group.  An event is absent if no signal describes it.
 */
#include <ctype.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/commands/commands.h"
#include "tools/softpmu/counts/metrics_list.h"
#include "tools/softpmu/events/catalog.h"
#include "tools/softpmu/events/event_frontend.h"
#include "tools/softpmu/events/event_legacy.h"
#include "tools/softpmu/events/event_meaning.h"
#include "tools/softpmu/events/event_names.h"
#include "tools/softpmu/events/event_resolve.h"
#include "tools/softpmu/events/events.h"
#include "tools/softpmu/machine/machine_options.h"
#include "tools/softpmu/run/run.h"

enum group { GROUP_GENERIC, GROUP_MODEL, GROUP_LIBPFM, GROUPS };

static const char *const group_names[GROUPS] = {"generic", "model", "libpfm4"};

struct row {
	enum group group;
	char *name, *description;
	uint64_t select; /* event and unit mask; of some libpfm4 events also E, ANY, INV, CMASK */
	enum spmu_fidelity fidelity;
	bool precise, shown;
	const struct spmu_event *twin;	/* used in its place for precise samples; NULL: none */
	bool wide;			/* the codes have 32 bits */
	bool own;			/* the family has its own codes for generic events */
	const char *reason;		/* why it is absent */
	const struct spmu_event *event; /* the model's row; NULL: none */
};

struct list {
	const struct spmu_model *model;
	char *const *patterns;
	size_t pattern_count;
	struct row *rows;
	size_t count, room;
};

static void help(void)
{
	puts("Usage: softpmu list [-M MODEL] [--machine[=NAME]] [--static-clocks] [-j] [PATTERN "
	     "...]\n\n"
	     "Lists the events of a model: perf's generic names, the model's table, and further\n"
	     "events that libpfm4 knows.  A PATTERN is a part of a name or code, or a glob; case\n"
	     "does not matter.\n\n"
	     "The fidelity of a count is exact (it follows from what the program executes),\n"
	     "modelled (it comes from a model of the hardware) or absent (there is no count).\n\n"
	     "  -M, --model MODEL      the processor (default " DEFAULT_MODEL ")\n"
	     "      --machine[=NAME]   as stat with that option: by a model of this machine\n"
	     "                         (default: the processor's); record samples all of them but\n"
	     "                         clocks\n"
	     "      --static-clocks    as stat and record with that option\n"
	     "  -j, --json             print a JSON object on each line");
}

static void select_text(const struct row *row, uint64_t select, char text[24])
{
	snprintf(text, 24, row->wide ? "r%08" PRIx64 : "r%04" PRIx64, select);
}

static void code_text(const struct row *row, char text[24])
{
	if (row->group == GROUP_GENERIC && !row->event && row->own)
		snprintf(text, 24, "-"); /* no event of the family counts it */
	else
		select_text(row, row->select, text);
}

/* Writes whether the event can be precise, or which code a generic name takes instead. */
static void precise_text(const struct row *row, char text[24])
{
	if (row->twin)
		select_text(row, row->twin->code, text);
	else
		snprintf(text, 24, "%s", row->precise ? "precise" : "-");
}

/* Returns the text in lower case, and libpfm4's ':' as the manual's '.', so that both spellings
 * match. */
static char *folded(const char *text)
{
	char *copy = tool_copy(text), *p;

	for (p = copy; *p; p++)
		*p = *p == ':' ? '.' : (char)tolower((unsigned char)*p);
	return copy;
}

static bool matches_one(const char *text, const char *pattern)
{
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, text, 0) == 0;
	return strstr(text, pattern) != NULL;
}

static bool matches(const struct list *list, const struct row *row)
{
	char code[24], *name;
	bool found = list->pattern_count == 0;
	size_t i;

	code_text(row, code);
	name = folded(row->name);
	for (i = 0; i < list->pattern_count && !found; i++) {
		char *pattern = folded(list->patterns[i]);

		found = matches_one(name, pattern) || matches_one(code, pattern);
		free(pattern);
	}
	free(name);
	return found;
}

static void add(struct list *list, const struct row *row, const char *name, const char *description)
{
	struct row *new;

	list->rows = tool_room(list->rows, &list->room, list->count, sizeof(*list->rows));
	new = &list->rows[list->count++];
	*new = *row;
	new->wide = spmu_model_describe(list->model).programming == SPMU_PROGRAM_ESCR;
	new->own = !spmu_model_describe(list->model).perfmon_version;
	new->name = tool_copy(name);
	new->fidelity = catalog_fidelity(list->model, name, &new->reason);
	new->description = tool_copy(description);
}

/* Returns true if the event's fixed counter has PEBS, as on some models. */
static bool precise_on_fixed(const struct spmu_model *model, const struct spmu_event *event)
{
	return !event->counters && event->fixed >= 0 &&
	       (spmu_model_describe(model).pebs_fixed >> event->fixed & 1);
}

static bool is_precise(const struct spmu_model *model, const struct spmu_event *event)
{
	return event && (event->pebs_counters || precise_on_fixed(model, event));
}

static void add_generic(struct list *list)
{
	const char *name;
	const struct spmu_event *event;
	uint64_t code;
	size_t i;

	for (i = 0; (name = event_names_generic(list->model, i, &event, &code)) != NULL; i++) {
		struct row row = {.group = GROUP_GENERIC, .select = code, .event = event};

		row.precise = is_precise(list->model, event);
		if (!row.precise)
			row.twin = event_resolve_precise_twin(list->model, event);
		add(list, &row, name, event ? event->name : "not in the model's table");
	}
}

/* Adds a name for an event together with something that it needs, if the model has both. */
static void add_name(struct list *list, enum group group, const char *name, const char *description)
{
	struct row row = {.group = group};
	struct event_code code;

	if (!event_names_find(list->model, name, &code))
		return;
	row.select = code.code;
	row.event = code.row;
	row.precise = is_precise(list->model, code.row);
	add(list, &row, name, description ? description : code.row->name);
}

/* Adds those of perf's events of caches that the model has. */
static void add_caches(struct list *list)
{
	const char *name;

	for (size_t i = 0; (name = event_names_cache(i)) != NULL; i++)
		add_name(list, GROUP_GENERIC, name, NULL);
}

/* Adds NetBurst's metrics, which are events with their taggers, and conditions of the front end. */
static void add_combined(struct list *list)
{
	const struct event_legacy_metric *metric;
	const char *name, *meaning;

	for (size_t i = 0; (metric = event_legacy_metric(list->model, i)) != NULL; i++)
		add_name(list, GROUP_MODEL, metric->name, metric->description);
	for (size_t i = 0; (name = event_frontend_name(list->model, i, &meaning)) != NULL; i++)
		add_name(list, GROUP_MODEL, name, meaning);
}

static void add_model(struct list *list)
{
	size_t i;

	for (i = 0; i < spmu_event_count(list->model); i++) {
		const struct spmu_event *event = spmu_event_at(list->model, i);
		struct row row = {.group = GROUP_MODEL,
				  .select = event->code,
				  .event = event,
				  .precise = is_precise(list->model, event)};

		add(list, &row, event->name, event->description);
	}
	add_combined(list);
}

static void add_libpfm(void *opaque, const struct catalog_event *found)
{
	struct list *list = opaque;
	struct row row = {
		.group = GROUP_LIBPFM, .select = found->select, .precise = found->precise};
	size_t i;

	for (i = 0; i < list->count; i++) {
		if (list->rows[i].group == GROUP_MODEL &&
		    !strcasecmp(list->rows[i].name, found->name))
			return;
	}
	if (spmu_model_describe(list->model).programming == SPMU_PROGRAM_ESCR) {
		struct event_code code;

		if (event_names_find(list->model, found->name, &code))
			row.select = code.code;
		row.event = NULL;
		add(list, &row, found->name, found->description);
		return;
	}
	row.event = NULL;
	if (found->select & SELECT_CONDITION)
		row.event = spmu_event_by_code(list->model,
					       found->select & (SELECT_CODE | SELECT_CONDITION));
	if (!row.event)
		row.event = spmu_event_by_code(list->model, found->select & SELECT_CODE);
	if (row.event && !(found->select & ~SELECT_CODE))
		row.precise = row.event->pebs_counters != 0;
	add(list, &row, found->name, found->description);
}

/* Marks the rows that match.  Returns how many there are. */
static size_t filter(struct list *list)
{
	size_t shown = 0, i;

	for (i = 0; i < list->count; i++) {
		list->rows[i].shown = matches(list, &list->rows[i]);
		shown += list->rows[i].shown;
	}
	return shown;
}

/* Returns the counters that the model has.  A row's mask may name more, for larger siblings. */
static uint32_t model_counters(const struct spmu_model *model, uint32_t counters)
{
	return counters & ((1u << spmu_model_describe(model).counters_single) - 1);
}

/* Prints how a count is computed. */
static void print_json_meaning(const struct row *row)
{
	char *meaning =
		row->event && row->fidelity != SPMU_ABSENT ? event_meaning(row->event) : NULL;

	if (meaning) {
		fputs(", \"computed\": ", stdout);
		output_json_string(stdout, meaning);
	}
	free(meaning);
}

static void print_json(const struct spmu_model *model, const struct row *row)
{
	char code[24];

	code_text(row, code);
	fputs("{\"name\": ", stdout);
	output_json_string(stdout, row->name);
	printf(", \"code\": \"%s\", \"group\": \"%s\", \"fidelity\": \"%s\", \"precise\": %s", code,
	       group_names[row->group], catalog_fidelity_text(row->fidelity),
	       row->precise ? "true" : "false");
	if (row->twin) {
		precise_text(row, code);
		printf(", \"precise-code\": \"%s\"", code);
	}
	if (row->event && row->group != GROUP_LIBPFM) {
		printf(", \"data-address\": %s, \"counters\": %u, \"precise-counters\": %u",
		       row->event->data_address ? "true" : "false",
		       model_counters(model, row->event->counters),
		       model_counters(model, row->event->pebs_counters));
		if (row->event->fixed >= 0)
			printf(", \"fixed\": %d", row->event->fixed);
		printf(", \"section\": \"%s%s\"", output_volume(row->event->section),
		       row->event->section);
	}
	if (row->reason) {
		fputs(", \"absent-because\": ", stdout);
		output_json_string(stdout, row->reason);
	}
	print_json_meaning(row);
	fputs(", \"description\": ", stdout);
	output_json_string(stdout, row->description);
	puts("}");
}

/* Prints text that begins in column `indent`, broken between words at `columns` (0: never). */
static void print_wrapped(const char *text, size_t indent, size_t columns)
{
	size_t room = columns > indent + 20 ? columns - indent : SIZE_MAX;

	while (strlen(text) > room) {
		size_t end = room;

		while (end > 0 && text[end] != ' ')
			end--;
		if (end == 0)
			break;
		printf("%.*s\n%*s", (int)end, text, (int)indent, "");
		text += end + 1;
	}
	puts(text);
}

/* Prints the rows of a group that match.  Returns false if there are none. */
static bool print_group(const struct list *list, enum group group, size_t columns, bool first)
{
	static const char *const titles[GROUPS] = {"perf's generic events",
						   "Events of the model's table",
						   "More events, known to libpfm4"};
	size_t name_width = 0, code_width = strlen("code"), i;
	bool any = false;
	char code[24], precise[24];

	for (i = 0; i < list->count; i++) {
		const struct row *row = &list->rows[i];

		if (row->group != group || !row->shown)
			continue;
		any = true;
		code_text(row, code);
		if (strlen(row->name) > name_width)
			name_width = strlen(row->name);
		if (strlen(code) > code_width)
			code_width = strlen(code);
	}
	if (!any)
		return false;
	printf("%s%s:\n  %-*s  %-*s  %-8s  %-7s  %s\n", first ? "" : "\n", titles[group],
	       (int)name_width, "name", (int)code_width, "code", "fidelity", "precise",
	       "description");
	for (i = 0; i < list->count; i++) {
		const struct row *row = &list->rows[i];

		if (row->group != group || !row->shown)
			continue;
		code_text(row, code);
		precise_text(row, precise);
		printf("  %-*s  %-*s  %-8s  %-7s  ", (int)name_width, row->name, (int)code_width,
		       code, catalog_fidelity_text(row->fidelity), precise);
		print_wrapped(row->description, name_width + code_width + 25, columns);
	}
	return true;
}

/* Prints how many codes of the model's table and of libpfm4 are exact, modelled and absent.  A code
 * has the best of its names: some need a condition, which others contain. */
static void print_sum(const struct list *list)
{
	size_t n[3] = {0};

	for (size_t i = 0; i < list->count; i++) {
		bool first = list->rows[i].group != GROUP_GENERIC;
		enum spmu_fidelity best = SPMU_ABSENT;

		for (size_t j = 0; j < list->count && first; j++) {
			const struct row *other = &list->rows[j];

			if (other->group == GROUP_GENERIC || other->select != list->rows[i].select)
				continue;
			first = j >= i;
			best = other->fidelity > best ? other->fidelity : best;
		}
		if (first)
			n[best]++;
	}
	printf("\n%zu codes: %zu exact, %zu modelled, %zu absent\n",
	       n[SPMU_EXACT] + n[SPMU_MODELLED] + n[SPMU_ABSENT], n[SPMU_EXACT], n[SPMU_MODELLED],
	       n[SPMU_ABSENT]);
}

static void print_groups(const struct list *list)
{
	size_t columns = output_is_terminal() ? output_columns() : 0;
	bool first = true;
	int group;

	for (group = 0; group < GROUPS; group++)
		first = !print_group(list, (enum group)group, columns, first) && first;
	if (!list->pattern_count)
		print_sum(list);
}

static int list_events(struct list *list, bool json)
{
	struct spmu_model_info info = spmu_model_describe(list->model);
	size_t i;
	int status = 0;
	bool shown;

	add_generic(list);
	add_caches(list);
	add_model(list);
	if (info.pfm && !catalog_each(info.pfm, add_libpfm, list))
		tool_error("libpfm4 has no table '%s'; only the model's own events are listed",
			   info.pfm);
	shown = filter(list) != 0;
	if (json) {
		for (i = 0; i < list->count; i++) {
			if (list->rows[i].shown)
				print_json(list->model, &list->rows[i]);
		}
	} else {
		print_groups(list);
		shown = metrics_list(list->patterns, list->pattern_count, stdout) || shown;
	}
	if (!shown) {
		tool_error("no event of %s matches '%s'", info.name, list->patterns[0]);
		status = 1;
	}
	for (i = 0; i < list->count; i++) {
		free(list->rows[i].name);
		free(list->rows[i].description);
	}
	free(list->rows);
	return status;
}

int cmd_list(int argc, char **argv)
{
	static const struct option options[] = {
		{"model", required_argument, NULL, 'M'},
		{"machine", optional_argument, NULL, MACHINE_OPTION_NAME},
		{"static-clocks", no_argument, NULL, MACHINE_OPTION_STATIC_CLOCKS},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{0}};
	struct machine_options machine_options = {0};
	struct spmu_machine machine;
	const char *model = NULL;
	struct list list = {0};
	bool json = false;
	int option, status;

	while ((option = getopt_long(argc, argv, ":M:jh", options, NULL)) != -1) {
		switch (option) {
		case 'M':
			model = optarg;
			break;
		case MACHINE_OPTION_NAME:
		case MACHINE_OPTION_STATIC_CLOCKS:
			(void)machine_options_take(&machine_options, option, optarg);
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			help();
			return output_finish("list", 0);
		default:
			return tool_bad_option("list", option, argv);
		}
	}
	list.model = tool_model(model);
	if (!list.model)
		return 1;
	status = run_use_machine(&machine_options, "list", list.model, LAUNCH_CLOCKS_TIMELINE,
				 &machine);
	if (status >= 0)
		return status;
	list.patterns = argv + optind;
	list.pattern_count = (size_t)(argc - optind);
	return output_finish("list", list_events(&list, json));
}
