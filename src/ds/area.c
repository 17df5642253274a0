/* SPDX-License-Identifier: MIT */
/*
 * area.c: the DS buffer management area in memory (17.4.9, 18.8.1.1): encode and
 * decode over one list of addresses.  An area of 4-byte fields holds low halves.
 */
#include <string.h>

#include "data/model.h"

#define AREA_ROW(n, name) [n] = offsetof(struct spmu_ds_area, name),
static const uint16_t area_members[] = {DS_AREA(AREA_ROW)};
#define AREA_FIELDS (sizeof(area_members) / sizeof(area_members[0]))

static enum spmu_status check(const struct spmu_ds_layout *layout, const void *memory,
			      const struct spmu_ds_area *area, size_t bytes)
{
	if (!layout || !memory || !area)
		return SPMU_E_ARGUMENT;
	return bytes < layout->bytes ? SPMU_E_SPACE : SPMU_OK;
}

enum spmu_status spmu_ds_encode(const struct spmu_ds_layout *layout,
				const struct spmu_ds_area *area, void *to, size_t bytes)
{
	enum spmu_status status = check(layout, to, area, bytes);
	uint8_t *out = to;

	if (status != SPMU_OK)
		return status;
	memset(out, 0, layout->bytes);
	for (size_t i = 0; i < AREA_FIELDS; i++)
		memcpy(out + i * layout->field_bytes, (const uint8_t *)area + area_members[i],
		       layout->field_bytes);
	memcpy(out + layout->reset_offset, area->reset, 8u * layout->resets);
	memcpy(out + layout->fixed_reset_offset, area->fixed_reset, 8u * layout->fixed_resets);
	return SPMU_OK;
}

enum spmu_status spmu_ds_decode(const struct spmu_ds_layout *layout, const void *from, size_t bytes,
				struct spmu_ds_area *area)
{
	enum spmu_status status = check(layout, from, area, bytes);
	const uint8_t *in = from;

	if (status != SPMU_OK)
		return status;
	memset(area, 0, sizeof(*area));
	for (size_t i = 0; i < AREA_FIELDS; i++)
		memcpy((uint8_t *)area + area_members[i], in + i * layout->field_bytes,
		       layout->field_bytes);
	memcpy(area->reset, in + layout->reset_offset, 8u * layout->resets);
	memcpy(area->fixed_reset, in + layout->fixed_reset_offset, 8u * layout->fixed_resets);
	return SPMU_OK;
}
