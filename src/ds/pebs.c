/* SPDX-License-Identifier: MIT */
/*
 * pebs.c: a PEBS record in memory: the unit encodes it, software decodes it. Both use the model's
 * one list of fields (17.4.9, 18.4.4, 18.8.1.1, 18.11.2, 18.13.1.1; adaptive records: 10th
 * generation Core).
 *
 * The vectors and branches are most of the size of struct spmu_pebs_record, but few records have
 * them. So they are only touched for records that do. An adaptive record holds at most as many
 * branches as the stack of last branch records. A configuration that asks for more gets that
 * number, and the format word says so.
 */
#include <string.h>

#include "data/model.h"

_Static_assert(offsetof(struct spmu_pebs_record, xmm) + 256 ==
		       offsetof(struct spmu_pebs_record, branch),
	       "what few records have stands last");
#define HEAD_BYTES offsetof(struct spmu_pebs_record, xmm)

/* What MSR_PEBS_DATA_CFG selects, in the form of the format word. */
static uint64_t format_of(uint64_t data_cfg)
{
	uint64_t format = data_cfg & PEBS_FORMAT_GROUPS;
	uint64_t entries = (data_cfg >> PEBS_FORMAT_ENTRIES) & 0xff;

	if (!(format & SPMU_PEBS_LBR))
		return format;
	if (entries >= SPMU_LBR_DEPTH_MAX)
		entries = SPMU_LBR_DEPTH_MAX - 1;
	return format | entries << PEBS_FORMAT_ENTRIES;
}

static unsigned branches_of(uint64_t format)
{
	if (!(format & SPMU_PEBS_LBR))
		return 0;
	return (unsigned)(format >> PEBS_FORMAT_ENTRIES & 0xff) + 1;
}

static size_t bytes_of(const struct spmu_pebs_layout *pebs, uint64_t format)
{
	size_t bytes = 0;

	for (unsigned g = 0; g < pebs->group_count; g++)
		if ((pebs->group[g].group & format) == pebs->group[g].group)
			bytes += pebs->group[g].bytes;
	if (format & SPMU_PEBS_XMM)
		bytes += PEBS_VECTORS_BYTES;
	return bytes + (size_t)branches_of(format) * PEBS_BRANCH_BYTES;
}

size_t spmu_pebs_record_bytes(const struct spmu_ds_layout *layout, uint64_t data_cfg)
{
	if (!layout || !layout->pebs)
		return 0;
	if (!layout->pebs->adaptive)
		return layout->pebs->group[0].bytes;
	return bytes_of(layout->pebs, format_of(data_cfg));
}

static void put_fields(const struct spmu_pebs_layout *pebs, const struct pebs_group *group,
		       const struct spmu_pebs_record *record, uint8_t *out)
{
	for (unsigned i = 0; i < group->field_count; i++)
		memcpy(out + group->field[i].offset,
		       (const uint8_t *)record + group->field[i].member, pebs->word_bytes);
}

/* `record` must be 0 if a field is narrower than its member. */
static void get_fields(const struct spmu_pebs_layout *pebs, const struct pebs_group *group,
		       const uint8_t *in, struct spmu_pebs_record *record)
{
	for (unsigned i = 0; i < group->field_count; i++)
		memcpy((uint8_t *)record + group->field[i].member, in + group->field[i].offset,
		       pebs->word_bytes);
}

/* An LBR entry of a record has the form of the registers. */
_Static_assert(sizeof(struct spmu_lbr_entry) == PEBS_BRANCH_BYTES, "from, to, info");

static void put_branch(const struct spmu_pebs_layout *pebs, const struct spmu_branch *branch,
		       uint8_t log, uint8_t *out)
{
	const struct spmu_lbr_layout entries = {.format = pebs->lbr_format};
	struct spmu_lbr_entry entry;

	spmu_lbr_encode(&entries, branch, &entry);
	entry.info |= (uint64_t)log << SPMU_LBR_LOG_LOW;
	memcpy(out, &entry, sizeof(entry));
}

static void get_branch(const struct spmu_pebs_layout *pebs, const uint8_t *in,
		       struct spmu_branch *branch, uint8_t *log)
{
	const struct spmu_lbr_layout entries = {.format = pebs->lbr_format};
	struct spmu_lbr_entry entry;

	memcpy(&entry, in, sizeof(entry));
	spmu_lbr_decode(&entries, &entry, branch);
	*log = spmu_lbr_log(&entry);
}

