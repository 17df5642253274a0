/* SPDX-License-Identifier: MIT */
/*
 * image.c: tells the kernel which image the process has (prctl(2), PR_SET_MM_MAP, which needs no
 * privilege): what /proc/PID/auxv and stat show, and where the heap begins.  The kernel has
 * loaded the engine and would show that.
 */
#include "engine/linux/image.h"

#include <asm/unistd.h>
#include <linux/prctl.h>

#include "engine/linux/load.h"
#include "engine/rt/sys.h"

bool image_has_heap;

/* Computes the range of the strings in a list of pointers.  If it is empty, the range begins at
 * `otherwise`. */
static void range_of(const uint64_t *pointer, uint64_t otherwise, uint64_t *start, uint64_t *end)
{
	*start = *pointer ? *pointer : otherwise;
	*end = *start;
	for (; *pointer; pointer++)
		*end = *pointer + strlen((const char *)*pointer) + 1;
}

bool image_tell(const struct loaded *program, const uint64_t *stack, const uint64_t *aux,
		uint64_t heap)
{
	const uint64_t *pair = aux;
	uint64_t start, end;
	struct prctl_mm_map map;

	while (*pair)
		pair += 2;
	heap = heap ? heap : (uint64_t)syscall1(__NR_brk, 0);
	map = (struct prctl_mm_map){
		.start_code = program->code_start,
		.end_code = program->code_end,
		.start_data = program->data_start,
		.end_data = program->data_end,
		.start_brk = heap,
		.brk = heap,
		.start_stack = (uint64_t)stack,
		.auxv = (void *)(uint64_t)aux,
		.auxv_size = (uint32_t)((uint64_t)(pair + 2) - (uint64_t)aux),
		.exe_fd = UINT32_MAX,
	};
	range_of(stack + 1, (uint64_t)stack, &start, &end);
	map.arg_start = start;
	map.arg_end = end;
	range_of(stack + 1 + stack[0] + 1, end, &start, &end);
	map.env_start = start;
	map.env_end = end;
	return !sys_call6(__NR_prctl, PR_SET_MM, PR_SET_MM_MAP, (long)&map, sizeof(map), 0, 0);
}
