#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# pages.sh: headless Chromium shows the pages of `report --html` and `diff --html`: graphs, tables, source, timeline,
# search, zoom, filters, keys, dark mode, and 360 pixels without horizontal scrolling.  Screenshots are kept in
# tests/log/pages/.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../tool/profile.bash"
cd "$SCRATCH" || exit 1
LIMIT=600
shots=$B/tests/log/pages
mkdir -p "$shots"

# browse: commands of browser.py on standard input; prints what it says.
browse() {
	timeout -s KILL 120 python3 "$ROOT/tests/programs/browser.py" 2>&1
}

# --- profiles of C++ with two threads, of Go, and of Python; an exact one, and a comparison
g++ -O1 -g -pthread -o words "$ROOT/tests/programs/pages.cc" || stop "build of words" "g++ failed"
g++ -O1 -g -pthread -DMORE -o more "$ROOT/tests/programs/pages.cc" || stop "build of more" "g++ failed"
mkdir old new && cp words old/words && cp more new/words
cat >primes.go <<'EOG'
package main

import "fmt"

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

func main() {
	count := 0
	for n := 0; n < 60000; n++ {
		if isPrime(n) {
			count++
		}
	}
	fmt.Println(count)
}
EOG
GOCACHE=$SCRATCH/go go build -gcflags=-l -o primes primes.go || stop "build of primes" "go failed"

# page NAME COMMAND...: the command writes NAME.data, and report NAME.html.
page() {
	local name=$1
	shift
	run "$@"
	same "$name: status" 0 "$status"
	run report -i "$name.data" --html "$name.html"
	succeeds "$name: report --html"
}
page cpp record -q --call-graph lbr -e instructions:u,branches:u -c 20011 -o cpp.data -- old/words
page go record -q --call-graph lbr -e instructions:u -c 20011 -o go.data -- ./primes
page python record -q --call-graph lbr -e instructions:u -c 20011 -o python.data -- \
	/usr/bin/python3 -S -c 'print(sum(len(str(i ** 3)) for i in range(30000)))'
page exact profile -q -o exact.data -- old/words
run profile -q -o exact-new.data -- new/words
run diff --html compared.html exact.data exact-new.data
succeeds "diff --html"
bad_name='</script><img src=x onerror="window.hit=1">'
objcopy --redefine-sym "warm=$bad_name" hot bad || stop "objcopy" "it failed"
{
	printf '%s\n' "chains 1" "event instructions:upp" "comm 10 10 1 1 <b>x"
	map 10 2 "$SCRATCH/bad" 0
	echo "sample 0 10 10 1000 600 $(address hot hot) @$(($(address hot warm) + 1))"
} | make_perfdata bad.data
run report -i bad.data --html bad.html

# --- each page in each view, wide and narrow, light and dark
views() {
	local name scheme width tab
	for name in cpp go python exact compared bad; do
		echo "open $name.html"
		for scheme in light dark; do
			echo "scheme $scheme"
			for width in 1280 360; do
				echo "size $width 800"
				for tab in 1 2 3 4; do
					echo "key $tab"
					echo "shot $shots/$name-$tab-$width-$scheme.png"
					echo "eval '$name $tab $width $scheme ' + document.documentElement.scrollWidth + ' ' + getComputedStyle(document.body).backgroundColor"
				done
			done
		done
		echo "complaints"
	done
	echo "open bad.html"
	echo "eval 'hit ' + window.hit + ' ' + document.querySelectorAll('img, b').length"
	echo "eval 'bad ' + [...graph.boxes.keys()].map(nameOf).join(';')"
}
said=$(views | browse)
for name in cpp go python exact compared bad; do
	for tab in 1 2 3 4; do
		has_line "$name, view $tab: wide, light" "$said" "$name $tab 1280 light 1280 rgb\(255, 255, 255\)"
		has_line "$name, view $tab: narrow, light" "$said" "$name $tab 360 light 360 rgb\(255, 255, 255\)"
		has_line "$name, view $tab: narrow, dark" "$said" "$name $tab 360 dark 360 rgb\(21, 24, 28\)"
	done
done
same "no complaints" "" "$(grep -vE '^(cpp|go|python|exact|compared|bad|hit) |^$' <<<"$said")"
has_line "names run no script" "$said" "hit undefined 0"
has_line "names are shown as they are" "$said" "bad all;$bad_name;hot"
same "screenshots" $((6 * 4 * 4)) "$(find "$shots" -name '*.png' -size +1k | wc -l)"

# answer NAME EXPECTED FILE COMMAND...: what a page says, after these commands, is EXPECTED.
answer() {
	local name=$1 expected=$2 file=$3
	shift 3
	same "$name" "$expected" "$(printf '%s\n' "size 1280 800" "open $file" "$@" complaints | browse)"
}

# sum FILE OPTION...: prints the sum of the samples of an event.
sum() {
	"$SOFTPMU" export -i "$@" --to folded | awk '{ sum += $NF } END { print sum }'
}
root='graph.root.total[0]'

# --- the graph
total=$(sum cpp.data)
fib=$("$SOFTPMU" export -i cpp.data --to folded | grep ';fibonacci' | awk '{ sum += $NF } END { print sum }')
share=$(awk "BEGIN { printf \"%.2f%%\", 100 * $fib / $total }")
answer "the whole" "$total" cpp.html "eval $root"
answer "search by keys" "fibo found: $share true" cpp.html "key /" "key f" "key i" "key b" "key o" \
	"eval view.search + ' ' + byId('found').textContent + ' ' + (document.querySelectorAll('.hit').length > 0)"
