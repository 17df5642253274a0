/* SPDX-License-Identifier: MIT */
/*
 * baseline.c: compares counts with those of an earlier run, as `stat -j` wrote them.
 *
 * A file has the lines of one or more benchmarks.  Each benchmark has its own label; at most one
 * has none.  A line names the program, the model and softpmu's version.  If it does not (perf's own
 * `stat -j`, softpmu before 0.1.0), that is not checked.  A count that only one side has is an
 * error in setting up the comparison, and not a change of 0: it is refused.
 */
#define _GNU_SOURCE
#include "tools/softpmu/counts/baseline.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/counts/baseline_line.h"

bool baseline_threshold_parse(const char *text, struct stat_threshold *threshold)
{
	char *end;

	threshold->only_more = *text == '+';
	text += threshold->only_more;
	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	threshold->percent = strtod(text, &end);
	if (*end == '%')
		end++;
	return !*end && isfinite(threshold->percent);
}

/* --- reading ------------------------------------------------------------------------------- */

/* The state of reading a file. */
struct reading {
	struct stat_table *table;
	const char *path;
	char *others;	  /* labels of other benchmarks, for a message */
	char *last_label; /* the last one of them */
	bool found;
	bool unlabelled; /* there are lines without a label */
};

/* Reads the count of a line.  Returns false if it has none: "<not supported>". */
static bool number_of(const struct baseline_line *line, double *number)
{
	char *end;

	if (!isdigit((unsigned char)line->value[0]))
		return false;
	*number = strtod(line->value, &end);
	return !*end && isfinite(*number);
}

