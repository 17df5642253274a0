/* SPDX-License-Identifier: MIT */
/*
 * area.c: the DS buffer management area in memory (17.4.9, 18.8.1.1): encode and
 * decode over one list of offsets.
 */
#include <string.h>

#include "data/ds/layout.h"
#include "data/model.h"

struct area_field {
	uint16_t offset; /* in memory */
	uint16_t member; /* in struct spmu_ds_area */
};
#define AREA_ROW(offset, name) {offset, offsetof(struct spmu_ds_area, name)},
static const struct area_field area_fields[] = {DS_AREA_64(AREA_ROW)};
#define AREA_FIELDS (sizeof(area_fields) / sizeof(area_fields[0]))

const struct spmu_ds_layout *spmu_ds_layout(const struct spmu_model *model)
{
	return model->ds;
}

static enum spmu_status check(const struct spmu_ds_layout *layout, const void *memory,
			      const struct spmu_ds_area *area, size_t bytes)
{
	if (!layout || !memory || !area || layout->field_bytes != 8 ||
	    layout->resets > SPMU_DS_RESETS_MAX)
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
		memcpy(out + area_fields[i].offset, (const uint8_t *)area + area_fields[i].member,
		       8);
	memcpy(out + layout->reset_offset, area->reset, 8u * layout->resets);
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
		memcpy((uint8_t *)area + area_fields[i].member, in + area_fields[i].offset, 8);
	memcpy(area->reset, in + layout->reset_offset, 8u * layout->resets);
	return SPMU_OK;
}
