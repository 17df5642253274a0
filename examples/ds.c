/* SPDX-License-Identifier: MIT */
/*
 * ds.c: what a debug-store area contains.  Writes a management area with one PEBS record in
 * its buffer, as a unit does, and reads both back, as an interrupt service routine does.
 *
 * Prints:
 *	management area: 96 bytes, resets at 64
 *	record: 200 bytes
 *	1 of 16 records: instruction 401136, next 401139, made by counters 1
 */
#include <stdio.h>

#include <softpmu/ds.h>

#define LINEAR UINT64_C(0x7f0000000000)
#define HEAD   4096

int main(void)
{
	static uint8_t page[2 * HEAD]; /* the memory at the area's linear addresses */
	const struct spmu_model *model = spmu_model_find("skylake");
	const struct spmu_ds_layout *layout = model ? spmu_model_ds_layout(model, true) : NULL;
	size_t bytes = spmu_pebs_record_bytes(layout, 0);
	const struct spmu_pebs_record made = {
		.regs.rip = 0x401139,
		.eventing_ip = 0x401136,
		.applicable = 1,
	};
	struct spmu_ds_area area = {
		.pebs_base = LINEAR + HEAD,
		.pebs_index = LINEAR + HEAD + bytes, /* after the one record */
		.pebs_maximum = LINEAR + HEAD + 16 * bytes,
		.pebs_threshold = LINEAR + HEAD + 15 * bytes,
	};
	struct spmu_pebs_record seen;

	if (!layout || spmu_ds_encode(layout, &area, page, HEAD) != SPMU_OK ||
	    spmu_pebs_encode(layout, 0, &made, page + HEAD, bytes) != SPMU_OK)
		return 1;

	if (spmu_ds_decode(layout, page, HEAD, &area) != SPMU_OK ||
	    spmu_pebs_decode(layout, page + (area.pebs_base - LINEAR), bytes, &seen, NULL) !=
		    SPMU_OK)
		return 1;
	printf("management area: %u bytes, resets at %u\n", layout->bytes, layout->reset_offset);
	printf("record: %zu bytes\n", bytes);
	printf("%llu of %llu records: instruction %llx, next %llx, made by counters %llx\n",
	       (unsigned long long)((area.pebs_index - area.pebs_base) / bytes),
	       (unsigned long long)((area.pebs_maximum - area.pebs_base) / bytes),
	       (unsigned long long)seen.eventing_ip, (unsigned long long)seen.regs.rip,
	       (unsigned long long)seen.applicable);
	return 0;
}
