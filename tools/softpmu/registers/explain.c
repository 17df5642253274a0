/* SPDX-License-Identifier: MIT */
/*
 * explain.c: draws a register value as the manual draws the register, and says what it means.
 *
 * The fields come from the model's register list.  A write is tried on a core of the model after
 * power-up (Vol. 3A 9.1.1), which shows whether it completes and what is read back.  Event names
 * come from the model's table, then from libpfm4.
 */
#define _GNU_SOURCE
#include "tools/softpmu/registers/explain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "tools/softpmu/base/output.h"
#include "tools/softpmu/base/tool.h"
#include "tools/softpmu/events/catalog.h"
#include "tools/softpmu/events/event_names.h"
#include "tools/softpmu/events/events.h"

/* The fields of IA32_PERFEVTSELx that the driver sets (Vol. 3B 18.2.1.1). */
#define SELECT_OS  (UINT64_C(1) << 17)
#define SELECT_INT (UINT64_C(1) << 20)
#define SELECT_EN  (UINT64_C(1) << 22)

/* IA32_FIXED_CTR_CTRL (Vol. 3B 18.2.2): four bits for each counter. */
#define FIXED_CONTROL(value, i) ((unsigned)((value) >> (4 * (i))) & 0xf)
#define FIXED_OS		1u
#define FIXED_USR		2u
#define FIXED_PMI		8u

bool explain_number(const char *text, uint64_t *value)
{
	size_t length = strlen(text), used;
	char digits[24];
	char *end;
	int base = 10;

	if (length > 1 && text[0] == '0' && (text[1] | 0x20) == 'x') {
		base = 16;
		text += 2;
		length -= 2;
	} else if (length > 1 && (text[length - 1] | 0x20) == 'h') {
		base = 16;
		length--;
	}
	if (length == 0 || length >= sizeof(digits))
		return false;
	memcpy(digits, text, length);
	digits[length] = '\0';
	used = strspn(digits, base == 16 ? "0123456789abcdefABCDEF" : "0123456789");
	/* A decimal number with 20 digits can exceed 64 bits; strtoull() then returns the
	 * largest. */
	*value = strtoull(digits, &end, base);
	return used == length && !(base == 16 && length > 16) &&
	       !(*value == UINT64_MAX && base == 10 && strcmp(digits, "18446744073709551615"));
}

/* Returns the name without the prefix that users may leave out. */
static const char *short_name(const char *name)
{
	if (!strncasecmp(name, "IA32_", 5))
		return name + 5;
	if (!strncasecmp(name, "MSR_", 4))
		return name + 4;
	return name;
}

static bool find_register(const struct spmu_model *model, const char *name,
			  struct spmu_register *found)
{
	uint64_t number;
	size_t i;

	for (i = 0; spmu_register_at(model, i, found); i++) {
		if (!strcasecmp(found->name, name))
			return true;
	}
	for (i = 0; spmu_register_at(model, i, found); i++) {
		if (!strcasecmp(short_name(found->name), short_name(name)))
			return true;
	}
	if (!explain_number(name, &number))
		return false;
	for (i = 0; spmu_register_at(model, i, found); i++) {
		if (found->msr == number)
			return true;
	}
	return false;
}

/* Says that there is no such register, and which name is similar. */
static int no_register(const struct explain *explain, const char *name)
{
	struct spmu_register reg;
	char nearest[64] = "";
	unsigned best = 4;
	size_t i;

	for (i = 0; spmu_register_at(explain->model, i, &reg); i++) {
		unsigned distance = tool_distance(short_name(name), short_name(reg.name));

		if (distance < best) {
			best = distance;
			snprintf(nearest, sizeof(nearest), "; did you mean %s?", reg.name);
		}
	}
	tool_error("%s has no register '%s'%s", explain->info.name, name,
		   *nearest ? nearest : " (softpmu explain lists them)");
	return 1;
}

int explain_list(const struct explain *explain)
{
	struct spmu_register reg;
	int widest = 0;
	size_t i;

	for (i = 0; spmu_register_at(explain->model, i, &reg); i++) {
		if ((int)strlen(reg.name) > widest)
			widest = (int)strlen(reg.name);
	}
	printf("Registers of %s, %s:\n\n", explain->info.name, explain->info.title);
	printf("%5s  %-*s  %-16s  %s\n", "MSR", widest, "name", "after reset", "section");
	for (i = 0; spmu_register_at(explain->model, i, &reg); i++)
		printf("%4" PRIX32 "H  %-*s  %016" PRIx64 "  %s%s\n", reg.msr, widest, reg.name,
		       reg.reset, output_volume(reg.section), reg.section);
	return 0;
}

static const char *rings(bool os, bool usr)
{
	if (os && usr)
		return "at every CPL";
	if (os)
		return "at CPL 0";
	return usr ? "at CPL 1, 2 and 3" : "nowhere: neither OS nor USR is set";
}

/* Returns whether the counter is enabled.  P6 has one EN bit for both counters (18.22.1). */
static const char *enabled_text(const struct spmu_register *reg, uint64_t value)
{
	for (size_t i = 0; i < reg->field_count; i++)
		if (reg->fields[i].name && !strcmp(reg->fields[i].name, "EN"))
			return value & SELECT_EN ? "enabled" : "not enabled (EN is 0)";
	return "enabled by EN of the first";
}

