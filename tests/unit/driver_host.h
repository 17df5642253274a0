/* SPDX-License-Identifier: MIT */
/*
 * driver_host.h: a synthetic host for the tests of the driver. It has a unit, memory for the DS
 * save area, and a port whose answers a test can alter. It runs an endless pseudo-random program.
 * Each instruction of the program has its own address.
 *
 * The host keeps its own list of what retired, so that a test can say which instruction was the
 * n-th occurrence of an event.
 */
#ifndef SOFTPMU_TESTS_DRIVER_HOST_H
#define SOFTPMU_TESTS_DRIVER_HOST_H

#include <softpmu/softpmu.h>

#include <stdlib.h>
#include <string.h>

#include "check.h"

#define HOST_CODE	UINT64_C(0x401000)
#define HOST_AREA	UINT64_C(0x70002000) /* within 32-bit areas' reach too */
#define HOST_AREA_BYTES (256 * 1024)
#define HOST_WATCHES	8
#define HOST_LVT	0x000000eeu
#define HOST_LVT_OFFSET 0x340

#define USR UINT64_C(0x10000)
#define OS  UINT64_C(0x20000)

/* An event whose occurrences the host lists. */
struct watch {
	const struct spmu_event *event;
	uint64_t select;
	uint64_t count, room;
	uint64_t *ip; /* of each occurrence */
};

/* A taken branch, as the host recorded it. */
struct went {
	uint64_t from, to;
	uint64_t signal; /* as a set */
	uint8_t cpl;
};

/* What the sink received. */
struct taken {
	uint32_t tag;
	bool precise;
	uint64_t period, ip, eventing_ip, rip, rax, tsc, applicable, data_address;
	unsigned branches;
};

struct host {
	const struct spmu_model *model;
	struct spmu_meters meters;
	void *memory;
	struct spmu_core *core;
	uint8_t *area;
	struct spmu_driver driver;

	uint64_t random, retired;
	struct spmu_registers regs;
	uint64_t tsc;
	struct watch watch[HOST_WATCHES];
	unsigned watches;

	bool list_branches;
	struct went *went;
	uint64_t wents, wents_room;

	bool pmi_pending, hold_pmi;
	unsigned pmis;

	struct taken *taken;
	uint64_t takens, takens_room;
	void (*in_sink)(struct host *host, const struct spmu_sample *sample);
	unsigned slot[HOST_WATCHES]; /* for in_sink */

	bool pins_wired; /* a counter's pin calls the service routine (Pentium) */
	unsigned lp;	 /* the logical processor that the driver serves */

	/* what the port answers instead */
	uint32_t signature, leaf_1_ebx, leaf_1_edx, leaf_4_eax;
	uint32_t max_leaf, hide_1_ecx, hide_1_edx, version;
	uint64_t misc_enable_set, misc_enable_clear, capabilities_clear;
	uint64_t inuse_set; /* counters of other software */
	uint32_t fault_msr; /* 0: none */
	long accesses, fault_at;
	bool fault_on; /* all accesses from fault_at on */
	unsigned misc_reads, capabilities_reads, writes;
};

/* The unit's side */

static inline bool host_at(struct host *host, uint64_t linear, size_t bytes, uint8_t **at)
{
	if (linear < HOST_AREA || linear - HOST_AREA > HOST_AREA_BYTES ||
	    bytes > HOST_AREA_BYTES - (linear - HOST_AREA))
		return false;
	*at = host->area + (linear - HOST_AREA);
	return true;
}

static inline bool host_read(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	uint8_t *at;

	(void)lp;
	if (!host_at(opaque, linear, bytes, &at))
		return false;
	memcpy(to, at, bytes);
	return true;
}

static inline bool host_write(void *opaque, unsigned lp, uint64_t linear, const void *from,
			      size_t bytes)
{
	uint8_t *at;

	(void)lp;
	if (!host_at(opaque, linear, bytes, &at))
		return false;
	memcpy(at, from, bytes);
	return true;
}

static inline void host_pmi(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct host *host = opaque;

	(void)lp;
	CHECK_EQ(pmi.delivery, SPMU_DELIVER_FIXED);
	CHECK_EQ(pmi.vector, HOST_LVT & 0xff);
	host->pmi_pending = true;
	host->pmis++;
}

static inline void host_pin(void *opaque, unsigned lp, unsigned number, uint64_t toggles)
{
	struct host *host = opaque;

	(void)lp;
	(void)number;
	host->pmi_pending |= host->pins_wired && toggles;
}

static inline uint64_t host_tsc(void *opaque, unsigned lp)
{
	(void)lp;
	return ((struct host *)opaque)->tsc;
}

static inline void host_registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	(void)lp;
	*out = ((struct host *)opaque)->regs;
}

