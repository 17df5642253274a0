/* SPDX-License-Identifier: MIT */
/*
 * reference.c: writes the reference pages of docs/reference into a folder, from the library's own
 * lists: every register of a model with its fields, every event of its table.  Models
 * whose lists are the same share a page, which has the first one's name.  facilities.md
 * holds the models against the facilities: what is done, partial and absent of each.
 *
 * usage: reference FOLDER
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <softpmu/registers.h>

#define PATH_BYTES     4096
#define FACILITIES_MAX 64

static const char *access_text(enum spmu_access access)
{
	static const char *const text[] = {
		[SPMU_RW] = "read, write",     [SPMU_RO] = "read",
		[SPMU_W1C] = "1 clears",       [SPMU_W1S] = "1 sets",
		[SPMU_RESERVED] = "must be 0", [SPMU_IGNORED] = "kept for the host",
	};

	return text[access];
}

static const char *fidelity_text(const struct spmu_event *event)
{
	const struct spmu_supply execution = {.exact = SPMU_SIGSET_ARCHITECTURAL};

	switch (spmu_event_fidelity(event, &execution)) {
	case SPMU_EXACT:
		return "exact";
	case SPMU_MODELLED:
		return "modelled";
	default:
		return "absent";
	}
}

static bool same_lists(const struct spmu_model *a, const struct spmu_model *b)
{
	struct spmu_register in_a, in_b;
	bool more = true;

	if (spmu_event_count(a) != spmu_event_count(b))
		return false;
	for (size_t i = 0; i < spmu_event_count(a); i++) {
		if (spmu_event_at(a, i) != spmu_event_at(b, i))
			return false;
	}
	for (size_t i = 0; more; i++) {
		more = spmu_register_at(a, i, &in_a);
		if (spmu_register_at(b, i, &in_b) != more)
			return false;
		if (more && (in_a.msr != in_b.msr || in_a.reset != in_b.reset ||
			     in_a.fields != in_b.fields))
			return false;
	}
	return true;
}

static void print_field(FILE *page, const struct spmu_field *field)
{
	if (field->width == 1)
		fprintf(page, "| %u ", field->low);
	else
		fprintf(page, "| %u:%u ", field->low + field->width - 1u, field->low);
	fprintf(page, "| %s | %s | %s | %s |\n", field->name ? field->name : "",
		access_text(field->access), field->meaning ? field->meaning : "",
		field->section ? field->section : "");
}

/* One heading for a row of registers that differ in name and number only. */
static void print_registers(FILE *page, const struct spmu_model *model)
{
	struct spmu_register first, last, next;
	bool more = spmu_register_at(model, 0, &first);
	size_t index = 1;

	fprintf(page, "## Registers\n");
	while (more) {
		last = first;
		while ((more = spmu_register_at(model, index, &next)) &&
		       next.fields == first.fields && next.reset == first.reset &&
		       next.msr == last.msr + 1) {
			last = next;
			index++;
		}
		fprintf(page, "\n### %s (%XH)", first.name, first.msr);
		if (last.msr != first.msr)
			fprintf(page, " to %s (%XH)", last.name, last.msr);
		fprintf(page, "\n\nSection %s; after reset %llXH.\n\n", first.section,
			(unsigned long long)first.reset);
		fprintf(page,
			"| bits | name | access | meaning | section |\n|---|---|---|---|---|\n");
		for (size_t f = 0; f < first.field_count; f++)
			print_field(page, &first.fields[f]);
		first = next;
		index++;
	}
}

/* A set of counters as "0-3". */
static void print_counters(FILE *page, uint32_t set)
{
	if (!set)
		fprintf(page, " |");
	else if (!(set & (set - 1)))
		fprintf(page, " %d |", __builtin_ctz(set));
	else
		fprintf(page, " %d-%d |", __builtin_ctz(set), 31 - __builtin_clz(set));
}

/* What the codes of a table are made of. */
static const char *code_text(const struct spmu_model *model)
{
	switch (spmu_model_describe(model).programming) {
	case SPMU_PROGRAM_CESR:
		return "Codes are event selects of the CESR.";
	case SPMU_PROGRAM_ESCR:
		return "Codes: the ESCR's event select in 5:0 and event mask in 31:16, the CCCR's "
		       "ESCR select in\n10:8, the block of counters (BPU, MS, FLAME, IQ) in 13:12.";
	default:
		return spmu_model_describe(model).perfmon_version < 6
			       ? "Codes: event select in 7:0, unit mask in 15:8."
			       : "Codes: event select in 7:0, unit mask in 15:8, unit mask 2 in "
				 "47:40.";
	}
}

