/* SPDX-License-Identifier: MIT */
/*
 * escr.c: NetBurst's event selection and counter configuration (Vol. 3B 18.15.1 to 18.15.6; two
 * threads: 18.16.1 to 18.16.3).
 *
 * A CCCR connects its counter with one of the pairs of ESCRs of its block. The counter decides
 * which ESCR of the pair it is. Two counters may share an ESCR if both want the same of it. One
 * more ESCR tags what front_end_event and execution_event count; it needs no counter. Tagging in
 * the front end and on replay has one setting for the whole core. So two such requests go together
 * only if they ask for the same; execution tags have four values. While anything is tagged,
 * instr_retired distinguishes tagged instructions. So a request for only one of the two kinds does
 * not go with a request that tags.
 *
 * CCCR.OVF is sticky: it stays while the counters are stopped and started, and the service routine
 * clears it explicitly. cascade.c has the counters that start each other.
 */
#include "internal.h"

#define CCCR_ENABLE	DRV_BIT(12)
#define CCCR_SELECT	13
#define CCCR_ANY_THREAD (UINT64_C(3) << 16)
#define CCCR_COMPARE	DRV_BIT(18)
#define CCCR_COMPLEMENT DRV_BIT(19)
#define CCCR_THRESHOLD	20
#define CCCR_EDGE	DRV_BIT(24)
#define CCCR_FORCE_OVF	DRV_BIT(25)
#define CCCR_OVF_PMI_T0 DRV_BIT(26)
#define CCCR_OVF_PMI_T1 DRV_BIT(27)
#define CCCR_OVF	DRV_BIT(31)
#define THRESHOLD_MAX	15u

#define ESCR_T1_USR	DRV_BIT(0)
#define ESCR_T1_OS	DRV_BIT(1)
#define ESCR_T0_USR	DRV_BIT(2)
#define ESCR_T0_OS	DRV_BIT(3)
#define ESCR_TAG_ENABLE DRV_BIT(4)
#define ESCR_TAG_VALUE	5
#define ESCR_MASK	9
#define ESCR_EVENT	25

#define PEBS_UOP_TAG DRV_BIT(24)

/* Events without their masks, coded as in struct spmu_event. */
#define CODE_CLASS	 UINT32_C(0x373f)
#define CODE_MASK(code)	 ((code) >> 16)
#define CODE_FRONT_END	 UINT32_C(0x3508)
#define CODE_EXECUTION	 UINT32_C(0x350c)
#define CODE_REPLAY	 UINT32_C(0x3509)
#define CODE_UOP_TYPE	 UINT32_C(0x3202)
#define CODE_INSTRUCTION UINT32_C(0x3402) /* instr_retired */
#define EXECUTION_TAGS	 0xfu		  /* of the mask: NBOGUS0 to 3 */
#define NOT_TAGGED	 0x5u		  /* of instr_retired's: NBOGUSNTAG, BOGUSNTAG */
#define TAGGED		 0xau

enum block { BPU, MS, FLAME, IQ };

/* The counters that the first ESCR of a pair reaches, and those of the second (table 18-63). */
static const uint32_t reached[][2] = {
	[BPU] = {0x00003, 0x0000c},
	[MS] = {0x00030, 0x000c0},
	[FLAME] = {0x00300, 0x00c00},
	[IQ] = {0x13000, 0x2c000},
};

/* The pairs of ESCRs by the CCCR's select value. */
static const struct escr_pair {
	uint8_t block, select;
	uint16_t address[2];
} pairs[] = {
	{BPU, 0, {0x3b2, 0x3b3}},   {BPU, 1, {0x3b4, 0x3b5}},	{BPU, 2, {0x3aa, 0x3ab}},
	{BPU, 3, {0x3b6, 0x3b7}},   {BPU, 4, {0x3ac, 0x3ad}},	{BPU, 5, {0x3c8, 0x3c9}},
	{BPU, 6, {0x3a2, 0x3a3}},   {BPU, 7, {0x3a0, 0x3a1}},	{MS, 0, {0x3c0, 0x3c1}},
	{MS, 1, {0x3c4, 0x3c5}},    {MS, 2, {0x3c2, 0x3c3}},	{FLAME, 0, {0x3a6, 0x3a7}},
	{FLAME, 1, {0x3a4, 0x3a5}}, {FLAME, 2, {0x3ae, 0x3af}}, {FLAME, 3, {0x3b0, 0x3b1}},
	{FLAME, 5, {0x3a8, 0x3a9}}, {IQ, 0, {0x3ba, 0x3bb}},	{IQ, 1, {0x3ca, 0x3cb}},
	{IQ, 2, {0x3bc, 0x3bd}},    {IQ, 3, {0x3be, 0}},	{IQ, 4, {0x3b8, 0x3b9}},
	{IQ, 5, {0x3cc, 0x3cd}},    {IQ, 6, {0x3e0, 0x3e1}},
};

