// SPDX-License-Identifier: MIT
// graph.js: the flame graph and the icicle graph.  A box is a function in the context of its
// callers; its width is its share.  In a comparison the color is the change.
"use strict";

const BOX_LEAST = 0.0006; // share of the width below which a box is left out
const NAME_LEAST = 28; // pixels of a box that has a name
const ROW_HEIGHT = 20;
const HUES = 8;

// Sorted by name, so that equal functions of two profiles are at equal places.
function childrenOf(node) {
	const side = model.sides - 1;
	return [...node.children.values()].filter(child => child.total[side] > 0)
		.sort((a, b) => model.functions[a.fn].name < model.functions[b.fn].name ? -1 : 1);
}

// Files get hues in the order of their functions' numbers.
const hues = new Map();
function colorClass(node) {
	if (node.fn <= 0) {
		return "hue-none";
	}
	if (model.sides > 1) {
		return changeClass(node);
	}
	const { short } = model.functions[node.fn];
	if (!hues.has(short)) {
		hues.set(short, hues.size % HUES);
	}
	return short.startsWith("[") ? "hue-none" : "hue-" + hues.get(short);
}

// The change of a box in percent of the whole: six steps on each side of none.
function changeClass(node) {
	const root = graph.root.total, change = node.total[1] - node.total[0];
	const share = Math.abs(change) / Math.max(root[0], root[1], 1);
	if (!change) {
		return "same";
	}
	const step = share > 0.1 ? 4 : share > 0.03 ? 3 : share > 0.01 ? 2 : 1;
	return (change > 0 ? "more-" : "less-") + step;
}

const graph = { root: null, boxes: new Map(), current: null, key: "", pixels: 0 };

function nameOf(node) {
	return node.fn < 0 ? "all" : model.functions[node.fn].name;
}

function describe(node) {
	const side = model.sides - 1, f = node.fn > 0 ? model.functions[node.fn] : null;
	const parts = [nameOf(node)];
	if (f) {
		parts.push(f.short);
	}
	if (model.sides > 1) {
		parts.push(numberText(node.total[0]) + " → " + numberText(node.total[1]) +
			" (" + (changeText(node.total[0], node.total[1]) || "no change") + ")");
	} else {
		parts.push(numberText(node.total[0]) + " (" + percentText(node.total[side], graph.root.total[side]) + ")");
		if (f) {
			parts.push("itself " + percentText(node.self[side], graph.root.total[side]));
		}
	}
	return parts.join("  ·  ");
}

function boxOf(node, left, width, depth) {
	const hit = view.search && node.fn > 0 && matches(node.fn);
	const box = element("div", {
		class: "box " + colorClass(node) + (view.search && !hit ? " dim" : "") + (hit ? " hit" : ""),
		role: "treeitem", tabindex: -1, "aria-label": describe(node), "aria-level": depth + 1,
	}, width * graph.pixels > NAME_LEAST ? element("span", {}, nameOf(node)) : "");
	box.style.left = 100 * left + "%";
	box.style.width = 100 * width + "%";
	box.style[view.layout === "flame" ? "bottom" : "top"] = depth * ROW_HEIGHT + "px";
	box.addEventListener("click", () => zoomTo(node));
	box.addEventListener("focus", () => setCurrent(node));
	box.addEventListener("mouseenter", () => { byId("detail").textContent = describe(node); });
	graph.boxes.set(node, { box, depth });
	return box;
}

// Makes the boxes of a node and of those above it.  Returns the greatest depth.
function place(node, left, width, depth, boxes) {
	const side = model.sides - 1;
	let deepest = depth, at = left;
	boxes.push(boxOf(node, left, width, depth));
	for (const child of childrenOf(node)) {
		const part = node.total[side] ? width * child.total[side] / node.total[side] : 0;
		if (part >= BOX_LEAST) {
			deepest = Math.max(deepest, place(child, at, part, depth + 1, boxes));
		}
		at += part;
	}
	return deepest;
}

function showGraph() {
	const key = JSON.stringify([view.event, view.thread, view.slices]), boxes = [];
	if (graph.key !== key) {
		graph.root = makeTree(model, view);
		graph.key = key;
	}
	const zoom = view.zoom || graph.root, callers = [];
	for (let node = zoom.parent; node; node = node.parent) {
		callers.unshift(node);
	}
	graph.boxes.clear();
	graph.pixels = byId("boxes").clientWidth;
	callers.forEach((node, depth) => boxes.push(boxOf(node, 0, 1, depth)));
	const deepest = place(zoom, 0, 1, callers.length, boxes);
	byId("boxes").replaceChildren(...boxes);
	byId("boxes").style.height = (deepest + 1) * ROW_HEIGHT + "px";
	for (const layout of ["flame", "icicle"]) {
		byId("layout-" + layout).setAttribute("aria-pressed", view.layout === layout);
	}
	graph.current = graph.boxes.has(graph.current) ? graph.current : zoom;
	graph.boxes.get(graph.current).box.tabIndex = 0;
	byId("detail").textContent = describe(graph.current);
	byId("found").textContent = foundText();
	byId("reset").hidden = !view.zoom;
	byId("chains").hidden = !model.events[view.event].exact;
}

// Says which share is in functions that match, each chain once.
function foundText() {
	const side = model.sides - 1;
	const sum = node => node.fn > 0 && matches(node.fn) ? node.total[side]
		: [...node.children.values()].reduce((all, child) => all + sum(child), 0);
	return view.search ? "found: " + percentText(sum(graph.root), graph.root.total[side]) : "";
}

function setCurrent(node) {
	const before = graph.boxes.get(graph.current);
	if (before) {
		before.box.tabIndex = -1;
	}
	graph.current = node;
	graph.boxes.get(node).box.tabIndex = 0;
	byId("detail").textContent = describe(node);
}

function zoomTo(node) {
	graph.current = node;
	select({ zoom: node.parent ? node : null });
	graph.boxes.get(node).box.focus();
}

// Arrow keys go to callers, to what is called, and to the boxes beside.
function graphKey(e) {
	const node = graph.current, shown = list => list.filter(other => graph.boxes.has(other));
	const up = view.layout === "flame" ? "ArrowUp" : "ArrowDown";
	const down = view.layout === "flame" ? "ArrowDown" : "ArrowUp";
	let next = null;
	if (!node || e.ctrlKey || e.altKey || e.metaKey) {
		return;
	}
	if (e.key === up) {
		next = shown(childrenOf(node)).sort((a, b) => b.total[model.sides - 1] - a.total[model.sides - 1])[0];
	} else if (e.key === down) {
		next = node.parent;
	} else if ((e.key === "ArrowLeft" || e.key === "ArrowRight") && node.parent) {
		const beside = shown(childrenOf(node.parent));
		next = beside[beside.indexOf(node) + (e.key === "ArrowLeft" ? -1 : 1)];
	} else if (e.key === "Enter" || e.key === " ") {
		e.preventDefault();
		zoomTo(node);
	} else if (e.key === "s" && node.fn > 0) {
		openFunction(node.fn);
	}
	if (e.key.startsWith("Arrow")) {
		e.preventDefault();
	}
	if (next) {
		graph.boxes.get(next).box.focus();
	}
}

byId("boxes").addEventListener("keydown", graphKey);
byId("reset").addEventListener("click", () => zoomTo(graph.root));
byId("source").addEventListener("click", () => {
	if (graph.current && graph.current.fn > 0) {
		openFunction(graph.current.fn);
	}
});
