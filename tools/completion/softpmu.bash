# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# softpmu.bash: completion of softpmu for bash.  Commands and options are listed here.  The tool itself lists
# models, registers and events.

# COMP_WORDS has the words of the command line up to the cursor.  `:` and `=` are words of their own, because
# bash takes them for separators.

_softpmu_options() {
	case $1 in
	stat)
		echo "-e --event -d --detailed -M --model --metrics --topdown --machine --machine-file --cache --set --static-clocks --sweep --sample-windows -i --no-inherit -r --repeat --pre --post -S --sync --log-fd -B --big-num -c --scale --no-scale --no-merge --all-user --per-thread -D --delay --timeout -I --interval-print --interval-count --control -j --json-output -x --field-separator \
			-o --output --append --baseline --write-baseline --threshold --label --region --toggle --deterministic --no-cache --strict \
			-v --verbose -h --help"
		;;
	record)
		echo "-e --event -b --branch-any -j --branch-filter -g --call-graph \
			-c --count -F --freq --jitter --no-jitter -d --data -W --weight -I --intr-regs -k --clockid -m --mmap-pages -N --no-buildid-cache -P --period -R --raw-samples -T --timestamp --all-user --buildid-all --sample-cpu --tail-synthesize --user-callchains -o --output -z --compression-level --switch-output --switch-max-files -M --model --machine --machine-file --cache --set --static-clocks \
			-i --no-inherit -D --delay --control --after --toggle --deterministic --no-cache --strict -q --quiet -v --verbose -h --help"
		;;
	run) echo "-M --model --machine --machine-file --cache --set --static-clocks --no-identity --strict --no-cache -h --help" ;;
	profile)
		echo "-e --event -o --output -i --no-inherit --toggle --baseline --threshold --deterministic --no-cache --strict -M --model \
			--machine --machine-file --cache --set -q --quiet -v --verbose -h --help"
		;;
	trace)
		echo "-F --function --depth --list --summary --caller --no-demangle -o --output -M --model \
			--deterministic --no-cache -v --verbose -h --help"
		;;
	report)
		echo "-i --input -s --sort --children --no-children -b --branch-stack -g --call-graph -G --inverted -n --show-nr-samples --percent-limit --header --html --no-demangle --symfs --stdio -c --comms -d --dsos -S --symbols --pid --tid --percentage -f --force --no-inline \
			-h --help"
		;;
	annotate) echo "-i --input -M --disassembler-style --intel --percent-limit --no-demangle --symfs --stdio -c --comms -d --dsos -S --symbols --pid --tid -s --symbol -f --force -h --help" ;;
	script) echo "-i --input -F --fields --ns -c --comms -d --dsos --pid --tid -S --symbols --max-stack -f --force --no-inline --no-demangle --symfs --itrace -h --help" ;;
	bench) echo "-e --event -i --no-inherit -M --model --machine --static-clocks --no-cache --strict -q --quiet -h --help" ;;
	diff) echo "-s --sort --children --html --percent-limit --no-demangle --symfs -h --help" ;;
	export) echo "--to -e --event -i --input -c --comms -d --dsos -S --symbols --pid --tid --no-demangle --symfs -h --help" ;;
	list) echo "-M --model --machine --static-clocks -j --json -h --help" ;;
	models) echo "-v --verbose -h --help" ;;
	cache) echo "-a --all -s --system -h --help" ;;
	explain) echo "-M --model -t --threads --ascii -h --help" ;;
	vm)
		echo "-M --model --cpu --smp --icount --mem --kernel --initrd --append --share -v --verbose \
			-h --help"
		;;
	esac
}

_softpmu_models() {
	"$1" models 2>/dev/null | awk 'NR > 1 { print $1 }'
}

_softpmu_machines() {
	"$1" explain machine all 2>/dev/null | awk '{ print $1 }'
}

_softpmu_machine_keys() {
	"$1" explain machine 2>/dev/null | sed -n '1,/^# as a file/d; s/^#* *\([^ ]*\) = .*/\1/p'
}

# MODEL can be empty.  Absent events are left out, because they have no count.
_softpmu_events() {
	"$1" list -j ${2:+-M "$2"} 2>/dev/null |
		sed -n '/"fidelity": "absent"/d; s/^{"name": "\([^"]*\)".*/\1/p'
}

