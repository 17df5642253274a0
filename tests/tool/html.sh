#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# html.sh: `report --html` and `diff --html` write one file. It has the known samples, and the style and script of the
# tree. No name can break it. tests/programs/pages.sh opens such pages in a browser.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/profile.bash"
cd "$SCRATCH" || exit 1

# A function, a thread and a file have names that would be elements, end a string or end the script.
bad_name='</script><img src=x onerror="window.hit=1">\'"'&"
objcopy --redefine-sym "warm=$bad_name" hot "<i>hot" || stop "objcopy" "it failed"
cp "<i>hot" hot
hot=$(address hot hot) warm=$(nm hot | grep -F "$bad_name" | { read -r at _; echo $((0x$at)); }) label=$(address hot label)

# describe SAMPLES: a description in which the first chain has that many samples.
describe() {
	local i
	echo "chains 1"
	echo "event instructions:upp"
	echo "event branches:u"
	echo "comm 10 10 1 1 prog"
	echo "comm 10 11 1 0 <b>x"
	map 10 2 "$SCRATCH/hot" 0
	for ((i = 0; i < $1; i++)); do
		echo "sample 0 10 10 $((1000000 + 1000 * i)) 600 $((hot + 7)) @$((warm + 1)) @$((label + 1))"
	done
	echo "sample 0 10 10 1010000 50 $((hot + 1)) @$((hot + 2)) @$((label + 1))"
	echo "sample 0 10 11 2024000 30 $((0x7000000)) @$((label + 1))"
	echo "sample 1 10 10 1030000 4 $label"
}
describe 2 | make_perfdata perf.data
describe 5 | make_perfdata after.data

# page.py: reads a page, and prints what a Python program says of it.
cat >page.py <<'EOP'
import html.parser, json, sys

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.elements, self.text, self.at = [], {}, None
    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self.at = dict(attributes).get("id", tag)
    def handle_endtag(self, tag):
        self.at = None
    def handle_data(self, text):
        self.text[self.at] = self.text.get(self.at, "") + text

page = Page()
page.feed(open(sys.argv[1], encoding="utf-8").read())
profiles = json.loads(page.text["data"])["profiles"]

def name(p, number):
    return p["functions"][2 * number]

def chain(p, frame):
    names = []
    while frame >= 0:
        names.insert(0, name(p, p["frames"][2 * frame]))
        frame = p["frames"][2 * frame + 1]
    return ";".join(names)

def groups(numbers, size):
    return [numbers[i:i + size] for i in range(0, len(numbers), size)]

def chains(p, event):
    threads, sums = groups(p["threads"], 3), {}
    for e, slice, thread, frame, samples, period in groups(p["entries"], 6):
        if e == event:
            key = threads[thread][0] + ";" + chain(p, frame)
            sums[key] = sums.get(key, 0) + period
    return ["%s %d" % item for item in sorted(sums.items())]

exec(sys.argv[2])
EOP
page() {
	python3 page.py "$@" 2>&1
}

run report --html out.html
succeeds "report --html"
same "it writes nothing else" "" "$out"
same "the chains" "$("$SOFTPMU" export --to folded | sort)" "$(page out.html 'print("\n".join(chains(profiles[0], 0)))' | sort)"
same "another event" "prog;label 4" "$(page out.html 'print("\n".join(chains(profiles[0], 1)))')"
same "the name" "$bad_name" "$(page out.html 'print([n for n in profiles[0]["functions"] if isinstance(n, str) and "script" in n][0])')"
same "names make no elements" "[] 1 2" "$(page out.html '
print([e for e in page.elements if e[0] in ("img", "i", "b", "link", "iframe") and e[1].get("class", "") not in ("less-3", "same", "more-3")],
      sum(e[0] == "style" for e in page.elements), sum(e[0] == "script" for e in page.elements))')"
same "events" "instructions:upp 4 1280 True, branches:u 1 4 True" "$(page out.html '
print(", ".join("%s %d %d %s" % (e["name"], e["samples"], e["period"], e["chains"]) for e in profiles[0]["events"]))')"
# The samples are 0, 1, 10 and 1024 us after the first one, and there are 1024 slices.
same "slices of time" "0 9 1023" "$(page out.html '
print(*sorted({e[1] for e in groups(profiles[0]["entries"], 6) if e[0] == 0}))')"
same "source and instructions of a function" "hot.S 1 True" "$(page out.html '
code = [c for c in profiles[0]["code"] if c["name"] == "hot" and c["event"] == 0][0]
insns = {int(i[0], 16): i for i in code["insns"]}
insn = insns['$((hot + 7))']
print(code["sources"][insn[3]]["path"].split("/")[-1], insn[2] // 1200,
      insn[4] in [line for line, text in code["sources"][insn[3]]["lines"] if text.strip()])')"
