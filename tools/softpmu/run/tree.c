/* SPDX-License-Identifier: MIT */
/*
 * tree.c: the files by which perf, libpfm4 and PAPI find out which unit the machine has: the PMU
 * `cpu` of /sys/bus/event_source/devices as Linux's driver shows it, perf_event_paranoid, and the
 * model in /proc/cpuinfo.  The engine redirects paths to them (engine/linux/redirect.c).
 *
 *	devices/cpu/type, format/, events/, caps/	the unit
 *	devices/NAME					other PMUs: links to the machine's own
 *	perf_event_paranoid				2: what counts the kernel is refused
 *	cpuinfo						the machine's, with vendor and model
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hosts/user/launch.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/events/event_names.h"
#include "tools/softpmu/run/tree.h"

#define DEVICES "/sys/bus/event_source/devices"

/* Writes a file of the folder.  Returns false if it cannot. */
static bool put(const char *tree, const char *name, const char *text)
{
	char *path = tool_print("%s/%s", tree, name);
	FILE *file = fopen(path, "we");
	bool good = file && fputs(text, file) >= 0;

	if (file && fclose(file))
		good = false;
	free(path);
	return good;
}

static bool make_folder(const char *tree, const char *name)
{
	char *path = tool_print("%s/%s", tree, name);
	bool good = !mkdir(path, S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH);

	free(path);
	return good;
}

static bool put_field(const char *tree, const char *field, const char *bits)
{
	char *name = tool_print("devices/cpu/format/%s", field);
	bool good = put(tree, name, bits);

	free(name);
	return good;
}

/* Returns true if event selects of the model have unit mask 2. */
static bool has_second_mask(const struct spmu_model *model)
{
	for (size_t i = 0; i < spmu_event_count(model); i++)
		if (spmu_event_at(model, i)->code >> 40)
			return true;
	return false;
}

/* The fields of config, as far as the unit has them (Vol. 3B 18.2.1.1). */
static bool put_format(const char *tree, const struct spmu_model *model)
{
	static const struct {
		const char *name, *bits;
	} fields[] = {
		{"event", "config:0-7\n"},
		{"edge", "config:18\n"},
		{"inv", "config:23\n"},
		{"cmask", "config:24-31\n"},
	};
	struct event_code code;
	bool good = make_folder(tree, "devices/cpu/format");

	for (size_t i = 0; good && i < sizeof(fields) / sizeof(fields[0]); i++)
		good = put_field(tree, fields[i].name, fields[i].bits);
	if (good)
		good = put_field(tree, "umask",
				 has_second_mask(model) ? "config:8-15,40-47\n" : "config:8-15\n");
	if (good && event_names_find(model, "mem-loads", &code))
		good = put_field(tree, "ldlat", "config1:0-15\n");
	if (good && event_names_find(model, "offcore_response_0", &code) && code.row &&
	    code.row->tally == SPMU_TALLY_OFFCORE)
		good = put_field(tree, "offcore_rsp", "config1:0-63\n");
	return good;
}

/* Writes the file of an event that is supplied.  `more`: further terms. */
static bool put_event(const char *tree, const char *event, const struct spmu_event *row,
		      uint64_t code, const char *more)
{
	/* Unit mask 2 is above the unit mask, as in the format of the term. */
	unsigned umask = (code >> 8 & 0xff) | (code >> 40 & 0xff) << 8;
	unsigned select = code & 0xff;
	char *name, *text;
	bool good;

	if (!row || spmu_event_fidelity(row, &launch_supply) == SPMU_ABSENT)
		return true;
	name = tool_print("devices/cpu/events/%s", event);
	if (umask)
		text = tool_print("event=0x%02x,umask=0x%02x%s\n", select, umask, more);
	else
		text = tool_print("event=0x%02x%s\n", select, more);
	good = put(tree, name, text);
	free(name);
	free(text);
	return good;
}

/* The events of perf mem and perf c2c. */
static bool put_memory_events(const char *tree, const struct spmu_model *model)
{
	static const char *const names[] = {"mem-loads", "mem-stores"};
	static const char *const terms[] = {",ldlat=3", ""};
	struct event_code code;
	bool good = true;

	for (size_t i = 0; good && i < sizeof(names) / sizeof(names[0]); i++)
		if (event_names_find(model, names[i], &code))
			good = put_event(tree, names[i], code.row, code.row->code, terms[i]);
	return good;
}

/* Linux's names of generic events that are supplied. */
static bool put_events(const char *tree, const struct spmu_model *model)
{
	static const char *const names[] = {
		"cpu-cycles",	       "instructions",	"cache-references", "cache-misses",
		"branch-instructions", "branch-misses", "bus-cycles",	    "ref-cycles"};
	const struct spmu_event *row;
	bool good = make_folder(tree, "devices/cpu/events");
	const char *generic;
	uint64_t code;

	for (size_t i = 0; good && (generic = event_names_generic(model, i, &row, &code)); i++)
		for (size_t k = 0; good && k < sizeof(names) / sizeof(names[0]); k++)
			if (!strcmp(names[k], generic))
				good = put_event(tree, generic, row, code, "");
	return good && put_memory_events(tree, model);
}

