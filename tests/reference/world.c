/* SPDX-License-Identifier: MIT */
/*
 * world.c: memory, registers, time and PMIs for a unit under test.
 *
 * An access is refused if it leaves its window, wraps around the end of the address space or
 * touches a guarded granule. It changes nothing then, as unit.h requires of a host.
 */
#include "random.h"
#include "world.h"

#include <string.h>

#include "tests/supply.h"

void world_reset(struct world *world)
{
	memset(world, 0, sizeof(*world));
}

/* Returns the offset in memory[], or -1. */
static int64_t place(uint64_t linear, size_t bytes)
{
	static const uint64_t base[WORLD_WINDOWS] = {0, WORLD_MIDDLE, WORLD_TOP};

	for (unsigned w = 0; w < WORLD_WINDOWS; w++) {
		uint64_t offset = linear - base[w];

		if (offset < WORLD_WINDOW_BYTES && bytes <= WORLD_WINDOW_BYTES - offset)
			return (int64_t)(w * WORLD_WINDOW_BYTES + offset);
	}
	return -1;
}

static bool refused(struct world *world, int64_t offset, size_t bytes, unsigned guard)
{
	world->accesses++;
	if (offset < 0 || !bytes)
		return true;
	for (size_t g = (size_t)offset / WORLD_GRANULE_BYTES;
	     g <= ((size_t)offset + bytes - 1) / WORLD_GRANULE_BYTES; g++)
		if (world->guard[g] & guard)
			return true;
	return false;
}

static bool world_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	struct world *world = opaque;
	int64_t offset = place(linear, bytes);

	(void)lp;
	if (refused(world, offset, bytes, WORLD_NO_READ))
		return false;
	memcpy(to, world->memory + offset, bytes);
	return true;
}

static bool world_write(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	struct world *world = opaque;
	int64_t offset = place(linear, bytes);

	(void)lp;
	if (!world->insn)
		world->out_of_place = true;
	if (refused(world, offset, bytes, WORLD_NO_WRITE))
		return false;
	memcpy(world->memory + offset, from, bytes);
	return true;
}

static void world_interrupt(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct world *world = opaque;
	struct world_pmi entry = {
		.position = world->position,
		.status = world->read_status(world->unit, lp),
		.lp = lp,
		.pmi = pmi,
	};

	if (world->pmi_count < WORLD_PMIS_MAX)
		world->pmi[world->pmi_count] = entry;
	world->pmi_count++;
	world->pmi_hash = random_mix(world->pmi_hash + entry.position);
	world->pmi_hash = random_mix(world->pmi_hash + entry.status);
	world->pmi_hash = random_mix(world->pmi_hash + lp + 4u * pmi.delivery + 64u * pmi.vector);
	world->pmi_pending[lp] = true;
}

static void world_pin(void *opaque, unsigned lp, unsigned number, uint64_t toggles)
{
	struct world *world = opaque;

	if (number < sizeof(world->pin[0]) / sizeof(world->pin[0][0]) && toggles)
		world->pin[lp][number] += toggles;
	else
		world->out_of_place = true;
}

static uint64_t world_tsc(void *opaque, unsigned lp)
{
	const struct world *world = opaque;

	return 3 * world->position + lp;
}

static void world_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	struct world *world = opaque;
	uint64_t *word = (uint64_t *)(void *)out;

	for (size_t i = 0; i < sizeof(*out) / sizeof(*word); i++)
		word[i] = random_mix(world->position * 32 + i + lp);
	if (world->insn)
		out->rip = world->insn->next_ip;
	else
		world->out_of_place = true;
}

static void world_vectors(void *opaque, unsigned lp, uint8_t xmm[16][16])
{
	const struct world *world = opaque;

	for (unsigned i = 0; i < 16; i++)
		memset(xmm[i], (int)(world->position + 16 * lp + i), 16);
}

void world_host(struct world *world, bool modelled, struct spmu_host *host)
{
	*host = (struct spmu_host){
		.size = sizeof(struct spmu_host),
		.opaque = world,
		.read = world_read,
		.write = world_write,
		.pmi = world_interrupt,
		.tsc = world_tsc,
		.registers = world_registers,
		.vectors = world_vectors,
		.pin = world_pin,
		.supply = modelled ? supply_all() : supply_execution(),
	};
}

const char *world_difference(const struct world *a, const struct world *b)
{
	if (a->out_of_place || b->out_of_place)
		return "callback outside an instruction";
	if (a->pmi_count != b->pmi_count)
		return "number of PMIs";
	if (a->pmi_hash != b->pmi_hash)
		return "PMI (position, status, vector or thread)";
	if (memcmp(a->pin, b->pin, sizeof(a->pin)))
		return "toggles of a pin";
	if (memcmp(a->memory, b->memory, sizeof(a->memory)))
		return "memory";
	return NULL;
}

void world_poke(struct world *world, uint64_t linear, unsigned bytes, uint64_t value)
{
	int64_t offset = place(linear, bytes);

	for (unsigned i = 0; offset >= 0 && i < bytes; i++)
		world->memory[offset + i] = (uint8_t)(value >> (8 * i));
}

uint64_t world_peek(const struct world *world, uint64_t linear, unsigned bytes)
{
	int64_t offset = place(linear, bytes);
	uint64_t value = 0;

	for (unsigned i = bytes; offset >= 0 && i-- > 0;)
		value = value << 8 | world->memory[offset + i];
	return value;
}

bool world_store(struct world *world, uint64_t linear, const void *from, size_t bytes)
{
	return world_write(world, 0, linear, from, bytes);
}