static const struct escr_pair *pair_of(const struct spmu_driver *driver, uint32_t code)
{
	unsigned block = code >> 12 & 3, select = code >> 8 & 7;

	if (block == IQ && select == 0 && !driver->facilities.iq_escrs)
		return NULL;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i].block == block && pairs[i].select == select)
			return &pairs[i];
	return NULL;
}

static uint32_t class_of(const struct spmu_request *request)
{
	return request->code & CODE_CLASS;
}

static bool tags_on_replay(const struct spmu_request *request)
{
	return class_of(request) == CODE_REPLAY && request->tagger;
}

/* Returns true if an ESCR tags for the request. */
static bool tags_by_escr(const struct spmu_request *request)
{
	return class_of(request) != CODE_REPLAY && request->tagger;
}

/* --- the contents of registers --- */

static uint64_t escr_rings(const struct spmu_driver *driver, const struct spmu_request *request)
{
	bool both = request->select & DRV_SELECT_ANY;
	uint64_t value = 0;

	if (both || driver->facilities.thread == 0) {
		value |= request->select & DRV_SELECT_OS ? ESCR_T0_OS : 0;
		value |= request->select & DRV_SELECT_USR ? ESCR_T0_USR : 0;
	}
	if (both || driver->facilities.thread == 1) {
		value |= request->select & DRV_SELECT_OS ? ESCR_T1_OS : 0;
		value |= request->select & DRV_SELECT_USR ? ESCR_T1_USR : 0;
	}
	return value;
}

static uint64_t escr_value(const struct spmu_driver *driver, const struct spmu_request *request,
			   uint32_t code)
{
	return escr_rings(driver, request) | (uint64_t)CODE_MASK(code) << ESCR_MASK |
	       (uint64_t)(code & 0x3f) << ESCR_EVENT;
}

/*
 * Returns the value of the ESCR that tags: in the front end by its event alone, otherwise with a
 * tag value.
 */
static uint64_t tagging_value(const struct spmu_driver *driver, const struct spmu_request *request)
{
	uint64_t value = escr_value(driver, request, request->tagger);
	uint64_t tag = CODE_MASK(request->code) & EXECUTION_TAGS;

	if (class_of(request) == CODE_EXECUTION)
		value |= ESCR_TAG_ENABLE | tag << ESCR_TAG_VALUE;
	return value;
}

static uint64_t cccr_value(const struct spmu_driver *driver, unsigned slot)
{
	const struct spmu_request *request = &driver->counter[slot].request;
	unsigned at_least = DRV_SELECT_CMASK(request->select);
	uint64_t value = CCCR_ANY_THREAD | (uint64_t)(request->code >> 8 & 7) << CCCR_SELECT;

	if (request->select & DRV_SELECT_EDGE) {
		value |= CCCR_COMPARE | CCCR_EDGE;
		at_least = at_least ? at_least : 1;
	}
	if (at_least)
		value |= CCCR_COMPARE | (uint64_t)(at_least - 1) << CCCR_THRESHOLD;
	if (DRV_SELECT_CMASK(request->select) && (request->select & DRV_SELECT_INV))
		value |= CCCR_COMPLEMENT;
	if (driver->counter[slot].starter)
		value |= CCCR_FORCE_OVF | spmu_drv_cascade_bit(driver, slot);
	/* The other counter of the cascade interrupts. */
	if (driver->counter[slot].starts)
		return value;
	/* With PEBS the threshold of the buffer interrupts. */
	return value | (driver->facilities.thread ? CCCR_OVF_PMI_T1 : CCCR_OVF_PMI_T0);
}

