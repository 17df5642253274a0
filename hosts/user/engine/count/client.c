/* SPDX-License-Identifier: MIT */
/*
 * client.c: the regions of the program that the thread has started (softpmu/client.h), and what
 * they count.
 *
 * The thread notes its counts when a region starts.  When the region stops, the difference is added
 * to the region in the shared memory, where the tool finds it.  A request runs as a precise step,
 * so the counts are exact.
 */
#include "engine/count/client.h"

#include <asm/unistd.h>
#include <softpmu/client.h>

#include "engine/count/count.h"
#include "engine/count/units.h"
#include "engine/memory/access.h"
#include "engine/rt/context.h"
#include "engine/rt/engine.h"
#include "engine/rt/sys.h"

#define OPEN_MAX     64
#define STACK_MAX    (UINT64_C(8) << 20) /* a distance between frames of one stack */
#define CLAIM_WAITS  1000		 /* of 0.1 ms: then who claims it was killed */
#define PART_OF_MARK ":"

_Static_assert(LINK_REGION_NAME == 2 * (SPMU_CLIENT_NAME_MAX + 1),
	       "holds a region, ':' and a mark");

/* A region that the thread has started. */
struct open {
	uint32_t region; /* index into link.region */
	uint32_t depth;	 /* how often it must be stopped */
	bool part;	 /* it begins with a mark */
	uint64_t slot;	 /* of a function: where its return address is; 0: it is none */
	uint64_t start[LINK_EVENTS_MAX];
};

struct client {
	unsigned n;
	unsigned toggles; /* open regions in which alone the events count */
	uint64_t now[LINK_EVENTS_MAX];
	struct open open[OPEN_MAX];
};

static bool is_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* --- the regions of the run ------------------------------------------------------------------- */

/* Returns whether the region has this name.  Another thread may be writing it. */
static bool is_named(struct link_region *r, const char *name)
{
	long pause[2] = {0, 100000};

	for (unsigned i = 0; i < CLAIM_WAITS; i++) {
		if (__atomic_load_n(&r->state, __ATOMIC_ACQUIRE) != LINK_REGION_CLAIMED)
			break;
		syscall2(__NR_nanosleep, (long)pause, 0);
	}
	return __atomic_load_n(&r->state, __ATOMIC_ACQUIRE) == LINK_REGION_NAMED &&
	       is_equal(r->name, name);
}

static bool claim(struct link_region *r)
{
	uint32_t nobody = LINK_REGION_FREE;

	return __atomic_compare_exchange_n(&r->state, &nobody, LINK_REGION_CLAIMED, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Returns the index of the region, which is new if there is none of this name; LINK_REGIONS_MAX:
 * there is no place. */
static uint32_t find(const char *name)
{
	for (uint32_t i = 0; i < LINK_REGIONS_MAX; i++) {
		struct link_region *r = &engine_link->region[i];
		struct text t;

		if (claim(r)) {
			text_start(&t, r->name, sizeof(r->name));
			text_add(&t, name);
			__atomic_store_n(&r->state, LINK_REGION_NAMED, __ATOMIC_RELEASE);
			return i;
		}
		if (is_named(r, name))
			return i;
	}
	return LINK_REGIONS_MAX;
}

/* --- counts ----------------------------------------------------------------------------------- */

static void read_counts(struct client *c)
{
	for (unsigned e = 0; e < engine_link->events; e++)
		c->now[e] = counting_of(current->counting, e);
}

/* Adds what the region has counted up to c->now. */
static void add(struct client *c, struct open *o)
{
	struct link_region *r = &engine_link->region[o->region];

	for (unsigned e = 0; e < engine_link->events && current->observed; e++)
		__atomic_add_fetch(&r->count[e], c->now[e] - o->start[e], __ATOMIC_RELAXED);
	memcpy(o->start, c->now, sizeof(o->start));
}

static struct open *find_open(struct client *c, uint32_t region)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->open[i].region == region)
			return &c->open[i];
	return NULL;
}

/* Opens a region, or once more if it is open.  Returns NULL if there is no place. */
static struct open *open(struct client *c, uint32_t region, bool part)
{
	struct open *o = part ? NULL : find_open(c, region);

