/* SPDX-License-Identifier: MIT */
/*
 * events.c: lists of events, as perf's -e takes them.
 *
 * Commas separate the items of a list.  An item is an event, or a group: a list in braces.  A
 * colon and modifiers may follow the closing brace.
 *
 * An event is written in one of five forms:
 *
 *	- NAME names an event of the model.
 *	- NAME:PART:PART adds parts to the name.
 *	- NAME/TERM,TERM/:PART adds terms first, and then parts.
 *	- cpu/TERM,TERM/MODIFIERS gives the event by its code.
 *	- intel_bts//MODIFIERS asks for the branch trace.
 *
 * The last two forms have no colon before the modifiers.
 *
 * A term is one of these:
 *
 *	- event=N is the code, and umask=N is the unit mask.
 *	- config=N sets all bits of the event select.
 *	- cmask=N, inv, edge and any set single fields of the event select.
 *	- period=N and freq=N say when a sample is taken.
 *	- ldlat=N is the threshold of an event of load latency, in core clocks.
 *	- frontend=N is what FRONTEND_RETIRED counts, a value of MSR_PEBS_FRONTEND.
 *	- offcore_rsp=N is what an off-core response event counts, a value of its register.
 *	- name=TEXT replaces the name in the output.
 *	- NAME names an event.
 *
 * A part is one of these:
 *
 *	- MODIFIERS are perf's letters: u k h p P G H D W I.
 *	- c=N, i, e and t are libpfm4's words for CMASK, INV, EDGE and AnyThread.
 *	- tag=NAME says how micro-operations are tagged (NetBurst).
 *	- NAME names a unit mask.
 *
 * Only code at CPL 3 runs here.  A list without privilege letters counts that code, and its name
 * gets the "u" that perf adds where the kernel may not be counted.  An event with "k" is absent,
 * with or without "u", because a count without the kernel's part is not what the user asked for.
 * "h" adds nothing, because x86 counters do not know a hypervisor's level.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <src/perfdata/perfdata.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/events/event_legacy.h"
#include "tools/softpmu/events/event_foreign.h"
#include "tools/softpmu/events/event_modifiers.h"
#include "tools/softpmu/events/event_names.h"
#include "tools/softpmu/events/event_resolve.h"
#include "tools/softpmu/events/events.h"

struct parser {
	const struct spmu_model *model;
	struct event_list *list;
	const char *whole; /* the whole list */
	char **error;
	int group, groups;
};

