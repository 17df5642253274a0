/* SPDX-License-Identifier: MIT */
/*
 * engine.h: the parts of the engine and what each asks of the others.
 *
 *	start.c      begins: shared memory, the program's image, first entry
 *	load.c       maps the ELF program and its interpreter
 *	image.c      tells the kernel which image that is
 *	memory.c     which memory of the program can hold code
 *	places.c     where code and the code cache are mapped
 *	pages.c      marks of its pages
 *	blocks.c     the code cache: blocks of code, and when they are dropped
 *	slots.c      branches that are not linked yet
 *	lookup.c     where the code for an address is
 *	keep.c       translations that were kept by earlier runs
 *	keep_save.c  what is kept for others
 *	keep_file.c  the file in which they are
 *	path.c       which program code becomes one block, and what is known of it
 *	stable.c     indirect branches that go to one place
 *	hot.c        which code becomes traces
 *	translate.c  which program code is translated
 *	copy.c       the machine code of one block
 *	maps.c       what is known of a block afterwards
 *	step.c       a few instructions in a form that comes back
 *	emit.c       the bytes that copy.c and step.c write
 *	emit_words.c those that reach the context
 *	emit_log.c   those that log a taken branch
 *	run.c        the dispatcher: bulk and precise execution
 *	one.c        one instruction with RFLAGS.TF
 *	unknown.c    instructions that the decoder does not know
 *	far.c        far transfers; calls.c: system calls by INT 80H
 *	branches.c   taken branches, for last branch records and branch traces
 *	units.c      a thread's units, their drivers, samples
 *	lanes.c      headroom as translated code uses it
 *	counting.c   instructions that retire exactly, counts to the tool
 *	self.c       the unit as the program sees it: CPUID, RDPMC
 *	ring.c       records to the tool
 *	views.c      shared memory that is mapped more than once
 *	pinned.c     memory that the kernel may write to at any time
 *	syscalls.c   the program's system calls
 *	vsyscall.c   those that it makes through the vsyscall page
 *	limits.c     the limit of its address space
 *	userfault.c  what it asks to be told of its page faults
 *	files.c      files that show the program itself
 *	listing.c    the list of its mappings; figures.c: how much memory they have
 *	filters.c    filters of system calls (seccomp) that it installs
 *	dispatch.c   system calls that it wants to have raise SIGSYS
 *	signals.c    the program's signals: masks, arrival, delivery
 *	held.c       blocked signals of the kind that instructions raise
 *	storms.c     signals that come very fast
 *	actions.c    what it wants done about each
 *	faults.c     what instructions raise
 *	threads.c    the program's threads, the lock on what they share
 *	children.c   fork, vfork, clone
 *	tracing.c    ptrace of tasks in the same memory
 *	exec.c       execve: the next image is the engine again
 *	exec_find.c  the file that is to be executed
 *	descriptors.c  what that image needs of this one
 *	frames.c     signal frames on the program's stack
 *	settle.c     translated code that is left in the middle
 *	fixed.c      a run that is to be the same each time
 *	fixed_places.c  where its mappings go
 *	clocks.c     and what its clocks tell
 */
#ifndef SOFTPMU_ENGINE_H
#define SOFTPMU_ENGINE_H

#include <hosts/user/decode/decode.h>
#include <hosts/user/link.h>

#include "context.h"

/* The shared memory with the tool. */
extern struct link *engine_link;

/* The program is about to end: counts and records are complete. */
void engine_finish(void);

/* The running thread's part of that. */
void engine_finish_thread(void);

/* It ends with this status, by exit(2) or exit_group(2). */
_Noreturn void engine_exit(long nr, int status);

static inline uint64_t read_gs_base(void)
{
	uint64_t base;

	__asm__ volatile("rdgsbase %0" : "=r"(base));
	return base;
}

static inline void write_gs_base(uint64_t base)
{
	__asm__ volatile("wrgsbase %0" : : "r"(base) : "memory");
}

static inline uint64_t read_fs_base(void)
{
	uint64_t base;

	__asm__ volatile("rdfsbase %0" : "=r"(base));
	return base;
}