static void put_adaptive(const struct spmu_pebs_layout *pebs, uint64_t format,
			 const struct spmu_pebs_record *record, uint8_t *out)
{
	uint64_t word = format | (uint64_t)bytes_of(pebs, format) << PEBS_FORMAT_SIZE;

	memcpy(out, &word, sizeof(word));
	for (unsigned g = 0; g < pebs->group_count; g++) {
		const struct pebs_group *group = &pebs->group[g];

		if ((group->group & format) != group->group)
			continue;
		put_fields(pebs, group, record, out);
		out += group->bytes;
	}
	if (format & SPMU_PEBS_XMM) {
		memcpy(out, record->xmm, PEBS_VECTORS_BYTES);
		out += PEBS_VECTORS_BYTES;
	}
	for (unsigned i = 0; i < branches_of(format); i++, out += PEBS_BRANCH_BYTES) {
		if (i < record->branch_count)
			put_branch(pebs, &record->branch[i], record->branch_log[i], out);
		else
			memset(out, 0, PEBS_BRANCH_BYTES);
	}
}

static void get_adaptive(const struct spmu_pebs_layout *pebs, uint64_t format, const uint8_t *in,
			 struct spmu_pebs_record *record)
{
	for (unsigned g = 0; g < pebs->group_count; g++) {
		const struct pebs_group *group = &pebs->group[g];

		if ((group->group & format) != group->group)
			continue;
		get_fields(pebs, group, in, record);
		in += group->bytes;
	}
	if (format & SPMU_PEBS_XMM) {
		memcpy(record->xmm, in, PEBS_VECTORS_BYTES);
		in += PEBS_VECTORS_BYTES;
	}
	record->groups = (uint32_t)(format & PEBS_FORMAT_GROUPS);
	record->branch_count = branches_of(format);
	for (unsigned i = 0; i < record->branch_count; i++, in += PEBS_BRANCH_BYTES)
		get_branch(pebs, in, &record->branch[i], &record->branch_log[i]);
}

static enum spmu_status check(const struct spmu_ds_layout *layout, const void *memory,
			      const struct spmu_pebs_record *record)
{
	if (!layout || !memory || !record)
		return SPMU_E_ARGUMENT;
	return layout->pebs ? SPMU_OK : SPMU_E_UNAVAILABLE;
}

enum spmu_status spmu_pebs_encode(const struct spmu_ds_layout *layout, uint64_t data_cfg,
				  const struct spmu_pebs_record *record, void *to, size_t bytes)
{
	enum spmu_status status = check(layout, to, record);
	const struct spmu_pebs_layout *pebs;

	if (status != SPMU_OK)
		return status;
	pebs = layout->pebs;
	if (bytes < spmu_pebs_record_bytes(layout, data_cfg))
		return SPMU_E_SPACE;
	if (pebs->straight)
		memcpy(to, record, pebs->group[0].bytes);
	else if (pebs->adaptive)
		put_adaptive(pebs, format_of(data_cfg), record, to);
	else
		put_fields(pebs, &pebs->group[0], record, to);
	return SPMU_OK;
}

/* Reads what an adaptive record says of itself. Its length must be the sum of its groups. */
static enum spmu_status read_format(const struct spmu_pebs_layout *pebs, const uint8_t *in,
				    size_t bytes, uint64_t *format, size_t *need)
{
	uint64_t word;

	if (bytes < sizeof(word))
		return SPMU_E_SPACE;
	memcpy(&word, in, sizeof(word));
	*need = word >> PEBS_FORMAT_SIZE;
	*format = word & ((UINT64_C(1) << PEBS_FORMAT_SIZE) - 1);
	if (*format != format_of(*format) || *need != bytes_of(pebs, *format))
		return SPMU_E_FORMAT;
	return SPMU_OK;
}

enum spmu_status spmu_pebs_decode(const struct spmu_ds_layout *layout, const void *from,
				  size_t bytes, struct spmu_pebs_record *record, size_t *used)
{
	enum spmu_status status = check(layout, from, record);
	const struct spmu_pebs_layout *pebs;
	uint64_t format = 0;
	size_t need;

	if (status != SPMU_OK)
		return status;
	pebs = layout->pebs;
	need = pebs->group[0].bytes;
	if (pebs->adaptive)
		status = read_format(pebs, from, bytes, &format, &need);
	if (status != SPMU_OK)
		return status;
	if (bytes < need)
		return SPMU_E_SPACE;
	memset(record, 0, HEAD_BYTES);
	if (pebs->straight)
		memcpy(record, from, need);
	else if (pebs->adaptive)
		get_adaptive(pebs, format, from, record);
	else
		get_fields(pebs, &pebs->group[0], from, record);
	if (used)
		*used = need;
	return SPMU_OK;
}
