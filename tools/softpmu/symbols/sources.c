/* SPDX-License-Identifier: MIT */
/*
 * sources.c: reads each source file once, and cuts it into lines.
 */
#include "tools/softpmu/symbols/sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"

/* No source is larger; debug information may name any file. */
#define SOURCE_MAX_BYTES (64 << 20)

struct source {
	struct source *next;
	char *path, *text;
	char **lines;
	size_t count;
};

struct sources {
	struct source *first;
};

struct sources *sources_new(void)
{
	return tool_alloc(sizeof(struct sources));
}

void sources_free(struct sources *sources)
{
	struct source *source;

	if (!sources)
		return;
	while ((source = sources->first) != NULL) {
		sources->first = source->next;
		free(source->path);
		free(source->text);
		free(source->lines);
		free(source);
	}
	free(sources);
}

/* Returns the text of a regular file, with a NUL after it, or NULL. */
static char *read_text(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	char *text = NULL;
	ssize_t got;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size < SOURCE_MAX_BYTES) {
		text = tool_alloc((size_t)status.st_size + 1);
		*bytes = 0;
		while (*bytes < (size_t)status.st_size &&
		       (got = read(fd, text + *bytes, (size_t)status.st_size - *bytes)) > 0)
			*bytes += (size_t)got;
	}
	close(fd);
	return text;
}

static void cut(struct source *source, size_t bytes)
{
	char *at = source->text, *end = at + bytes, *newline;
	size_t room = 0;

	while (at < end) {
		source->lines =
			tool_room(source->lines, &room, source->count, sizeof(*source->lines));
		source->lines[source->count++] = at;
		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			break;
		*newline = '\0';
		at = newline + 1;
	}
}

const char *sources_line(struct sources *sources, const char *path, int number)
{
	struct source *source;
	size_t bytes = 0;

	for (source = sources->first; source; source = source->next) {
		if (!strcmp(source->path, path))
			break;
	}
	if (!source) {
		source = tool_alloc(sizeof(*source));
		source->path = tool_copy(path);
		source->text = read_text(path, &bytes);
		if (source->text)
			cut(source, bytes);
		source->next = sources->first;
		sources->first = source;
	}
	if (number < 1 || (size_t)number > source->count)
		return NULL;
	return source->lines[number - 1];
}
