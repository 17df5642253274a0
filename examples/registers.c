/* SPDX-License-Identifier: MIT */
/*
 * registers.c: decodes a value that software writes to IA32_PERFEVTSEL0, field by field.
 *
 * Prints:
 *	IA32_PERFEVTSEL0 (186H) = 5300C0H
 *	  [7:0] EVENT_SELECT = C0H
 *	  [16:16] USR = 1H
 *	  [17:17] OS = 1H
 *	  [20:20] INT = 1H
 *	  [22:22] EN = 1H
 */
#include <stdio.h>
#include <string.h>

#include <softpmu/registers.h>

int main(void)
{
	const uint64_t value = 0x5300c0;
	const struct spmu_model *model = spmu_model_find("skylake");
	struct spmu_register reg;

	for (size_t index = 0; model && spmu_register_at(model, index, &reg); index++) {
		if (strcmp(reg.name, "IA32_PERFEVTSEL0") != 0)
			continue;
		printf("%s (%XH) = %llXH\n", reg.name, reg.msr, (unsigned long long)value);
		for (size_t i = 0; i < reg.field_count; i++) {
			const struct spmu_field *field = &reg.fields[i];
			uint64_t bits = value >> field->low;

			if (field->width < 64)
				bits &= (UINT64_C(1) << field->width) - 1;
			if (bits)
				printf("  [%d:%d] %s = %llXH\n", field->low + field->width - 1,
				       field->low, field->name ? field->name : "reserved",
				       (unsigned long long)bits);
		}
		return 0;
	}
	return 1;
}