/* End the run: the request or the program cannot be used (start only). */
_Noreturn void engine_fail(int exit_status, const char *message);

/* End the run: the program did what cannot be run yet. */
_Noreturn void engine_unsupported(const char *message);

/* load.c */
struct loaded {
	uint64_t entry;					     /* first program address to run */
	uint64_t phdr, phent, phnum, program_entry;	     /* for the auxiliary vector */
	uint64_t interpreter;				     /* base of the interpreter, 0: none */
	uint64_t code_start, code_end, data_start, data_end; /* as proc(5) has them in stat */
};
/* The file is open already when fd is not -1. */
void load_open(const char *path, int fd); /* the code cache has its place then */
void load_program(struct loaded *out);
void load_vdso(uint64_t base);
extern bool program_stack_executable;	 /* its file asks for that */
extern bool program_has_heap;		 /* brk(2) may move its end */
extern char program_path[LINK_PATH_MAX]; /* the ELF file, without links */

/* memory.c: the program's executable memory */
#define PROGRAM_END UINT64_C(0x7ffffffff000)
void memory_start(void);
void memory_mapped(uint64_t start, uint64_t bytes, int protection);
void memory_unmapped(uint64_t start, uint64_t bytes);
/* A stack that may be executed, as far down as it may grow. */
void memory_stack(uint64_t start, uint64_t end);
/* Code whose changes cannot be noticed (a stack, a pinned page): it runs as single steps, decoded
 * each time. */
bool memory_is_volatile(uint64_t pc);
/* The end of the executable region that holds pc; 0: pc cannot be executed. */
uint64_t memory_code_end(uint64_t pc);
/* Code that cannot be written to as it is mapped. */
bool memory_is_constant(uint64_t pc);
/* How far a block that begins at pc may reach. */
uint64_t memory_block_end(uint64_t pc);
/* Code of this page is going to be translated: writes to it must be noticed.  True: until now they
 * were not, so what has been read of it may have changed. */
bool memory_watch_page(uint64_t pc);
/* A write fault at this address: is it ours? */
bool memory_is_watched(uint64_t address);
/* The engine writes there and cannot wait: memory_unwatch_range() follows soon. */
void memory_open(uint64_t address);
/* Are pages there watched? */
bool memory_watches(uint64_t start, uint64_t bytes);
/* The program or the kernel is going to write there: no page of it is watched any more, its
 * translations are forgotten. */
void memory_unwatch_range(uint64_t start, uint64_t bytes);
/* The page is a stack: its code is not worth watching. */
void memory_give_up(uint64_t address);
/* Code there that may be written to is volatile from now on. */
void memory_pin(uint64_t start, uint64_t bytes);
/* What the program has asked for at a mapped address, whether as code, and whether writable beside
 * what the kernel says; where that ends, before `end`. */
uint64_t memory_as_mapped(uint64_t at, uint64_t end, bool *code, bool *writable);
/* Is a change half done?  The lock is held: whoever held it before has left it so. */
bool memory_is_changing(void);
/* Does the range hold code that was translated? */
bool memory_has_translations(uint64_t start, uint64_t bytes);
void memory_forget(uint64_t start, uint64_t bytes);
void memory_forget_translations(void);

