/* SPDX-License-Identifier: MIT */
/* stat_output.c: the file that stat prints to. */
#include "tools/softpmu/counts/stat_output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/counts/stat_print.h"

#define HEADING_EVERY 25 /* intervals, as with perf */

static void say_failure(const struct stat_output *output)
{
	if (output->path)
		tool_error("cannot write %s: %s", output->path, strerror(errno));
	else
		tool_error("cannot write to file descriptor %d: %s", output->fd, strerror(errno));
}

static bool open_descriptor(struct stat_output *output)
{
	int copy = fcntl(output->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

	output->file = copy < 0 ? NULL : fdopen(copy, "a");
	if (!output->file)
		say_failure(output);
	return output->file;
}

bool stat_output_open(struct stat_output *output)
{
	output->file = stderr;
	if (output->fd >= 0)
		return open_descriptor(output);
	if (!output->path)
		return true;
	output->created = access(output->path, F_OK) != 0;
	output->file = fopen(output->path, "ae");
	if (!output->file)
		say_failure(output);
	return output->file;
}

static void empty(const struct stat_output *output)
{
	struct stat status;

	if (output->path && !output->append && !fstat(fileno(output->file), &status) &&
	    S_ISREG(status.st_mode) && ftruncate(fileno(output->file), 0))
		tool_error("cannot empty %s: %s", output->path, strerror(errno));
}

static void print_counts(const struct stat_output *output, const struct stat_table *table)
{
	if (output->json)
		stat_print_json(table, output->file);
	else if (output->separator)
		stat_print_fields(table, output->separator, output->file);
	else if (table->until_ns)
		stat_print_interval(table, output->file);
	else
		stat_print_text(table, output->path, output->file);
}

void stat_output_interval(const struct stat_output *output, const struct stat_table *table,
			  uint64_t before)
{
	if (!before)
		empty(output);
	if (before % HEADING_EVERY == 0 && !output->json && !output->separator)
		fputs("#           time             counts unit events\n", output->file);
	print_counts(output, table);
	fflush(output->file);
}

void stat_output_print(const struct stat_output *output, const struct stat_table *table,
		       const struct stat_sweep *sweep)
{
	FILE *file = output->file;

	empty(output);
	if (sweep)
		output->separator ? stat_sweep_print_fields(sweep, output->separator, file)
				  : stat_sweep_print(sweep, file);
	else
		print_counts(output, table);
}

bool stat_output_close(struct stat_output *output, uint64_t runs)
{
	bool bad = fflush(output->file) || ferror(output->file);

	/* If standard error cannot take the counts, it cannot take a message either. */
	if (output->file == stderr)
		return !bad;
	if (fclose(output->file) || bad) {
		say_failure(output);
		bad = true;
	}
	if (output->created && !runs)
		unlink(output->path);
	return !bad;
}
