/* SPDX-License-Identifier: MIT */
/*
 * pebs.c: a PEBS record in memory: encode for the unit, decode for software, over the
 * model's one list of offsets (18.13.1.1, table 18-55).
 */
#include <string.h>

#include "data/ds/layout.h"
#include "data/model.h"

/* Every byte of a record belongs to exactly one 8-byte field. */
#define FIELD_BYTES(offset, member) +8
_Static_assert(PEBS_FORMAT_3(FIELD_BYTES) == PEBS_FORMAT_3_BYTES, "format 3 has no holes");

size_t spmu_pebs_record_bytes(const struct spmu_model *model)
{
	return model->pebs ? model->pebs->bytes : 0;
}

static enum spmu_status check(const struct spmu_model *model, const void *memory,
			      const struct spmu_pebs_record *record, size_t bytes)
{
	if (!model || !memory || !record)
		return SPMU_E_ARGUMENT;
	if (!model->pebs)
		return SPMU_E_UNAVAILABLE;
	return bytes < model->pebs->bytes ? SPMU_E_SPACE : SPMU_OK;
}

enum spmu_status spmu_pebs_encode(const struct spmu_model *model,
				  const struct spmu_pebs_record *record, void *to, size_t bytes)
{
	enum spmu_status status = check(model, to, record, bytes);
	uint8_t *out = to;

	if (status != SPMU_OK)
		return status;
	memset(out, 0, model->pebs->bytes);
	for (unsigned i = 0; i < model->pebs->field_count; i++)
		memcpy(out + model->pebs->field[i].offset,
		       (const uint8_t *)record + model->pebs->field[i].member, 8);
	return SPMU_OK;
}

enum spmu_status spmu_pebs_decode(const struct spmu_model *model, const void *from, size_t bytes,
				  struct spmu_pebs_record *record)
{
	enum spmu_status status = check(model, from, record, bytes);
	const uint8_t *in = from;

	if (status != SPMU_OK)
		return status;
	memset(record, 0, sizeof(*record));
	for (unsigned i = 0; i < model->pebs->field_count; i++)
		memcpy((uint8_t *)record + model->pebs->field[i].member,
		       in + model->pebs->field[i].offset, 8);
	return SPMU_OK;
}
