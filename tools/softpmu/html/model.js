// SPDX-License-Identifier: MIT
// model.js: the profiles of the page's data: functions, filters, call trees and tables.
//
// A number of a function is the same in both profiles: functions are equal if their names and the
// names of their files are.  Side 0 is before and side 1 after; one profile is side 0.
"use strict";

const SMALL = { name: "[small]", object: "", short: "", title: "Sums that are too small for this page" };
const TREE_LEAST = 0.0002; // share of the whole below which an exact profile's tree ends
const TREE_DEPTH = 200;

function shortName(path) {
	return path.startsWith("/") ? path.slice(path.lastIndexOf("/") + 1) : path;
}

// Makes the functions of all profiles one list.  Profiles get `number`: from theirs to that list's.
function makeModel(data) {
	const model = { profiles: data.profiles, functions: [SMALL], sides: data.profiles.length };
	const known = new Map();
	for (const profile of data.profiles) {
		profile.number = [];
		for (let i = 0; i < profile.functions.length; i += 2) {
			const object = profile.objects[profile.functions[i + 1]];
			const name = profile.functions[i], key = name + "\0" + shortName(object);
			if (!known.has(key)) {
				known.set(key, model.functions.length);
				model.functions.push({ name, object, short: shortName(object) });
			}
			profile.number.push(known.get(key));
		}
		profile.byKey = key => known.get(key);
	}
	model.find = (name, object) => known.get(name + "\0" + shortName(object));
	model.events = commonEvents(data.profiles);
	model.threads = threadsOf(data.profiles);
	return model;
}

// Returns the events that all profiles have, each with its number in each of them.
function commonEvents(profiles) {
	const events = [];
	profiles[0].events.forEach((event, i) => {
		const numbers = profiles.map(p => p.events.findIndex(e => e.name === event.name));
		const some = profiles.some((p, side) => numbers[side] >= 0 && p.events[numbers[side]].period);
		if (some && !numbers.includes(-1)) {
			events.push({ name: event.name, numbers, exact: profiles[0].exact,
				periods: profiles.map((p, side) => p.events[numbers[side]].period),
				samples: profiles.map((p, side) => p.events[numbers[side]].samples) });
		}
	});
	return events;
}

// Two profiles are compared by the names of their threads, because the numbers differ.
function threadsOf(profiles) {
	const threads = [], known = new Map();
	profiles.forEach(profile => {
		profile.threadNumber = [];
		for (let i = 0; i < profile.threads.length; i += 3) {
			const [comm, pid, tid] = profile.threads.slice(i, i + 3);
			const name = profiles.length > 1 ? comm : comm + " " + (pid === tid ? pid : pid + "/" + tid);
			if (!known.has(name)) {
				known.set(name, threads.length);
				threads.push({ name });
			}
			profile.threadNumber.push(known.get(name));
		}
	});
	return threads;
}

// --- filters ----------------------------------------------------------------------------------

// Calls visit(frame, samples, period, slice, thread) for each sum that the view selects.
function eachEntry(model, side, view, visit) {
	const profile = model.profiles[side], e = profile.entries;
	const event = model.events[view.event].numbers[side];
	for (let i = 0; i < e.length; i += 6) {
		const thread = profile.threadNumber[e[i + 2]];
		if (e[i] !== event || (view.thread >= 0 && thread !== view.thread)) {
			continue;
		}
		if (view.slices && (e[i + 1] < view.slices[0] || e[i + 1] > view.slices[1])) {
			continue;
		}
		visit(e[i + 3], e[i + 4], e[i + 5], e[i + 1], thread);
	}
}

// Calls visit(from, to, times, cost) for each call of an exact profile; `from` is -1 for a function
// with what it called.
function eachCall(model, side, view, visit) {
	const profile = model.profiles[side], c = profile.calls, step = 4 + profile.events.length;
	const event = model.events[view.event].numbers[side];
	for (let i = 0; i < c.length; i += step) {
		if (view.thread >= 0 && profile.threadNumber[c[i]] !== view.thread) {
			continue;
		}
		visit(c[i + 1] < 0 ? -1 : profile.number[c[i + 1]], profile.number[c[i + 2]], c[i + 3], c[i + 4 + event]);
	}
}

