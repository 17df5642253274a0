/* SPDX-License-Identifier: MIT */
/*
 * models.c: models, their counters, names and facilities, and the fidelity of an event on a host.
 * Event tables: events.c.
 */
#include "data/model.h"
#include "tests/unit/unit_host.h"

static void check_facilities(const struct spmu_model *model)
{
	const struct spmu_facility *facility = spmu_model_facilities(model), *other;

	for (; facility->facility; facility++) {
		CHECK(!strcmp(facility->state, "done") || !strcmp(facility->state, "absent") ||
		      !strncmp(facility->state, "partial: ", 9));
		CHECK(facility->section && facility->section[0]);
		for (other = facility + 1; other->facility; other++)
			CHECK(strcmp(other->facility, facility->facility) != 0);
	}
}

static void check_models(void)
{
	CHECK(spmu_model_count() > 35);
	CHECK(spmu_model_at(spmu_model_count()) == NULL);
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);
		struct spmu_model_info info = spmu_model_describe(model);

		CHECK(spmu_model_find(info.name) == model);
		CHECK(info.title && info.section);
		/* libpfm4 4.13 has no table of the Pentium, of the newest Atoms, of Granite
		 * Rapids and of Lunar Lake. */
		CHECK((info.pfm != NULL) == (info.programming != SPMU_PROGRAM_CESR &&
					     strcmp(info.name, "alderlake-e") != 0 &&
					     strcmp(info.name, "sierraforest") != 0 &&
					     strcmp(info.name, "graniterapids") != 0 &&
					     strcmp(info.name, "lunarlake") != 0));
		CHECK(spmu_event_count(model) > 20);
		check_facilities(model);
	}
}

/* Checks that no two models share a name, alias, title or signature. */
static void check_unique(void)
{
	for (size_t m = 0; m < spmu_model_count(); m++) {
		const struct spmu_model *model = spmu_model_at(m);

		for (size_t i = 0; i < ALIASES_MAX && model->alias[i]; i++)
			CHECK(spmu_model_find(model->alias[i]) == model);
		for (size_t n = 0; n < m; n++) {
			const struct spmu_model *other = spmu_model_at(n);

			CHECK(model->signature != other->signature);
			CHECK(strcmp(model->title, other->title) != 0);
		}
	}
}

