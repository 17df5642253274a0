/* SPDX-License-Identifier: MIT */
/* record_switch.c: the files of `softpmu record --switch-output`, with perf's modes and names. */
#define _GNU_SOURCE
#include "tools/softpmu/run/record_switch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/softpmu/base/tool.h"

#define SECOND UINT64_C(1000000000)

static volatile sig_atomic_t asked;

static void on_signal(int number)
{
	(void)number;
	asked = 1;
}

/* --- options --- */

static const struct unit {
	char letter;
	bool time;
	uint64_t times; /* bytes, or nanoseconds */
} units[] = {
	{'B', false, 1},
	{'K', false, UINT64_C(1) << 10},
	{'M', false, UINT64_C(1) << 20},
	{'G', false, UINT64_C(1) << 30},
	{'s', true, SECOND},
	{'m', true, 60 * SECOND},
	{'h', true, 3600 * SECOND},
	{'d', true, 86400 * SECOND},
};

bool record_switch_parse(struct record_switch *s, const char *mode)
{
	char *number;
	uint64_t value = 0;
	bool good;

	s->on = true;
	s->by_signal = !mode || !strcmp(mode, "signal");
	if (s->by_signal)
		return true;
	if (!*mode)
		return false;
	number = tool_copy(mode);
	number[strlen(number) - 1] = '\0';
	good = tool_number(number, &value) && value;
	free(number);
	for (size_t i = 0; good && i < sizeof(units) / sizeof(units[0]); i++) {
		if (units[i].letter != mode[strlen(mode) - 1])
			continue;
		*(units[i].time ? &s->ns : &s->bytes) = value * units[i].times;
		return value <= UINT64_MAX / units[i].times;
	}
	return false;
}

void record_switch_begin(struct record_switch *s)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	if (s->by_signal)
		sigaction(SIGUSR2, &action, NULL);
}

/* --- when --- */

bool record_switch_is_full(const struct record_switch *s, uint64_t bytes)
{
	return s->bytes && bytes - s->begun >= s->bytes;
}

bool record_switch_is_time(struct record_switch *s, uint64_t now_ns)
{
	bool due = s->by_signal && asked;

	asked = 0;
	if (!s->ns)
		return due;
	due |= s->next_ns && now_ns >= s->next_ns;
	if (due || !s->next_ns)
		s->next_ns = now_ns + s->ns;
	return due;
}

/* --- what each file needs --- */

void record_switch_keep(struct record_switch *s, const struct link_record *link, uint64_t time_ns)
{
	bool needed = link->type == LINK_REC_MMAP || link->type == LINK_REC_COMM ||
		      link->type == LINK_REC_TASK;
	struct record_switch_note *note;

	if (!s->on || !needed)
		return;
	s->notes = tool_room(s->notes, &s->note_room, s->note_count, sizeof(*s->notes));
	note = &s->notes[s->note_count++];
	note->link = tool_alloc(link->bytes);
	note->time_ns = time_ns;
	memcpy(note->link, link, link->bytes);
}

/* --- names --- */

/* Returns "perf.data.2026113004150012": the time up to hundredths of a second.  A later file has a
 * later time, and no file has that name. */
static char *next_name(struct record_switch *s, const char *output)
{
	struct timespec now;
	uint64_t hundredths;
	char *name = NULL;

	clock_gettime(CLOCK_REALTIME, &now);
	hundredths = (uint64_t)now.tv_sec * 100 + (uint64_t)now.tv_nsec / 10000000;
	if (s->last < hundredths)
		s->last = hundredths - 1;
	do {
		time_t seconds = (time_t)(++s->last / 100);
		struct tm local;
		char date[32];

		localtime_r(&seconds, &local);
		strftime(date, sizeof(date), "%Y%m%d%H%M%S", &local);
		free(name);
		name = tool_print("%s.%s%02u", output, date, (unsigned)(s->last % 100));
	} while (!access(name, F_OK));
	return name;
}

const char *record_switch_name(struct record_switch *s, const char *output)
{
	char *name = next_name(s, output);

	if (rename(output, name)) {
		tool_error("cannot rename %s to %s: %s", output, name, strerror(errno));
		free(name);
		return NULL;
	}
	s->files = tool_room(s->files, &s->file_room, s->file_count, sizeof(*s->files));
	s->files[s->file_count++] = name;
	if (s->most && s->file_count > s->most) {
		unlink(s->files[0]);
		free(s->files[0]);
		memmove(s->files, s->files + 1, --s->file_count * sizeof(*s->files));
	}
	return name;
}

void record_switch_free(struct record_switch *s)
{
	for (size_t i = 0; i < s->note_count; i++)
		free(s->notes[i].link);
	for (size_t i = 0; i < s->file_count; i++)
		free(s->files[i]);
	free(s->notes);
	free(s->files);
}