static bool put_unit(const char *tree, const struct spmu_model *model)
{
	char *name = tool_print("%s\n", spmu_model_describe(model).name);
	bool good = make_folder(tree, "devices") && make_folder(tree, "devices/cpu") &&
		    put(tree, "devices/cpu/type", "4\n") && put(tree, "devices/cpu/rdpmc", "1\n") &&
		    put_format(tree, model) && put_events(tree, model) &&
		    make_folder(tree, "devices/cpu/caps") &&
		    put(tree, "devices/cpu/caps/pmu_name", name) &&
		    put(tree, "devices/cpu/caps/max_precise", "0\n");

	free(name);
	return good;
}

/* The PMUs of the machine that are not the processor's core. */
static void link_others(const char *tree)
{
	DIR *folder = opendir(DEVICES);
	const struct dirent *entry;

	while (folder && (entry = readdir(folder))) {
		char *from = tool_print("%s/devices/%s", tree, entry->d_name);
		char *to = tool_print(DEVICES "/%s", entry->d_name);

		/* Those of hybrid processors are "cpu_core" and "cpu_atom". */
		if (entry->d_name[0] != '.' && strncmp(entry->d_name, "cpu", 3) != 0 &&
		    strcmp(entry->d_name, "intel_bts") && strcmp(entry->d_name, "intel_pt") &&
		    symlink(to, from))
			tool_error("cannot make %s: %s", from, strerror(errno));
		free(from);
		free(to);
	}
	if (folder)
		closedir(folder);
}

/* --- /proc/cpuinfo --- */

/* Family, model and stepping of CPUID.01H:EAX (Vol. 2A). */
static void put_cpu_line(FILE *to, const struct spmu_model_info *info, const char *line)
{
	const uint32_t signature = info->signature;
	unsigned family = signature >> 8 & 0xf, model = signature >> 4 & 0xf;

	if (family == 6 || family == 15)
		model |= signature >> 12 & 0xf0;
	if (family == 15)
		family += signature >> 20 & 0xff;
	if (!strncmp(line, "vendor_id\t", 10))
		fputs("vendor_id\t: GenuineIntel\n", to);
	else if (!strncmp(line, "cpu family\t", 11))
		fprintf(to, "cpu family\t: %u\n", family);
	else if (!strncmp(line, "model\t", 6))
		fprintf(to, "model\t\t: %u\n", model);
	else if (!strncmp(line, "model name\t", 11))
		fprintf(to, "model name\t: softpmu %s: %s\n", info->name, info->title);
	else if (!strncmp(line, "stepping\t", 9))
		fprintf(to, "stepping\t: %u\n", signature & 0xf);
	else
		fputs(line, to);
}

static bool put_cpuinfo(const char *tree, const struct spmu_model *model)
{
	const struct spmu_model_info info = spmu_model_describe(model);
	char *path = tool_print("%s/cpuinfo", tree), *line = NULL;
	FILE *from = fopen("/proc/cpuinfo", "re"), *to = fopen(path, "we");
	size_t bytes = 0;
	bool good = from && to;

	while (good && getline(&line, &bytes, from) > 0)
		put_cpu_line(to, &info, line);
	if (from)
		fclose(from);
	if (to && fclose(to))
		good = false;
	free(line);
	free(path);
	return good;
}

char *tree_make(const struct spmu_model *model, bool identity)
{
	const char *base = getenv("TMPDIR");
	char *tree = tool_print("%s/softpmu-run.XXXXXX", base && *base == '/' ? base : "/tmp");

	if (!mkdtemp(tree)) {
		tool_error("cannot make a folder %s: %s", tree, strerror(errno));
		free(tree);
		return NULL;
	}
	/* Other users of the run look at it, too. */
	if (!chmod(tree, S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH) &&
	    put_unit(tree, model) && put(tree, "perf_event_paranoid", "2\n") &&
	    (!identity || put_cpuinfo(tree, model))) {
		link_others(tree);
		return tree;
	}
	tool_error("cannot write to %s: %s", tree, strerror(errno));
	tree_remove(tree);
	free(tree);
	return NULL;
}

static int remove_one(const char *path, const struct stat *stat, int what, struct FTW *ftw)
{
	(void)stat;
	(void)what;
	(void)ftw;
	return remove(path);
}

void tree_remove(const char *tree)
{
	if (tree && nftw(tree, remove_one, 8, FTW_DEPTH | FTW_PHYS))
		tool_error("cannot remove %s: %s", tree, strerror(errno));
}