/* The driver's side: the port */

static inline bool port_faults(struct host *host, uint32_t msr)
{
	long n = host->accesses++;

	return msr == host->fault_msr ||
	       (host->fault_at >= 0 &&
		(host->fault_on ? n >= host->fault_at : n == host->fault_at));
}

static inline bool port_rdmsr(void *opaque, uint32_t msr, uint64_t *value)
{
	struct host *host = opaque;

	host->misc_reads += msr == 0x1a0;
	host->capabilities_reads += msr == 0x345;
	if (port_faults(host, msr))
		return false;
	if (msr == 0xc0000080) { /* IA32_EFER: the host is in IA-32e mode where there is one */
		*value = spmu_model_ds_layout(host->model, true) !=
					 spmu_model_ds_layout(host->model, false)
				 ? 0x500
				 : 0;
		return true;
	}
	if (spmu_read_msr(host->core, host->lp, msr, value) != SPMU_DONE)
		return false;
	if (msr == 0x1a0)
		*value = (*value | host->misc_enable_set) & ~host->misc_enable_clear;
	if (msr == 0x345)
		*value &= ~host->capabilities_clear;
	if (msr == 0x392)
		*value |= host->inuse_set;
	return true;
}

static inline bool port_wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	struct host *host = opaque;

	host->writes++;
	if (port_faults(host, msr))
		return false;
	return spmu_write_msr(host->core, host->lp, msr, value) == SPMU_DONE;
}

static inline void port_cpuid(void *opaque, uint32_t leaf, uint32_t subleaf,
			      struct spmu_cpuid_regs *regs)
{
	struct host *host = opaque;

	if (leaf == 0) {
		*regs = (struct spmu_cpuid_regs){.eax = host->max_leaf};
		return;
	}
	(void)spmu_cpuid(host->core, leaf, subleaf, regs);
	if (leaf == 4)
		regs->eax = host->leaf_4_eax;
	if (leaf == 1) {
		regs->eax = host->signature;
		regs->ebx = host->leaf_1_ebx;
		regs->edx |= host->leaf_1_edx;
		regs->ecx &= ~host->hide_1_ecx;
		regs->edx &= ~host->hide_1_edx;
	}
	if (leaf == 0x0a && host->version != UINT32_MAX)
		regs->eax = (regs->eax & ~0xffu) | host->version;
}

static inline uint32_t port_map_interrupt(void *opaque)
{
	(void)opaque;
	return HOST_LVT;
}

static inline void port_write_lvt(void *opaque, uint32_t value)
{
	spmu_write_lvt(((struct host *)opaque)->core, ((struct host *)opaque)->lp, value);
}

static inline void port_interrupted(void *opaque, struct spmu_registers *regs, uint64_t *tsc)
{
	*regs = ((struct host *)opaque)->regs;
	*tsc = ((struct host *)opaque)->tsc;
}

static inline struct spmu_port host_port(struct host *host)
{
	return (struct spmu_port){
		.size = sizeof(struct spmu_port),
		.opaque = host,
		.rdmsr = port_rdmsr,
		.wrmsr = port_wrmsr,
		.cpuid = port_cpuid,
		.map_interrupt = port_map_interrupt,
		.write_lvt = port_write_lvt,
		.interrupted = port_interrupted,
	};
}

static inline void host_sink(void *opaque, const struct spmu_sample *sample)
{
	struct host *host = opaque;

	if (host->takens == host->takens_room) {
		host->takens_room = host->takens_room ? 2 * host->takens_room : 64;
		host->taken = realloc(host->taken, host->takens_room * sizeof(*host->taken));
		if (!host->taken)
			abort();
	}
	host->taken[host->takens++] = (struct taken){
		.tag = sample->tag,
		.precise = sample->precise,
		.period = sample->period,
		.ip = sample->ip,
		.eventing_ip = sample->record->eventing_ip,
		.rip = sample->record->regs.rip,
		.rax = sample->record->regs.rax,
		.tsc = sample->tsc,
		.applicable = sample->record->applicable,
		.data_address = sample->record->data_address,
		.branches = sample->branch_count,
	};
	if (host->in_sink)
		host->in_sink(host, sample);
}

/* The program */

static inline uint64_t host_random(struct host *host)
{
	host->random ^= host->random << 13;
	host->random ^= host->random >> 7;
	host->random ^= host->random << 17;
	return host->random;
}

/* Returns a memory access at the given address, valid until the next call. */
static inline const struct spmu_memory_access *host_access(uint64_t linear)
{
	static struct spmu_memory_access access;

	access = (struct spmu_memory_access){.linear = linear, .kind = SPMU_ACCESS_DATA};
	return &access;
}