/* blocks.c */
struct block {
	uint64_t pc;
	uint32_t code; /* offset in the cache */
	uint32_t map;  /* offset of its lengths: emitted bytes of each instruction */
	uint16_t code_bytes;
	uint16_t bytes; /* of the program, if it is no trace */
	uint8_t insns;
	uint8_t check_at;    /* instructions before the meters are charged */
	uint8_t check_bytes; /* bytes of them in the program */
	bool trace;	     /* it goes on through branches; its map has the addresses */
	bool careful;
	bool spans;	   /* more than one module of the program (keep.c) */
	uint8_t is_target; /* kept: bit 0: of indirect branches, bit 1: of returns */
	uint8_t thunk;	   /* the one in front of it, in the same bits */
	uint8_t module;	   /* kept: number in the file */
	bool gone;	   /* dropped */
	uint32_t next;	   /* of those that begin in pages like this one's */
	uint32_t low;	   /* careful code from its charge on; or how often that was missed */
};
extern uint8_t *cache_base, *cache_end;
extern uint8_t *cache_at; /* where the next block's code goes */
extern uint8_t *cold_at;  /* where code that rarely runs, and thunks, go */
/* Finds a place for it, where the program is not going to be. */
void blocks_place(void);
void blocks_start(void);
void blocks_flush(void);
/* Empties the cache and gives it another place. */
void blocks_move(void);
extern uint64_t blocks_flushes; /* how often the cache has been emptied */
extern uint64_t blocks_changes; /* how often code has changed, or that */
/* Code there has changed, or may from now on. */
void blocks_forget(uint64_t start, uint64_t end);
struct block *block_at(uint32_t number);
bool blocks_full(void); /* the next block may not fit: flush first */
#define GATE_BYTES 16
static inline const uint8_t *blocks_gate(unsigned reason)
{
	return cache_base + (size_t)reason * GATE_BYTES;
}
struct block *block_new(uint64_t pc); /* its code begins at cache_at */
/* Its code is complete. */
void block_done(struct block *block);
/* Whoever comes to the old one goes on in this code. */
void block_replace(uint64_t old_code, uint64_t code);
uint32_t block_number(const struct block *block);
struct block *block_of_code(uint64_t code_address); /* NULL: not in a block */
uint8_t *block_map_space(unsigned bytes);
const uint8_t *block_map(const struct block *block);
/* Whoever still jumps to the block comes to an exit slot, and from there to what follows it. False:
 * it is too short to jump from. */
bool block_drop(struct block *block);
/* Translate `key` in place of the jump at the end of the newest block: its rel32 is at
 * `patch`: its code.  0: the jump is not there, or it cannot be done. */
uint64_t block_append(uint64_t patch, uint64_t key);

/* slots.c */
struct exit_slot {
	uint64_t target; /* key */
	uint32_t patch;	 /* address of the rel32 to set; 0: it is set */
};
/* A slot for a jump whose rel32 is at `patch`: the address to jump to. */
uint64_t exit_slot_new(uint64_t key, uint64_t patch);
/* Where blocks of this key jump to when they are dropped. */
uint64_t exit_slot_dropped(uint64_t key);
/* A slot that only holds a target, for as long as the cache: its number. */
uint32_t exit_slot_keep(uint64_t pc);
struct exit_slot *exit_slot_at(uint32_t number);
/* Its jump goes to this code from now on. */
void exit_slot_link(uint32_t number, uint64_t code);
void exit_slot_free(uint32_t number);

/* lookup.c */
/* Code by key, 0: none.  A key is a program address, with CAREFUL_KEY for careful code: short
 * blocks that all use the first lane, run when little headroom is left. */
#define CAREFUL_KEY (UINT64_C(1) << 63)
/* The two highest bits of an address are the same. */
static inline uint64_t pc_of_key(uint64_t key)
{
	return (uint64_t)((int64_t)(key << 1) >> 1);
}
uint64_t blocks_lookup(uint64_t key);
/* The key is going to be looked up soon, and where returns to it go. */
void blocks_will_look(uint64_t key, bool of_return);
/* It finds this code from now on, in all threads. */
void blocks_add(uint64_t key, uint64_t code);
/* The table of careful targets is about to be used. */
void blocks_start_careful(void);
/* The tables of indirect targets, below 2 GiB. */
uint64_t blocks_targets(bool careful, bool of_returns);
/* Indirect branches, or returns, find the code of this key from now on, if it can be executed. */
void target_find(uint64_t key, bool of_return);
/* The thunk of this key in front of the block that is going to be translated, and once that has
 * been done: for all to find. */
uint64_t target_thunk(uint64_t key, bool of_return);
void target_set(uint64_t key, uint64_t thunk, bool of_return);

