#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# adding_a_model.sh: docs/adding-a-model.md leads to a model that passes its tests. The test applies each block of the
# page to a copy of the sources and runs the page's commands there.
# Needs B, the build folder.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../lib.sh"
page=$ROOT/docs/adding-a-model.md
tree=$SCRATCH/tree

# insert FILE before|after ANCHOR BLOCK: puts the block before or after the only line of the file that is ANCHOR.
# Indentation and a backslash at the end of the line do not count.
insert() {
	WHERE=$2 ANCHOR=$3 BLOCK=$4 awk '
		function plain(line) { sub(/[ \t]*\\$/, "", line); gsub(/^[ \t]+|[ \t]+$/, "", line); return line }
		function block(line) { while ((getline line < ENVIRON["BLOCK"]) > 0) print line }
		{ hit = plain($0) == ENVIRON["ANCHOR"]; hits += hit }
		hit && ENVIRON["WHERE"] == "before" { block() }
		{ print }
		hit && ENVIRON["WHERE"] == "after" { block() }
		END { exit hits != 1 }' "$1" >"$SCRATCH/changed" && cat "$SCRATCH/changed" >"$1"
}

# apply FILE HOW ANCHOR BLOCK: what the line before a block says is done with it.
apply() {
	case $2 in
	create) [[ ! -e $tree/$1 ]] && cat "$4" >"$tree/$1" ;;
	before | after) insert "$tree/$1" "$2" "$3" "$4" ;;
	*) false ;;
	esac
}

# follow PAGE: applies the blocks in order; the commands are collected in $SCRATCH/commands.
follow() {
	local line file='' how='' anchor='' inside='' blocks=0 create insert
	create='^Create `([^`]+)`:$'
	insert='^In `([^`]+)`, (before|after) `(.+)`, add:$'
	: >"$SCRATCH/commands"
	while IFS= read -r line; do
		if [[ $inside ]]; then
			if [[ $line != '```' ]]; then
				printf '%s\n' "$line" >>"$inside"
				continue
			fi
			if [[ $inside == "$SCRATCH/block" ]]; then
				apply "$file" "$how" "$anchor" "$inside" || fail "$file" "$how '$anchor': no such place"
				blocks=$((blocks + 1)) how=''
			fi
			inside=''
		elif [[ $line == '```sh' ]]; then
			inside=$SCRATCH/commands
		elif [[ $line == '```'* ]]; then
			inside=$SCRATCH/block
			: >"$inside"
		elif [[ $line =~ $create ]]; then
			file=${BASH_REMATCH[1]} how=create anchor=''
		elif [[ $line =~ $insert ]]; then
			file=${BASH_REMATCH[1]} how=${BASH_REMATCH[2]} anchor=${BASH_REMATCH[3]}
		fi
	done <"$1"
	same "blocks of the page" yes "$([[ $blocks -ge 10 ]] && echo yes)"
}

mkdir -p "$tree"
tar -C "$ROOT" --exclude=./build --exclude=./.git -cf - . | tar -C "$tree" -xf -
# With the objects of an ordinary build only what the page changes is compiled.
if [[ $B == "$ROOT/build" ]]; then
	mkdir -p "$tree/build/tests"
	cp -a "$B/lib" "$tree/build/lib"
	[[ ! -d $B/tests/obj ]] || cp -a "$B/tests/obj" "$tree/build/tests/obj"
fi

follow "$page"
same "the page has commands" yes "$([[ -s $SCRATCH/commands ]] && echo yes)"
(
	cd "$tree" || exit
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u B CC="$CC" bash -e "$SCRATCH/commands"
) >"$SCRATCH/said" 2>&1
same "the page's commands" 0 $?
grep -E 'FAILED|failed:|error:' "$SCRATCH/said" | head -n 20
same "the model's tests ran" yes "$(grep -q 'passed, 0 failed' "$SCRATCH/said" && echo yes)"

# Of a page with a wrong place nothing passes for applied.
sed 's/after `X(icelake_server)`/after `X(no_such_model)`/' "$page" >"$SCRATCH/wrong.md"
same "a wrong place is found" "FAILED: data/models.inc: after 'X(no_such_model)': no such place" \
	"$(follow "$SCRATCH/wrong.md" | grep no_such_model)"
finish
