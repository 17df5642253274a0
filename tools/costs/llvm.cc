/* SPDX-License-Identifier: MIT */
/*
 * llvm.cc: asks LLVM's scheduling models what instructions cost, for `make costs`.
 *
 * Arguments: processors.  The first line of output is LLVM's version.  For each processor follow
 * its model's load latency, and its ports: each resource's number, name, and the leaves it
 * contains as a mask.  Then each line of input, the bytes of an instruction, gives a line of
 * output: for each processor "micro-operations latency ports", or "-" where the model knows
 * nothing.  `ports` is a list of RESOURCE:CLOCKS, in which a group does not repeat the clocks of
 * resources that it contains.
 */
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

using namespace llvm;

struct Processor {
	std::unique_ptr<MCSubtargetInfo> info;
	std::vector<uint64_t> mask; /* for each resource: its leaves */
};

/* Gives each resource without parts one bit for each of its units, and each group the bits of its
 * parts. */
static void find_leaves(Processor &p)
{
	const MCSchedModel &model = p.info->getSchedModel();
	unsigned kinds = model.getNumProcResourceKinds(), bit = 0;

	p.mask.assign(kinds, 0);
	for (unsigned i = 1; i < kinds; i++) {
		const MCProcResourceDesc *d = model.getProcResource(i);

		if (d->SubUnitsIdxBegin)
			continue;
		for (unsigned unit = 0; unit < d->NumUnits; unit++)
			p.mask[i] |= UINT64_C(1) << bit++;
	}
	if (bit > 64)
		exit(3);
	for (unsigned i = 1; i < kinds; i++) {
		const MCProcResourceDesc *d = model.getProcResource(i);

		for (unsigned unit = 0; d->SubUnitsIdxBegin && unit < d->NumUnits; unit++)
			p.mask[i] |= p.mask[d->SubUnitsIdxBegin[unit]];
	}
}

static void print_processor(const Processor &p, const char *name)
{
	const MCSchedModel &model = p.info->getSchedModel();

	printf("processor %s %u %zu\n", name, model.LoadLatency, p.mask.size() - 1);
	for (unsigned i = 1; i < p.mask.size(); i++)
		printf("%u %s %llu\n", i, model.getProcResource(i)->Name,
		       (unsigned long long)p.mask[i]);
}

/* Prints the resources that a class uses, each group without what its parts count for.  LLVM's list
 * has all groups that contain a used resource, also those with equal parts. */
static void print_ports(const Processor &p, const MCSchedClassDesc *sc)
{
	struct Use {
		unsigned resource;
		int clocks;
	};
	std::map<std::pair<int, uint64_t>, Use> uses; /* small groups first */
	bool any = false;

	for (const MCWriteProcResEntry *e = p.info->getWriteProcResBegin(sc);
	     e != p.info->getWriteProcResEnd(sc); e++) {
		uint64_t mask = p.mask[e->ProcResourceIdx];
		Use &use = uses[{__builtin_popcountll(mask), mask}];

		if (use.clocks < e->ReleaseAtCycle)
			use = {e->ProcResourceIdx, e->ReleaseAtCycle};
	}
	for (auto &part : uses) {
		uint64_t mask = part.first.second;

		if (part.second.clocks <= 0)
			continue;
		for (auto &group : uses)
			if (group.first.second != mask && (group.first.second & mask) == mask)
				group.second.clocks -= part.second.clocks;
		printf("%s%u:%d", any ? "," : "", part.second.resource, part.second.clocks);
		any = true;
	}
	if (!any)
		printf("0");
}

static void print_cost(const Processor &p, const MCInst &inst, const MCInstrInfo &insns)
{
	const MCSchedModel &model = p.info->getSchedModel();
	unsigned number = insns.get(inst.getOpcode()).getSchedClass();
	const MCSchedClassDesc *sc = model.getSchedClassDesc(number);
	int latency = 0;

	while (number && sc->isVariant()) {
		number = p.info->resolveVariantSchedClass(number, &inst, &insns,
							  model.getProcessorID());
		sc = model.getSchedClassDesc(number);
	}
	if (!number || !sc->isValid()) {
		printf("\t-");
		return;
	}
	for (unsigned i = 0; i < sc->NumWriteLatencyEntries; i++)
		latency = std::max<int>(latency, p.info->getWriteLatencyEntry(sc, i)->Cycles);
	printf("\t%u %d ", sc->NumMicroOps, latency);
	print_ports(p, sc);
}

int main(int argc, char **argv)
{
	std::string error, line;
	std::vector<Processor> processors;

	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86Disassembler();
	const Target *target = TargetRegistry::lookupTarget("x86_64-linux-gnu", error);
	if (!target)
		return 1;
	Triple triple("x86_64-linux-gnu");
	MCTargetOptions options;
	std::unique_ptr<MCRegisterInfo> registers(target->createMCRegInfo(triple.str()));
	std::unique_ptr<MCAsmInfo> assembly(
		target->createMCAsmInfo(*registers, triple.str(), options));
	std::unique_ptr<MCInstrInfo> insns(target->createMCInstrInfo());
	puts(LLVM_VERSION_STRING);
	for (int i = 1; i < argc; i++) {
		Processor p;

		p.info.reset(target->createMCSubtargetInfo(triple.str(), argv[i], ""));
		if (!p.info || !p.info->getSchedModel().hasInstrSchedModel())
			return 2;
		find_leaves(p);
		print_processor(p, argv[i]);
		processors.push_back(std::move(p));
	}
	MCContext context(triple, assembly.get(), registers.get(), processors[0].info.get());
	std::unique_ptr<MCDisassembler> disassembler(
		target->createMCDisassembler(*processors[0].info, context));
	while (std::getline(std::cin, line)) {
		std::vector<uint8_t> bytes;
		MCInst inst;
		uint64_t size;

		for (size_t i = 0; i + 1 < line.size(); i += 2)
			bytes.push_back((uint8_t)strtoul(line.substr(i, 2).c_str(), nullptr, 16));
		bool known = disassembler->getInstruction(inst, size, bytes, 0, nulls()) ==
				     MCDisassembler::Success && size == bytes.size();
		for (const Processor &p : processors)
			if (known)
				print_cost(p, inst, *insns);
			else
				printf("\t-");
		putchar('\n');
	}
	return 0;
}
