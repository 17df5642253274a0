# SPDX-License-Identifier: MIT
# callgrind.awk: prints what functions of the object `object` and their calls cost, from a file in callgrind's format
# whose names and positions are not compressed: "function cost", "caller -> callee calls cost".
#
# In a recursion callgrind calls the inner calls of a function sort'2. They are the function's own, but only what the
# outermost calls cost is compared.
function plain(name) { sub(/'[0-9]+$/, "", name); return name }
/^ob=/ { in_object = substr($0, length($0) - length(object) + 1) == object }
/^fn=/ { inner = $0 ~ /'[0-9]+$/; fn = plain(substr($0, 4)) }
/^cfn=/ { again = inner && $0 ~ /'[0-9]+$/; edge = fn " -> " plain(substr($0, 5)) }
/^calls=/ {
	split(substr($0, 7), word, " ")
	getline
	if (in_object) {
		calls[edge] += word[1]
		cost[edge] += again ? 0 : $2
	}
	next
}
/^[0-9]/ && in_object { self[fn] += $2 }
END {
	for (name in self)
		print name, self[name]
	for (name in calls)
		print name, calls[name], cost[name]
}
