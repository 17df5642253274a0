#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# families.sh: every available family lists its events and counts them.  One program has known numbers of
# branches, loads, stores and computations of each kind.  It is counted with all events of every model's
# table that a host can supply (chapter 19), and sampled with the precise ones.  The same name means the
# same number in all of them.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
cd "$SCRATCH" || exit 1

# Each of 100 rounds has 29 instructions: 1 conditional branch that is not taken and 1 that is (but not in
# the last round), 2 near calls, 2 returns, 2 jumps; 5 loads, 4 stores, 1 locked; 1 scalar double, 2 scalar
# single, 3 packed double and 4 packed single computations; 2 x87 instructions; 1 NOP.  There are 2
# instructions before the rounds and 3 after them, one of them a system call.
cat >kinds.S <<'END'
	.globl _start
_start:	mov $100, %ecx
	lea word(%rip), %rsi
1:	cmp %eax, %eax
	jne 1b
	mov (%rsi), %eax
	mov (%rsi), %eax
	mov %eax, 8(%rsi)
	lock incl 16(%rsi)
	call 5f
	lea 5f(%rip), %rax
	call *%rax
	jmp 2f
2:	lea 3f(%rip), %rax
	jmp *%rax
3:	addsd %xmm0, %xmm0
	mulss %xmm1, %xmm1
	mulss %xmm1, %xmm1
	addpd %xmm2, %xmm2
	addpd %xmm2, %xmm2
	addpd %xmm2, %xmm2
	addps %xmm3, %xmm3
	addps %xmm3, %xmm3
	addps %xmm3, %xmm3
	addps %xmm3, %xmm3
	fld1
	fstp %st(0)
	nop
	dec %ecx
	jnz 1b
	mov $60, %eax
	xor %edi, %edi
	syscall
5:	ret
	.bss
	.balign 8
word:	.skip 64
END
"$CC" -nostdlib -static -o kinds kinds.S || stop "building" kinds.S

# The numbers of each kind, and what each name counts of them.
cat >expected.py <<'END'
import json, subprocess, sys

ROUND = dict(ntaken=1, taken=1, call_rel=1, call_ind=1, ret=2, jmp_rel=1, jmp_ind=1, loads=5,
             stores=4, locks=1, sd=1, ss=2, pd=3, ps=4, x87=2, nop=1, qd=0, qs=0, zd=0, zs=0)
N = {kind: 100 * each for kind, each in ROUND.items()}
N["taken"] -= 1
N["ntaken"] += 1
N["far"] = 1
N["inst"] = 2 + 100 * 29 + 3
NEAR = ("taken", "call_rel", "call_ind", "ret", "jmp_rel", "jmp_ind")
ALL = NEAR + ("far", "ntaken")
CALLS = ("call_rel", "call_ind")
INDIRECT = ("call_ind", "jmp_ind")
SCALAR = ("sd", "ss")
PACKED = ("pd", "ps", "qd", "qs", "zd", "zs")

