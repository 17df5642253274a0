/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ds.c: the layouts of ds.h on arbitrary bytes: what is decoded encodes to
 * the same bytes, too little space is refused and left alone.
 */
#include "fuzz.h"

#include <softpmu/softpmu.h>

#include <stdbool.h>

#define SPACE 2048

static uint8_t first[SPACE + 1], second[SPACE + 1];

/* No call may touch bytes past those it was given. */
static void try_area(const struct spmu_ds_layout *layout, const uint8_t *bytes, size_t size)
{
	struct spmu_ds_area area, again;

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

static void try_record(const struct spmu_ds_layout *layout, bool adaptive, const uint8_t *bytes,
		       size_t size)
{
	struct spmu_pebs_record record, again;
	enum spmu_status status;
	uint64_t data_cfg = 0;
	size_t need = 0, used;

	/* Members that decode leaves alone must not decide a comparison. */
	memset(&record, 0, sizeof(record));
	memset(&again, 0, sizeof(again));
	status = spmu_pebs_decode(layout, bytes, size, &record, &need);
	if (!layout->pebs) {
		FUZZ_HOLDS(status == SPMU_E_UNAVAILABLE);
		return;
	}
	if (!adaptive)
		FUZZ_HOLDS((status == SPMU_OK) == (size >= spmu_pebs_record_bytes(layout, 0)));
	if (status != SPMU_OK)
		return;
	if (adaptive)
		memcpy(&data_cfg, bytes, 4);
	FUZZ_HOLDS(need <= size && need <= SPACE &&
		   need == spmu_pebs_record_bytes(layout, data_cfg));
	memset(first, 0x5a, sizeof(first));
	FUZZ_HOLDS(spmu_pebs_encode(layout, data_cfg, &record, first, need - 1) == SPMU_E_SPACE);
	for (size_t i = 0; i < sizeof(first); i++)
		FUZZ_HOLDS(first[i] == 0x5a);
	FUZZ_HOLDS(spmu_pebs_encode(layout, data_cfg, &record, first, need) == SPMU_OK);
	FUZZ_HOLDS(first[need] == 0x5a);
	FUZZ_HOLDS(spmu_pebs_decode(layout, first, need, &again, &used) == SPMU_OK);
	FUZZ_HOLDS(used == need);
	FUZZ_HOLDS(!memcmp(&record, &again, sizeof(record)));
	/* The second encoding must be the first: no byte depends on what stood there. */
	memset(second, 0xa5, sizeof(second));
	FUZZ_HOLDS(spmu_pebs_encode(layout, data_cfg, &again, second, need) == SPMU_OK);
	FUZZ_HOLDS(!memcmp(first, second, need));
	/* No byte is without meaning, but in a branch's third word. */
	if (!(record.groups & SPMU_PEBS_LBR))
		FUZZ_HOLDS(!memcmp(first, bytes, need));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < 2 * spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i / 2);
		const struct spmu_ds_layout *layout = spmu_ds_layout(model, i & 1);

		if (!layout)
			continue;
		try_area(layout, data, size);
		try_record(layout, spmu_model_info(model).pebs_format >= 4, data, size);
	}
	return 0;
}
