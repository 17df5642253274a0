/* SPDX-License-Identifier: MIT */
/*
 * run.c: run scenario files (README.md has the language).
 *
 * Each scenario of a file runs on each model that the file names.  These are failures: a word that
 * the language does not have, an unknown model, a scenario without an expectation, and a file
 * without a scenario.
 */
#include "scenario.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tests/supply.h"

#define MODELS_MAX 48u
#define LINES_MAX  600u
#define LINE_BYTES 256u

struct file {
	const char *name;
	char text[LINES_MAX][LINE_BYTES];
	unsigned lines;
	const struct family *model[MODELS_MAX];
	unsigned models;
	bool section;
	unsigned passed, failed;
};

bool scenario_check(struct scenario *s, bool good, const char *form, ...)
{
	va_list list;

	if (good) {
		s->passed++;
		return true;
	}
	s->failed++;
	printf("%s:%u: %s: ", s->file, s->line, s->family ? s->family->model : "?");
	va_start(list, form);
	vprintf(form, list);
	va_end(list);
	putchar('\n');
	return false;
}

bool scenario_refuse(struct scenario *s, const char *what, const char *word)
{
	return scenario_check(s, false, "no such %s %s", what, word);
}

static bool refuse_file(struct file *file, unsigned line, const char *what, const char *word)
{
	printf("%s:%u: %s %s\n", file->name, line, what, word);
	file->failed++;
	return false;
}

static void split(char *text, struct line *line)
{
	char *save = NULL;

	text[strcspn(text, "#\n")] = 0;
	line->count = 0;
	for (char *word = strtok_r(text, " \t", &save); word && line->count < SCENARIO_WORDS;
	     word = strtok_r(NULL, " \t", &save))
		line->word[line->count++] = word;
}

/* Groups of models. Those from before version 1 have groups of their own. */
static bool in_group(const struct family *f, const char *group, bool *known)
{
	const struct {
		const char *name;
		bool in;
	} groups[] = {
		{"all", true},
		{"v1", f->version == 1},
		{"v2", f->version == 2},
		{"v3", f->version == 3},
		{"v4", f->version == 4},
		{"v5", f->version == 5},
		{"v2+", f->version >= 2},
		{"v4+", f->version >= 4},
		{"v2-v3", f->version == 2 || f->version == 3},
		{"pebs", f->pebs_format >= 0},
		{"pebs-arming", f->pebs_format >= 0 && !f->skid_generals},
		{"pebs0", f->pebs_format == 0},
		{"pebs1", f->pebs_format == 1},
		{"pebs2", f->pebs_format == 2},
		{"pebs3", f->pebs_format == 3},
		{"pebs3-arming", f->pebs_format == 3 && !f->skid_generals},
		{"pebs4", f->pebs_format == 4 && !f->skid_generals},
		{"pebs0-2", f->pebs_format >= 0 && f->pebs_format <= 2},
		{"pebs0-3", f->pebs_format >= 0 && f->pebs_format <= 3},
		{"pebs1-3", f->pebs_format >= 1 && f->pebs_format <= 3},
		{"pebs-four", f->pebs_format >= 0 && (f->pebs_generals & 15) == 15},
		{"pebs-one", f->pebs_generals == 1},
		{"pebs-extended", f->extended_pebs},
		{"pebs-fixed", f->pebs_fixed != 0},
		{"pdir", f->pdir_generals != 0},
		{"pdir-fixed", f->pdir_fixed != 0},
		{"ht", f->any_thread && f->generals >= 4 && f->version >= 3 &&
			       strcmp(f->model, "goldmont")},
		{"ds", f->area != NULL},
		{"ds64", f->dtes64},
		{"lbr", f->lbr && !f->lbr->ctl},
		{"lbr-select", f->lbr && f->lbr->select},
		{"lbr-callstack", f->lbr && f->lbr->call_stack && !f->lbr->ctl},
		{"lbr-miss", f->lbr && f->lbr->format >= 3 && !f->lbr->ctl},
		{"lbr-cycles", f->lbr && f->lbr->format >= 5 && !f->lbr->ctl},
		{"lbr-v4+", f->lbr && !f->lbr->ctl && f->version >= 4},
		{"lbr-architectural", f->lbr && f->lbr->ctl},
		{"full-width", f->full_width},
		{"tsx", f->tsx},
	};
	const struct {
		const char *name;
		bool in;
	} legacy[] = {
		{"legacy", true},
		{"pentium", f->programming == BY_CESR},
		{"p6", f->enable_first},
		{"p6-debug", f->enable_first && !f->area},
		{"netburst", f->programming == BY_ESCRS},
		{"netburst-off", f->programming == BY_ESCRS && (f->debugctl & 0x600)},
	};

	for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
		if (!strcmp(groups[i].name, group)) {
			*known = true;
			return groups[i].in && f->version;
		}
	for (unsigned i = 0; i < sizeof(legacy) / sizeof(legacy[0]); i++)
		if (!strcmp(legacy[i].name, group)) {
			*known = true;
			return legacy[i].in && !f->version;
		}
	*known = false;
	return false;
}

