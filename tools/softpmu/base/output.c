/* SPDX-License-Identifier: MIT */
/*
 * output.c: standard output of the subcommands that print tables.
 *
 * Nothing here writes an escape sequence: a pipe or file gets the same text as a terminal.  Only
 * the width may differ.
 */
#include "tools/softpmu/base/output.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_DEFAULT 80
#define COLUMNS_LEAST	40

bool output_utf8(void)
{
	/* The locale of the process stays "C", so that numbers are printed the same everywhere. */
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (locale == (locale_t)0)
		return false;
	utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return utf8;
}

bool output_is_terminal(void)
{
	return isatty(STDOUT_FILENO) == 1;
}

unsigned output_columns(void)
{
	struct winsize size;

	if (!output_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
	    size.ws_col == 0)
		return COLUMNS_DEFAULT;
	return size.ws_col < COLUMNS_LEAST ? COLUMNS_LEAST : size.ws_col;
}

int output_finish(const char *command, int status)
{
	bool failed;

	errno = 0;
	failed = ferror(stdout) != 0;
	if (fflush(stdout) != 0)
		failed = true;
	if (!failed)
		return status;
	if (errno != EPIPE)
		fprintf(stderr, "softpmu %s: cannot write the output: %s\n", command,
			errno ? strerror(errno) : "write error");
	return 1;
}

const char *output_volume(const char *section)
{
	return *section >= '0' && *section <= '9' ? "Vol. 3B " : "";
}

void output_json_string(FILE *to, const char *text)
{
	const unsigned char *p;

	fputc('"', to);
	for (p = (const unsigned char *)text; *p; p++) {
		if (*p == '"' || *p == '\\')
			fprintf(to, "\\%c", *p);
		else if (*p < 0x20)
			fprintf(to, "\\u%04x", *p);
		else
			fputc(*p, to);
	}
	fputc('"', to);
}