# The part of a name after the first dot, or all of it, and its kinds.
MEANS = {
    "INST_RETIRED": {
        "ANY": ["inst"], "ANY_P": ["inst"], "PREC_DIST": ["inst"], "NOP": ["nop"], "X87": ["x87"],
        "LOADS": ["loads"], "STORES": ["stores"]},
    "INSTRUCTION_RETIRED": ["inst"],
    "INSTR_RET": ["inst"],
    "BR_INST_RETIRED": {
        "ALL_BRANCHES": ALL, "ALL_BRANCHES_PEBS": ALL, "ANY": ALL, "ANY1": ALL,
        "TAKEN": NEAR + ("far",), "ALL_TAKEN_BRANCHES": NEAR + ("far",), "NEAR_TAKEN": NEAR,
        "NOT_TAKEN": ["ntaken"], "COND_NTAKEN": ["ntaken"], "COND_TAKEN": ["taken"],
        "TAKEN_JCC": ["taken"], "CONDITIONAL": ["taken", "ntaken"], "COND": ["taken", "ntaken"],
        "JCC": ["taken", "ntaken"], "NEAR_CALL": CALLS, "CALL": CALLS, "REL_CALL": ["call_rel"],
        "IND_CALL": ["call_ind"], "INDIRECT_CALL": ["call_ind"], "NEAR_RETURN": ["ret"],
        "RETURN": ["ret"], "INDIRECT": INDIRECT, "NON_RETURN_IND": INDIRECT, "FAR_BRANCH": ["far"],
        "INDIRECT_JMP": ["jmp_ind"], "REL_JMP": ["jmp_rel"]},
    "BR_INST_TYPE_RETIRED": {
        "COND": ["taken", "ntaken"], "COND_TAKEN": ["taken"], "UNCOND": ["jmp_rel"],
        "IND": ["jmp_ind"], "RET": ["ret"], "DIR_CALL": ["call_rel"], "IND_CALL": ["call_ind"]},
    "BRANCH_INSTRUCTIONS_RETIRED": ALL,
    "BR_INSTR_RET": ALL,
    "BR_TAKEN_RET": NEAR + ("far",),
    "MEM_INST_RETIRED": {
        "LOADS": ["loads"], "STORES": ["stores"], "ALL_LOADS": ["loads"], "ALL_STORES": ["stores"],
        "LOCK_LOADS": ["locks"], "ANY": ["loads", "stores"]},
    "MEM_UOPS_RETIRED": {
        "ALL_LOADS": ["loads"], "ALL_STORES": ["stores"], "LOCK_LOADS": ["locks"],
        "STORE_LATENCY": ["stores"], "ALL": ["loads", "stores"]},
    "MEM_UOP_RETIRED": {"ANY": ["loads", "stores"]},
    "RECYCLEQ": {"LOCK": ["locks"]},
    "MEM_TRANS_RETIRED": {"PRECISE_STORE": ["stores"], "STORE_SAMPLE": ["stores"]},
    "FP_ARITH_INST_RETIRED": {
        "SCALAR_DOUBLE": ["sd"], "SCALAR_SINGLE": ["ss"], "128B_PACKED_DOUBLE": ["pd"],
        "128B_PACKED_SINGLE": ["ps"], "256B_PACKED_DOUBLE": ["qd"], "256B_PACKED_SINGLE": ["qs"],
        "512B_PACKED_DOUBLE": ["zd"], "512B_PACKED_SINGLE": ["zs"], "SCALAR": SCALAR,
        "PACKED": PACKED, "VECTOR": PACKED, "DOUBLE": ["sd", "pd", "qd"],
        "SINGLE": ["ss", "ps", "qs"], "4_FLOPS": ["ps", "qd"], "8_FLOPS": ["qs", "zd"]},
    "FP_INST_RETIRED": {
        "64B_DP": ["sd"], "32B_SP": ["ss"], "128B_DP": ["pd"], "128B_SP": ["ps"], "256B_DP": ["qd"]},
    "FP_COMP_OPS_EXE": {
        "X87": ["x87"], "SSE_FP": ["sd", "ss", "pd", "ps"], "SSE_FP_PACKED": ["pd", "ps"],
        "SSE_FP_SCALAR": SCALAR, "SSE_SINGLE_PRECISION": ["ss", "ps"],
        "SSE_DOUBLE_PRECISION": ["sd", "pd"], "SSE_PACKED_DOUBLE": ["pd"],
        "SSE_PACKED_SINGLE": ["ps"], "SSE_SCALAR_DOUBLE": ["sd"], "SSE_SCALAR_SINGLE": ["ss"]},
    "SIMD_FP_256": {"PACKED_SINGLE": ["qs"], "PACKED_DOUBLE": ["qd"]},
    "SIMD_COMP_INST_RETIRED": {
        "PACKED_SINGLE": ["ps"], "PACKED_DOUBLE": ["pd"], "SCALAR_SINGLE": ["ss"],
        "SCALAR_DOUBLE": ["sd"]},
    "X87_OPS_RETIRED": {"ANY": ["x87"]},
    "X87_COMP_OPS_EXE": {"ANY.AR": ["x87"]},
    "FP_COMP_INSTR_RET": ["x87"],
}
MEANS |= {
    "L1D_CACHE_LD": {"MESI": ["loads"]}, "L1D_CACHE_ST": {"MESI": ["stores"]},
    "L1D_CACHE_LOCK": {"MESI": ["locks"]},
    "L1D_ALL_REF": {"": ["loads", "stores"], "ANY": ["loads", "stores"],
                    "CACHEABLE": ["loads", "stores"]},
    "L1D_ALL_CACHE_REF": ["loads", "stores"],
    "DCACHE_CACHE_LD": {"MESI": ["loads"]}, "DCACHE_CACHE_ST": {"MESI": ["stores"]},
    "DCACHE_CACHE_LOCK": {"MESI": ["locks"]},
    "DATA_MEM_REF": ["loads", "stores"], "DATA_MEM_CACHE_REF": ["loads", "stores"],
    "BR_INST_DECODED": ALL, "BR_INSTR_DECODED": ALL, "INST_DECODED": ["inst"],
    "INSTR_DECODED": ["inst"],
}
MEANS["SSEX_UOPS_RETIRED"] = MEANS["SIMD_COMP_INST_RETIRED"]
MEANS |= {
    "UOPS_RETIRED": {"": ["inst"], "ANY": ["inst"], "ALL": ["inst"], "RETIRE_SLOTS": ["inst"],
                     "SLOTS": ["inst"]},
    "TOPDOWN_RETIRING": {"ALL": ["inst"]},
    "UOPS_ISSUED": {"ANY": ["inst"]}, "UOPS_EXECUTED": {"THREAD": ["inst"]},
    "RS_UOPS_DISPATCHED": ["inst"], "UOPS_RET": ["inst"], "uops_retired": {"NBOGUS": ["inst"]},
}
# No branch of a wrong path is executed.
MEANS["BR_INST_EXEC"] = {
    "ANY": ALL, "ALL_BRANCHES": ALL, "NEAR_CALLS": CALLS, "TAKEN": NEAR,
    "NON_CALLS": ["taken", "ntaken", "jmp_rel", "jmp_ind"],
    "COND": ["taken", "ntaken"], "ANY_COND": ["taken", "ntaken"], "ALL_COND": ["taken", "ntaken"],
    "ALL_CONDITIONAL": ["taken", "ntaken"], "TAKEN_COND": ["taken"], "TAKEN_CONDITIONAL": ["taken"],
    "NONTAKEN_COND": ["ntaken"], "NONTAKEN_CONDITIONAL": ["ntaken"]}
