/* SPDX-License-Identifier: MIT */
/* text_graph.h: the call graph of a row, in the form of `perf report --stdio -g graph`. */
#ifndef SOFTPMU_TOOL_TEXT_GRAPH_H
#define SOFTPMU_TOOL_TEXT_GRAPH_H

#include "tools/softpmu/formats/format.h"

/* Writes nothing if the row has no call chains.  skip_first: the row is a function, and is not
 * repeated at the head of the graph. */
void text_graph_write(const struct format_output *output, const struct rows *rows,
		      const struct row *row, bool skip_first);

#endif