/* --- the ESCRs that a request can have --- */

bool spmu_drv_escr_can(const struct spmu_driver *driver, const struct spmu_request *request)
{
	uint32_t class = class_of(request);

	if (!pair_of(driver, request->code) || (request->select & DRV_SELECT_PIN) ||
	    DRV_SELECT_CMASK(request->select) > THRESHOLD_MAX + 1)
		return false;
	if (request->precise && (DRV_SELECT_CMASK(request->select) ||
				 (request->select & (DRV_SELECT_EDGE | DRV_SELECT_ANY))))
		return false;
	if (!request->tagger)
		return true;
	if (class == CODE_REPLAY)
		return driver->facilities.pebs;
	if (!pair_of(driver, request->tagger))
		return false;
	if (class == CODE_EXECUTION)
		return CODE_MASK(request->code) & EXECUTION_TAGS;
	return class == CODE_FRONT_END && (request->tagger & CODE_CLASS) == CODE_UOP_TYPE;
}

/* Returns what the slot wants of an ESCR; false if the slot does not use it. */
static bool wants(const struct spmu_driver *driver, unsigned slot, unsigned escr, uint64_t *value)
{
	const struct spmu_request *request = &driver->counter[slot].request;

	if (!driver->counter[slot].used || !escr)
		return false;
	if (driver->counter[slot].escr == escr)
		*value = escr_value(driver, request, request->code);
	else if (driver->counter[slot].tag_escr == escr)
		*value = tagging_value(driver, request);
	else
		return false;
	return true;
}

/* Returns true if another slot wants something else of the ESCR. */
static bool contested(const struct spmu_driver *driver, unsigned slot, unsigned escr,
		      uint64_t value)
{
	for (unsigned other = 0; other < driver->slots; other++) {
		uint64_t wanted;

		if (other != slot && wants(driver, other, escr, &wanted) && wanted != value)
			return true;
	}
	return false;
}

/* Returns true for instr_retired of only tagged or only untagged instructions. */
static bool looks_at_tags(const struct spmu_request *request)
{
	uint32_t mask = CODE_MASK(request->code);

	return class_of(request) == CODE_INSTRUCTION && (!(mask & NOT_TAGGED) || !(mask & TAGGED));
}

/* Returns true if one of the two requests would see the other's tags. */
static bool tags_mix(const struct spmu_request *a, const struct spmu_request *b)
{
	if ((a->tagger && looks_at_tags(b)) || (b->tagger && looks_at_tags(a)))
		return true;
	if (class_of(a) != class_of(b) || !(a->tagger || b->tagger))
		return false;
	if (class_of(a) == CODE_EXECUTION &&
	    !(CODE_MASK(a->code) & CODE_MASK(b->code) & EXECUTION_TAGS))
		return false;
	return a->tagger != b->tagger || a->code != b->code || a->select != b->select;
}

/*
 * Chooses the ESCR that tags: the thread's own ESCR of the pair if the core has two threads,
 * otherwise any.
 */
static bool place_tagger(const struct spmu_driver *driver, unsigned slot,
			 const struct spmu_request *request, unsigned taken, uint16_t *escr)
{
	const struct escr_pair *pair = pair_of(driver, request->tagger);
	uint64_t value = tagging_value(driver, request);

	for (unsigned n = 0; n < 2; n++) {
		*escr = pair->address[n];
		if (*escr && *escr != taken &&
		    (driver->facilities.general_set & reached[pair->block][n]) &&
		    !contested(driver, slot, *escr, value))
			return true;
	}
	return false;
}

