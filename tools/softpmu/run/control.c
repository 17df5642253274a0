/* SPDX-License-Identifier: MIT */
/*
 * control.c: the arguments of -D and --control, in perf's syntax: a number of milliseconds, and
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

int control_delay(struct control_options *control, const char *command, const char *text)
{
	uint64_t ms = 0;

	give(control);
	if (!strcmp(text, "-1")) {
		control->launch.delay_ms = -1;
		return -1;
	}
	if (!tool_number(text, &ms) || ms > INT_MAX)
		return tool_usage_error(command, "'%s' is no number of milliseconds (or -1)", text);
	control->launch.delay_ms = (int64_t)ms;
	return -1;
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