static inline struct spmu_insn host_next(struct host *host)
{
	static const uint64_t kinds[8] = {
		SPMU_SIGBIT(COND_TAKEN),
		SPMU_SIGBIT(COND_NTAKEN),
		SPMU_SIGBIT(CALL_REL),
		SPMU_SIGBIT(RET_NEAR),
	};
	uint64_t r = host_random(host);
	struct spmu_insn insn = {
		.ip = HOST_CODE + 4 * host->retired,
		.next_ip = HOST_CODE + 4 * host->retired + 4,
		.signals = SPMU_SIGBIT(INSTRUCTIONS) | kinds[r & 7],
		.cycles = 1,
		.cpl = r >> 20 & 15 ? 3 : 0,
	};

	if (r >> 3 & 1)
		insn.signals |= SPMU_SIGBIT(LOADS);
	if ((r >> 4 & 3) == 0)
		insn.signals |= SPMU_SIGBIT(STORES);
	if (insn.signals & (SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES))) {
		insn.accesses = host_access(UINT64_C(0x10000000) + (r >> 32));
		insn.access_count = 1;
	}
	host->regs.rip = insn.next_ip;
	host->regs.rax = host->retired++;
	host->tsc += 3;
	return insn;
}

static inline void host_list(struct host *host, const struct spmu_insn *insn)
{
	for (unsigned i = 0; i < host->watches; i++) {
		struct watch *w = &host->watch[i];

		if (!(insn->signals & w->event->signals) ||
		    !(w->select & (insn->cpl == 0 ? OS : USR)))
			continue;
		if (w->count == w->room) {
			w->room = w->room ? 2 * w->room : 1024;
			w->ip = realloc(w->ip, w->room * sizeof(*w->ip));
			if (!w->ip)
				abort();
		}
		w->ip[w->count++] = insn->ip;
	}
}

static inline void host_list_branch(struct host *host, const struct spmu_insn *insn)
{
	if (!host->list_branches || !(insn->signals & SPMU_SIGSET_TAKEN))
		return;
	if (host->wents == host->wents_room) {
		host->wents_room = host->wents_room ? 2 * host->wents_room : 1024;
		host->went = realloc(host->went, host->wents_room * sizeof(*host->went));
		if (!host->went)
			abort();
	}
	host->went[host->wents++] = (struct went){
		.from = insn->ip,
		.to = insn->next_ip,
		.signal = insn->signals & SPMU_SIGSET_TAKEN,
		.cpl = insn->cpl,
	};
}

static inline void host_deliver(struct host *host)
{
	while (host->pmi_pending && !host->hold_pmi) {
		host->pmi_pending = false;
		spmu_driver_interrupt(&host->driver);
	}
}

/* Retires n instructions one by one. Interrupts arrive after the instruction. */
static inline void host_run(struct host *host, uint64_t n)
{
	while (n--) {
		struct spmu_insn insn = host_next(host);

		host_list(host, &insn);
		host_list_branch(host, &insn);
		spmu_retire(host->core, host->lp, &insn);
		host_deliver(host);
	}
}

/* Set up */

static inline void host_make_model(struct host *host, const struct spmu_model *model,
				   unsigned threads)
{
	static struct spmu_meters other;
	struct spmu_core_config config = {.size = sizeof(struct spmu_core_config),
					  .threads = threads};
	struct spmu_host callbacks = {
		.size = sizeof(struct spmu_host),
		.opaque = host,
		.read = host_read,
		.write = host_write,
		.pmi = host_pmi,
		.tsc = host_tsc,
		.registers = host_registers,
		.supply = {.exact = SPMU_SIGSET_ARCHITECTURAL},
	};
	size_t bytes = (spmu_core_bytes() + 63) & ~(size_t)63;

	if (spmu_model_describe(model).programming == SPMU_PROGRAM_CESR)
		callbacks.pin = host_pin;
	spmu_uarch_supplies_offcore(&callbacks.supply);
	memset(host, 0, sizeof(*host));
	host->model = config.model = model;
	config.meters[0] = &host->meters;
	config.meters[1] = threads == 2 ? &other : NULL;
	host->memory = aligned_alloc(64, bytes);
	host->area = aligned_alloc(4096, HOST_AREA_BYTES);
	if (!host->model || !host->memory || !host->area ||
	    spmu_core_create(host->memory, bytes, &config, &callbacks, &host->core) != SPMU_OK) {
		printf("no unit\n0 passed, 1 failed\n");
		exit(1);
	}
	host->signature = spmu_model_describe(model).signature;
	for (unsigned lp = 0; lp < threads; lp++)
		spmu_set_ia32e(host->core, lp, true);
	memset(host->area, 0xa5, HOST_AREA_BYTES);
	host->random = UINT64_C(0x9e3779b97f4a7c15);
	host->max_leaf = spmu_model_describe(model).perfmon_version ? 0x23 : 5;
	host->version = UINT32_MAX;
	host->fault_at = -1;
}