_softpmu_registers() {
	"$1" explain ${2:+-M "$2"} 2>/dev/null | awk '$1 ~ /^[0-9A-F]+H$/ { print $2 }'
}

# Prints the position of the program that stat, record, run, profile and trace run, or nothing if the cursor is before it.
_softpmu_program() {
	local i
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--) echo $((i + 1)) && return ;;
		-j)
			# record's -j takes a list of filters; stat's -j takes nothing.
			[[ ${COMP_WORDS[1]} == record ]] && ((i++))
			;;
		-c)
			# stat's -c takes nothing.
			[[ ${COMP_WORDS[1]} != stat ]] && ((i++))
			;;
		-I)
			# The other way round: record's -I takes a list only after `=`.
			[[ ${COMP_WORDS[1]} == stat ]] && ((i++))
			;;
		-e | -M | -r | -D | -x | -o | -F | -k | -m | --clockid | --mmap-pages | --pre | --post | --log-fd | --delay | --timeout | --interval-print | --interval-count | --control | --event | --model | --repeat | --field-separator | \
			--output | --count | --freq | --branch-filter | --call-graph | --function | --depth | \
			--baseline | --write-baseline | --threshold | --label | --machine-file | --cache | --set | --sweep | --metrics | --switch-max-files) ((i++)) ;;
		-* | = | :) ;;
		*)
			# What follows `=` or `:` belongs to the word before.
			[[ ${COMP_WORDS[i - 1]} == [=:] || ${COMP_WORDS[i + 1]-} == [=:] ]] && continue
			echo "$i" && return
			;;
		esac
	done
}