for mask in "DIRECT ANY_DIRECT_JUMP ALL_DIRECT_JMP TAKEN_DIRECT_JUMP".split():
    MEANS["BR_INST_EXEC"][mask] = ["jmp_rel"]
for mask in "DIRECT_NEAR_CALL ALL_DIRECT_NEAR_CALL ANY_DIRECT_NEAR_CALL TAKEN_DIRECT_NEAR_CALL".split():
    MEANS["BR_INST_EXEC"][mask] = ["call_rel"]
for mask in ("INDIRECT_NON_CALL", "ALL_INDIRECT_JUMP_NON_CALL_RET", "ANY_INDIRECT_JUMP_NON_CALL_RET",
             "TAKEN_INDIRECT_JUMP_NON_CALL_RET"):
    MEANS["BR_INST_EXEC"][mask] = ["jmp_ind"]
for mask in "INDIRECT_NEAR_CALL TAKEN_INDIRECT_NEAR_CALL".split():
    MEANS["BR_INST_EXEC"][mask] = ["call_ind"]
for mask in ("RETURN_NEAR", "ALL_INDIRECT_NEAR_RETURN", "ANY_INDIRECT_NEAR_RET", "TAKEN_NEAR_RETURN",
             "TAKEN_INDIRECT_NEAR_RETURN", "TAKEN_RETURN_NEAR"):
    MEANS["BR_INST_EXEC"][mask] = ["ret"]
