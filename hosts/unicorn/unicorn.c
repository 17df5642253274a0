/* SPDX-License-Identifier: MIT */
/*
 * unicorn.c: the unit in an existing emulator, as short as possible.
 *
 * It shows what any emulator must provide: what each instruction was, where execution continued,
 * linear memory, registers, a clock, and a place for the interrupt to go.  Unicorn (Debian's
 * libunicorn-dev) calls a hook before each instruction and at each memory access.  The outcome of
 * an instruction is known when the next one is about to begin, so the host reports it then.
 *
 * No kernel runs in the emulator.  The driver of libsoftpmu plays its part, outside.  The host
 * reports instructions one by one, which is simple and slow.  A host that translates code uses
 * meters instead (unit.h).  Far branches (SYSCALL, INT n, IRET) are not decoded.
 *
 * Prints:
 *	skylake: 8 counters, PEBS format 3
 *	sample at program+0x15, rcx 714
 *	sample at program+0x15, rcx 428
 *	sample at program+0x15, rcx 142
 *	 10507 instructions
 *	  4001 branches
 *	  4000 loads
 *	  3001 stores
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicorn/unicorn.h>

#include <softpmu/softpmu.h>

#define CODE	   UINT64_C(0x400000)
#define STACK	   UINT64_C(0x500000)
#define AREA	   UINT64_C(0x600000)
#define AREA_BYTES 0x1000
#define ACCESSES   8 /* of an instruction that are kept */
#define PERIOD	   1000

/* program.S */
extern const uint8_t program[];
extern const uint64_t program_bytes;

struct host {
	uc_engine *uc;
	struct spmu_core *core;
	struct spmu_meters meters;
	struct spmu_driver driver;
	struct spmu_insn pending;		      /* not reported yet; signals 0: none */
	struct spmu_memory_access accesses[ACCESSES]; /* of `pending` */
	uint32_t pending_size;
	bool interrupt;
	uint64_t retired;
	uint8_t area[AREA_BYTES] __attribute__((aligned(4096))); /* guest memory at AREA */
};

/* --- the callbacks of the unit --- */

static bool read_memory(void *opaque, unsigned lp, uint64_t linear, void *to, size_t bytes)
{
	const struct host *host = opaque;

	(void)lp;
	return uc_mem_read(host->uc, linear, to, bytes) == UC_ERR_OK;
}

static bool write_memory(void *opaque, unsigned lp, uint64_t linear, const void *from, size_t bytes)
{
	const struct host *host = opaque;

	(void)lp;
	return uc_mem_write(host->uc, linear, from, bytes) == UC_ERR_OK;
}

static void raise_interrupt(void *opaque, unsigned lp, struct spmu_pmi pmi)
{
	struct host *host = opaque;

	(void)lp, (void)pmi;
	host->interrupt = true;
}

static uint64_t tsc(void *opaque, unsigned lp)
{
	const struct host *host = opaque;

	(void)lp;
	return host->retired;
}

static void registers(void *opaque, unsigned lp, struct spmu_registers *out)
{
	const struct host *host = opaque;
	int ids[] = {UC_X86_REG_RAX,   UC_X86_REG_RBX, UC_X86_REG_RCX, UC_X86_REG_RDX,
		     UC_X86_REG_RSI,   UC_X86_REG_RDI, UC_X86_REG_RBP, UC_X86_REG_RSP,
		     UC_X86_REG_R8,    UC_X86_REG_R9,  UC_X86_REG_R10, UC_X86_REG_R11,
		     UC_X86_REG_R12,   UC_X86_REG_R13, UC_X86_REG_R14, UC_X86_REG_R15,
		     UC_X86_REG_EFLAGS};
	void *to[] = {&out->rax, &out->rbx, &out->rcx, &out->rdx, &out->rsi,   &out->rdi,
		      &out->rbp, &out->rsp, &out->r8,  &out->r9,  &out->r10,   &out->r11,
		      &out->r12, &out->r13, &out->r14, &out->r15, &out->rflags};

	(void)lp;
	*out = (struct spmu_registers){.rip = host->pending.next_ip};
	(void)uc_reg_read_batch(host->uc, ids, to, sizeof(ids) / sizeof(ids[0]));
}

/* --- the hooks of the emulator --- */

/* Returns the opcode, after the prefixes.  Sets *repeats if one of them is REP. */
static const uint8_t *opcode(const uint8_t *code, bool *repeats)
{
	*repeats = false;
	for (; *code == 0x66 || *code == 0xf2 || *code == 0xf3 || (*code & 0xf0) == 0x40; code++)
		*repeats = *repeats || (*code & 0xfe) == 0xf2;
	return code;
}