static bool add_model(struct file *file, const struct family *family)
{
	for (unsigned i = 0; i < file->models; i++)
		if (file->model[i] == family)
			return true;
	if (file->models == MODELS_MAX)
		return false;
	file->model[file->models++] = family;
	return true;
}

/* models NAME... @GROUP...: a name that is not a model is refused. */
static bool take_models(struct file *file, unsigned number, const struct line *line)
{
	const struct family *family;

	for (unsigned i = 1; i < line->count; i++) {
		const char *word = line->word[i];
		bool known = false;

		if (word[0] != '@') {
			if (!(family = family_find(word)) || !spmu_model_find(word) ||
			    !add_model(file, family))
				return refuse_file(file, number, "no such model", word);
			continue;
		}
		for (unsigned k = 0; (family = family_at(k)); k++)
			if (in_group(family, word + 1, &known) && spmu_model_find(family->model))
				(void)add_model(file, family);
		if (!known)
			return refuse_file(file, number, "no such group of models", word);
	}
	return true;
}

/* Reads the lines before the first scenario: section, models. */
static bool take_head(struct file *file, unsigned *first)
{
	for (unsigned i = 0; i < file->lines; i++) {
		char text[LINE_BYTES];
		struct line line;

		memcpy(text, file->text[i], sizeof(text));
		split(text, &line);
		if (!line.count)
			continue;
		if (!strcmp(line.word[0], "section") && line.count > 1) {
			file->section = true;
		} else if (!strcmp(line.word[0], "models")) {
			if (!take_models(file, i + 1, &line))
				return false;
		} else if (!strcmp(line.word[0], "scenario")) {
			*first = i;
			if (!file->section)
				return refuse_file(file, i + 1, "no section of the manual", "");
			return file->models || refuse_file(file, i + 1, "no models", "");
		} else {
			return refuse_file(file, i + 1, "no such word", line.word[0]);
		}
	}
	return refuse_file(file, 1, "no scenario", "");
}

/* errata NAME: by its name or its number in the specification update. */
static bool take_erratum(struct scenario *s, const char *name)
{
	const struct spmu_erratum *erratum;

	for (size_t i = 0; (erratum = spmu_erratum_at(s->model, i)); i++)
		if (!strcmp(erratum->name, name) || !strcmp(erratum->number, name)) {
			s->errata |= UINT64_C(1) << i;
			return true;
		}
	return scenario_refuse(s, "erratum", name);
}

/* Lines that must come before the core is made. */
static bool is_setting(struct scenario *s, const struct line *line, bool *good)
{
	const char *word = line->word[0], *value = line->count > 1 ? line->word[1] : "";

	*good = true;
	if (!strcmp(word, "threads"))
		s->threads = !strcmp(value, "2") ? 2 : 1;
	else if (!strcmp(word, "ia32e"))
		s->ia32e = !strcmp(value, "on");
	else if (!strcmp(word, "supply"))
		s->supply = !strcmp(value, "all") ? supply_all() : supply_execution();
	else if (!strcmp(word, "hide_absent"))
		s->hide_absent = true;
	else if (!strcmp(word, "errata"))
		*good = take_erratum(s, value);
	else
		return false;
	if (s->core)
		*good = scenario_refuse(s, "setting after the first command:", word);
	return true;
}

static void finish(struct file *file, struct scenario *s, unsigned start)
{
	s->line = start + 1;
	if (!s->expectations)
		scenario_check(s, false, "a scenario that expects nothing");
	file->passed += s->passed;
	file->failed += s->failed;
	scenario_destroy(s);
}