answer "Escape ends a search" " 0" cpp.html "key /" "key f" "key Escape" \
	"eval view.search + ' ' + document.querySelectorAll('.hit').length"
answer "keys in a flame graph: to what is called, zoom, whole graph" "true true 100% null" cpp.html \
	"do graph.boxes.get(graph.root).box.focus()" "key ArrowUp" "key Enter" \
	"do window.said = [graph.current.parent === graph.root, view.zoom === graph.current, graph.boxes.get(view.zoom).box.style.width]" \
	"key Escape" "eval said.join(' ') + ' ' + view.zoom"
answer "keys of an icicle graph: down is to what is called, up is back" "true true" cpp.html "do select({ layout: 'icicle' })" \
	"do graph.boxes.get(graph.root).box.focus()" "key ArrowDown" "do window.said = graph.current.parent === graph.root" \
	"key ArrowUp" "eval said + ' ' + (graph.current === graph.root)"
answer "an icicle graph begins at the top" "true" cpp.html "do byId('layout-icicle').click()" \
	"eval [...graph.boxes.values()].every(b => b.box.offsetTop === b.depth * ROW_HEIGHT)"
answer "a flame graph begins at the bottom" "true" cpp.html \
	"eval [...graph.boxes.values()].every(b => b.box.offsetTop === byId('boxes').clientHeight - (b.depth + 1) * ROW_HEIGHT + 1)"
answer "an exact profile's boxes add up" "true" exact.html \
	"eval Math.abs([...graph.root.children.values()].reduce((all, n) => all + n.total[0], 0) / $root - 1) < 0.01"
answer "a comparison colors what grew, and what became less" "more-4 word_counter::add true" compared.html \
	"do window.node = [...graph.boxes.keys()].find(n => nameOf(n) === 'word_counter::add')" \
	"eval changeClass(node) + ' ' + nameOf(node) + ' ' + (node.total[1] > node.total[0])"

# --- filters
answer "another event" "$(sum cpp.data -e branches)" cpp.html "do byId('event').value = 1" \
	"do byId('event').dispatchEvent(new Event('change'))" "eval $root"
answer "the second thread has what it runs" "true true false" cpp.html "do select({ thread: 1 })" \
	"eval ($root < $total) + ' ' + ['fibonacci', 'numbers'].map(n => byId('boxes').textContent.includes(n)).join(' ')"
answer "threads add up" "$total" cpp.html \
	"eval [0, 1].reduce((all, thread) => { select({ thread }); return all + $root; }, 0)"
answer "slices of time add up" "$total" cpp.html \
	"eval [[0, 300], [301, 1023]].reduce((all, slices) => { select({ slices }); return all + $root; }, 0)"
answer "keys in the timeline" "0,127 16,143 true" cpp.html "do byId('tracks').focus()" "key ArrowRight" \
	"do window.said = String(view.slices)" "key ArrowRight" \
	"eval said + ' ' + view.slices + ' ' + !byId('selection').hidden"
answer "an exact profile has no timeline" "true" exact.html "eval byId('timeline').hidden"

# --- tables and source
top=$("$SOFTPMU" report -i exact.data -s sym | awk '/ of event /{ n++ } n == 1' | sed -nE 's/^ +[0-9.]+% +([0-9.]+%) +\[\.\] (.*)/\1 \2/p' | sort -rn | head -n 5)
answer "the table of functions is report's" "$top" exact.html "do select({ tab: 'functions' })" \
	"do window.rows = [...document.querySelectorAll('#functions tbody tr')].slice(0, 5)" \
	"eval rows.map(r => r.cells[0].textContent + ' ' + r.cells[4].textContent).join('\n')"
answer "a click sorts a table by name" "true ascending" exact.html "do select({ tab: 'functions' })" \
	"do document.querySelectorAll('#functions th button')[4].click()" \
	"do window.names = [...document.querySelectorAll('#functions tbody tr')].map(r => r.cells[4].textContent)" \
	"eval names.every((t, i) => !i || names[i - 1] <= t) + ' ' + document.querySelectorAll('#functions th')[4].ariaSort"
answer "Enter on a row shows the function" "code fibonacci 2 true" exact.html "do select({ tab: 'functions' })" \
	"do [...document.querySelectorAll('#functions tbody tr')].find(r => r.cells[4].textContent === 'fibonacci').focus()" \
	"key Enter" "do window.panes = document.querySelectorAll('.pane')" \
	"eval view.tab + ' ' + document.querySelector('#code h2').textContent + ' ' + panes.length + ' ' + panes[0].textContent.includes('fibonacci(n - 1)')"
answer "a source line marks its instructions" "true true" exact.html \
	"do openFunction(model.functions.findIndex(f => f.name === 'fibonacci'))" \
	"do document.querySelector('.pane .line[data-key*=\":\"]').click()" \
	"do window.marked = [...document.querySelectorAll('.marked')]" \
	"eval (marked.length > 1) + ' ' + marked.every(line => line.dataset.key === marked[0].dataset.key)"
finish