static void print_events(FILE *page, const struct spmu_model *model)
{
	fprintf(page,
		"\n## Events\n\n"
		"Fidelity is that of a host that reports what execution shows.  PEBS: the general "
		"counters on which the event is precise.\n%s\n\n"
		"| code | name | fidelity | counters | PEBS | fixed | address | meaning | section "
		"|\n"
		"|---|---|---|---|---|---|---|---|---|\n",
		code_text(model));
	for (size_t i = 0; i < spmu_event_count(model); i++) {
		const struct spmu_event *event = spmu_event_at(model, i);

		fprintf(page, "| %04" PRIX64 "H | %s | %s |", event->code, event->name,
			fidelity_text(event));
		print_counters(page, event->counters);
		print_counters(page, event->pebs_counters);
		if (event->fixed >= 0)
			fprintf(page, " %d |", event->fixed);
		else
			fprintf(page, " |");
		fprintf(page, " %s | %s | %s |\n", event->data_address ? "yes" : "",
			event->description, event->section);
	}
}

static bool write_page(const char *folder, size_t index)
{
	const struct spmu_model *model = spmu_model_at(index);
	struct spmu_model_info info = spmu_model_describe(model);
	char path[PATH_BYTES];
	FILE *page;
	bool good;

	if (snprintf(path, sizeof(path), "%s/%s.md", folder, info.name) >= (int)sizeof(path))
		return false;
	page = fopen(path, "w");
	if (!page)
		return false;
	fprintf(page,
		"<!-- SPDX-License-Identifier: MIT -->\n"
		"<!-- Made by `make docs` from the lists in data/; do not edit. -->\n# %s\n\n",
		info.name);
	for (size_t i = index; i < spmu_model_count(); i++) {
		if (same_lists(model, spmu_model_at(i)))
			fprintf(page, "- `%s`: %s\n", spmu_model_describe(spmu_model_at(i)).name,
				spmu_model_describe(spmu_model_at(i)).title);
	}
	fprintf(page, "\nSections are those of Intel's manual.\n\n");
	print_registers(page, model);
	print_events(page, model);
	good = !ferror(page);
	return !fclose(page) && good;
}

/* The row of a facility; `count` when there is none. */
static unsigned facility_row(const char *const *rows, unsigned count, const char *name)
{
	unsigned row = 0;

	while (row < count && strcmp(rows[row], name) != 0)
		row++;
	return row;
}

/* Collects every facility of every model once, in the order of the model that has it. */
static unsigned collect_facilities(const char *rows[FACILITIES_MAX])
{
	unsigned count = 0;

	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_facility *f = spmu_model_facilities(spmu_model_at(m));
		unsigned at = 0;

		for (; f->facility && count < FACILITIES_MAX; f++) {
			unsigned row = facility_row(rows, count, f->facility);

			if (row == count) {
				memmove(&rows[at + 1], &rows[at], (count - at) * sizeof(rows[0]));
				rows[at] = f->facility;
				row = at;
				count++;
			}
			at = row + 1;
		}
	}
	return count;
}

static const struct spmu_facility *find_facility(const struct spmu_model *model, const char *name)
{
	const struct spmu_facility *f = spmu_model_facilities(model);

	while (f->facility && strcmp(f->facility, name) != 0)
		f++;
	return f->facility ? f : NULL;
}

/* Models with one list of facilities are one column. */
static bool first_of_facilities(size_t index)
{
	for (size_t m = 0; m < index; m++)
		if (spmu_model_facilities(spmu_model_at(m)) ==
		    spmu_model_facilities(spmu_model_at(index)))
			return false;
	return true;
}

static void print_facilities(FILE *page, const char *const *rows, unsigned count)
{
	fprintf(page, "| facility |");
	for (size_t m = 0; m < spmu_model_count(); m++)
		if (first_of_facilities(m))
			fprintf(page, " %s |", spmu_model_describe(spmu_model_at(m)).name);
	fprintf(page, "\n|---|");
	for (size_t m = 0; m < spmu_model_count(); m++)
		if (first_of_facilities(m))
			fprintf(page, "---|");
	for (unsigned r = 0; r < count; r++) {
		fprintf(page, "\n| %s |", rows[r]);
		for (size_t m = 0; m < spmu_model_count(); m++) {
			const struct spmu_facility *f = find_facility(spmu_model_at(m), rows[r]);

			if (!first_of_facilities(m))
				continue;
			if (f)
				fprintf(page, " %.*s, %s |", (int)strcspn(f->state, ":"), f->state,
					f->section);
			else
				fprintf(page, " |");
		}
	}
	fprintf(page, "\n");
}

