/* SPDX-License-Identifier: MIT */
/*
 * bts.c: a branch trace record in memory (17.4.9, figures 17-6 and 17-8): the unit encodes it,
 * software decodes it. It has three fields of 4 or 8 bytes: from, to, flags.
 */
#include <string.h>

#include "data/model.h"

#define PREDICTED (UINT64_C(1) << 4) /* in the flags; only NetBurst sets it */

static enum spmu_status check(const struct spmu_ds_layout *layout, const void *memory,
			      const struct spmu_bts_record *record, size_t bytes)
{
	if (!layout || !memory || !record)
		return SPMU_E_ARGUMENT;
	if (!layout->bts_bytes)
		return SPMU_E_UNAVAILABLE;
	return bytes < layout->bts_bytes ? SPMU_E_SPACE : SPMU_OK;
}

enum spmu_status spmu_bts_encode(const struct spmu_ds_layout *layout,
				 const struct spmu_bts_record *record, void *to, size_t bytes)
{
	enum spmu_status status = check(layout, to, record, bytes);
	uint64_t wide[3];
	uint32_t narrow[3];

	if (status != SPMU_OK)
		return status;
	wide[0] = record->from;
	wide[1] = record->to;
	wide[2] = record->predicted ? PREDICTED : 0;
	if (layout->bts_bytes == sizeof(wide)) {
		memcpy(to, wide, sizeof(wide));
		return SPMU_OK;
	}
	for (unsigned i = 0; i < 3; i++)
		narrow[i] = (uint32_t)wide[i];
	memcpy(to, narrow, sizeof(narrow));
	return SPMU_OK;
}

enum spmu_status spmu_bts_decode(const struct spmu_ds_layout *layout, const void *from,
				 size_t bytes, struct spmu_bts_record *record)
{
	enum spmu_status status = check(layout, from, record, bytes);
	uint64_t wide[3];
	uint32_t narrow[3];

	if (status != SPMU_OK)
		return status;
	if (layout->bts_bytes == sizeof(wide)) {
		memcpy(wide, from, sizeof(wide));
	} else {
		memcpy(narrow, from, sizeof(narrow));
		for (unsigned i = 0; i < 3; i++)
			wide[i] = narrow[i];
	}
	*record = (struct spmu_bts_record){wide[0], wide[1], (wide[2] & PREDICTED) != 0};
	return SPMU_OK;
}