// --- call trees -------------------------------------------------------------------------------

function newNode(fn, parent) {
	return { fn, parent, total: [0, 0], self: [0, 0], children: new Map() };
}

function childOf(node, fn) {
	let child = node.children.get(fn);
	if (!child) {
		child = newNode(fn, node);
		node.children.set(fn, child);
	}
	return child;
}

// Returns the root of the tree of all call chains that the view selects.
function makeTree(model, view) {
	const root = newNode(-1, null);
	for (let side = 0; side < model.sides; side++) {
		if (model.profiles[side].exact) {
			addCalls(root, exactGraph(model, side, view), side);
		} else {
			addChains(root, model, side, view);
		}
	}
	return root;
}

function addChains(root, model, side, view) {
	const profile = model.profiles[side], frames = profile.frames, nodes = new Map([[-1, root]]);
	const nodeOf = frame => {
		let node = nodes.get(frame);
		if (!node) {
			node = childOf(nodeOf(frames[2 * frame + 1]), profile.number[frames[2 * frame]]);
			nodes.set(frame, node);
		}
		return node;
	};
	eachEntry(model, side, view, (frame, samples, period) => {
		const end = frame < 0 ? childOf(root, 0) : nodeOf(frame);
		end.self[side] += period;
		for (let node = end; node; node = node.parent) {
			node.total[side] += period;
		}
	});
}

// Returns the functions of an exact profile with their costs and calls.
function exactGraph(model, side, view) {
	const graph = { functions: new Map(), whole: 0 };
	const get = fn => {
		if (!graph.functions.has(fn)) {
			graph.functions.set(fn, { self: 0, total: 0, times: 0, entered: 0, calls: new Map(), callers: new Map() });
		}
		return graph.functions.get(fn);
	};
	const profile = model.profiles[side];
	eachEntry(model, side, view, (frame, samples, period) => {
		get(frame < 0 ? 0 : profile.number[profile.frames[2 * frame]]).self += period;
		graph.whole += period;
	});
	eachCall(model, side, view, (from, to, times, cost) => {
		if (from < 0) {
			get(to).total += cost;
			get(to).times += times;
		} else {
			const calls = get(from).calls, callers = get(to).callers;
			calls.set(to, (calls.get(to) || 0) + cost);
			callers.set(from, (callers.get(from) || 0) + cost);
			get(to).entered += from === to ? 0 : cost;
		}
	});
	for (const [fn, f] of graph.functions) {
		if (!f.total) {
			f.total = f.self;
			f.calls.forEach((cost, to) => { f.total += to === fn ? 0 : cost; });
		}
	}
	return graph;
}

// An exact profile knows calls, but not whole call chains.  Where several functions call one, its
// cost below is divided in proportion to the costs of the calls.  Code without a caller, such as a
// part of a function, is a tree of its own.  So a box is the sum of what is above it.
function addCalls(root, graph, side) {
	const least = graph.whole * TREE_LEAST, path = new Set();
	const add = (parent, fn, cost) => {
		const f = graph.functions.get(fn), node = childOf(parent, fn), part = f.total ? cost / f.total : 0;
		let sum = f.self * part;
		node.self[side] += sum;
		path.add(fn);
		for (const [to, c] of f.calls) {
			if (path.has(to)) {
				continue; // its cost is in the box below
			}
			sum += c * part < least || path.size >= TREE_DEPTH ? c * part : add(node, to, c * part);
		}
		path.delete(fn);
		node.total[side] += sum;
		return sum;
	};
	for (const [fn, f] of graph.functions) {
		const outside = f.total - f.entered;
		if (outside > 0 && outside >= least) {
			add(root, fn, outside);
		}
	}
	root.total[side] += graph.whole;
}

