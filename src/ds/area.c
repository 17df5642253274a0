/* SPDX-License-Identifier: MIT */
/*
 * area.c: the DS buffer management area in memory (17.4.9, 18.8.1.1). Encoding and decoding use one
 * list of addresses. An area with 4-byte fields holds the low halves.
 */
#include <string.h>

#include "data/model.h"

/* The addresses come first in memory and in struct spmu_ds_area, in the same order. */
#define SAME_PLACE(n, name) &&8 * (n) == offsetof(struct spmu_ds_area, name)
_Static_assert(1 DS_AREA_WORDS(SAME_PLACE), "the members are in the order of the addresses");

static void put_addresses(const struct spmu_ds_layout *layout, const struct spmu_ds_area *area,
			  uint8_t *out)
{
	const uint8_t *from = (const uint8_t *)area;

	if (layout->field_bytes == 8) {
		memcpy(out, from, 8u * DS_AREA_NUMBERS);
		return;
	}
	for (unsigned n = 0; n < DS_AREA_NUMBERS; n++)
		memcpy(out + 4u * n, from + 8u * n, 4);
}

static void get_addresses(const struct spmu_ds_layout *layout, const uint8_t *in,
			  struct spmu_ds_area *area)
{
	uint8_t *to = (uint8_t *)area;

	if (layout->field_bytes == 8) {
		memcpy(to, in, 8u * DS_AREA_NUMBERS);
		return;
	}
	for (unsigned n = 0; n < DS_AREA_NUMBERS; n++)
		memcpy(to + 8u * n, in + 4u * n, 4);
}

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
	put_addresses(layout, area, out);
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
	get_addresses(layout, in, area);
	memcpy(area->reset, in + layout->reset_offset, 8u * layout->resets);
	memcpy(area->fixed_reset, in + layout->fixed_reset_offset, 8u * layout->fixed_resets);
	return SPMU_OK;
}
