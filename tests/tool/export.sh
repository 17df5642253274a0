#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# export.sh: `softpmu export` writes the samples, call chains and lines that a file is known to have.
# tests/programs/exports.sh opens the same formats with the programs that they are for.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/profile.bash"
cd "$SCRATCH" || exit 1

hot=$(address hot hot) warm=$(address hot warm) label=$(address hot label)
{
	echo "chains 1"
	echo "event instructions:upp"
	echo "event branches:u"
	echo "comm 10 10 1 1 prog"
	echo "comm 10 11 1 0 a;b"
	map 10 2 "$SCRATCH/hot" 0
	echo "sample 0 10 10 1000000 600 $((hot + 7)) @$((warm + 1)) @$((label + 1))"
	echo "sample 0 10 10 1003000 100 $((hot + 7)) @$((warm + 1)) @$((label + 1))"
	echo "sample 0 10 10 1010000 50 $((hot + 1)) @$((hot + 2)) @$((hot + 3)) @$((label + 1))"
	echo "sample 0 10 11 1020000 30 $((0x7000000)) @$((label + 1))"
	echo "sample 1 10 10 1030000 4 $label"
} | make_perfdata perf.data

run export --to folded
succeeds "folded"
same "folded" "a:b;label;0x7000000 30
prog;label;hot;hot;hot 50
prog;label;warm;hot 700" "$(sort <<<"$out")"
run export --to folded -e branches
same "another event" "prog;label 4" "$out"
run export --to folded file.folded
succeeds "to a file"
same "to a file" "prog;label;warm;hot 700" "$(grep warm file.folded)"

# json FILE PROGRAM: prints what the Python program says of `d`, the file's content.
json() {
	python3 -c "import json
d = json.load(open('$1'))
$2"
}
run export --to speedscope out.json
succeeds "speedscope"
same "speedscope: chains, weights and threads" "prog (10), instructions:upp [label;warm;hot 700, label;hot;hot;hot 50] 750
a;b (11), instructions:upp [label;0x7000000 30] 30" "$(json out.json "
for p in d['profiles']:
    names = [';'.join(d['shared']['frames'][f]['name'] for f in s) + ' %d' % w for s, w in zip(p['samples'], p['weights'])]
    print(p['name'], '[' + ', '.join(names) + ']', p['endValue'])")"
same "speedscope: source" "$ROOT/tests/tool/hot.S" "$(json out.json "print([f['file'] for f in d['shared']['frames'] if f['name'] == 'hot'][0])")"

run export --to chrome out.json
succeeds "chrome"
same "chrome: times and chains" "10 prog label;warm;hot@1000 label;warm;hot@1003 label;hot;hot;hot@1010
11 a;b label;0x7000000@1020" "$(json out.json "
names = {e['tid']: e['args']['name'] for e in d['traceEvents'] if e['name'] == 'thread_name'}
start = {e['id']: e['args']['data']['startTime'] for e in d['traceEvents'] if e['name'] == 'Profile'}
for e in d['traceEvents']:
    if e['name'] == 'ProfileChunk':
        data, t, chains = e['args']['data'], start[e['id']], []
        nodes = {n['id']: n for n in data['cpuProfile']['nodes']}
        for s, delta in zip(data['cpuProfile']['samples'], data['timeDeltas']):
            t += delta
            chain = []
            while 'parent' in nodes[s]:
                chain.insert(0, nodes[s]['callFrame']['functionName'])
                s = nodes[s]['parent']
            chains.append(';'.join(chain) + '@%d' % t)
        print(e['tid'], names[e['tid']], ' '.join(chains))")"

# callgrind's format: the cost of a line, and of a call.
run export --to callgrind
succeeds "callgrind"
has "callgrind: event" "$out" $'events: instructions_upp\nsummary: 780'
line=$(addr2line -e hot "$(printf %x $((hot + 7)))" | sed 's/.*://')
has "callgrind: cost of a line" "$out" $'\n'"$line 700"
same "callgrind: the sum of lines is the event's count" 780 \
	"$(awk '/^calls=/ { getline; next } /^[0-9]+ [0-9]+$/ { sum += $2 } END { print sum }' <<<"$out")"
# calls FROM TO: prints the samples, the line and the cost of each call.
calls() {
	awk -v from="fn=$1" -v to="cfn=$2" '/^fn=/ { at = $0 } /^cfn=/ { in_it = $0 == to && at == from }
		/^calls=/ && in_it { samples = $1; getline; print samples, $2 }' <<<"$out" | xargs
}
same "callgrind: a call's cost" "calls=2 700" "$(calls label warm)"
same "callgrind: a recursive call counts once for a sample" "calls=1 50" "$(calls hot hot)"

# pprof's: read by a decoder of Protocol Buffers that knows nothing of us.
run export --to pprof out.pb
succeeds "pprof"
cat >pprof.py <<'EOF'
def fields(data):
    at = 0
    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        tag = number()
        value = number()
        if tag & 7 == 2:
            at += value
            value = data[at - value:at]
        yield tag >> 3, value

def packed(data):
    # As messages of one field each, so that the same decoder reads them.
    part, values = b'\x08', []
    for byte in data:
        part += bytes([byte])
        if byte < 128:
            values += [v for _, v in fields(part)]
            part = b'\x08'
    return values

whole = list(fields(open('out.pb', 'rb').read()))
strings = [v.decode() for f, v in whole if f == 6]
functions = {dict(fields(v))[1]: strings[dict(fields(v))[2]] for f, v in whole if f == 5}
locations = {dict(fields(v))[1]: functions[dict(fields(dict(fields(v))[4]))[1]] for f, v in whole if f == 4}
for f, v in whole:
    if f != 2:
        continue
    sample = list(fields(v))
    chain = packed(dict(sample)[1])
    labels = {strings[dict(fields(x))[1]]: dict(fields(x)) for n, x in sample if n == 3}
    print(','.join(locations[c] for c in chain), *packed(dict(sample)[2]), strings[labels['thread'][2]], labels['tid'][3])
EOF
same "pprof: chains, values and labels" "hot,warm,label 2 700 prog 10
hot,hot,hot,label 1 50 prog 10
0x7000000,label 1 30 a;b 11" "$(python3 pprof.py)"

run export
refuses "no format" 129 "--to is missing"
run export --to svg
refuses "unknown format" 129 "there is no format 'svg'; the formats are folded, speedscope, pprof"
run export --to folded -e cycles
refuses "unknown event" 1 "has no event 'cycles'"
run export --to folded /nowhere/file
refuses "a file that cannot be written" 1 "/nowhere/file"
run export --to folded -i nothing.data
refuses "missing file" 1 "nothing.data"
run export --to folded one two
refuses "too many arguments" 129 "'two'"
finish