// --- tables -----------------------------------------------------------------------------------

// Returns a row for each function: its own count and that with what it called.
function functionRows(model, view) {
	const rows = new Map();
	const get = fn => {
		if (!rows.has(fn)) {
			rows.set(fn, { fn, self: [0, 0], total: [0, 0], count: [0, 0] });
		}
		return rows.get(fn);
	};
	for (let side = 0; side < model.sides; side++) {
		const profile = model.profiles[side], frames = profile.frames;
		if (profile.exact) {
			for (const [fn, f] of exactGraph(model, side, view).functions) {
				const row = get(fn);
				row.self[side] = f.self;
				row.total[side] = f.total;
				row.count[side] = f.times;
			}
			continue;
		}
		eachEntry(model, side, view, (frame, samples, period) => {
			const seen = new Set(), own = get(frame < 0 ? 0 : profile.number[frames[2 * frame]]);
			own.self[side] += period;
			own.count[side] += samples;
			for (let at = frame; at >= 0; at = frames[2 * at + 1]) {
				seen.add(profile.number[frames[2 * at]]);
			}
			seen.add(own.fn);
			seen.forEach(fn => { get(fn).total[side] += period; });
		});
	}
	return [...rows.values()];
}

// Returns the callers of a function and what it called, with the costs of these calls.
function neighbours(model, view, fn) {
	const callers = new Map(), called = new Map(), side = model.sides - 1;
	const profile = model.profiles[side], frames = profile.frames;
	const put = (map, key, cost) => map.set(key, (map.get(key) || 0) + cost);
	if (profile.exact) {
		eachCall(model, side, view, (from, to, times, cost) => {
			if (from >= 0 && from !== to) {
				if (to === fn) {
					put(callers, from, cost);
				}
				if (from === fn) {
					put(called, to, cost);
				}
			}
		});
	} else {
		eachEntry(model, side, view, (frame, samples, period) => {
			const above = new Set(), below = new Set();
			for (let at = frame, to = -1; at >= 0; at = frames[2 * at + 1]) {
				const here = profile.number[frames[2 * at]];
				if (here === fn && to >= 0 && to !== fn) {
					below.add(to);
				}
				if (to === fn && here !== fn) {
					above.add(here);
				}
				to = here;
			}
			above.forEach(other => put(callers, other, period));
			below.forEach(other => put(called, other, period));
		});
	}
	const sorted = map => [...map].sort((a, b) => b[1] - a[1]).filter(([, cost]) => cost > 0);
	return { callers: sorted(callers), called: sorted(called) };
}

// Returns a row for each source line of the event.  Lines are of all threads and times.
function lineRows(model, view) {
	const rows = new Map();
	for (let side = 0; side < model.sides; side++) {
		const profile = model.profiles[side], event = model.events[view.event].numbers[side];
		for (let i = 0; i < profile.lines.length; i += 6) {
			const [of, place, path, line, samples, period] = profile.lines.slice(i, i + 6);
			if (of !== event) {
				continue;
			}
			const fn = profile.number[place], key = fn + ":" + shortName(path) + ":" + line;
			if (!rows.has(key)) {
				rows.set(key, { fn, path, line, self: [0, 0], count: [0, 0] });
			}
			rows.get(key).self[side] += period;
			rows.get(key).count[side] += samples;
		}
	}
	return [...rows.values()];
}

// Returns for each thread the period in each slice of time.
function timeRows(model, view) {
	const slices = model.profiles[0].slices, rows = new Map();
	eachEntry(model, 0, { event: view.event, thread: -1 }, (frame, samples, period, slice, thread) => {
		if (!rows.has(thread)) {
			rows.set(thread, { thread, total: 0, slices: new Float64Array(slices) });
		}
		rows.get(thread).slices[slice] += period;
		rows.get(thread).total += period;
	});
	return [...rows.values()].sort((a, b) => b.total - a.total);
}