# Completes the last event of a comma-separated list, in upper or lower case.
_softpmu_complete_events() {
	local current=$1 tool=$2 model=$3 done='' last event
	[[ $current == *,* ]] && done=${current%,*},
	last=${current##*,}
	compopt -o nospace 2>/dev/null
	while read -r event; do
		[[ ${event,,} == "${last,,}"* ]] && COMPREPLY+=("$done$event")
	done < <(_softpmu_events "$tool" "$model")
}

_softpmu() {
	local tool=$1 current=$2 previous=$3 command=${COMP_WORDS[1]-} model='' program i
	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "stat record run profile bench trace report annotate script diff export list models explain cache vm \
			help --help --version" -- "$current")
		return
	fi
	for ((i = 2; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} == -M || ${COMP_WORDS[i]} == --model ]] && model=${COMP_WORDS[i + 1]}
	done
	# --option=value
	[[ $previous == = ]] && previous=${COMP_WORDS[COMP_CWORD - 2]}
	[[ $current == = ]] && current='' && previous=${COMP_WORDS[COMP_CWORD - 1]}

	if [[ $command == stat || $command == record || $command == run || $command == profile || $command == trace ]]; then
		program=$(_softpmu_program)
		if [[ -n $program ]]; then
			if declare -F _command_offset >/dev/null; then
				_command_offset "$program"
			elif ((COMP_CWORD == program)); then
				mapfile -t COMPREPLY < <(compgen -c -- "$current")
			else
				mapfile -t COMPREPLY < <(compgen -f -- "$current")
			fi
			return
		fi
	fi
	case $previous in
	--disassembler-style | -M)
		[[ $previous == -M && $command != annotate ]] || {
			mapfile -t COMPREPLY < <(compgen -W "att intel" -- "$current")
			return
		}
		;;&
	-M | --model)
		mapfile -t COMPREPLY < <(compgen -W "$(_softpmu_models "$tool")" -- "$current")
		return
		;;
	-e | --event)
		_softpmu_complete_events "$current" "$tool" "$model"
		return
		;;
	--branch-filter | -j)
		if [[ $command == record ]]; then
			mapfile -t COMPREPLY < <(compgen -W "any any_call any_ret ind_call ind_jmp cond call stack \
				no_tx u save_type priv no_flags no_cycles cycles" -- "$current")
			return
		fi
		;;
	--call-graph)
		[[ $command == record ]] || return
		mapfile -t COMPREPLY < <(compgen -W "dwarf fp lbr" -- "$current")
		return
		;;
	--machine)
		mapfile -t COMPREPLY < <(compgen -W "$(_softpmu_machines "$tool")" -- "$current")
		return
		;;
	--set | --sweep)
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -S = -W "$(_softpmu_machine_keys "$tool")" -- "$current")
		return
		;;
	--cache)
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -S = -W "L1I L1D L2 LLC" -- "${current^^}")
		return
		;;
	-i | --input | -o | --output | --machine-file | --baseline | --write-baseline | --kernel | --initrd)
		mapfile -t COMPREPLY < <(compgen -f -- "$current")
		return
		;;
	--symfs | --share)
		mapfile -t COMPREPLY < <(compgen -d -- "$current")
		return
		;;
	-s | --sort)
		mapfile -t COMPREPLY < <(compgen -W "comm pid tid tgid cpu dso sym srcline addr dso_from dso_to symbol_from symbol_to \
			srcline_from srcline_to addr_from addr_to mispredict cycles comm,dso,sym" -- "$current")
		return
		;;
	--to)
		mapfile -t COMPREPLY < <(compgen -W "folded speedscope firefox perfetto pprof callgrind cachegrind chrome" -- "$current")
		return
		;;
	-t | --threads)
		mapfile -t COMPREPLY < <(compgen -W "1 2" -- "$current")
		return
		;;
	--control)
		mapfile -t COMPREPLY < <(compgen -W "fd: fifo:" -- "$current")
		return
		;;
	-c | --count | -D | --delay | -F | --freq | --function | --depth | -r | --repeat | -x | --field-separator | --percent-limit | \
		--threshold | --label | --metrics | --cpu | --smp | --mem | --append) return ;;
	esac
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_softpmu_options "$command")" -- "$current")
		return
	fi
	case $command in
	help) mapfile -t COMPREPLY < <(compgen -W "stat record run profile bench trace report annotate script diff export list models explain cache vm" -- "$current") ;;
	list) _softpmu_complete_events "$current" "$tool" "$model" ;;
	cache)
		((COMP_CWORD == 2)) && mapfile -t COMPREPLY < <(compgen -W "list verify prune export import" -- "$current")
		[[ $previous == @(export|import) ]] && mapfile -t COMPREPLY < <(compgen -d -- "$current")
		;;
	models) mapfile -t COMPREPLY < <(compgen -W "$(_softpmu_models "$tool")" -- "$current") ;;
	explain)
		if [[ $previous == machine ]]; then
			mapfile -t COMPREPLY < <(compgen -W "all $(_softpmu_machines "$tool")" -- "$current")
			return
		fi
		compopt -o nospace 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -W "$(_softpmu_registers "$tool" "$model")" -- "${current^^}")
		[[ cpuid == "${current,,}"* ]] && COMPREPLY+=(cpuid)
		[[ machine == "${current,,}"* ]] && COMPREPLY+=(machine)
		;;
	stat | record | run | profile | trace) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
	esac
}
# The front end with valgrind's options: names with `=`, which is a word of its own.
_softpmu_valgrind() {
	local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()
	if [[ $current == = || $previous == = ]]; then
		[[ $current == = ]] && current=''
		case ${COMP_LINE%=*} in
		*--tool) mapfile -t COMPREPLY < <(compgen -W "callgrind cachegrind none" -- "$current") ;;
		*-atstart | *-sim | *--separate-threads | *--trace-children) mapfile -t COMPREPLY < <(compgen -W "yes no" -- "$current") ;;
		*-file) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
		esac
		return
	fi
	if [[ $current == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "--tool= --callgrind-out-file= --cachegrind-out-file= \
			--cache-sim= --branch-sim= --I1= --D1= --LL= --toggle-collect= --collect-atstart= --instr-atstart= \
			--trace-children= --separate-threads= --log-file= -q --quiet -v --verbose --version -h --help" -- "$current")
		[[ ${COMPREPLY[*]} == *= ]] && compopt -o nospace 2>/dev/null
		return
	fi
	mapfile -t COMPREPLY < <(compgen -c -- "$current")
}
complete -F _softpmu_valgrind softpmu-valgrind
complete -F _softpmu softpmu