/* "repeat N LINE": the line, N times. */
static bool run_line(struct scenario *s, struct line *line)
{
	uint64_t times = 1;

	if (!strcmp(line->word[0], "repeat")) {
		if (line->count < 3 || !scenario_value(s, line->word[1], &times))
			return scenario_refuse(s, "repeat N LINE, not", line->word[0]);
		memmove(line->word, line->word + 2, sizeof(line->word) - 2 * sizeof(line->word[0]));
		line->count -= 2;
	}
	if (!times || times > 100000)
		return scenario_refuse(s, "number of", "repeats");
	for (; times; times--)
		if (!(!strcmp(line->word[0], "expect") ? scenario_expect(s, line)
						       : scenario_command(s, line)))
			return false;
	return true;
}

/* One scenario on one model, from the line after its head to the next head. */
static unsigned run_scenario(struct file *file, unsigned start, const struct family *family)
{
	static struct scenario s;
	bool good = true;
	unsigned i;

	memset(&s, 0, sizeof(s));
	s.file = file->name;
	s.family = family;
	s.model = spmu_model_find(family->model);
	s.threads = 1;
	s.ia32e = true;
	s.cpl = 3;
	s.ip = 0x401000;
	s.supply = supply_all();
	for (i = start + 1; i < file->lines; i++) {
		char text[LINE_BYTES];
		struct line line;
		bool set;

		memcpy(text, file->text[i], sizeof(text));
		split(text, &line);
		s.line = i + 1;
		if (!line.count)
			continue;
		if (!strcmp(line.word[0], "scenario"))
			break;
		if (!good)
			continue;
		if (is_setting(&s, &line, &set)) {
			good = set;
			continue;
		}
		good = scenario_create(&s) && run_line(&s, &line);
	}
	finish(file, &s, start);
	return i;
}

static bool load(struct file *file)
{
	FILE *stream = fopen(file->name, "r");

	if (!stream)
		return refuse_file(file, 0, "cannot be read", "");
	while (file->lines < LINES_MAX && fgets(file->text[file->lines], LINE_BYTES, stream)) {
		if (!strchr(file->text[file->lines], '\n')) {
			fclose(stream);
			return refuse_file(file, file->lines + 1, "line too long", "");
		}
		file->lines++;
	}
	fclose(stream);
	return file->lines < LINES_MAX || refuse_file(file, LINES_MAX, "file too long", "");
}

/* Prints the counts of the scenario in line `start`, for tests/conformance. */
static void print_case(const struct file *file, unsigned start, unsigned passed, unsigned failed)
{
	const char *title = file->text[start] + strlen("scenario");

	title += strspn(title, " \t");
	printf("case %.*s: %u passed, %u failed\n", (int)strcspn(title, "#\n"), title,
	       file->passed - passed, file->failed - failed);
}

static void run_file(struct file *file)
{
	unsigned first = 0, scenarios = 0;

	if (!load(file) || !take_head(file, &first))
		return;
	for (unsigned i = first; i < file->lines; scenarios++) {
		unsigned next = i, passed = file->passed, failed = file->failed;

		for (unsigned m = 0; m < file->models; m++)
			next = run_scenario(file, i, file->model[m]);
		print_case(file, i, passed, failed);
		i = next;
	}
	printf("%-44s %2u scenarios, %2u models, %4u passed, %u failed\n", file->name, scenarios,
	       file->models, file->passed, file->failed);
}

/* Groups skip a family that is no model. So none may be missing on either side. */
static unsigned missing_models(unsigned *passed)
{
	const struct family *family;
	unsigned missing = 0;

	for (unsigned i = 0; (family = family_at(i)); i++, ++*passed)
		if (!spmu_model_find(family->model)) {
			printf("family.c: %s is not a model\n", family->model);
			missing++;
		}
	for (size_t i = 0; i < spmu_model_count(); i++, ++*passed) {
		const char *name = spmu_model_describe(spmu_model_at(i)).name;

		if (!family_find(name)) {
			printf("family.c: the model %s is not there\n", name);
			missing++;
		}
	}
	*passed -= missing;
	return missing;
}

int main(int argc, char **argv)
{
	static struct file file;
	unsigned passed = 0, failed = missing_models(&passed);

	for (int i = 1; i < argc; i++) {
		memset(&file, 0, sizeof(file));
		file.name = argv[i];
		run_file(&file);
		passed += file.passed;
		failed += file.failed;
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