/* Says in a sentence what an event select register counts. */
static void explain_select(const struct explain *explain, const struct spmu_register *reg,
			   uint64_t value)
{
	uint64_t code = value & SELECT_CODE;
	unsigned threshold = (unsigned)((value & SELECT_CMASK) >> SELECT_CMASK_AT);
	const struct spmu_event *event = spmu_event_by_code(explain->model, code);
	char *name = event_names_of_select(explain->model, value & SELECT_CODE);
	char *modified = event_names_of_select(explain->model, value);
	char *full = tool_print("%s%s", modified,
				(value & (SELECT_USR | SELECT_OS)) == SELECT_OS ? ":k" : "");
	enum spmu_fidelity fidelity;
	const char *reason;
	char raw[24];

	snprintf(raw, sizeof(raw), "r%04" PRIx64, code);
	fidelity = catalog_fidelity(explain->model, full, &reason);
	if (event)
		printf("Event %s is %s: %s (%s%s).\n", raw, event->name, event->description,
		       output_volume(event->section), event->section);
	else if (strcasecmp(name, raw) != 0)
		printf("Event %s is %s, by libpfm4.\n", raw, name);
	else
		printf("Event %s: neither the model nor libpfm4 knows one of this code.\n", raw);
	printf("Its count in a program run by softpmu is %s%s%s.\n",
	       catalog_fidelity_text(fidelity), reason ? ": " : "", reason ? reason : "");
	free(full);
	free(modified);
	free(name);
	printf("It counts %s", rings(value & SELECT_OS, value & SELECT_USR));
	if (threshold)
		printf(", clocks with %s %u occurrence%s",
		       value & SELECT_INV ? "fewer than" : "at least", threshold,
		       threshold == 1 ? "" : "s");
	if (value & SELECT_EDGE)
		printf(", at rising edges");
	printf(", %s; an overflow %s.\n", enabled_text(reg, value),
	       value & SELECT_INT ? "interrupts" : "does not interrupt");
}

static void explain_fixed(const struct explain *explain, uint64_t value)
{
	unsigned i;

	for (i = 0; i < explain->info.fixed_counters; i++) {
		unsigned control = FIXED_CONTROL(value, i);
		const struct spmu_event *event = spmu_event_fixed(explain->model, i);

		printf("Fixed counter %u (%s) ", i, event ? event->name : "unknown");
		if (!(control & (FIXED_OS | FIXED_USR)))
			puts("is disabled.");
		else
			printf("counts %s; an overflow %s.\n",
			       rings(control & FIXED_OS, control & FIXED_USR),
			       control & FIXED_PMI ? "interrupts" : "does not interrupt");
	}
}

/* Tries the write on a fresh core and says what software would meet. */
static void explain_write(const struct explain *explain, const struct spmu_register *reg,
			  uint64_t value)
{
	uint64_t back = 0, wrong = 0;
	size_t i;

	for (i = 0; i < reg->field_count; i++) {
		const struct spmu_field *field = &reg->fields[i];

		if (field->access == SPMU_RESERVED)
			wrong |= draw_extract(field, value) << field->low;
	}
	spmu_reset(explain->core, 0);
	switch (spmu_write_msr(explain->core, 0, reg->msr, value)) {
	case SPMU_DONE:
		printf("WRMSR completes");
		break;
	case SPMU_GP:
		printf("WRMSR raises #GP(0)");
		if (wrong)
			printf(": reserved bits are set (%#" PRIx64 ")", wrong);
		puts(".");
		return;
	case SPMU_UD: /* only from RDPMC */
	case SPMU_NOT_OURS:
		puts("WRMSR is not for the unit.");
		return;
	}
	if (spmu_read_msr(explain->core, 0, reg->msr, &back) == SPMU_DONE && back != value)
		printf("; RDMSR then reads %#" PRIx64, back);
	puts(".");
}

int explain_register(const struct explain *explain, const char *text)
{
	struct spmu_register reg;
	const char *equals = strchr(text, '=');
	char *name = tool_copy(text);
	uint64_t value;
	int status = 0;

	if (equals)
		name[equals - text] = '\0';
	if (!find_register(explain->model, name, &reg)) {
		status = no_register(explain, name);
		goto out;
	}
	value = reg.reset;
	if (equals && !explain_number(equals + 1, &value)) {
		tool_error("'%s' is not a 64-bit number such as 0x5300c0, 5300C0H or 5439680",
			   equals + 1);
		status = 1;
		goto out;
	}
	printf("%s (MSR %" PRIX32 "H) = 0x%016" PRIx64 "%s\n%s, %s%s\n\n", reg.name, reg.msr, value,
	       equals ? "" : " after reset", explain->info.title, output_volume(reg.section),
	       reg.section);
	draw_boxes(&explain->style, reg.fields, reg.field_count, value);
	putchar('\n');
	draw_fields(reg.fields, reg.field_count, value);
	putchar('\n');
	if (strcasestr(reg.name, "PERFEVTSEL") && value)
		explain_select(explain, &reg, value);
	if (!strcmp(reg.name, "CESR"))
		explain_legacy_cesr(explain, value);
	if (strstr(reg.name, "_ESCR") && value)
		explain_legacy_escr(explain, reg.name, value);
	if (strstr(reg.name, "_CCCR"))
		explain_legacy_cccr(explain, reg.msr, value);
	if (strstr(reg.name, "FIXED_CTR_CTRL"))
		explain_fixed(explain, value);
	if (equals)
		explain_write(explain, &reg, value);
out:
	free(name);
	return status;
}