/* Checks tables 18-26, 18-31, 18-43, 18-53 and the sections of the other families. */
static void check_counters(void)
{
	static const struct {
		int line;
		const char *name;
		unsigned version, ht, single, bits, fixed;
		int pebs;
	} rows[] = {
		{__LINE__, "pentium", 0, 2, 2, 40, 0, -1},	  /* 18.23 */
		{__LINE__, "pentium-mmx", 0, 2, 2, 40, 0, -1},	  /* 18.23 */
		{__LINE__, "pentium-pro", 0, 2, 2, 40, 0, -1},	  /* 18.22 */
		{__LINE__, "pentium-ii", 0, 2, 2, 40, 0, -1},	  /* 18.22 */
		{__LINE__, "pentium-iii", 0, 2, 2, 40, 0, -1},	  /* 18.22 */
		{__LINE__, "pentium-m", 0, 2, 2, 40, 0, -1},	  /* no PEBS */
		{__LINE__, "netburst", 0, 18, 18, 40, 0, 0},	  /* 18.15.2, 18.16 */
		{__LINE__, "prescott", 0, 18, 18, 40, 0, 0},	  /* 18.15.2, 18.16 */
		{__LINE__, "cedar-mill", 0, 18, 18, 40, 0, 0},	  /* 18.15.2, 18.16 */
		{__LINE__, "xeon-7100", 0, 18, 18, 40, 0, 0},	  /* 18.15.2, 18.21 */
		{__LINE__, "xeon-mp-8m-l3", 0, 18, 18, 40, 0, 0}, /* 18.20 */
		{__LINE__, "core", 1, 2, 2, 40, 0, -1},
		{__LINE__, "core2", 2, 2, 2, 40, 3, 0},
		{__LINE__, "core2-45nm", 2, 2, 2, 40, 3, 0},
		{__LINE__, "xeon-7400", 2, 2, 2, 40, 3, 0},
		{__LINE__, "bonnell", 3, 2, 2, 40, 3, 0},
		{__LINE__, "silvermont", 3, 2, 2, 40, 3, 2},
		{__LINE__, "knightslanding", 3, 2, 2, 40, 3, 2},
		{__LINE__, "airmont", 3, 2, 2, 40, 3, 2},
		{__LINE__, "goldmont", 4, 4, 4, 48, 3, 3},
		{__LINE__, "goldmont-plus", 4, 4, 4, 48, 3, 3},
		{__LINE__, "nehalem", 3, 4, 4, 48, 3, 1},
		{__LINE__, "westmere", 3, 4, 4, 48, 3, 1},
		{__LINE__, "sandybridge", 3, 4, 8, 48, 3, 1},
		{__LINE__, "ivybridge", 3, 4, 8, 48, 3, 1},
		{__LINE__, "haswell", 3, 4, 8, 48, 3, 2},
		{__LINE__, "broadwell", 3, 4, 8, 48, 3, 2},
		{__LINE__, "skylake", 4, 4, 8, 48, 3, 3},
		{__LINE__, "icelake", 5, 8, 8, 48, 4, 4},
		{__LINE__, "tigerlake", 5, 8, 8, 48, 4, 4},
		{__LINE__, "alderlake", 5, 8, 8, 48, 4, 4},
		{__LINE__, "sapphirerapids", 5, 8, 8, 48, 4, 5},
		{__LINE__, "graniterapids", 5, 8, 8, 48, 4, 5},
		{__LINE__, "lunarlake", 6, 10, 10, 48, 4, 5},
		{__LINE__, "alderlake-e", 5, 6, 6, 48, 3, 4},
		{__LINE__, "sierraforest", 5, 8, 8, 48, 3, 5},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct spmu_model *model = spmu_model_find(rows[i].name);
		struct spmu_model_info info;

		if (!CHECK_ROW(rows[i].line, model != NULL))
			continue;
		info = spmu_model_describe(model);
		CHECK_ROW_EQ(rows[i].line, info.perfmon_version, rows[i].version);
		CHECK_ROW_EQ(rows[i].line, info.counters_ht, rows[i].ht);
		CHECK_ROW_EQ(rows[i].line, info.counters_single, rows[i].single);
		CHECK_ROW_EQ(rows[i].line, info.counter_bits, rows[i].bits);
		CHECK_ROW_EQ(rows[i].line, info.fixed_counters, rows[i].fixed);
		CHECK_ROW_EQ(rows[i].line, info.fixed_bits, rows[i].fixed ? rows[i].bits : 0);
		CHECK_ROW_EQ(rows[i].line, info.pebs_format, rows[i].pebs);
	}
}