MEANS["BR_INST_EXEC"][""] = ALL
MEANS |= {"BR_CND_EXEC": ["taken", "ntaken"], "BR_IND_EXEC": INDIRECT, "BR_RET_EXEC": ["ret"],
          "BR_CALL_EXEC": CALLS, "BR_IND_CALL_EXEC": ["call_ind"]}
MEANS["SSE_COMP_INSTRUCTIONS_RETIRED"] = MEANS["SIMD_COMP_INST_RETIRED"]

# Before architectural performance monitoring: Pentium, P6 and Pentium M, NetBurst.
MEANS["INST_RETIRED"][""] = ["inst"]
MEANS["BR_INST_RETIRED"][""] = ALL
MEANS |= {
    "INSTRUCTIONS_EXECUTED": ["inst"], "BRANCHES": ALL, "TAKEN_BRANCHES": NEAR + ("far",),
    "RETURNS": ["ret"], "DATA_READ": ["loads"], "DATA_WRITE": ["stores"],
    "DATA_READ_OR_WRITE": ["loads", "stores"], "LOCKED_BUS_CYCLE": ["locks"], "FLOPS": ["x87"],
    "BR_TAKEN_RETIRED": NEAR + ("far",), "DATA_MEM_REFS": ["loads", "stores"],
    "EMON_KNI_COMP_INST_RET": {"PACKED_SCALAR": ["ss", "ps"], "SCALAR": ["ss"]},
    "EMON_SSE_SSE2_COMP_INST_RETIRED": {
        "SSE_PACKED_SINGLE": ["ps"], "SSE_SCALAR_SINGLE": ["ss"], "SSE2_PACKED_DOUBLE": ["pd"],
        "SSE2_SCALAR_DOUBLE": ["sd"]},
    "instr_retired": {"NBOGUSNTAG": ["inst"], "NBOGUSNTAG.NBOGUSTAG": ["inst"]},
    "instr_completed": {"NBOGUS": ["inst"]},
    "branch_retired": {
        "MMNP.MMNM": ["ntaken"], "MMTP.MMTM": NEAR + ("far",), "MMNP.MMNM.MMTP.MMTM": ALL},
    "retired_branch_type": {
        "CONDITIONAL": ["taken", "ntaken"], "CALL": CALLS, "RETURN": ["ret"],
        "INDIRECT": ["ret", *INDIRECT],
        "CONDITIONAL.CALL.RETURN.INDIRECT": ["taken", "ntaken", *CALLS, "ret", "jmp_ind"]},
    "memory_loads": ["loads"], "memory_stores": ["stores"],
}
for event, kind in dict(packed_SP="ps", packed_DP="pd", scalar_SP="ss", scalar_DP="sd").items():
    MEANS |= {event + "_uop": {"ALL": [kind]}, event + "_retired": [kind]}
MEANS |= {"x87_FP_uop": {"ALL": ["x87"]}, "X87_FP_retired": ["x87"]}


def expected(name):
    event, _, mask = name.partition(".")
    means = MEANS[event]
    return sum(N[kind] for kind in (means[mask] if isinstance(means, dict) else means))


def lines(arguments):
    done = subprocess.run([sys.argv[1], *arguments], capture_output=True, text=True, timeout=120)
    return done.stdout.splitlines(), done.stderr.splitlines()