/* What is missing of partial facilities, each wording once. */
static void print_partial(FILE *page, const char *const *rows, unsigned count)
{
	fprintf(page, "\n## What is partial\n\n");
	for (unsigned r = 0; r < count; r++) {
		const char *said = NULL;

		for (size_t m = 0; m < spmu_model_count(); m++) {
			const struct spmu_facility *f = find_facility(spmu_model_at(m), rows[r]);

			if (!f || strncmp(f->state, "partial: ", 9) || !first_of_facilities(m))
				continue;
			if (!said || strcmp(said, f->state) != 0)
				fprintf(page, "%s- %s: %s: %s", said ? "\n" : "", rows[r],
					f->state + 9, spmu_model_describe(spmu_model_at(m)).name);
			else
				fprintf(page, ", %s", spmu_model_describe(spmu_model_at(m)).name);
			said = f->state;
		}
		if (said)
			fprintf(page, "\n");
	}
}

/* Models share an erratum by its address; its row is where the first of them has it. */
static bool has_erratum(const struct spmu_model *model, const struct spmu_erratum *erratum)
{
	for (size_t i = 0; i < spmu_erratum_count(model); i++)
		if (spmu_erratum_at(model, i) == erratum)
			return true;
	return false;
}

static void print_erratum(FILE *page, size_t first, const struct spmu_erratum *erratum)
{
	static const char *const states[] = {
		[SPMU_ERRATUM_ABSENT] = "absent",
		[SPMU_ERRATUM_SWITCHED] = "switched",
		[SPMU_ERRATUM_ALWAYS] = "always",
	};

	for (size_t m = 0; m < first; m++)
		if (has_erratum(spmu_model_at(m), erratum))
			return;
	fprintf(page, "| %s | %s | ", erratum->name, erratum->number);
	for (size_t m = first; m < spmu_model_count(); m++)
		if (has_erratum(spmu_model_at(m), erratum))
			fprintf(page, "%s%s", m > first ? ", " : "",
				spmu_model_describe(spmu_model_at(m)).name);
	fprintf(page, " | %s | %s |\n", erratum->effect, states[erratum->state]);
}

static void print_errata(FILE *page)
{
	fprintf(page,
		"\n## Errata\n\n"
		"Switched: the model does as the parts do when `spmu_core_config.errata` says "
		"so, else as the\nmanual has it.  Always: CPUID reports it as the parts do, in "
		"any case.\n\n"
		"| name | number | models | what the parts do | state |\n"
		"|---|---|---|---|---|\n");
	for (size_t m = 0; m < spmu_model_count(); m++)
		for (size_t i = 0; i < spmu_erratum_count(spmu_model_at(m)); i++)
			print_erratum(page, m, spmu_erratum_at(spmu_model_at(m), i));
}

static bool write_facilities(const char *folder)
{
	const char *rows[FACILITIES_MAX];
	unsigned count = collect_facilities(rows);
	char path[PATH_BYTES];
	FILE *page;
	bool good;

	if (snprintf(path, sizeof(path), "%s/facilities.md", folder) >= (int)sizeof(path))
		return false;
	page = fopen(path, "w");
	if (!page)
		return false;
	fprintf(page, "<!-- SPDX-License-Identifier: MIT -->\n"
		      "<!-- Made by `make docs` from the lists in data/; do not edit. -->\n"
		      "# What is done of each family\n\n"
		      "State and section of Intel's manual (Vol. 3B unless another is named); an "
		      "empty cell: the\nfamily has no such facility.  A column is for all models "
		      "that share its facilities:\n\n");
	for (size_t m = 0; m < spmu_model_count(); m++) {
		if (!first_of_facilities(m))
			continue;
		fprintf(page, "- `%s`", spmu_model_describe(spmu_model_at(m)).name);
		for (size_t n = m + 1; n < spmu_model_count(); n++)
			if (spmu_model_facilities(spmu_model_at(n)) ==
			    spmu_model_facilities(spmu_model_at(m)))
				fprintf(page, ", `%s`", spmu_model_describe(spmu_model_at(n)).name);
		fprintf(page, "\n");
	}
	fprintf(page, "\n");
	print_facilities(page, rows, count);
	print_partial(page, rows, count);
	print_errata(page);
	good = !ferror(page) && count < FACILITIES_MAX;
	return !fclose(page) && good;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: reference FOLDER\n");
		return 2;
	}
	for (size_t i = 0; i < spmu_model_count(); i++) {
		size_t first = 0;

		while (!same_lists(spmu_model_at(first), spmu_model_at(i)))
			first++;
		if (first == i && !write_page(argv[1], i)) {
			fprintf(stderr, "reference: cannot write below %s\n", argv[1]);
			return 1;
		}
	}
	if (!write_facilities(argv[1])) {
		fprintf(stderr, "reference: cannot write facilities.md below %s\n", argv[1]);
		return 1;
	}
	return 0;
}
