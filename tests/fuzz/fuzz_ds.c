/* SPDX-License-Identifier: MIT */
/*
 * fuzz_ds.c: the layouts of ds.h on arbitrary bytes. What is decoded encodes to the same bytes. A
 * buffer that is too small is refused and not changed.
 */
#include "fuzz.h"

#include <softpmu/softpmu.h>

#include <stdbool.h>

#define SPACE 2048

static uint8_t first[SPACE + 1], second[SPACE + 1];

static bool untouched(const uint8_t *from, size_t size)
{
	return from[0] == 0x5a && !memcmp(from, from + 1, size - 1);
}

/* No call may change bytes past those it was given. */
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
	FUZZ_HOLDS(untouched(first, sizeof(first)));
	FUZZ_HOLDS(spmu_ds_encode(layout, &area, first, layout->bytes) == SPMU_OK);
	FUZZ_HOLDS(untouched(first + layout->bytes, sizeof(first) - layout->bytes));
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

	/* Members that decoding does not set must not decide a comparison. */
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
	FUZZ_HOLDS(untouched(first, sizeof(first)));
	FUZZ_HOLDS(spmu_pebs_encode(layout, data_cfg, &record, first, need) == SPMU_OK);
	FUZZ_HOLDS(untouched(first + need, sizeof(first) - need));
	FUZZ_HOLDS(spmu_pebs_decode(layout, first, need, &again, &used) == SPMU_OK);
	FUZZ_HOLDS(used == need);
	FUZZ_HOLDS(!memcmp(&record, &again, sizeof(record)));
	/* The second encoding must equal the first: no byte depends on the previous content. */
	memset(second, 0xa5, sizeof(second));
	FUZZ_HOLDS(spmu_pebs_encode(layout, data_cfg, &again, second, need) == SPMU_OK);
	FUZZ_HOLDS(!memcmp(first, second, need));
	/* Each byte has a meaning, except in a branch's third word. */
	if (!(record.groups & SPMU_PEBS_LBR))
		FUZZ_HOLDS(!memcmp(first, bytes, need));
}

/*
 * Makes an adaptive record whose first word is correct, except that the input chooses the groups.
 */
static void try_sound(const struct spmu_ds_layout *layout, const uint8_t *bytes, size_t size)
{
	static uint8_t sound[SPACE];
	uint64_t word;

	if (size < sizeof(word))
		return;
	memset(sound, 0, sizeof(sound));
	memcpy(sound, bytes, size < SPACE ? size : SPACE);
	word = (bytes[0] & 15) | (bytes[0] & 8 ? (uint64_t)(bytes[3] & 31) << 24 : 0);
	word |= (uint64_t)spmu_pebs_record_bytes(layout, word) << 48;
	memcpy(sound, &word, sizeof(word));
	try_record(layout, true, sound, SPACE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct spmu_ds_layout *seen[16] = {NULL};

	for (size_t i = 0; i < 2 * spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i / 2);
		const struct spmu_ds_layout *layout = spmu_model_ds_layout(model, i & 1);
		unsigned n = 0;

		while (seen[n] && seen[n] != layout)
			n++;
		FUZZ_HOLDS(n < sizeof(seen) / sizeof(seen[0]) - 1);
		if (!layout || seen[n])
			continue;
		seen[n] = layout; /* models share layouts: try each once */
		try_area(layout, data, size);
		try_record(layout, spmu_model_describe(model).pebs_format >= 4, data, size);
		if (spmu_model_describe(model).pebs_format >= 4)
			try_sound(layout, data, size);
	}
	return 0;
}