model = sys.argv[2]
rows = [json.loads(line) for line in lines(["list", "-M", model, "-j"])[0]]
rows = [row for row in rows if row["group"] == "model"]
there = [row for row in rows if row["fidelity"] != "absent"]
names = [row["name"] for row in there]
# A code says everything, except for a metric of NetBurst: it does not say what sets the tags.
codes = [row["code"] for row in rows if row["counters"]]
coded = [row["counters"] and codes.count(row["code"]) == 1 for row in there]
raw = ["cpu/config=0x%s,name=raw.%d/u" % (row["code"][1:], i) if i % 2 or len(row["code"]) > 5 else
       "cpu/event=0x%s,umask=0x%s,name=raw.%d/u" % (row["code"][-2:], row["code"][1:-2], i)
       for i, row in enumerate(there) if coded[i]]
counts = {}
said = []
for i in range(0, len(names + raw), 8):  # a run has room for some units, the smallest counts two
    events = ",".join((names + raw)[i:i + 8])
    said += lines(["stat", "-M", model, "-x;", "-e", events, "--", "./kinds"])[1]
for line in said:
    fields = line.split(";")
    if len(fields) > 3:
        counts[fields[2]] = (fields[0], fields[-1])
right = 0
for i, row in enumerate(there):
    name = row["name"]
    want = str(expected(name))
    got = counts.get(name + ":u")
    if got != (want, row["fidelity"]):
        print("%s: %s, not %s %s" % (name, got, want, row["fidelity"]))
    elif coded[i] and counts.get("raw.%d" % i) != got:
        print("%s: by its code %s: %s" % (name, row["code"], counts.get("raw.%d" % i)))
    else:
        right += 1
# Samples.  An overflow arms PEBS and the next occurrence makes the record (18.4.4.2, 18.8.1.1), so a sample
# takes one occurrence more than the period.  With precise distribution the overflow itself makes it
# (18.9.4.4; fixed counter 0 from the 10th generation Core on; on Goldmont and from the
# 12th generation on all of IA32_PMC0, 18.7.1.2).  A
# locked increment occurs twice at once where loads and stores are one event; such events are left out.
PERIOD = 9
precise = [row for row in there if row["precise"]
           and row["name"] not in ("MEM_INST_RETIRED.ANY", "MEM_UOPS_RETIRED.ALL")]
newest = ("sapphirerapids", "graniterapids", "lunarlake", "alderlake-e", "sierraforest", "alderlake")
fixed_pdir = model in ("icelake", "icelake-server", "tigerlake") + newest
for row in precise:
    pdir = (row["name"], row["code"]) == ("INST_RETIRED.PREC_DIST", "r01c0") or \
        (row["code"] == "r0100" and fixed_pdir) or \
        (row["code"] != "r0100" and model in ("goldmont", "goldmont-plus") + newest)
    distance = PERIOD if pdir else PERIOD + 1
    text = lines(["record", "-M", model, "-c", str(PERIOD), "-o", "perf.data",
                  "-e", row["name"] + ":upp", "--", "./kinds"])[1]
    want = "(%d samples)" % (expected(row["name"]) // distance)
    if text and want in text[-1]:
        right += 1
    else:
        print("%s, precise: %s, not %s" % (row["name"], " ".join(text), want))
there += precise
print("right", right, "of", len(there))
if right < len(there):
    print("\n".join(line for line in said if line.startswith("softpmu:")))
END

models=$("$SOFTPMU" models | awk '$1 != "name" { print $1 }')
same "twenty families and more" yes "$( (($(wc -w <<<"$models") >= 20)) && echo yes)"
for model in $models; do
	result=$(python3 expected.py "$SOFTPMU" "$model" 2>&1)
	if [[ $result =~ ^right\ ([0-9]+)\ of\ ([0-9]+)$ ]] && ((BASH_REMATCH[1] >= 5)) &&
		((BASH_REMATCH[1] == BASH_REMATCH[2])); then
		pass "$model"
	else
		fail "$model" "$result"
	fi
done
finish
