/* SPDX-License-Identifier: MIT */
/*
 * record_switch.h: `softpmu record --switch-output`: when another file begins, and what the files
 * are called.
 */
#ifndef SOFTPMU_TOOL_RECORD_SWITCH_H
#define SOFTPMU_TOOL_RECORD_SWITCH_H

#include <hosts/user/link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A record that each file needs: a mapping, a name or the beginning or end of a task. */
struct record_switch_note {
	struct link_record *link;
	uint64_t time_ns;
};

struct record_switch {
	bool on;
	bool by_signal;	    /* SIGUSR2 */
	uint64_t bytes, ns; /* 0: not by that */
	uint64_t begun;	    /* bytes of the notes with which the file begins */
	uint64_t most;	    /* files that are kept; 0: all */
	uint64_t next_ns;   /* when the next file begins, with `ns` */
	uint64_t last;	    /* the time in the last name, in hundredths of a second */
	struct record_switch_note *notes;
	char **files; /* that are kept, the oldest first */
	size_t note_count, note_room, file_count, file_room;
	uint64_t samples, traced, written; /* of all files that are complete */
	bool failed; /* a file could not be completed, or its successor begun */
};

/* Takes MODE of --switch-output; NULL: the default.  Returns false if it is none. */
bool record_switch_parse(struct record_switch *s, const char *mode);

/* The run begins. */
void record_switch_begin(struct record_switch *s);

/* Keeps a record, if files need it. */
void record_switch_keep(struct record_switch *s, const struct link_record *link, uint64_t time_ns);

/* Returns whether the next file begins, because the file has so many bytes. */
bool record_switch_is_full(const struct record_switch *s, uint64_t bytes);

/* The same because of the time, or a signal. */
bool record_switch_is_time(struct record_switch *s, uint64_t now_ns);

/* A file is complete.  Returns its name, which has the time, or NULL after a message. */
const char *record_switch_name(struct record_switch *s, const char *output);

void record_switch_free(struct record_switch *s);

#endif