/* translate.c */
#define PLAIN_INSNS_MAX	  48
#define CAREFUL_INSNS_MAX 4
#define BLOCK_INSNS_MAX	  96
#define CHECK_INSNS_MAX	  4
#define RUN_BLOCKS_MAX	  8 /* translated at a time */
/* Translate the block of this key, and some that most likely run after it, or return 0 when it
 * cannot be executed. */
uint64_t translate_block(uint64_t key);
/* A trace along the way that a thread has taken, in place of the block where it begins; false:
 * there is none. */
bool translate_recorded(const uint64_t *pcs, unsigned n);

/* maps.c */
/* Noted in the map of the newest block: it charges so many of meter m, and checks that at `offset`
 * in its code. */
void block_map_charge(unsigned m, unsigned n, unsigned offset);
/* The block's charge number `index` found no room: it and those before it are taken back. */
struct block_charge {
	unsigned meter, n;
	uint64_t check; /* where it was checked */
} block_take_back(const struct block *block, unsigned index);
/* The occurrences that instructions first to last-1 of a block produce on meter m, without
 * the outcome of a final conditional branch. */
unsigned block_occurrences(const struct block *block, unsigned first, unsigned last, unsigned m);
/* What a SYSCALL produces on meter m. */
unsigned syscall_occurrences(unsigned m);
/* Where the block charges its meters. */
uint64_t block_check_code(const struct block *block);
/* The block is left there: charge what ran before. */
void block_leave_at_check(const struct block *block);
/* The program address of instruction `index` of a block; block->insns: behind it. */
uint64_t block_pc_of(const struct block *block, unsigned index);

/* hot.c: traces of code that runs often */
/* Bulk code had used up a portion of headroom when it came to this block's check.  How many
 * instructions from there on are to be run one by one; 0: it goes on. */
unsigned hot_sample(const struct block *block);
/* current->run.recording: the instruction that is about to run; then what came of it. */
void hot_note(uint64_t pc);
void hot_end(void);
/* The process is a new one. */
void hot_forget(void);
/* A child that borrowed the thread's context began a record, and was killed. */
void hot_abandon(void);
#define HOT_PORTION_MAX (INT64_C(1) << 22)
extern int64_t hot_portion; /* headroom that bulk code gets at a time, at most */

/* step.c: a few instructions in a form that comes back. */
#define STEP_INSNS_MAX	 8
#define STEP_BUDGET_BITS 5 /* of each meter */
#define STEP_BUDGET_MOST ((1u << STEP_BUDGET_BITS) - 1)
/* With more meters, or by STEP_ALONE in its budget, a step is one instruction. */
#define STEP_METERS_MAX 6
#define STEP_ALONE	(1u << STEP_BUDGET_BITS * STEP_METERS_MAX)
struct step {
	uint64_t pc;
	uint32_t budget;
	uint32_t code, code_end;
	uint8_t insns;
	/* Of the last one; the others are plain. */
	uint8_t kind, rep;
	bool special, uses_gs, addressed, address32;
	uint32_t next_code; /* bulk code for next; 0: not known */
	uint64_t target;
	uint64_t next; /* where the program went on behind it */
	struct {
		uint64_t signals;
		uint8_t bytes, code_bytes;
	} insn[];
};
/* In the code of an RDPMC's step: an instruction that raises #GP or #UD. */
#define STEP_GP 0
#define STEP_UD 1
/* From pc on, as far as there is room now (precise mode).  NULL: cannot be executed. */
struct step *translate_step(uint64_t pc);
void steps_start(void);
/* No code of steps is in this range any more. */
void steps_leave(uint64_t start, uint64_t end);
/* Where code for pc is kept with the step that has just run; NULL: it did not end there. */
uint32_t *step_code_behind(uint64_t pc);
/* A page of the thread's that nothing may access; code may be written in front of it. */
uint8_t *step_guard(void);
/* The step that runs, if the address is in it. */
struct step *step_of_code(uint64_t address);
/* Is this the beginning of a system call by INT 80H, which the kernel is going to make again? */
bool step_waits(uint64_t address);
/* The instruction that the address is in, and whether it begins there. */
unsigned step_index(const struct step *s, uint64_t address, bool *exact);