	if (region == LINK_REGIONS_MAX || (!o && c->n == OPEN_MAX)) {
		__atomic_add_fetch(&engine_link->regions_lost, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	if (current->observed)
		__atomic_add_fetch(&engine_link->region[region].entries, 1, __ATOMIC_RELAXED);
	if (o) {
		o->depth++;
		return o;
	}
	o = &c->open[c->n++];
	o->region = region;
	o->depth = 1;
	o->part = part;
	o->slot = 0;
	c->toggles += engine_link->region[region].toggles;
	read_counts(c);
	memcpy(o->start, c->now, sizeof(o->start));
	return o;
}

static void close(struct client *c, unsigned i)
{
	add(c, &c->open[i]);
	c->toggles -= engine_link->region[c->open[i].region].toggles;
	for (c->n--; i < c->n; i++)
		c->open[i] = c->open[i + 1];
}

/* Closes the regions from number `first` on, without functions: those end when they return. */
static void close_from(struct client *c, unsigned first)
{
	for (unsigned i = c->n; i-- > first;)
		if (!c->open[i].slot)
			close(c, i);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Copies the name that is at this address of the program.  Returns false if there is none. */
static bool read_name(uint64_t at, char name[SPMU_CLIENT_NAME_MAX + 1])
{
	unsigned n = 0;

	while (n < SPMU_CLIENT_NAME_MAX) {
		if ((!n || !((at + n) & (PAGE - 1))) && !access_readable(at + n, 1))
			break;
		name[n] = *(const char *)(at + n);
		if (!name[n])
			break;
		n++;
	}
	name[n] = '\0';
	return n;
}

/* Returns one more than the number of the newest region; with a name, of that name.  0: there is
 * none. */
static unsigned newest(const struct client *c, const char *name)
{
	for (unsigned n = c->n; n > 0; n--) {
		const struct open *o = &c->open[n - 1];

		if (!o->part && !o->slot &&
		    (!name || is_equal(engine_link->region[o->region].name, name)))
			return n;
	}
	return 0;
}

static void stop(struct client *c, const char *name)
{
	unsigned n = newest(c, name);

	if (!n)
		return;
	if (--c->open[n - 1].depth)
		close_from(c, n);
	else
		close_from(c, n - 1);
}

static void mark(struct client *c, const char *name)
{
	unsigned n = newest(c, NULL);
	char whole[LINK_REGION_NAME];
	struct text t;

	close_from(c, n);
	text_start(&t, whole, sizeof(whole));
	if (n) {
		text_add(&t, engine_link->region[c->open[n - 1].region].name);
		text_add(&t, PART_OF_MARK);
	}
	text_add(&t, name);
	(void)open(c, find(whole), true);
}

static void iterations(const struct client *c, uint64_t number)
{
	unsigned n = newest(c, NULL);

	if (n && current->observed)
		__atomic_add_fetch(&engine_link->region[c->open[n - 1].region].iterations, number,
				   __ATOMIC_RELAXED);
}

static struct client *client_here(void)
{
	if (!current->client)
		current->client = heap_allocate(sizeof(*current->client));
	return current->client;
}

void client_before(void)
{
	read_counts(client_here());
}

void client_request(unsigned operation)
{
	struct client *c = client_here();
	uint64_t *gpr = current->gpr;
	char name[SPMU_CLIENT_NAME_MAX + 1];
	bool named = read_name(gpr[7], name);

	switch (operation) {
	case SPMU_CLIENT_REQUEST_START:
		if (named)
			(void)open(c, find(name), false);
		break;
	case SPMU_CLIENT_REQUEST_STOP:
		stop(c, named ? name : NULL);
		break;
	case SPMU_CLIENT_REQUEST_MARK:
		if (named)
			mark(c, name);
		break;
	case SPMU_CLIENT_REQUEST_ITERATIONS:
		iterations(c, gpr[6]);
		break;
	case SPMU_CLIENT_REQUEST_RUNNING:
		gpr[0] = 1;
		break;
	default: /* of a later version */
		break;
	}
}

/* --- functions -------------------------------------------------------------------------------- */

bool client_enter(uint32_t region, uint64_t slot)
{
	struct client *c = client_here();
	struct open *o = find_open(c, region);

	if (o && o->slot == slot)
		return false; /* a jump to its beginning */
	o = open(c, region, false);
	if (!o || o->slot)
		return false;
	o->slot = slot;
	return true;
}

void client_leave(uint64_t rsp)
{
	struct client *c = client_here();

	client_before();
	for (unsigned i = c->n; i-- > 0;)
		if (c->open[i].slot && c->open[i].slot < rsp && rsp - c->open[i].slot < STACK_MAX)
			close(c, i);
}

bool client_counts(void)
{
	bool inside = current->client && current->client->toggles;

	return !current->stopped && current->collects != inside;
}

/* --- threads and processes -------------------------------------------------------------------- */

void client_publish(void)
{
	struct client *c = current->client;

	if (!c || !c->n)
		return;
	read_counts(c);
	for (unsigned i = 0; i < c->n; i++)
		add(c, &c->open[i]);
}

void client_begin_again(void)
{
	struct client *c = current->client;

	for (unsigned i = 0; c && i < c->n; i++)
		memset(c->open[i].start, 0, sizeof(c->open[i].start));
}

void client_begin_thread(void)
{
	if (current->client)
		current->client->n = current->client->toggles = 0;
	current->collects = engine_link->begins_collecting;
	if (engine_wants(LINK_WANT_POINTS | LINK_WANT_VALGRIND))
		current->events_on = client_counts() ? UINT64_MAX : 0;
}