bool spmu_drv_escr_place(struct spmu_driver *driver, unsigned slot,
			 const struct spmu_request *request, unsigned counter)
{
	const struct escr_pair *pair = pair_of(driver, request->code);
	unsigned n = reached[pair->block][1] >> counter & 1;
	unsigned starter = driver->counter[slot].starter;
	uint16_t escr = pair->address[n], tagger = 0;

	if (starter && !spmu_drv_cascade_link(driver, driver->counter[starter - 1].index, counter))
		return false;
	if (!escr || !(reached[pair->block][n] >> counter & 1) ||
	    contested(driver, slot, escr, escr_value(driver, request, request->code)))
		return false;
	for (unsigned other = 0; other < driver->slots; other++)
		if (driver->counter[other].used &&
		    tags_mix(&driver->counter[other].request, request))
			return false;
	if (tags_by_escr(request) && !place_tagger(driver, slot, request, escr, &tagger))
		return false;
	driver->counter[slot].escr = escr;
	driver->counter[slot].tag_escr = tagger;
	return true;
}

/* --- registers --- */

static uint32_t cccr_of(const struct spmu_driver *driver, unsigned slot)
{
	return DRV_MSR_BPU_CCCR0 + driver->counter[slot].index;
}

/* Writes an ESCR, or clears it if no other slot still uses it. */
static bool write_escr(const struct spmu_driver *driver, unsigned slot, unsigned escr, bool on)
{
	uint64_t value = 0;

	if (!escr)
		return true;
	if (on) {
		if (!wants(driver, slot, escr, &value))
			return false;
		return drv_write(driver, escr, value);
	}
	return contested(driver, slot, escr, UINT64_MAX) || drv_write(driver, escr, 0);
}

/*
 * A request that tags on replay does not share the matrix, except with requests for the same
 * metric.
 */
static bool write_matrix(const struct spmu_driver *driver, unsigned slot)
{
	const struct spmu_request *request = &driver->counter[slot].request;

	return !tags_on_replay(request) ||
	       drv_write(driver, DRV_MSR_PEBS_MATRIX_VERT, request->tagger >> 24);
}

bool spmu_drv_escr_program(const struct spmu_driver *driver, unsigned slot, bool on)
{
	if (!drv_write(driver, cccr_of(driver, slot), on ? cccr_value(driver, slot) : 0) ||
	    !write_escr(driver, slot, driver->counter[slot].escr, on) ||
	    !write_escr(driver, slot, driver->counter[slot].tag_escr, on))
		return false;
	return !on || write_matrix(driver, slot);
}

bool spmu_drv_escr_enable(const struct spmu_driver *driver, uint64_t counters)
{
	bool done = true;

	/* A starter has the lower slot. It is the first to stop and the last to start. */
	for (unsigned i = 0; i < driver->slots; i++) {
		unsigned slot = counters ? driver->slots - 1 - i : i;
		uint64_t enable = CCCR_ENABLE, value;

		if (!driver->counter[slot].used)
			continue;
		if (driver->counter[slot].starter)
			enable = spmu_drv_cascade_bit(driver, slot);
		if (!drv_read(driver, cccr_of(driver, slot), &value)) {
			done = false;
			continue;
		}
		value &= ~(CCCR_ENABLE | enable);
		if (counters & drv_counter_bit(driver, slot))
			value |= enable;
		done &= drv_write(driver, cccr_of(driver, slot), value);
	}
	return done;
}

bool spmu_drv_escr_overflowed(const struct spmu_driver *driver, unsigned slot)
{
	uint64_t value;

	return driver->facilities.programming == SPMU_PROGRAM_ESCR &&
	       drv_read(driver, cccr_of(driver, slot), &value) && (value & CCCR_OVF);
}

bool spmu_drv_escr_clear(const struct spmu_driver *driver, uint64_t counters)
{
	bool done = true;

	for (unsigned slot = 0; slot < driver->slots; slot++) {
		uint64_t value;

		if (!driver->counter[slot].used || !(counters & drv_counter_bit(driver, slot)))
			continue;
		done &= drv_read(driver, cccr_of(driver, slot), &value) &&
			drv_write(driver, cccr_of(driver, slot), value & ~CCCR_OVF);
	}
	return done;
}

uint64_t spmu_drv_escr_replay(const struct spmu_driver *driver)
{
	for (unsigned slot = 0; slot < driver->slots; slot++) {
		const struct spmu_request *request = &driver->counter[slot].request;

		if (driver->counter[slot].used && tags_on_replay(request))
			return (request->tagger & 0xffffff) | PEBS_UOP_TAG;
	}
	return 0;
}