static bool same_label(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Returns the command without the folder of its program, which may have been built elsewhere. */
static const char *without_folder(const char *command)
{
	size_t word = strcspn(command, " ");
	const char *slash = memrchr(command, '/', word);

	return slash ? slash + 1 : command;
}

bool baseline_is_same_command(const char *one, const char *other)
{
	return !strcmp(without_folder(one), without_folder(other));
}

/* Returns true if the command is the one of this run.  With a label only the program must be the
 * same, because the label says which benchmark is meant. */
static bool same_program(const struct stat_table *table, const char *command)
{
	const char *now = without_folder(table->command), *then = without_folder(command);
	size_t length = strcspn(now, " ");

	if (!table->label)
		return baseline_is_same_command(table->command, command);
	return strcspn(then, " ") == length && !strncmp(now, then, length);
}

static bool is_of_this_run(const struct stat_table *table, const char *path,
			   const struct baseline_line *line)
{
	const char *model = spmu_model_describe(table->model).name;

	if (line->model && strcmp(line->model, model)) {
		tool_error("%s: its counts are of the model '%s', not of %s", path, line->model,
			   model);
		return false;
	}
	if (line->command && !same_program(table, line->command)) {
		tool_error("%s: its counts are of the program '%s', not of '%s'", path,
			   line->command, table->command);
		return false;
	}
	return true;
}

/* Remembers the label of another benchmark. */
static void note_other(struct reading *reading, const char *label)
{
	char *longer;

	if (!label) {
		reading->unlabelled = true;
		return;
	}
	if (reading->last_label && !strcmp(reading->last_label, label))
		return;
	free(reading->last_label);
	reading->last_label = tool_copy(label);
	longer = tool_print("%s%s%s", reading->others ? reading->others : "",
			    reading->others ? ", " : "", label);
	free(reading->others);
	reading->others = longer;
}

/* Gives the count of a line to every event of that name. */
static bool take_line(struct reading *reading, const struct baseline_line *line)
{
	struct stat_table *table = reading->table;
	double number;

	if (!same_label(line->label, table->label)) {
		note_other(reading, line->label);
		return true;
	}
	reading->found = true;
	if (!is_of_this_run(table, reading->path, line))
		return false;
	if (line->version && !table->baseline_version)
		table->baseline_version = tool_copy(line->version);
	for (size_t i = 0; i < table->events.count; i++) {
		struct stat_count *count = &table->counts[i];

		if (strcmp(table->events.event[i].name, line->event))
			continue;
		count->has_baseline = number_of(line, &number);
		if (count->has_baseline)
			count->baseline = number;
	}
	return true;
}

/* Returns true if exactly the events with a count have a baseline, and there is one at all. */
static bool is_complete(const struct stat_table *table, const char *path)
{
	bool some = false;

	for (size_t i = 0; i < table->events.count; i++) {
		const struct event *event = &table->events.event[i];
		bool counted = event->fidelity != SPMU_ABSENT;
		bool known = table->counts[i].has_baseline;

		some |= known;
		if (counted == known)
			continue;
		if (known)
			tool_error("%s: has a count of '%s', which is absent now", path,
				   event->name);
		else
			tool_error("%s: has no count of '%s'", path, event->name);
		return false;
	}
	if (!some)
		tool_error("%s: there is nothing to compare: all events are absent", path);
	return some;
}

/* Returns true if the file has the benchmark.  Otherwise says what it has. */
static bool is_there(const struct reading *reading)
{
	const char *label = reading->table->label;

	if (reading->found)
		return true;
	if (label && reading->others)
		tool_error("%s: has no benchmark '%s'; it has %s", reading->path, label,
			   reading->others);
	else if (label && reading->unlabelled)
		tool_error("%s: has no benchmark '%s'; its counts were written without --label",
			   reading->path, label);
	else if (reading->others)
		tool_error("%s: choose one of its benchmarks with --label: %s", reading->path,
			   reading->others);
	else
		tool_error("%s: there are no counts in it", reading->path);
	return false;
}

typedef bool line_sink(void *opaque, const char *text, const struct baseline_line *line);

/* Passes each line of the file to the sink, until that returns false. */
static bool read_lines(const char *path, FILE *file, line_sink *sink, void *opaque)
{
	struct baseline_line line = {0};
	char *text = NULL;
	size_t room = 0, number = 0;
	bool good = true;

	errno = 0;
	while (good && getline(&text, &room, file) >= 0) {
		number++;
		if (!*baseline_line_skip_blanks(text))
			continue;
		good = baseline_line_parse(text, &line);
		if (!good)
			tool_error("%s:%zu: not a line of 'softpmu stat -j'", path, number);
		else
			good = sink(opaque, text, &line);
		baseline_line_forget(&line);
	}
	if (good && ferror(file)) {
		tool_error("cannot read %s: %s", path, strerror(errno));
		good = false;
	}
	free(text);
	return good;
}

static bool take_for_table(void *opaque, const char *text, const struct baseline_line *line)
{
	(void)text;
	return line->region || take_line(opaque, line); /* regions are not compared */
}

bool baseline_read(struct stat_table *table, const char *path)
{
	struct reading reading = {.table = table, .path = path};
	FILE *file = fopen(path, "re");
	bool good;

	if (!file) {
		tool_error("cannot read %s: %s", path, strerror(errno));
		return false;
	}
	good = read_lines(path, file, take_for_table, &reading) && is_there(&reading);
	fclose(file);
	free(reading.others);
	free(reading.last_label);
	table->baseline = path;
	return good && is_complete(table, path);
}

/* --- writing ------------------------------------------------------------------------------- */

static bool cannot_write(const char *path, int error)
{
	tool_error("cannot write %s: %s", path, strerror(error));
	return false;
}

/* Copies the lines of other benchmarks. */
struct keeping {
	const char *label;
	FILE *to; /* NULL: only check that the file can be read */
};

static bool keep_line(void *opaque, const char *text, const struct baseline_line *line)
{
	const struct keeping *keeping = opaque;
	size_t length = strcspn(text, "\n");

	if (keeping->to && !same_label(line->label, keeping->label))
		fprintf(keeping->to, "%.*s\n", (int)length, text);
	return true;
}

static bool keep_others(const char *path, struct keeping *keeping)
{
	FILE *file = fopen(path, "re");
	bool good;

	if (!file && errno == ENOENT)
		return true;
	if (!file)
		return cannot_write(path, errno);
	good = read_lines(path, file, keep_line, keeping);
	fclose(file);
	return good;
}

/* Names the file that a link leads to, and the new file next to it that is written first. */
static void name_files(const char *given, char **path, char **new_path)
{
	char *real = realpath(given, NULL);

	*path = tool_copy(real ? real : given);
	*new_path = tool_print("%s.new", *path);
	free(real);
}

/* Opens the new file, empty and locked against other runs.  Returns -1 with errno. */
static int open_locked(const char *new_path)
{
	for (;;) {
		struct stat ours, there;
		int fd = open(new_path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

		if (fd < 0)
			return -1;
		/* The last owner of the lock may have renamed or removed the file. */
		if (!flock(fd, LOCK_EX) && !fstat(fd, &ours) && !stat(new_path, &there) &&
		    ours.st_ino == there.st_ino && ours.st_dev == there.st_dev && !ftruncate(fd, 0))
			return fd;
		close(fd);
	}
}

bool baseline_can_write(const struct stat_table *table, const char *given)
{
	struct keeping nothing = {.label = table->label};
	struct stat status;
	char *path, *new_path;
	bool good = true;
	int fd = -1;

	name_files(given, &path, &new_path);
	if (!stat(path, &status) && !S_ISREG(status.st_mode)) {
		tool_error("cannot write %s: not a regular file", given);
		good = false;
	}
	if (good) {
		fd = open_locked(new_path);
		good = fd >= 0 || cannot_write(given, errno);
	}
	if (good) {
		good = keep_others(path, &nothing);
		unlink(new_path);
		close(fd);
	}
	free(path);
	free(new_path);
	return good;
}

bool baseline_write(const struct stat_table *table, const char *given)
{
	char *path, *new_path;
	struct keeping keeping = {.label = table->label};
	bool good;
	int fd;

	name_files(given, &path, &new_path);
	fd = open_locked(new_path);
	keeping.to = fd >= 0 ? fdopen(fd, "w") : NULL;
	good = keeping.to || cannot_write(given, errno);
	if (good && keep_others(path, &keeping)) {
		stat_print_json(table, keeping.to);
		good = (!fflush(keeping.to) && !ferror(keeping.to) && !rename(new_path, path)) ||
		       cannot_write(given, errno);
	} else {
		good = false;
	}
	if (!good && keeping.to)
		unlink(new_path);
	if (keeping.to)
		fclose(keeping.to);
	free(path);
	free(new_path);
	return good;
}
