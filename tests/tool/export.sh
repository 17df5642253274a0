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
cat >messages.py <<'EOF'
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
EOF
cat >pprof.py <<'EOF'
from messages import fields, packed
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

# Perfetto's trace: what samples refer to comes before them, and numbers begin with 1.
run export --to perfetto out.pftrace
succeeds "perfetto"
cat >perfetto.py <<'EOF'
from messages import fields
names, frames, chains, threads, mappings, paths, sources = {}, {}, {}, {}, {}, {}, {}
for _, packet in fields(open('out.pftrace', 'rb').read()):
    packet = list(fields(packet))
    assert dict(packet)[10] == 1 and dict(packet)[13] in (1, 2)
    for field, value in packet:
        if field == 59:
            timebase = dict(fields(dict(fields(dict(fields(value))[12]))[1]))
            print(timebase[10].decode(), timebase[1])
        if field == 2:
            threads.update((dict(fields(t))[1], dict(fields(t))) for f, t in fields(value) if f == 2)
        if field == 12:
            for f, part in fields(value):
                part = list(fields(part))
                number = dict(part)[1]
                if f in (5, 17, 18):
                    {5: names, 17: paths, 18: sources}[f][number] = dict(part)[2].decode()
                elif f in (6, 19):
                    {6: frames, 19: mappings}[f][number] = dict(part)
                elif f == 7:
                    chains[number] = [v for n, v in part if n == 2]
        if field == 66:
            sample = dict(fields(value))
            chain = [frames[f] for f in chains[sample[4]]]
            thread = threads[sample[3]]
            assert thread[3] == sample[2] and all(paths[mappings[f[3]][7]] for f in chain)
            print(dict(packet)[8], thread[2].decode(), ';'.join(names[f[2]] for f in chain), sample[6],
                  *('%s:%d' % (sources[f[5]].split('/')[-1], f[6]) for f in chain[-1:] if 5 in f))
EOF
line=$(addr2line -e hot "$(printf %x $((hot + 7)))" | sed 's/.*://')
first=$(addr2line -e hot "$(printf %x $((hot + 1)))" | sed 's/.*://')
same "perfetto: the event and its mean period, and times, chains, sums of periods and lines" "instructions:upp 195
1000000 prog label;warm;hot 600 hot.S:$line
1003000 prog label;warm;hot 700 hot.S:$line
1010000 prog label;hot;hot;hot 750 hot.S:$first
1020000 a;b label;0x7000000 780" "$(python3 perfetto.py)"

# Firefox Profiler's format: tables whose columns have the length of the table.
run export --to firefox out.json
succeeds "firefox"
same "firefox: times, chains and weights" "prog 10 10 True label;warm;hot 600 0.0 label;warm;hot 100 0.003 label;hot;hot;hot 50 0.01
a;b 10 11 False label;0x7000000 30 0.02" "$(json out.json "
s = d['shared']
for name, table in list(s.items()) + [('samples', t['samples']) for t in d['threads']]:
    if isinstance(table, dict):
        assert all(len(column) == table['length'] for column in table.values() if isinstance(column, list)), name
def chain(stack):
    names = []
    while stack is not None:
        names.insert(0, s['stringArray'][s['funcTable']['name'][s['frameTable']['func'][s['stackTable']['frame'][stack]]]])
        stack = s['stackTable']['prefix'][stack]
    return ';'.join(names)
for t in d['threads']:
    samples = t['samples']
    print(t['name'], t['pid'], t['tid'], t['isMainThread'],
          *('%s %d %s' % (chain(a), w, time) for a, w, time in zip(samples['stack'], samples['weight'], samples['time'])))")"
same "firefox: line and source" "$line hot.S hot" "$(json out.json "
s = d['shared']
i = s['frameTable']['line'].index($line)
func = s['frameTable']['func'][i]
print(s['frameTable']['line'][i], s['stringArray'][s['sources']['filename'][s['funcTable']['source'][func]]].split('/')[-1],
      s['stringArray'][s['resourceTable']['name'][s['funcTable']['resource'][func]]])")"

# An exact profile has no times.
run profile -q -o names.profile -- "$(command -v true)"
run export -i names.profile --to perfetto out.pftrace
refuses "perfetto: an exact profile" 1 "is an exact profile: its instructions have no times, which perfetto shows"
run export -i names.profile --to firefox out.json
succeeds "firefox: an exact profile"
sum=$("$SOFTPMU" export -i names.profile --to folded | awk '{ sum += $NF } END { print sum }')
same "firefox: the sum of an exact profile" "$sum True" "$(json out.json "
print(sum(sum(t['samples']['weight']) for t in d['threads']),
      all(t['samples']['time'] == sorted(t['samples']['time']) for t in d['threads']))")"

run export
refuses "no format" 129 "--to is missing"
run export --to svg
refuses "unknown format" 129 "there is no format 'svg'; the formats are folded, speedscope, pprof, callgrind, cachegrind, chrome, firefox, perfetto"
run export --to folded -e cycles
refuses "unknown event" 1 "has no event 'cycles'"
run export --to folded /nowhere/file
refuses "a file that cannot be written" 1 "/nowhere/file"
run export --to folded -i nothing.data
refuses "missing file" 1 "nothing.data"
run export --to folded one two
refuses "too many arguments" 129 "'two'"
finish
