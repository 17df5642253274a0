/* SPDX-License-Identifier: MIT */
/* layout.h: the largest of what the DS layouts of data/ds describe, for buffers. */
#ifndef SPMU_DATA_DS_LAYOUT_H
#define SPMU_DATA_DS_LAYOUT_H

#include "data/ds/layouts.inc"

#define DS_AREA_BYTES_MAX     DS_AREA_64_BYTES
#define PEBS_RECORD_BYTES_MAX PEBS_FORMAT_3_BYTES

#endif