/* Returns the signal of a near branch (Vol. 2, appendix A), or 0 for another instruction. */
static uint64_t branch_of(const uint8_t *code, bool taken)
{
	unsigned extension = code[1] >> 3 & 7;

	if ((code[0] & 0xf0) == 0x70 || (code[0] & 0xfc) == 0xe0 ||
	    (code[0] == 0x0f && (code[1] & 0xf0) == 0x80))
		return taken ? SPMU_SIGBIT(COND_TAKEN) : SPMU_SIGBIT(COND_NTAKEN);
	if (code[0] == 0xe8)
		return SPMU_SIGBIT(CALL_REL);
	if (code[0] == 0xe9 || code[0] == 0xeb)
		return SPMU_SIGBIT(JMP_REL);
	if (code[0] == 0xc2 || code[0] == 0xc3)
		return SPMU_SIGBIT(RET_NEAR);
	if (code[0] == 0xff && extension == 2)
		return SPMU_SIGBIT(CALL_IND);
	if (code[0] == 0xff && extension == 4)
		return SPMU_SIGBIT(JMP_IND);
	return 0;
}

/* Retires the pending instruction.  Execution continues at `next`.  A REP instruction whose next
 * iteration follows has not retired. */
static void retire(struct host *host, uint64_t next)
{
	struct spmu_insn *insn = &host->pending;
	uint8_t bytes[16] = {0};
	const uint8_t *code;
	bool repeats;

	if (!insn->signals)
		return;
	(void)uc_mem_read(host->uc, insn->ip, bytes, sizeof(bytes) - 1);
	code = opcode(bytes, &repeats);
	if (repeats && next == insn->ip)
		return;
	insn->next_ip = next;
	insn->signals |= branch_of(code, next != insn->ip + host->pending_size);
	host->retired++;
	(void)spmu_retire(host->core, 0, insn);
	insn->signals = 0;
	if (host->interrupt) {
		host->interrupt = false;
		spmu_driver_interrupt(&host->driver);
	}
}

static void on_code(uc_engine *uc, uint64_t address, uint32_t size, void *opaque)
{
	struct host *host = opaque;

	(void)uc;
	retire(host, address);
	if (host->pending.signals)
		return;
	host->pending = (struct spmu_insn){
		.ip = address,
		.signals = SPMU_SIGBIT(INSTRUCTIONS),
		.accesses = host->accesses,
		.cycles = SPMU_CLOCKS_UNMODELLED,
		.cpl = 3,
	};
	host->pending_size = size;
}

static void on_memory(uc_engine *uc, uc_mem_type type, uint64_t address, int size, int64_t value,
		      void *opaque)
{
	struct host *host = opaque;

	(void)uc, (void)value;
	host->pending.signals |= type == UC_MEM_WRITE ? SPMU_SIGBIT(STORES) : SPMU_SIGBIT(LOADS);
	/* More than any instruction of the program makes; a record has the first ones'
	 * addresses. */
	if (host->pending.access_count == ACCESSES)
		return;
	host->accesses[host->pending.access_count++] = (struct spmu_memory_access){
		.linear = address,
		.bytes = (uint16_t)size,
		.kind = type == UC_MEM_WRITE ? SPMU_ACCESS_STORE : SPMU_ACCESS_LOAD,
	};
}

/* --- the driver's port: a kernel in a guest would execute RDMSR, WRMSR and CPUID --- */

static bool rdmsr(void *opaque, uint32_t msr, uint64_t *value)
{
	const struct host *host = opaque;

	return spmu_read_msr(host->core, 0, msr, value) == SPMU_DONE;
}

static bool wrmsr(void *opaque, uint32_t msr, uint64_t value)
{
	const struct host *host = opaque;

	return spmu_write_msr(host->core, 0, msr, value) == SPMU_DONE;
}

static void cpuid(void *opaque, uint32_t leaf, uint32_t subleaf, struct spmu_cpuid_regs *regs)
{
	const struct host *host = opaque;

	*regs = (struct spmu_cpuid_regs){.eax = leaf == 0 ? 0x23 : 0};
	(void)spmu_cpuid(host->core, leaf, subleaf, regs);
}

static uint32_t map_interrupt(void *opaque)
{
	(void)opaque;
	return 0xe0;
}

static void write_lvt(void *opaque, uint32_t value)
{
	const struct host *host = opaque;

	spmu_write_lvt(host->core, 0, value);
}

static void interrupted(void *opaque, struct spmu_registers *regs, uint64_t *now)
{
	registers(opaque, 0, regs);
	*now = tsc(opaque, 0);
}

static void take(void *opaque, const struct spmu_sample *sample)
{
	(void)opaque;
	printf("sample at program+%#llx, rcx %llu\n", (unsigned long long)(sample->ip - CODE),
	       (unsigned long long)sample->record->regs.rcx);
}

/* --- the parts put together --- */

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "unicorn: %s\n", what);
	exit(1);
}

