/* SPDX-License-Identifier: MIT */
/* delayed_loading.h: libraries that are loaded when the first of their functions is called. */
#ifndef SOFTPMU_TOOL_DELAYED_LOADING_H
#define SOFTPMU_TOOL_DELAYED_LOADING_H

/* Loads all of them now, or ends the tool with a message.  Commands that need them for the results
 * of a run call this before the run. */
void delayed_loading_load_all(void);

#endif
