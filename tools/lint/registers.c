// SPDX-License-Identifier: MIT
/*
 * registers.c: checks each register of each model. Its list of fields begins at bit 0 and covers 64
 * bits without gap or overlap. Reserved fields, and only they, have no name. Reset values leave
 * reserved bits clear. Addresses rise.
 */
#include <stdio.h>

#include <softpmu/registers.h>

static unsigned passed, failed;

static void check(bool right, const char *model, const struct spmu_register *reg, const char *what)
{
	if (right) {
		passed++;
		return;
	}
	failed++;
	printf("%s %s (%xH): %s\n", model, reg->name, reg->msr, what);
}

static void check_fields(const char *model, const struct spmu_register *reg)
{
	unsigned next = 0;
	uint64_t reserved = 0;
	bool adjoin = true, named = true;

	for (size_t i = 0; i < reg->field_count; i++) {
		const struct spmu_field *field = &reg->fields[i];

		adjoin = adjoin && field->low == next && field->width > 0 && field->width <= 64;
		named = named && (field->access == SPMU_RESERVED || field->name);
		next = field->low + field->width;
		if (field->access == SPMU_RESERVED && field->width < 64)
			reserved |= ((UINT64_C(1) << field->width) - 1) << (field->low & 63);
	}
	check(adjoin, model, reg, "its fields leave a gap or overlap");
	check(next == 64, model, reg, "its fields do not end at bit 63");
	check(named, model, reg, "a field that is not reserved has no name");
	check(!(reg->reset & reserved), model, reg, "its reset value sets reserved bits");
	check(reg->section && *reg->section, model, reg, "no section of the manual is named");
}

int main(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);
		const char *name = spmu_model_describe(model).name;
		struct spmu_register reg;
		uint32_t last = 0;

		for (size_t i = 0; spmu_register_at(model, i, &reg); i++) {
			check_fields(name, &reg);
			check(i == 0 || reg.msr > last, name, &reg, "stands out of order");
			last = reg.msr;
		}
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
