/* SPDX-License-Identifier: MIT */
/*
 * control.c: the arguments of -D, --timeout, -I and --control, in perf's syntax.  -D takes a
 * number of milliseconds or ranges FROM-TO[,FROM-TO]...; --control takes
 * fd:COMMANDS[,ACKNOWLEDGEMENTS] or fifo:COMMANDS[,ACKNOWLEDGEMENTS].
 */
#include "tools/softpmu/run/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

static void give(struct control_options *control)
{
	if (!control->given)
		control->launch = (struct launch_control){.command_fd = -1, .acknowledge_fd = -1};
	control->given = true;
}

/* Appends a time.  Returns false if it is not a number, or not later than the one before. */
static bool add_time(struct control_options *control, const char *text)
{
	size_t count = control->launch.time_count;
	uint64_t ms = 0;

	if (!tool_number(text, &ms) || ms > INT_MAX || (count && ms <= control->time[count - 1]))
		return false;
	control->time = tool_grow(control->time, (count + 1) * sizeof(*control->time));
	control->time[count] = (uint32_t)ms;
	control->launch.time_count++;
	return true;
}

/* Reads "FROM-TO[,FROM-TO]...".  Changes the text. */
static bool add_ranges(struct control_options *control, char *text)
{
	while (text) {
		char *range = text;
		char *to = strchr(range, '-');

		if (!to)
			return false;
		*to++ = '\0';
		text = strchr(to, ',');
		if (text)
			*text++ = '\0';
		if (!add_time(control, range) || !add_time(control, to))
			return false;
	}
	return true;
}

int control_delay(struct control_options *control, const char *command, const char *text)
{
	char *ranges;
	bool right;

	give(control);
	control->launch.off = true;
	control->launch.time_count = 0;
	if (!strcmp(text, "-1"))
		return -1;
	ranges = tool_copy(text);
	right = strchr(text, '-') ? add_ranges(control, ranges) : add_time(control, text);
	free(ranges);
	if (!right)
		return tool_usage_error(
			command,
			"-D takes a number of milliseconds, ranges of them in order "
			"(10-20,30-40), or -1, not '%s'",
			text);
	control->launch.times = control->time;
	/* What is switched on at the start needs no switch. */
	if (!control->time[0]) {
		control->launch.off = false;
		control->launch.times++;
		control->launch.time_count--;
	}
	return -1;
}

/* Takes a number of milliseconds other than 0. */
static int milliseconds(struct control_options *control, const char *command, const char *option,
			const char *text, uint32_t *to)
{
	uint64_t ms;

	give(control);
	if (!tool_number(text, &ms) || !ms || ms > INT_MAX)
		return tool_usage_error(command, "%s takes a number of milliseconds, not '%s'",
					option, text);
	*to = (uint32_t)ms;
	return -1;
}

int control_timeout(struct control_options *control, const char *command, const char *text)
{
	return milliseconds(control, command, "--timeout", text, &control->launch.end_ms);
}

int control_interval(struct control_options *control, const char *command, const char *text)
{
	return milliseconds(control, command, "-I", text, &control->launch.interval_ms);
}

/* A descriptor by its number, which is open. */
static int numbered(const char *text)
{
	uint64_t fd = 0;

	if (!tool_number(text, &fd) || fd > INT_MAX || fcntl((int)fd, F_GETFD) < 0)
		return -1;
	return (int)fd;
}

/* A FIFO has both ends here, so that it is not at its end while nobody else has it open. */
static int named(const char *path)
{
	return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

static int channel(const char *command, const char *text, int (*find)(const char *text), int *fd)
{
	errno = EBADF;
	*fd = find(text);
	if (*fd >= 0)
		return -1;
	return tool_usage_error(command, "--control cannot use '%s': %s", text, strerror(errno));
}

int control_channel(struct control_options *control, const char *command, const char *text)
{
	int (*find)(const char *text) = NULL;
	char *first, *second;
	int status;

	give(control);
	if (!strncmp(text, "fd:", 3))
		find = numbered;
	else if (!strncmp(text, "fifo:", 5))
		find = named;
	if (!find)
		return tool_usage_error(
			command, "--control is fd:N[,N] or fifo:FILE[,FILE], not '%s'", text);
	first = tool_copy(strchr(text, ':') + 1);
	second = strchr(first, ',');
	if (second)
		*second++ = '\0';
	status = channel(command, first, find, &control->launch.command_fd);
	if (status < 0 && second)
		status = channel(command, second, find, &control->launch.acknowledge_fd);
	free(first);
	return status;
}

const struct launch_control *control_request(struct control_options *control)
{
	control->launch.name = control->name;
	return control->given ? &control->launch : NULL;
}