static bool wrong(struct parser *parser, const char *text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static bool wrong(struct parser *parser, const char *text, const char *format, ...)
{
	va_list arguments;
	char *what = NULL;

	va_start(arguments, format);
	if (vasprintf(&what, format, arguments) < 0)
		what = NULL;
	va_end(arguments);
	*parser->error = tool_print("event '%s': %s", text, what ? what : "wrong");
	free(what);
	return false;
}

/* --- one event ---------------------------------------------------------------- */

static bool unknown(struct parser *parser, const char *name)
{
	const char *kind = event_foreign_kind(name);
	char *similar = kind ? NULL : event_names_similar(parser->model, name);

	if (kind)
		*parser->error = tool_print("event '%s' %s (see softpmu list)", name, kind);
	else if (similar)
		*parser->error = tool_print("unknown event '%s'; similar: %s (see softpmu list)",
					    name, similar);
	else
		*parser->error = tool_print("unknown event '%s' (see softpmu list)", name);
	free(similar);
	return false;
}

/* Returns the name as perf shows it, with a "u" if the user gave no privilege letter. */
static char *shown_name(const char *text, const struct modifiers *modifiers)
{
	struct modifiers scratch = {0};
	const char *last = strrchr(text, ':');
	const char *slash = strrchr(text, '/');
	const char *separator = ":";

	if (modifiers->name)
		return tool_copy(modifiers->name);
	if (modifiers->user || modifiers->kernel || modifiers->hypervisor)
		return tool_copy(text);
	if ((slash && event_modifiers_letters(&scratch, slash + 1)) ||
	    (last && event_modifiers_letters(&scratch, last + 1)))
		separator = "";
	else if (slash && !slash[1])
		separator = "";
	return tool_print("%s%su", text, separator);
}

static bool add_event(struct parser *parser, const char *text, const struct event_code *code,
		      const struct modifiers *modifiers)
{
	struct event_list *list = parser->list;
	struct event_code tagged = *code;
	struct event *event;
	const char *why;

	if (modifiers->tag && !event_legacy_tag(parser->model, &tagged, modifiers->tag, &why))
		return wrong(parser, text, "%s", why);
	if (modifiers->precise > PRECISE_MAX)
		return wrong(parser, text, "at most three letters p are allowed");
	list->event = tool_grow(list->event, (list->count + 1) * sizeof(*list->event));
	event = &list->event[list->count++];
	memset(event, 0, sizeof(*event));
	event->group = parser->group;
	event->name = shown_name(text, modifiers);
	event_resolve(event, parser->model, &tagged, modifiers);
	return true;
}

/* Adds one of the kernel's events.  For the unit it is absent. */
static void add_kernel(struct parser *parser, const char *text, enum event_kernel kernel)
{
	struct event_list *list = parser->list;

	list->event = tool_grow(list->event, (list->count + 1) * sizeof(*list->event));
	list->event[list->count++] = (struct event){
		.name = tool_copy(text),
		.group = parser->group,
		.fixed = -1,
		.fidelity = SPMU_ABSENT,
		.kernel = kernel,
		.absent_reason = kernel == EVENT_KERNEL_MIGRATIONS
					 ? "the kernel tells it only to those who open the event"
					 : NULL,
	};
}

/* Adds the branch trace store, which has every taken branch.  It has no period and no count. */
static bool add_trace(struct parser *parser, const char *text, const struct modifiers *modifiers)
{
	const struct event_code code = {.perf_type = PERFDATA_TYPE_INTEL_BTS, .fixed = -1};
	struct event *event;

	if (modifiers->precise)
		return wrong(parser, text,
			     "a trace takes no letter p, because it is always precise");
	if (!add_event(parser, text, &code, modifiers))
		return false;
	event = &parser->list->event[parser->list->count - 1];
	event->trace = true;
	event->fidelity = SPMU_ABSENT; /* as a count; code that takes traces looks at `trace` */
	if (!event->exclude_user && event->exclude_kernel)
		event->absent_reason = "it is a trace, which can be recorded but not counted";
	return true;
}

/* --- terms between slashes ------------------------------------------------------ */

struct terms {
	uint64_t select; /* from event=, umask= and config= */
	bool coded;	 /* one of these was given */
	bool fields;	 /* event= or umask= was given */
	char *name;	 /* the name of an event */
};

/* Takes one "key=value".  Returns 1 if it is taken, 0 for an unknown key, -1 for a bad value. */
static int take_term(struct modifiers *modifiers, struct terms *terms, const char *term)
{
	uint64_t value;

	if (!strncasecmp(term, "name=", 5) && term[5]) {
		free(modifiers->name);
		modifiers->name = tool_copy(term + 5);
	} else if (event_modifiers_tag(modifiers, term)) {
		return 1;
	} else if (event_modifiers_value(term, "event", &value) && value <= 0xff) {
		terms->select = (terms->select & ~UINT64_C(0xff)) | value;
		terms->fields = true;
		terms->coded = true;
	} else if (event_modifiers_value(term, "umask", &value) && value <= UINT16_MAX) {
		/* Bits 15:8 are unit mask 2, as perf has it. */
		terms->select &= UINT64_C(0xff);
		terms->select |= (value & 0xff) << 8 | value >> 8 << 40;
		terms->fields = true;
		terms->coded = true;
	} else if (event_modifiers_value(term, "config", &value) &&
		   !(value & ~(SELECT_CHOSEN | UINT32_MAX))) {
		terms->select = value;
		terms->fields = false;
		terms->coded = true;
	} else if (event_modifiers_value(term, "ldlat", &value) && value && value <= UINT16_MAX) {
		modifiers->load_threshold = value;
	} else if (event_modifiers_value(term, "frontend", &value) && value) {
		modifiers->frontend = value;
	} else if (event_modifiers_value(term, "offcore_rsp", &value) && value) {
		modifiers->offcore = value;
	} else if (event_modifiers_value(term, "period", &value) && value) {
		modifiers->period = value;
		modifiers->frequency = 0;
	} else if (event_modifiers_value(term, "freq", &value) && value) {
		modifiers->frequency = value;
		modifiers->period = 0;
	} else if (event_modifiers_select(modifiers, term)) {
		return 1;
	} else {
		return strchr(term, '=') ? -1 : 0;
	}
	return 1;
}

static bool parse_terms(struct parser *parser, const char *text, char *at, struct terms *terms,
			struct modifiers *modifiers)
{
	char *term;

	while ((term = strsep(&at, ","))) {
		int taken = take_term(modifiers, terms, term);

		if (taken < 0 || !*term)
			return wrong(parser, text, "'%s' is not a term, or its value is too large",
				     term);
		if (taken)
			continue;
		if (terms->name)
			return wrong(parser, text, "a second name, '%s'", term);
		terms->name = tool_copy(term);
	}
	return true;
}

/* Parses "cpu/terms/letters" and "name/terms/letters". */
static bool parse_slashes(struct parser *parser, const char *text, struct modifiers *modifiers)
{
	struct terms terms = {0};
	struct event_code code;
	char *copy = tool_copy(text);
	char *first = strchr(copy, '/'), *last = strrchr(copy, '/');
	const char *name = copy;
	const char *tail;
	bool good = false;

	if (first == last) {
		wrong(parser, text, "the second '/' is missing");
		goto out;
	}
	*first = *last = '\0';
	tail = last[1] == ':' ? last + 2 : last + 1;
	if (*tail && !event_modifiers_letters(modifiers, tail)) {
		wrong(parser, text, "unknown modifiers '%s'", tail);
		goto out;
	}
	if (!strcmp(copy, "intel_bts") && last == first + 1) {
		good = add_trace(parser, text, modifiers);
		goto out;
	}
	if (strcasecmp(name, "cpu") && !event_names_find(parser->model, name, &code)) {
		wrong(parser, text, "there is no unit '%s': %s", name, event_foreign_unit(name));
		goto out;
	}
	if (last == first + 1) {
		wrong(parser, text,
		      "the terms between the slashes name no event; add event=, config= or a name");
		goto out;
	}
	if (!parse_terms(parser, text, first + 1, &terms, modifiers))
		goto out;
	if (!strcasecmp(name, "cpu"))
		name = terms.name;
	else if (terms.name || terms.coded) {
		wrong(parser, text, "'%s' is an event, not a unit such as cpu", name);
		goto out;
	}
	if (!name && !terms.coded) {
		wrong(parser, text, "event= is missing");
	} else if (terms.fields &&
		   spmu_model_describe(parser->model).programming == SPMU_PROGRAM_ESCR) {
		wrong(parser, text,
		      "the family has no unit masks; use config=CODE with a code from softpmu "
		      "list");
	} else if (name && terms.coded) {
		wrong(parser, text, "give either the name '%s' or a code, not both", name);
	} else if (name && !event_names_find(parser->model, name, &code)) {
		unknown(parser, name);
	} else {
		if (!name)
			event_names_raw(parser->model, terms.select, &code);
		good = add_event(parser, text, &code, modifiers);
	}
out:
	free(terms.name);
	free(copy);
	return good;
}

/* Parses "name:part:part".  Each part is a modifier or, as in libpfm4, belongs to the name. */
static bool parse_name(struct parser *parser, const char *text, struct modifiers *modifiers)
{
	struct event_code code;
	char *name = tool_alloc(strlen(text) + 1);
	char *copy = tool_copy(text);
	char *at = copy, *part;
	char *prefix = strstr(copy, "::");
	bool good = false;

	if (prefix) {
		memcpy(name, copy, (size_t)(prefix - copy) + 2);
		at = prefix + 2;
	}
	part = strsep(&at, ":");
	strcat(name, part);
	while ((part = strsep(&at, ":"))) {
		if (!*part) {
			wrong(parser, text, "nothing after ':'");
			goto out;
		}
		/* A lone "e" is libpfm4's edge; perf's "exclusive" has no effect here. */
		if (event_modifiers_letters(modifiers, part) ||
		    event_modifiers_tag(modifiers, part) || event_modifiers_select(modifiers, part))
			continue;
		if (strchr(part, '=')) {
			wrong(parser, text, "unknown modifier '%s'", part);
			goto out;
		}
		strcat(name, ":");
		strcat(name, part);
	}
	if (event_names_find(parser->model, name, &code))
		good = add_event(parser, text, &code, modifiers);
	else if (event_names_find(parser->model, copy, &code))
		wrong(parser, text, "'%s' is neither a modifier nor one of its unit masks",
		      name + strlen(copy) + 1);
	else
		unknown(parser, name);
out:
	free(copy);
	free(name);
	return good;
}

static bool parse_event(struct parser *parser, const char *text)
{
	struct modifiers modifiers = {0};
	enum event_kernel kernel = event_kernel_find(text);
	bool good;

	if (parser->list->kernel && kernel) {
		add_kernel(parser, text, kernel);
		return true;
	}
	if (strchr(text, '/'))
		good = parse_slashes(parser, text, &modifiers);
	else
		good = parse_name(parser, text, &modifiers);
	free(modifiers.name);
	free(modifiers.tag);
	return good;
}

/* --- lists -------------------------------------------------------------------- */

static bool parse_list(struct parser *parser, char *text);

/* Returns the members of "{a,b}:letters" with the letters after each of them. */
static char *spread_letters(const char *members, const char *letters)
{
	char *spread = tool_alloc((strlen(members) + 1) * (strlen(letters) + 1) + 1);
	char *to = spread;
	bool slashes = false;

	for (; *members; members++) {
		if (*members == '/')
			slashes = !slashes;
		if (*members == ',' && !slashes)
			to = stpcpy(to, letters);
		*to++ = *members;
	}
	strcpy(to, letters);
	return spread;
}

static bool parse_group(struct parser *parser, char *text)
{
	char *end = strrchr(text, '}');
	struct modifiers check = {0};
	char *spread;
	bool good;

	if (parser->group >= 0)
		return wrong(parser, text, "a group cannot contain a group");
	if (!end || (end[1] && (end[1] != ':' || !event_modifiers_letters(&check, end + 2))))
		return wrong(
			parser, text,
			"the group's '}' is missing, or what follows it is not ':' and modifiers");
	*end = '\0';
	spread = spread_letters(text + 1, end + 1);
	parser->group = parser->groups++;
	good = parse_list(parser, spread);
	parser->group = -1;
	free(spread);
	return good;
}

/* Parses the items between commas that are outside of slashes and braces. */
static bool parse_list(struct parser *parser, char *text)
{
	for (;;) {
		bool slashes = false;
		int braces = 0;
		char *at = text;
		char cut;

		for (; *at; at++) {
			if (*at == '/')
				slashes = !slashes;
			else if (*at == '{')
				braces++;
			else if (*at == '}')
				braces--;
			else if (*at == ',' && !slashes && braces <= 0)
				break;
		}
		cut = *at;
		*at = '\0';
		if (!*text)
			return wrong(parser, parser->whole, "a name is missing between commas");
		if (*text == '{' ? !parse_group(parser, text) : !parse_event(parser, text))
			return false;
		if (!cut)
			return true;
		text = at + 1;
	}
}

bool events_parse(struct event_list *list, const struct spmu_model *model, const char *text,
		  char **error)
{
	struct parser parser = {
		.model = model, .list = list, .whole = text, .error = error, .group = -1};
	char *copy = tool_copy(text);
	bool good;

	*error = NULL;
	for (size_t i = 0; i < list->count; i++) {
		if (list->event[i].group >= parser.groups)
			parser.groups = list->event[i].group + 1;
	}
	good = parse_list(&parser, copy);
	free(copy);
	return good;
}

void events_free(struct event_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->event[i].name);
	free(list->event);
	memset(list, 0, sizeof(*list));
}
