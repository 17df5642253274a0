/* SPDX-License-Identifier: MIT */
/* perf_descriptor.h: descriptors of events that programs open (perf_descriptor.c). */
#ifndef SOFTPMU_ENGINE_PERF_DESCRIPTOR_H
#define SOFTPMU_ENGINE_PERF_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

/* What a descriptor leads to. */
struct perf_inode {
	uint64_t device, inode;
};

/* Makes a descriptor with the lowest free number.  Returns it, or an error; and its inode.
 * `named`: the number of a FIFO that can be made readable (opened_wake.h); 0: nothing does that. */
long perf_descriptor_make(bool close_on_exec, uint32_t named, struct perf_inode *inode);

/* Returns the place of the event (link.open) that the descriptor leads to; -1: it leads to none. */
int perf_descriptor_event(int fd);

/* Opens the file that an event's descriptor leads to once more, or returns an error.  Then, when
 * the descriptor may be closed: whether another one still leads to the event. */
long perf_descriptor_again(int fd);
bool perf_descriptor_is_open(int again);

/* Returns the places of events that no descriptor leads to any more, at most `most`. */
unsigned perf_descriptors_closed(unsigned *place, unsigned most);

#endif