line=$(addr2line -e hot "$(printf %x $((hot + 7)))" | sed 's/.*://')
same "lines" "hot $line 2 1200" "$(page out.html '
for e, f, path, line, samples, period in groups(profiles[0]["lines"], 6):
    if e == 0 and period == 1200:
        print(name(profiles[0], f), line, samples, period)')"

# The files of the tree are inside, and nothing is loaded.
html=$ROOT/tools/softpmu/html
page out.html 'sys.stdout.write(page.text["style"])' >style
page out.html 'sys.stdout.write(page.text["script"])' >script
(echo && cat "$html"/{colors,style}.css) >expected
same_file "the style is the tree's" expected style
(echo && cat "$html"/{model,page,graph,timeline,tables,code,start}.js) >expected
same_file "the script is the tree's" expected script
same "each file of the tree is part of the page" \
	"body.html code.js colors.css graph.js model.js page.js start.js style.css tables.js timeline.js" "$(cd "$html" && echo *)"
same "nothing is loaded" "" "$(grep -nE '(src|href)=|url\(|@import|fetch\(|XMLHttpRequest|WebSocket|import ' style script "$html/body.html")"
same "no text becomes elements" "" "$(grep -nE 'innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(' script)"
has "the policy forbids to load anything" "$(<out.html)" "default-src 'none'"

# --- two profiles
run diff --html out.html perf.data after.data
succeeds "diff --html"
same "two profiles" "perf.data 1280, after.data 3080" "$(page out.html '
print(", ".join("%s %d" % (p["path"], p["events"][0]["period"]) for p in profiles))')"
run report -i after.data --html one.html
same "the second has the same sums as alone" "$(page one.html 'print(chains(profiles[0], 0))')" "$(page out.html 'print(chains(profiles[1], 0))')"

# --- an exact profile
g++ -O1 -g -o names "$ROOT/tests/tool/names.cc" || stop "build of names" "g++ failed"
run profile -o names.profile -- ./names
counted=$(grep -oE '[0-9]+ instructions:u' <<<"$err")
run report -i names.profile --html out.html
succeeds "an exact profile"
same "the sum of its instructions" "$counted" "$(page out.html '
print(sum(e[5] for e in groups(profiles[0]["entries"], 6) if e[0] == 0), profiles[0]["events"][0]["name"])')"
same "its calls" "100 True" "$(page out.html '
p = profiles[0]
calls = groups(p["calls"], 4 + len(p["events"]))
area = [c for c in calls if name(p, c[2]) == "shapes::box<int>::area"]
own = [c for c in area if c[1] < 0][0]
print(own[3], own[4] == sum(c[4] for c in area if c[1] >= 0) > 0)')"
run report -i names.profile --no-demangle --html out.html
has "--no-demangle" "$(page out.html 'print(profiles[0]["functions"])')" "_ZNK6shapes3boxIiE4areaEi"

# --- limits: a page with many different chains stays small, and its sums are exact
{
	echo "chains 1"
	echo "event instructions:upp"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	awk -v at="$hot" 'BEGIN { for (i = 0; i < 150000; i++)
		print "sample 0 10 10", 1000 * i, 1 + i % 7, 112000000 + i, "@" at, "@" 112000000 + i % 1000 }'
} | make_perfdata many.data
run report -i many.data --html out.html
same "many chains" 0 "$status"
same "the sum of many chains" "$((150000 / 7 * 28 + 150000 % 7 * (150000 % 7 + 1) / 2)) True" "$(page out.html '
entries = groups(profiles[0]["entries"], 6)
print(sum(e[5] for e in entries), len(entries) < 61000 and any(e[3] == -1 for e in entries))')"
same "the page of many chains is small" 1 "$(($(stat -c %s out.html) < 6000000))"

# --- errors
run report --html no/such/folder.html
refuses "a folder that does not exist" 1 "no/such/folder.html: No such file or directory"
printf "%s\n" "event instructions:upp" "comm 10 10 1 1 prog" | make_perfdata none.data
run report -i none.data --html out.html
succeeds "no samples"
same "a page without samples" "0" "$(page out.html 'print(len(profiles[0]["entries"]))')"
finish
