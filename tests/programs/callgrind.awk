# SPDX-License-Identifier: MIT
# callgrind.awk: prints what functions of the object `object` and their calls cost, from a file in callgrind's format
# whose names and positions are not compressed: "function cost", "caller -> callee calls cost". With `all` there is a cost of
# each event.
#
# In a recursion callgrind calls the inner calls of a function sort'2. They are the function's own, but only what the
# outermost calls cost is compared.
function plain(name) { sub(/'[0-9]+$/, "", name); return name }
# add TO, NAME: adds the costs of the line.
function add(to, name, i) {
	for (i = 2; i <= (all ? NF : 2); i++)
		to[name, i] += $i
	if (all && NF > events)
		events = NF
}
function text(from, name, i, line) {
	for (i = 2; i <= events; i++)
		line = line " " (from[name, i] + 0)
	return line
}
BEGIN { events = 2 }
/^ob=/ { in_object = substr($0, length($0) - length(object) + 1) == object }
/^fn=/ { inner = $0 ~ /'[0-9]+$/; fn = plain(substr($0, 4)) }
/^cfn=/ { again = inner && $0 ~ /'[0-9]+$/; edge = fn " -> " plain(substr($0, 5)) }
/^calls=/ {
	split(substr($0, 7), word, " ")
	getline
	if (in_object) {
		calls[edge] += word[1]
		if (!again)
			add(cost, edge)
	}
	next
}
/^[0-9]/ && in_object {
	functions[fn] = 1
	add(self, fn)
}
END {
	for (name in functions)
		print name text(self, name)
	for (name in calls)
		print name, calls[name] text(cost, name)
}
