/* SPDX-License-Identifier: MIT */
/* html.c: the frame of the HTML page: style, body, data and script, each inline. */
#include "tools/softpmu/formats/html.h"

#include <errno.h>
#include <string.h>

#include "tools/softpmu/base/tool.h"

/* The files of tools/softpmu/html/ (mk/tool.mk). */
extern const char html_style[], html_body[], html_script[];

/* The page may not load or send anything. */
#define POLICY "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

void html_string(FILE *to, const char *text)
{
	fputc('"', to);
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		if (*p < 0x20 || *p == 0x7f || strchr("\"\\<>&'", *p))
			fprintf(to, "\\u%04x", *p);
		else
			fputc(*p, to);
	}
	fputc('"', to);
}

static int put_profile(struct profile *profile, FILE *to)
{
	int status;

	fputs("{\"path\": ", to);
	html_string(to, profile->path);
	fputs(",\n", to);
	html_profile(profile, to);
	fputs(",\n\"code\": ", to);
	status = html_code(profile, to);
	fputs("}", to);
	return status;
}

int html_write(struct profile *before, struct profile *after, FILE *to)
{
	int status;

	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta http-equiv=\"Content-Security-Policy\" content=\"" POLICY "\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n"
	      "<title>softpmu report</title>\n<style>\n",
	      to);
	fputs(html_style, to);
	fputs("</style>\n</head>\n<body>\n", to);
	fputs(html_body, to);
	fputs("<script type=\"application/json\" id=\"data\">\n{\"profiles\": [", to);
	status = put_profile(before, to);
	if (after) {
		fputs(",\n", to);
		status |= put_profile(after, to);
	}
	fputs("]}\n</script>\n<script>\n", to);
	fputs(html_script, to);
	fputs("</script>\n</body>\n</html>\n", to);
	return status;
}

int html_write_file(struct profile *before, struct profile *after, const char *path)
{
	FILE *to = fopen(path, "we");
	bool failed;
	int status;

	if (!to) {
		tool_error("%s: %s", path, strerror(errno));
		return 1;
	}
	status = html_write(before, after, to);
	failed = ferror(to);
	if (fclose(to) || failed) {
		tool_error("%s: %s", path, strerror(errno));
		return 1;
	}
	return status;
}