static inline void host_make(struct host *host, unsigned threads)
{
	host_make_model(host, spmu_model_find("skylake"), threads);
}

static inline void host_free(struct host *host)
{
	for (unsigned i = 0; i < host->watches; i++)
		free(host->watch[i].ip);
	free(host->taken);
	free(host->went);
	free(host->area);
	free(host->memory);
}

static inline enum spmu_status host_detect(struct host *host)
{
	struct spmu_port port = host_port(host);
	enum spmu_status status =
		spmu_driver_detect(&host->driver, sizeof(host->driver), &port, host->model);

	if (status == SPMU_OK)
		spmu_driver_set_sink(&host->driver, host_sink, host);
	return status;
}

/* Returns the bytes for `records` PEBS records after the management area. */
static inline size_t host_area_bytes(const struct host *host, unsigned records)
{
	const struct spmu_ds_layout *layout = host->driver.layout;
	size_t head = (layout->bytes + 63u) & ~(size_t)63;
	uint64_t groups = SPMU_PEBS_MEMORY | SPMU_PEBS_GPRS;

	return head + records * spmu_pebs_record_bytes(layout, groups);
}

/* Makes a DS save area without BTS. */
static inline enum spmu_status host_setup_ds(struct spmu_driver *driver, void *memory,
					     uint64_t linear, size_t bytes, unsigned records)
{
	struct spmu_driver_memory m = {
		.size = sizeof(struct spmu_driver_memory),
		.memory = memory,
		.linear = linear,
		.bytes = bytes,
		.records_per_interrupt = records,
	};

	return spmu_driver_setup_ds(driver, &m);
}

/* Makes a unit, a driver and a DS save area. Every step must succeed. */
static inline void host_ready(struct host *host, unsigned threads, unsigned records,
			      unsigned records_per_interrupt)
{
	host_make(host, threads);
	CHECK_EQ(host_detect(host), SPMU_OK);
	CHECK_EQ(host_setup_ds(&host->driver, host->area, HOST_AREA, host_area_bytes(host, records),
			       records_per_interrupt),
		 SPMU_OK);
}

/* Lists an event's occurrences. Returns a request that takes what the event's table allows. */
static inline struct spmu_request host_watch(struct host *host, uint64_t code, uint64_t rings,
					     uint64_t period, bool precise)
{
	const struct spmu_event *event = spmu_event_by_code(host->model, code);
	struct watch *w = &host->watch[host->watches];
	bool other = spmu_model_describe(host->model).programming != SPMU_PROGRAM_PERFEVTSEL;

	if (!event || !event->signals) {
		printf("no event %04lx\n0 passed, 1 failed\n", code);
		exit(1);
	}
	*w = (struct watch){.event = event, .select = rings};
	return (struct spmu_request){
		.size = sizeof(struct spmu_request),
		.select = rings | (other ? 0 : code),
		.code = other ? code : 0,
		.counters = precise ? event->pebs_counters : event->counters,
		.fixed = -1,
		.period = period,
		.precise = precise,
		.tag = host->watches++,
	};
}

/* Returns the code of the model's first event that counts just these signals. */
static inline uint32_t host_event(const struct host *host, uint64_t signals)
{
	for (size_t i = 0; i < spmu_event_count(host->model); i++) {
		const struct spmu_event *event = spmu_event_at(host->model, i);

		if (event->signals == signals && event->counters)
			return event->code;
	}
	return UINT32_MAX;
}

static inline uint32_t host_instructions(const struct host *host)
{
	return host_event(host, SPMU_SIGBIT(INSTRUCTIONS));
}

static inline uint32_t host_branches(const struct host *host)
{
	return spmu_model_describe(host->model).perfmon_version
		       ? 0x00c4
		       : host_event(host, SPMU_SIGSET_BRANCHES);
}

/* Adds the request, which must succeed. Returns the slot. */
static inline unsigned host_add(struct host *host, const struct spmu_request *request)
{
	unsigned slot = UINT32_MAX;

	CHECK_EQ(spmu_driver_add(&host->driver, request, &slot), SPMU_OK);
	host->slot[request->tag] = slot;
	return slot;
}

/* Returns a register of the unit. */
static inline uint64_t host_msr(struct host *host, uint32_t msr)
{
	uint64_t value = 0;

	CHECK_EQ(spmu_read_msr(host->core, host->lp, msr, &value), SPMU_DONE);
	return value;
}

#include "driver_check.h"

#endif
