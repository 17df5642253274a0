// SPDX-License-Identifier: MIT
// code.js: a function: its callers, what it called, and its source and instructions side by side.
"use strict";

// Returns the code of the function in the last profile, if it is one of the hottest.
function codeOf(fn) {
	const side = model.sides - 1, profile = model.profiles[side];
	return profile.code.find(code => code.event === model.events[view.event].numbers[side] &&
		model.find(code.name, code.object) === fn);
}

// Returns the hottest function with code.
function hottest() {
	const side = model.sides - 1, event = model.events[view.event].numbers[side];
	const code = model.profiles[side].code.find(c => c.event === event);
	return code ? model.find(code.name, code.object) : -1;
}

function heat(period, most) {
	const share = most ? period / most : 0;
	return share === 0 ? "" : share > 0.5 ? " heat-3" : share > 0.15 ? " heat-2" : share > 0.02 ? " heat-1" : "";
}

function row(period, whole, most, label, text, key) {
	return element("div", { class: "line" + heat(period, most), "data-key": key, tabindex: key ? 0 : -1 },
		element("span", { class: "share" }, period ? percentText(period, whole) : ""),
		element("span", { class: "label" }, label), element("span", { class: "text" }, text));
}

function sourceRows(code, periods, most) {
	const rows = [];
	for (const source of code.sources) {
		rows.push(element("div", { class: "path" }, source.path + (source.found ? "" : " (not found)")));
		source.lines.forEach(([line, text], i) => {
			const key = source.number + ":" + line;
			if (i && line > source.lines[i - 1][0] + 1) {
				rows.push(element("div", { class: "gap" }, "⋯"));
			}
			rows.push(row(periods.get(key) || 0, code.period, most, String(line), text, periods.has(key) ? key : ""));
		});
	}
	return rows;
}

function insnRows(code) {
	const most = Math.max(...code.insns.map(insn => insn[2]));
	return code.insns.map(([address, text, period, source, line]) =>
		row(period, code.period, most, address, text.replace("<" + code.name + "+", "<+"),
			source === undefined ? "" : source + ":" + line));
}

function mark(key) {
	byId("code").querySelectorAll(".line").forEach(line => {
		line.classList.toggle("marked", Boolean(key) && line.dataset.key === key);
	});
}

// Marks a line's instructions, or an instruction's line, and scrolls the other list to it.
function markLine(e) {
	const line = e.target.closest(".line");
	if (!line || !line.dataset.key) {
		return;
	}
	mark(line.dataset.key);
	const other = [...byId("code").querySelectorAll(".pane")].find(pane => !pane.contains(line));
	const first = other && other.querySelector(".marked");
	if (first) {
		other.scrollTop += first.getBoundingClientRect().top - other.getBoundingClientRect().top - 40;
	}
}

function listing(code) {
	const periods = new Map();
	for (const [, , period, source, line] of code.insns) {
		if (source !== undefined) {
			periods.set(source + ":" + line, (periods.get(source + ":" + line) || 0) + period);
		}
	}
	const most = Math.max(0, ...periods.values());
	const panes = element("div", { class: "panes" });
	if (code.sources.length) {
		panes.append(element("div", { class: "pane" }, element("h3", {}, "Source"), ...sourceRows(code, periods, most)));
	}
	panes.append(element("div", { class: "pane" }, element("h3", {}, "Instructions"), ...insnRows(code)));
	if (code.more) {
		panes.lastChild.append(element("p", { class: "note" }, numberText(code.more) + " more instructions are not shown."));
	}
	panes.addEventListener("click", markLine);
	panes.addEventListener("keydown", e => {
		if (e.key === "Enter") {
			markLine(e);
		}
	});
	return panes;
}

function edgeList(title, edges, whole) {
	const list = element("ul", {}, ...edges.slice(0, 8).map(([fn, cost]) => element("li", {},
		element("span", { class: "share" }, percentText(cost, whole)),
		element("button", { type: "button", onclick: () => openFunction(fn) }, model.functions[fn].name))));
	return element("div", {}, element("h3", {}, title),
		edges.length ? list : element("p", { class: "note" }, "none known"));
}

function chooser() {
	const side = model.sides - 1, event = model.events[view.event], seen = new Set();
	const list = element("select", { "aria-label": "Function", onchange: e => openFunction(Number(e.target.value)) });
	for (const code of model.profiles[side].code) {
		const fn = model.find(code.name, code.object);
		if (code.event === event.numbers[side] && fn !== undefined && !seen.has(fn)) {
			seen.add(fn);
			list.append(element("option", { value: fn }, percentText(code.period, event.periods[side]) + "  " + code.name));
		}
	}
	if (!seen.has(view.fn)) {
		list.prepend(element("option", { value: view.fn }, model.functions[view.fn].name));
	}
	list.value = view.fn;
	return list;
}

function showCode() {
	view.fn = view.fn > 0 ? view.fn : hottest();
	if (view.fn === undefined || view.fn <= 0) {
		byId("code").replaceChildren(element("p", { class: "note" }, "No function's instructions are known."));
		return;
	}
	const code = codeOf(view.fn), f = model.functions[view.fn], whole = wholeOf(model.sides - 1);
	const { callers, called } = neighbours(model, view, view.fn);
	byId("code").replaceChildren(chooser(), element("h2", {}, f.name), element("p", { class: "note" }, f.object),
		element("div", { class: "edges" }, edgeList("Callers", callers, whole), edgeList("Calls", called, whole)),
		code ? listing(code) : element("p", { class: "note" },
			"The page has the instructions of the hottest functions only; softpmu annotate shows others."));
}
