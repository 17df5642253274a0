/* SPDX-License-Identifier: MIT */
/*
 * host.cc: a host in C++: it calls a function of every public header, gives callbacks, counts,
 * detects the unit with the driver, and saves the state.
 *
 * Prints:
 *	1000 instructions, an interrupt at 1000
 */
#include <cstdio>
#include <stdlib.h>
#include <vector>

#include <softpmu/softpmu.h>
#include <softpmu/lbr.h>

namespace
{
struct world {
	uint64_t executed;
	uint64_t interrupted_at;
};

bool refuse_read(void *, unsigned, uint64_t, void *, size_t)
{
	return false;
}
bool refuse_write(void *, unsigned, uint64_t, const void *, size_t)
{
	return false;
}
void interrupt(void *opaque, unsigned, struct spmu_pmi)
{
	world *w = static_cast<world *>(opaque);

	w->interrupted_at = w->executed;
}
uint64_t clock_now(void *opaque, unsigned)
{
	return static_cast<world *>(opaque)->executed;
}
void give_registers(void *, unsigned, struct spmu_registers *out)
{
	*out = spmu_registers();
}
bool read_msr(void *opaque, uint32_t msr, uint64_t *value)
{
	return spmu_read_msr(static_cast<spmu_core *>(opaque), 0, msr, value) == SPMU_DONE;
}
bool write_msr(void *opaque, uint32_t msr, uint64_t value)
{
	return spmu_write_msr(static_cast<spmu_core *>(opaque), 0, msr, value) == SPMU_DONE;
}
const struct spmu_cpuid_regs no_cpuid = {0, 0, 0, 0};
void read_cpuid(void *opaque, uint32_t leaf, uint32_t subleaf, struct spmu_cpuid_regs *regs)
{
	*regs = no_cpuid;
	regs->eax = leaf == 0 ? 0x16 : 0;
	(void)spmu_cpuid(static_cast<spmu_core *>(opaque), leaf, subleaf, regs);
}
uint32_t map_interrupt(void *)
{
	return 0xee; /* vector, fixed delivery */
}
void write_lvt(void *opaque, uint32_t value)
{
	spmu_write_lvt(static_cast<spmu_core *>(opaque), 0, value);
}
void interrupted(void *, struct spmu_registers *out, uint64_t *tsc)
{
	*out = spmu_registers();
	*tsc = 0;
}
/* Each header's part of the library is there. */
bool is_whole(const struct spmu_model *model)
{
	struct spmu_register reg;
	const struct spmu_ds_layout *ds = spmu_model_ds_layout(model, true);
	const struct spmu_lbr_layout *lbr = spmu_model_lbr_layout(model);

	return spmu_register_at(model, 0, &reg) && ds && lbr && spmu_pebs_record_bytes(ds, 0) &&
	       spmu_signal_meaning(SPMU_SIG_INSTRUCTIONS) && spmu_status_text(SPMU_OK) &&
	       spmu_model_describe(model).counters_ht;
}
} // namespace

int main()
{
	world w = world();
	static struct spmu_meters meters;
	struct spmu_host host = spmu_host();
	struct spmu_core_config config = spmu_core_config();
	struct spmu_port port = spmu_port();
	struct spmu_driver driver;
	struct spmu_core *core;
	struct spmu_insn insn = spmu_insn();
	void *memory = aligned_alloc(64, (spmu_core_bytes() + 63) & ~size_t(63));

	host.size = sizeof(host);
	config.size = sizeof(config);
	port.size = sizeof(port);
	host.opaque = &w;
	host.read = refuse_read;
	host.write = refuse_write;
	host.pmi = interrupt;
	host.tsc = clock_now;
	host.registers = give_registers;
	host.supply.exact = SPMU_SIGSET_ARCHITECTURAL;
	config.model = spmu_model_find("skylake");
	config.threads = 1;
	config.meters[0] = &meters;
	if (!is_whole(config.model) ||
	    spmu_core_create(memory, spmu_core_bytes(), &config, &host, &core) != SPMU_OK)
		return 1;
	port.opaque = core;
	port.rdmsr = read_msr;
	port.wrmsr = write_msr;
	port.cpuid = read_cpuid;
	port.map_interrupt = map_interrupt;
	port.write_lvt = write_lvt;
	port.interrupted = interrupted;
	if (spmu_driver_detect(&driver, sizeof(driver), &port, config.model) != SPMU_OK || !driver.facilities.pebs)
		return 1;
	/* INST_RETIRED at CPL > 0 on PMC0, an interrupt at the 1000th. */
	port.write_lvt(core, port.map_interrupt(core));
	if (!write_msr(core, 0x4c1, (UINT64_C(1) << 48) - 1000) ||
	    !write_msr(core, 0x186, 0x5100c0) || !write_msr(core, 0x38f, 1))
		return 1;
	insn.signals = SPMU_SIGBIT(INSTRUCTIONS);
	insn.cpl = 3;
	while (w.executed < 1000) {
		w.executed++;
		(void)spmu_retire(core, 0, &insn);
	}
	std::vector<unsigned char> state(spmu_state_bytes(core));
	if (spmu_save(core, state.data(), state.size()) != SPMU_OK)
		return 1;
	std::printf("%d instructions, an interrupt at %d\n", int(w.executed), int(w.interrupted_at));
	free(memory);
	return 0;
}
