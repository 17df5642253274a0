/* SPDX-License-Identifier: MIT */
/* host.c: the host of a scenario: memory with holes, registers with different values, PMIs. */
#include "scenario.h"

#include <stdlib.h>
#include <string.h>

static bool accessible(const struct scenario *s, uint64_t linear, size_t bytes, bool write)
{
	uint64_t offset = linear - SCENARIO_MEMORY;

	if (offset >= SCENARIO_MEMORY_BYTES || bytes > SCENARIO_MEMORY_BYTES - offset)
		return false;
	for (unsigned i = 0; i < s->holes; i++) {
		const struct scenario_hole *hole = &s->hole[i];

		if (linear < hole->to && linear + bytes > hole->from && (write || !hole->readable))
			return false;
	}
	return true;
}

static bool host_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	struct scenario *s = opaque;

	(void)lp;
	if (!accessible(s, linear, bytes, false))
		return false;
	memcpy(to, s->memory + (linear - SCENARIO_MEMORY), bytes);
	return true;
}

static bool host_write(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	struct scenario *s = opaque;

	(void)lp;
	if (!accessible(s, linear, bytes, true)) {
		s->outside++;
		return false;
	}
	memcpy(s->memory + (linear - SCENARIO_MEMORY), from, bytes);
	return true;
}

static void host_pmi(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct scenario *s = opaque;

	s->pmis[lp]++;
	s->pmi[lp] = pmi;
}

static void host_pin(void *opaque, unsigned lp, unsigned number, uint64_t toggles)
{
	struct scenario *s = opaque;

	s->pin[lp][number % 32] += toggles;
}

static uint64_t host_tsc(void *opaque, unsigned lp)
{
	const struct scenario *s = opaque;

	(void)lp;
	return s->tsc;
}

static void host_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	const struct scenario *s = opaque;
	uint64_t *word = (uint64_t *)(void *)out;

	(void)lp;
	for (unsigned i = 0; i < sizeof(*out) / sizeof(*word); i++)
		word[i] = UINT64_C(0x1234567800001100) + i;
	out->rip = s->next_ip;
}

static void host_vectors(void *opaque, unsigned lp, uint8_t xmm[16][16])
{
	(void)opaque;
	(void)lp;
	for (unsigned i = 0; i < 16; i++)
		memset(xmm[i], 0x40 + (int)i, 16);
}

/* Finds an event that the model counts by one signal, and that PMC0 samples precisely. */
static void find_precise(struct scenario *s)
{
	static const unsigned wanted[] = {SPMU_SIG_COND_TAKEN, SPMU_SIG_CALL_REL, SPMU_SIG_LOADS,
					  SPMU_SIG_INSTRUCTIONS};

	for (unsigned w = 0; w < sizeof(wanted) / sizeof(wanted[0]); w++)
		for (size_t i = 0; i < spmu_event_count(s->model); i++) {
			const struct spmu_event *event = spmu_event_at(s->model, i);

			if (!(event->pebs_counters & 1) || !(event->counters & 1) ||
			    !(event->signals >> wanted[w] & 1))
				continue;
			s->precise = event->code;
			s->precise_signal = UINT64_C(1) << wanted[w];
			return;
		}
}

bool scenario_create(struct scenario *s)
{
	struct spmu_host host = {
		.size = sizeof(struct spmu_host),
		.opaque = s,
		.read = host_read,
		.write = host_write,
		.pmi = host_pmi,
		.tsc = host_tsc,
		.registers = host_registers,
		.vectors = host_vectors,
		.pin = host_pin,
		.supply = s->supply,
	};
	struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = s->model,
		.threads = s->threads,
		.hide_absent = s->hide_absent,
		.errata = s->errata,
		.meters = {&s->meters[0], s->threads == 2 ? &s->meters[1] : NULL},
	};
	size_t bytes = (spmu_core_bytes() + 63) & ~(size_t)63;

	if (s->core)
		return true;
	find_precise(s);
	s->memory_of_core = aligned_alloc(64, bytes);
	if (!s->memory_of_core ||
	    spmu_core_create(s->memory_of_core, bytes, &config, &host, &s->core) != SPMU_OK)
		return scenario_check(s, false, "no core with %u threads", s->threads);
	for (unsigned lp = 0; s->ia32e && lp < s->threads; lp++)
		spmu_set_ia32e(s->core, lp, true);
	return true;
}

void scenario_destroy(struct scenario *s)
{
	free(s->memory_of_core);
	s->memory_of_core = NULL;
	s->core = NULL;
}

uint64_t scenario_fetch(const struct scenario *s, uint64_t linear, unsigned bytes)
{
	uint64_t offset = linear - SCENARIO_MEMORY, value = 0;

	if (offset >= SCENARIO_MEMORY_BYTES || bytes > SCENARIO_MEMORY_BYTES - offset)
		return 0;
	for (unsigned i = bytes; i-- > 0;)
		value = value << 8 | s->memory[offset + i];
	return value;
}

void scenario_store(struct scenario *s, uint64_t linear, unsigned bytes, uint64_t value)
{
	uint64_t offset = linear - SCENARIO_MEMORY;

	if (offset >= SCENARIO_MEMORY_BYTES || bytes > SCENARIO_MEMORY_BYTES - offset)
		return;
	for (unsigned i = 0; i < bytes; i++)
		s->memory[offset + i] = (uint8_t)(value >> (8 * i));
}