/* run.c */
_Noreturn void run_program(void);

/* units.c, lanes.c, counting.c */
/* The signals of the meters of all units for user code, as translated code charges them:
 * meter m, block b: the word current->lane[m][lane_of(b)]. */
extern uint64_t meter_signals[LANED_METERS];
extern unsigned meters;
unsigned lane_of(uint32_t block_number);
/* What these signals produce on meter m; few bits are ever set. */
static inline unsigned meter_occurrences(unsigned m, uint64_t signals)
{
	unsigned n = 0;

	for (uint64_t set = signals & meter_signals[m]; set; set &= set - 1)
		n++;
	return n;
}
/* Give the lane of meter m room for n occurrences if there is as much in all its lanes. */
bool counting_rebalance(unsigned m, unsigned lane, unsigned n);
/* Is so little headroom left on some meter that lanes do not pay? */
bool counting_low(void);
/* Is so little left on meter m that it is used up in two or three steps? */
bool counting_few(unsigned m);
/* Has bulk code used up as much as is handed out at a time (hot_portion)? */
bool counting_portion_over(void);
enum counting_mode {
	COUNTING_BULK,	  /* in all lanes; a reserve is kept back */
	COUNTING_CAREFUL, /* in the first lane; almost nothing is kept back */
	COUNTING_PRECISE, /* with the units */
};
void counting_start(void);
/* Counts to the shared memory, records to the ring; the units are stopped. */
void counting_finish(void);
/* What has been counted so far to the shared memory. */
void counting_publish(void);
/* What has been counted since then is not told to the tool. */
void counting_skip(void);
/* The units are made anew and count from 0: in a new process, or when they were left half done. */
void counting_begin_again(void);
/* What the thread has counted of the first event. */
uint64_t counting_first(void);
enum counting_mode counting_mode_now(void);
/* Records that are still in a DS buffer go to the ring, so that what follows is behind them. */
void counting_drain(void);
/* Run the service routines of units that have interrupted. */
void counting_interrupts(void);
/* Where headroom is from now on.  Less than is to be kept back: counting_bulk_possible() tells. */
void counting_mode(enum counting_mode to);
bool counting_bulk_possible(void);
bool counting_wants_address(uint64_t signals);
/* What each meter has room for until the engine must look (precise mode), STEP_BUDGET_BITS each; or
 * STEP_ALONE. */
uint32_t counting_budget(void);
/* An instruction that has nothing but its signals retired (precise mode only). */
void counting_retire_plain(uint64_t ip, uint64_t next_ip, uint64_t signals);
/* One instruction retired (precise mode only). */
void counting_retire(uint64_t ip, uint64_t next_ip, uint64_t signals,
		     const struct insn_addresses *at);

/* self.c */
/* The program's CPUID of this leaf has been executed: what concerns the unit is the model's. */
void self_cpuid(uint32_t leaf, uint32_t subleaf);
/* RDPMC in precise mode; the registers are changed if it is SPMU_DONE. */
enum spmu_outcome self_rdpmc(void);
/* Does the processor know XBEGIN, though every transaction may abort? */
bool self_has_transactions(void);

/* branches.c: the log of taken branches, which bulk code writes while the unit wants them */
#define LOG_RECORD_BYTES 24	/* as a BTS record: from, to, and the kind where BTS has flags */
extern uint64_t branch_signals; /* kinds that are logged; 0: none */
extern bool branch_kinds;	/* records hold their kind */
/* A unit is set up; the first one first.  Then begin to log what they want. */
void branches_add(struct spmu_core *unit, const struct spmu_branch_tap *wanted);
void branches_start(void);
void branches_begin_again(void); /* the units are made anew */
/* Map the trace buffers that the tool shares, each with a page behind it that faults. */
void branches_map(int fd);
/* The one that the thread fills, or for records of 32 bits one that is widened into it; 0: the tool
 * asks for no trace. */
