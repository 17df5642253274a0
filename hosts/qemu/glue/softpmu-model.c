/* SPDX-License-Identifier: MIT */
/*
 * softpmu-model.c: chooses the unit of a virtual processor, and sets what software identifies the
 * processor by: vendor, family, model and stepping, its name, and the revision of its microcode
 * (Vol. 2A, CPUID).
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/timer.h"
#include "cpu.h"
#include "system/cpu-timers.h"
#include "softpmu-unit.h"

#define UCODE_REVISION (UINT64_C(0x7f000000) << 32) /* IA32_BIOS_SIGN_ID */

#define NAME_MAX_BYTES 47 /* CPUID.80000002H to 80000004H without the final 0 */

/* Returns the family and model of CPUID.01H:EAX, without the stepping. */
static uint32_t family_and_model(uint32_t signature)
{
	return signature & 0x0fff0ff0;
}

/* Returns the signature under which the library lists the unit of QEMU's processor. */
static uint32_t listed_as(uint32_t signature)
{
	switch (family_and_model(signature)) {
	case 0x506f0: /* Denverton: Goldmont */
		return 0x506c9;
	case 0x670: /* pentium3, the first Pentium III */
		return 0x683;
	default:
		return signature;
	}
}

/*
 * Returns the model with the nearest stepping of the same family and model.  The processor takes
 * that stepping, because drivers check for steppings that are known to work.
 */
static const struct spmu_model *model_of(uint32_t *signature)
{
	const struct spmu_model *best = NULL;
	uint32_t distance = UINT32_MAX;
	uint32_t wanted = listed_as(*signature);
	uint32_t found = 0;

	for (size_t i = 0; i < spmu_model_count(); i++) {
		const struct spmu_model *model = spmu_model_at(i);
		uint32_t other = spmu_model_describe(model).signature;
		uint32_t steps = other > wanted ? other - wanted : wanted - other;

		if (family_and_model(other) != family_and_model(wanted) || steps >= distance)
			continue;
		best = model;
		found = other;
		distance = steps;
	}
	if (best && wanted == *signature)
		*signature = found;
	return best;
}

/* Returns the most similar unit for a processor of QEMU's whose own unit the library lacks. */
static const char *nearest_to(uint32_t signature)
{
	static const struct {
		uint32_t signature;
		const char *unit;
	} nearest[] = {
		{0x80650, "knightslanding"}, /* KnightsMill */
		{0x80660, "goldmont-plus"},  /* Snowridge */
		{0xd06d0, "sierraforest"},   /* ClearwaterForest */
	};

	for (size_t i = 0; i < ARRAY_SIZE(nearest); i++)
		if (nearest[i].signature == family_and_model(signature))
			return nearest[i].unit;
	return NULL;
}

static bool has_type(X86CPU *cpu, const char *beginning)
{
	return g_str_has_prefix(object_get_typename(OBJECT(cpu)), beginning);
}

static void refuse(X86CPU *cpu, Error **errp)
{
	const char *unit = nearest_to(cpu->env.cpuid_version);

	if (unit)
		error_setg(errp,
			   "pmu=on: no unit is known for this CPU model; the nearest is "
			   "pmu-model=%s ('softpmu models' lists all)",
			   unit);
	else
		error_setg(errp, "pmu=on: no unit is known for this CPU model; name one with "
				 "pmu-model= ('softpmu models' lists them)");
}

/* Makes the processor GenuineIntel, because drivers check the vendor first. */
static void become_intel(X86CPU *cpu, const struct spmu_model *model)
{
	g_autofree char *name = NULL;

	if (IS_INTEL_CPU(&cpu->env))
		return;
	name = g_strdup_printf("Intel Processor (%s)", spmu_model_describe(model).name);
	object_property_set_str(OBJECT(cpu), "vendor", CPUID_VENDOR_INTEL, &error_abort);
	object_property_set_str(OBJECT(cpu), "model-id", name, &error_abort);
	cpu->env.features[FEAT_8000_0001_EDX] &= ~CPUID_EXT2_AMD_ALIASES;
}

/* Returns the frequency of the guest's time-stamp counter, in units of 10 MHz. */
static unsigned tsc_rate(void)
{
	static unsigned rate;
	const int64_t least_ns = 5 * SCALE_MS;
	int64_t start, now, ticks;

	if (icount_enabled()) /* nanoseconds */
		return 100;
	if (rate)
		return rate;
	start = get_clock();
	ticks = cpu_get_host_ticks();
	do {
		g_usleep(least_ns / SCALE_US);
		now = get_clock();
	} while (now - start < least_ns);
	ticks = cpu_get_host_ticks() - ticks;
	rate = (unsigned)(ticks * 100.0 / (now - start) + 0.5);
	return rate;
}

/* Appends the frequency to the processor's name, where software reads it. */
static void name_frequency(X86CPU *cpu)
{
	g_autofree char *name = object_property_get_str(OBJECT(cpu), "model-id", &error_abort);
	g_autofree char *suffix = NULL, *full = NULL;
	unsigned rate;
	char *end;

	if (!*name || strstr(name, "Hz"))
		return;
	rate = tsc_rate();
	suffix = g_strdup_printf(" @ %u.%02uGHz", rate / 100, rate % 100);
	end = strstr(name, " (");
	if (end && strlen(name) + strlen(suffix) > NAME_MAX_BYTES)
		*end = '\0';
	full = g_strconcat(name, suffix, NULL);
	if (strlen(full) <= NAME_MAX_BYTES)
		object_property_set_str(OBJECT(cpu), "model-id", full, &error_abort);
}

static const struct spmu_model *find(X86CPU *cpu, Error **errp)
{
	const struct spmu_model *model = NULL;

	if (cpu->softpmu_model) {
		model = spmu_model_find(cpu->softpmu_model);
		if (!model)
			error_setg(errp,
				   "pmu-model: there is no unit named '%s' ('softpmu models' "
				   "lists them)",
				   cpu->softpmu_model);
		else
			cpu->env.cpuid_version = spmu_model_describe(model).signature;
		return model;
	}
	/* QEMU's Icelake-Server has the number of Snowridge. */
	if (has_type(cpu, "Icelake-Server") && cpu->env.cpuid_version == 0x80660)
		cpu->env.cpuid_version = 0x606a6;
	if (IS_INTEL_CPU(&cpu->env))
		model = model_of(&cpu->env.cpuid_version);
	if (!model && !has_type(cpu, X86_CPU_TYPE_NAME("max")))
		refuse(cpu, errp);
	return model;
}

/* Raises the highest leaf of CPUID to that in which the unit reports itself. */
static void raise_level(X86CPU *cpu, const struct spmu_model *model)
{
	uint32_t leaf = spmu_model_describe(model).cpuid_leaf;

	if (cpu->env.cpuid_level < leaf)
		cpu->env.cpuid_level = leaf;
}

const struct spmu_model *softpmu_choose_model(X86CPU *cpu, Error **errp)
{
	const struct spmu_model *model = find(cpu, errp);

	if (!model)
		return NULL;
	become_intel(cpu, model);
	name_frequency(cpu);
	raise_level(cpu, model);
	/* Drivers do not use PEBS when the microcode is older than the fixes of its errata. */
	if (!cpu->ucode_rev)
		cpu->ucode_rev = UCODE_REVISION;
	return model;
}