static void check_names(void)
{
	static const struct {
		int line;
		const char *name, *model;
		uint32_t signature;
	} rows[] = {
		{__LINE__, "P54C", "pentium", 0x52c},
		{__LINE__, "p55c", "pentium-mmx", 0x543},
		{__LINE__, "PPro", "pentium-pro", 0x619},
		{__LINE__, "klamath", "pentium-ii", 0x653},
		{__LINE__, "p6", "pentium-iii", 0x683},
		{__LINE__, "Banias", "pentium-m", 0x6d8},
		{__LINE__, "Willamette", "netburst", 0xf29},
		{__LINE__, "p4", "netburst", 0xf29},
		{__LINE__, "nocona", "prescott", 0xf34},
		{__LINE__, "smithfield", "prescott-2m", 0xf43},
		{__LINE__, "presler", "cedar-mill", 0xf65},
		{__LINE__, "Tulsa", "xeon-7100", 0xf68},
		{__LINE__, "Potomac", "xeon-mp-8m-l3", 0xf41},
		{__LINE__, "skl", "skylake", 0x506e3},
		{__LINE__, "SkyLake", "skylake", 0x506e3},
		{__LINE__, "kbl", "kabylake", 0x906e9},
		{__LINE__, "cfl", "coffeelake", 0x906ea},
		{__LINE__, "SKX", "skylake-server", 0x50654},
		{__LINE__, "clx", "cascadelake", 0x50657},
		{__LINE__, "yonah", "core", 0x6e8},
		{__LINE__, "Conroe", "core2", 0x6fb},
		{__LINE__, "Penryn", "core2-45nm", 0x1067a},
		{__LINE__, "Dunnington", "xeon-7400", 0x106d1},
		{__LINE__, "atom", "bonnell", 0x106ca},
		{__LINE__, "slm", "silvermont", 0x30678},
		{__LINE__, "knl", "knightslanding", 0x50671},
		{__LINE__, "cherrytrail", "airmont", 0x406c3},
		{__LINE__, "glm", "goldmont", 0x506c9},
		{__LINE__, "Denverton", "goldmont", 0x506c9},
		{__LINE__, "goldmontplus", "goldmont-plus", 0x706a8},
		{__LINE__, "Nehalem", "nehalem", 0x106a4},
		{__LINE__, "nhm", "nehalem", 0x106a4},
		{__LINE__, "Westmere", "westmere", 0x20652},
		{__LINE__, "SandyBridge", "sandybridge", 0x206a7},
		{__LINE__, "jaketown", "sandybridge-server", 0x206d7},
		{__LINE__, "IvyBridge", "ivybridge", 0x306a9},
		{__LINE__, "ivytown", "ivybridge-server", 0x306e4},
		{__LINE__, "Haswell", "haswell", 0x306c3},
		{__LINE__, "haswellx", "haswell-server", 0x306f2},
		{__LINE__, "bdw", "broadwell", 0x306d4},
		{__LINE__, "broadwellx", "broadwell-server", 0x406f1},
		{__LINE__, "icl", "icelake", 0x706e5},
		{__LINE__, "Icelake-Server", "icelake-server", 0x606a6},
		{__LINE__, "tgl", "tigerlake", 0x806c1},
		{__LINE__, "adl", "alderlake", 0x90672},
		{__LINE__, "spr", "sapphirerapids", 0x806f8},
		{__LINE__, "gnr", "graniterapids", 0xa06d1},
		{__LINE__, "lioncove", "lunarlake", 0xb06d1},
		{__LINE__, "gracemont", "alderlake-e", 0xb06e0},
		{__LINE__, "srf", "sierraforest", 0xa06f3},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct spmu_model *model = spmu_model_find(rows[i].name);

		if (!CHECK_ROW(rows[i].line, model != NULL))
			continue;
		CHECK_ROW(rows[i].line, !strcmp(spmu_model_describe(model).name, rows[i].model));
		CHECK_ROW_EQ(rows[i].line, spmu_model_describe(model).signature, rows[i].signature);
	}
	CHECK(spmu_model_find("") == NULL);
	CHECK(spmu_model_find("skylak") == NULL);
	CHECK(spmu_model_find("skylakes") == NULL);
	CHECK(spmu_model_find(NULL) == NULL);
	/* Only the server has 512-bit events. */
	CHECK(spmu_event_by_code(spmu_model_find("skl"), 0x40c7) == NULL);
	CHECK(spmu_event_by_code(spmu_model_find("skx"), 0x40c7) != NULL);
}

static void check_fidelity(void)
{
	const struct spmu_model *model = spmu_model_find("skylake");
	const struct spmu_event *branches = spmu_event_by_code(model, 0x00c4);
	const struct spmu_event *cycles = spmu_event_by_code(model, 0x003c);
	struct spmu_supply supply = SUPPLY_EXECUTION;

	CHECK_EQ(spmu_event_fidelity(branches, &supply), SPMU_EXACT);
	CHECK_EQ(spmu_event_fidelity(cycles, &supply), SPMU_ABSENT);
	supply.modelled = SPMU_SIGBIT(CYCLES);
	CHECK_EQ(spmu_event_fidelity(cycles, &supply), SPMU_MODELLED);
	supply.exact &= ~SPMU_SIGBIT(FAR); /* the lack of one kind is enough */
	CHECK_EQ(spmu_event_fidelity(branches, &supply), SPMU_ABSENT);
	supply.modelled |= SPMU_SIGBIT(FAR);
	CHECK_EQ(spmu_event_fidelity(branches, &supply), SPMU_MODELLED);
	supply = SUPPLY_ALL;
	/* Nothing describes HLE_RETIRED.ABORTED. */
	CHECK_EQ(spmu_event_fidelity(spmu_event_by_code(model, 0x04c8), &supply), SPMU_ABSENT);
	for (unsigned s = 0; s < SPMU_SIGNALS; s++)
		CHECK(SPMU_SIGSET_ALL >> s & 1 && spmu_signal_meaning((enum spmu_signal)s));
	CHECK(spmu_signal_meaning(SPMU_SIGNALS) == NULL);
}

int main(void)
{
	RUN(check_models());
	RUN(check_unique());
	RUN(check_counters());
	RUN(check_names());
	RUN(check_fidelity());
	return test_summary();
}