uint64_t branches_buffer(bool below_4g, size_t *bytes);
/* It fills it no more. */
void branches_end(void);
/* Whether the unit may store there. */
bool branches_in_buffer(uint64_t linear, size_t bytes);
/* A buffer is full (or is to be emptied): to the tool with it; the buffer to go on with. */
uint64_t branches_to_tool(void *opaque, const void *records, size_t count, uint64_t linear);
/* What has been logged goes to the unit, which may interrupt; the log is empty then. */
void branches_take(void);
/* Precise steps are over: the log begins where the unit says. */
void branches_resume(void);
/* Translated code faulted at this address because the log is full. */
bool branches_full_at(uint64_t address);
/* Empty a full log; where logging goes on. */
uint64_t branches_make_room(void);

/* ring.c */
void ring_write(const struct link_record *record);
void ring_mmap(uint64_t start, uint64_t bytes, uint64_t page_offset, int protection, int flags,
	       int fd, const char *name);
void ring_comm(const char *name, bool exec);
/* The running process or thread was begun by that one; it ends. */
void ring_begin(uint32_t ppid, uint32_t ptid);
void ring_end(void);
void ring_wake(void);
/* Who was killed has no turn any more. */
void ring_end_turn_of(uint32_t tid);
/* Sleep until *word is not `value` any more, as long as somebody reads; false: nobody does. */
bool ring_wait(uint32_t *word, uint32_t value);
/* The file that a descriptor is open on; empty when there is none. */
void name_of_fd(int fd, char *path, size_t bytes);

/* syscalls.c: the system call that the program is making; current->pc is behind it.  First
 * what the SYSCALL instruction itself does: RCX = RIP, R11 = RFLAGS (Vol. 2B).  False: a signal
 * came first; current->pc is at the SYSCALL, which has not retired. */
void syscall_registers(void);
bool syscall_run(void);

struct syscall_arguments {
	long nr;
	uint64_t a[6];
};
/* The program makes this call, by SYSCALL or otherwise. */
long syscall_make(struct syscall_arguments *c);
/* The same of a call whose number and arguments are not in the registers of SYSCALL.  Its
 * instruction has two bytes, too. */
bool syscall_run_as(struct syscall_arguments *c);
/* Let the kernel do it. */
long syscall_pass_on(const struct syscall_arguments *c);
/* The program is going to write there, whatever it is: the lock is held. */
void syscall_code_changes(uint64_t start, uint64_t bytes);

/* children.c */
long children_fork(const struct syscall_arguments *c);
/* exit(2): the last thread ends the process. */
long children_end_thread(const struct syscall_arguments *c);
/* The process that the tool started. */
bool children_is_first(void);
/* How many besides it the tool has to hear of: one more, one less. */
void children_count(int change);

/* clocks.c */
bool clocks_wanted(void);
/* A system call that may wait: until when, and its result when it has waited so long. */
struct clocks_wait {
	uint64_t until; /* 0: no such call */
	long result;
};
struct clocks_wait clocks_wait_of(const struct syscall_arguments *c);
/* The system call has been made: the time it tells, the time it took.  Its result. */
long clocks_after(const struct syscall_arguments *c, struct clocks_wait wait, long result);
/* RDTSC or RDTSCP has been executed: the registers tell this time. */
void clocks_tsc(bool with_processor);
/* The process is a new one, which counts from 0. */
void clocks_begin_again(void);

/* tracing.c: ptrace(2) */
long tracing_run(const struct syscall_arguments *c);

/* exec.c */
long exec_run(const struct syscall_arguments *c);
/* What this image is to run, when a program of the run has executed it. */
const struct link_exec *exec_request(int fd);
/* Its second name: the ELF file. */
const char *exec_program(const struct link_exec *request);

/* signals.c, faults.c (the rest is in signals.h) */
void signals_start(void);
/* Deliver what has arrived; current->pc is at an instruction boundary. */
void signals_check(void);
/* current->pc is no code: a call to the vsyscall page, or a fault as the program would have it. */
void signals_bad_jump(void);
/* So can bytes of the instruction at current->pc: those at this address. */
void signals_bad_fetch(uint64_t address);

#endif