static void make_unit(struct host *host)
{
	const struct spmu_host callbacks = {
		.size = sizeof(struct spmu_host),
		.opaque = host,
		.read = read_memory,
		.write = write_memory,
		.pmi = raise_interrupt,
		.tsc = tsc,
		.registers = registers,
		.supply = {.exact = SPMU_SIGSET_BRANCHES | SPMU_SIGBIT(INSTRUCTIONS) |
				    SPMU_SIGBIT(LOADS) | SPMU_SIGBIT(STORES)},
	};
	const struct spmu_core_config config = {
		.size = sizeof(struct spmu_core_config),
		.model = spmu_model_find("skylake"),
		.threads = 1,
		.meters = {&host->meters},
	};
	size_t bytes = (spmu_core_bytes() + 63) & ~(size_t)63;
	void *memory = aligned_alloc(64, bytes);

	must(memory != NULL, "no memory");
	must(spmu_core_create(memory, bytes, &config, &callbacks, &host->core) == SPMU_OK,
	     "no unit");
	spmu_set_ia32e(host->core, 0, true);
}

static void make_emulator(struct host *host)
{
	uc_hook code, memory;
	uint64_t stack = STACK + 0x800;

	must(uc_open(UC_ARCH_X86, UC_MODE_64, &host->uc) == UC_ERR_OK, "no emulator");
	must(!uc_mem_map(host->uc, CODE, 0x1000, UC_PROT_READ | UC_PROT_EXEC) &&
		     !uc_mem_map(host->uc, STACK, 0x1000, UC_PROT_READ | UC_PROT_WRITE) &&
		     !uc_mem_map_ptr(host->uc, AREA, AREA_BYTES, UC_PROT_READ | UC_PROT_WRITE,
				     host->area) &&
		     !uc_mem_write(host->uc, CODE, program, program_bytes) &&
		     !uc_reg_write(host->uc, UC_X86_REG_RSP, &stack) &&
		     !uc_hook_add(host->uc, &code, UC_HOOK_CODE, (void *)on_code, host, 1, 0) &&
		     !uc_hook_add(host->uc, &memory, UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE,
				  (void *)on_memory, host, 1, 0),
	     "the emulator refuses");
}

/* Counts four events, and samples one more with PEBS (18.13.1).  Slots are in this order. */
static void program_unit(struct host *host)
{
	const struct spmu_port port = {
		.size = sizeof(struct spmu_port),
		.opaque = host,
		.rdmsr = rdmsr,
		.wrmsr = wrmsr,
		.cpuid = cpuid,
		.map_interrupt = map_interrupt,
		.write_lvt = write_lvt,
		.interrupted = interrupted,
	};
	const struct spmu_driver_memory memory = {.size = sizeof(struct spmu_driver_memory),
						  .memory = host->area,
						  .linear = AREA,
						  .bytes = AREA_BYTES};
	const struct spmu_request requests[] = {
		/* INST_RETIRED.ANY, BR_INST_RETIRED.ALL_BRANCHES, MEM_INST_RETIRED.ALL_LOADS and
		   .ALL_STORES, BR_INST_RETIRED.NEAR_TAKEN */
		{.size = sizeof(struct spmu_request),
		 .select = 0x100c0,
		 .counters = 0x0f,
		 .fixed = 0},
		{.size = sizeof(struct spmu_request),
		 .select = 0x100c4,
		 .counters = 0xff,
		 .fixed = -1},
		{.size = sizeof(struct spmu_request),
		 .select = 0x181d0,
		 .counters = 0x0f,
		 .fixed = -1},
		{.size = sizeof(struct spmu_request),
		 .select = 0x182d0,
		 .counters = 0x0f,
		 .fixed = -1},
		{.size = sizeof(struct spmu_request),
		 .select = 0x120c4,
		 .counters = 0x0f,
		 .fixed = -1,
		 .period = PERIOD,
		 .precise = true},
	};
	struct spmu_driver *driver = &host->driver;
	unsigned slot;

	must(spmu_driver_detect(driver, sizeof(*driver), &port, spmu_model_find("skylake")) ==
		     SPMU_OK,
	     "detect");
	printf("skylake: %u counters, PEBS format %u\n", driver->facilities.counters,
	       driver->facilities.pebs_format);
	spmu_driver_set_sink(driver, take, NULL);
	must(spmu_driver_setup_ds(driver, &memory) == SPMU_OK, "no DS save area");
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		must(spmu_driver_add(driver, &requests[i], &slot) == SPMU_OK && slot == i,
		     "no counter");
	must(spmu_driver_start(driver) == SPMU_OK, "start");
}

int main(void)
{
	static const char *const names[] = {"instructions", "branches", "loads", "stores"};
	static struct host host;
	uint64_t end = CODE + program_bytes;

	make_unit(&host);
	make_emulator(&host);
	program_unit(&host);
	must(uc_emu_start(host.uc, CODE, end, 0, 0) == UC_ERR_OK, "the program fails");
	retire(&host, end);
	must(spmu_driver_stop(&host.driver) == SPMU_OK, "stop");
	spmu_driver_drain(&host.driver);
	for (unsigned slot = 0; slot < 4; slot++)
		printf("%6llu %s\n", (unsigned long long)spmu_driver_read(&host.driver, slot),
		       names[slot]);
	uc_close(host.uc);
	free(host.core);
	return 0;
}
