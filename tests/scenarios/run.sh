#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# run.sh: every scenario of this folder (README.md), and that a wrong one fails.
set -u
run=$B/tests/scenarios/run folder=$B/tests/scenarios/wrong
passed=0 failed=0
mkdir -p "$folder"

# refused NAME TEXT: a scenario file with this text must fail.
refused() {
	printf '%b' "$2" >"$folder/$1.scenario"
	if "$run" "$folder/$1.scenario" >"$folder/$1.log" 2>&1; then
		echo "accepted: $1"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
}

head='section 18.2\nmodels skylake\nscenario x\n'
good='retire 1\nrdmsr IA32_PMC0 = 0\n'
refused unknown-word "${head}retires 1\n$good"
refused unknown-register "${head}${good}rdmsr IA32_PMX0 = 0\n"
refused unknown-signal "${head}retire 1 JUMPS\n$good"
refused unknown-option "${head}retire 1 cpu=3\n$good"
refused unknown-value "${head}${good}wrmsr IA32_PMC0 NOTHING\n"
refused unknown-model "section 18.2\nmodels skylark\nscenario x\n$good"
refused unknown-group "section 18.2\nmodels @v9\nscenario x\n$good"
refused no-model "section 18.2\nscenario x\n$good"
refused no-section "models skylake\nscenario x\n$good"
refused no-expectation "${head}retire 1\n"
refused no-scenario 'section 18.2\nmodels skylake\n'
refused wrong-value "${head}retire 1\nrdmsr IA32_PMC0 = 1\n"
refused wrong-pmi "${head}retire 1\nexpect pmi 1\n"
refused wrong-fault "${head}gp rdmsr IA32_PMC0\n"
refused wrong-fault-write "${head}gp wrmsr IA32_PMC0 0\n"
refused wrong-rdpmc "${head}rdpmc 0 = 1\n"
refused wrong-cpuid "${head}expect cpuid 10 eax 0\n"
refused wrong-area "${head}ds pebs=2\nexpect area pebs_index pebs+1\n"
refused wrong-records "${head}ds pebs=2\nexpect records 1\n"
refused wrong-record "${head}ds pebs=2\nexpect pebs 0 rip=1\n"
refused wrong-bts "${head}ds bts=2\nexpect bts 0 1 1\n"
refused wrong-predicted "${head}ds bts=2\nexpect bts 0 0 0 predicted=1\n"
refused wrong-pin "${head}expect pin 0 1\n"
refused wrong-ud "${head}ud rdpmc 0\n"
refused legacy-in-all "section 18.2\nmodels @legacy\nscenario x\nrdmsr IA32_PERF_GLOBAL_CTRL = 0\n"
refused late-setting "${head}${good}threads 2\n"
refused unknown-erratum "${head}errata pebs-late-pmi\n$good"
refused absent-erratum "section AJ67\nmodels core2\nscenario x\nerrata pebs-any-level\n$good"
refused late-erratum "section AJ68\nmodels core2\nscenario x\n${good}errata pebs-late-pmi\n"
refused empty ''

"$run" tests/scenarios/*.scenario | tee "$folder/all.log"
((PIPESTATUS[0] == 0)) || failed=$((failed + 1))
read -r more _ less _ < <(tail -n 1 "$folder/all.log" | tr -d ,)
passed=$((passed + ${more:-0})) failed=$((failed + ${less:-1}))
echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
