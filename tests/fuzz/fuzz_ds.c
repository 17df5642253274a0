/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ds.c: the layouts of ds.h on arbitrary bytes: what is decoded encodes to
 * the same bytes, too little space is refused and left alone.
 */
#include "fuzz.h"

#include <softpmu/softpmu.h>

#include <stdbool.h>

#define SPACE 512

static uint8_t first[SPACE + 1], second[SPACE + 1];

/* No call may touch bytes past those it was given. */
static void try_area(const struct spmu_model *model, const uint8_t *bytes, size_t size)
{
	const struct spmu_ds_layout *layout = spmu_ds_layout(model);
	struct spmu_ds_area area, again;

	if (!layout)
		return;
	FUZZ_HOLDS(layout->bytes <= SPACE);
	FUZZ_HOLDS((spmu_ds_decode(layout, bytes, size, &area) == SPMU_OK) ==
		   (size >= layout->bytes));
	if (size < layout->bytes)
		return;
	memset(first, 0x5a, sizeof(first));
	FUZZ_HOLDS(spmu_ds_encode(layout, &area, first, layout->bytes - 1u) == SPMU_E_SPACE);
	for (size_t i = 0; i < sizeof(first); i++)
		FUZZ_HOLDS(first[i] == 0x5a);
	FUZZ_HOLDS(spmu_ds_encode(layout, &area, first, layout->bytes) == SPMU_OK);
	for (size_t i = layout->bytes; i < sizeof(first); i++)
		FUZZ_HOLDS(first[i] == 0x5a);
	FUZZ_HOLDS(spmu_ds_decode(layout, first, layout->bytes, &again) == SPMU_OK);
	FUZZ_HOLDS(!memcmp(&area, &again, sizeof(area)));
}

static void try_record(const struct spmu_model *model, const uint8_t *bytes, size_t size)
{
	size_t need = spmu_pebs_record_bytes(model);
	struct spmu_pebs_record record, again;
	enum spmu_status status = spmu_pebs_decode(model, bytes, size, &record);

	FUZZ_HOLDS(need <= SPACE);
	if (!need) {
		FUZZ_HOLDS(status == SPMU_E_UNAVAILABLE);
		return;
	}
	FUZZ_HOLDS((status == SPMU_OK) == (size >= need));
	if (status != SPMU_OK)
		return;
	memset(first, 0x5a, sizeof(first));
	FUZZ_HOLDS(spmu_pebs_encode(model, &record, first, need - 1) == SPMU_E_SPACE);
	for (size_t i = 0; i < sizeof(first); i++)
		FUZZ_HOLDS(first[i] == 0x5a);
	FUZZ_HOLDS(spmu_pebs_encode(model, &record, first, need) == SPMU_OK);
	FUZZ_HOLDS(first[need] == 0x5a);
	FUZZ_HOLDS(spmu_pebs_decode(model, first, need, &again) == SPMU_OK);
	FUZZ_HOLDS(!memcmp(&record, &again, sizeof(record)));
	/* The second encoding must be the first: no byte depends on what stood there. */
	memset(second, 0xa5, sizeof(second));
	FUZZ_HOLDS(spmu_pebs_encode(model, &again, second, need) == SPMU_OK);
	FUZZ_HOLDS(!memcmp(first, second, need));
	/* Format 3 has no byte without meaning. */
	if (spmu_model_info(model).pebs_format == 3)
		FUZZ_HOLDS(!memcmp(first, bytes, need));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < spmu_model_count(); i++) {
		try_area(spmu_model_at(i), data, size);
		try_record(spmu_model_at(i), data, size);
	}
	return 0;
}
