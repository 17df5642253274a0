// SPDX-License-Identifier: MIT
// page.js: the page: what is selected, its controls and keys.
"use strict";

const model = makeModel(JSON.parse(document.getElementById("data").textContent));
const view = { event: 0, thread: -1, slices: null, search: "", tab: "graph", layout: "flame", zoom: null, fn: -1 };
const byId = id => document.getElementById(id);

// --- text ---------------------------------------------------------------------------------------

// Makes an element.  Text is never taken as HTML.
function element(tag, attributes, ...content) {
	const made = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name === "class") {
			made.className = value;
		} else if (name.startsWith("on")) {
			made.addEventListener(name.slice(2), value);
		} else if (value !== false) {
			made.setAttribute(name, value);
		}
	}
	made.append(...content);
	return made;
}

const numberFormat = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const numberText = value => numberFormat.format(value);
const percentText = (part, whole) => whole ? (100 * part / whole).toFixed(2) + "%" : "";

function changeText(before, after) {
	if (!before) {
		return after ? "new" : "";
	}
	return after ? (after >= before ? "+" : "−") + Math.abs(100 * (after - before) / before).toFixed(2) + "%" : "gone";
}

function signedText(value) {
	return (value > 0 ? "+" : value < 0 ? "−" : "") + numberText(Math.abs(value));
}

function timeText(ns) {
	const [unit, size] = ns >= 1e9 ? ["s", 1e9] : ns >= 1e6 ? ["ms", 1e6] : ns >= 1e3 ? ["µs", 1e3] : ["ns", 1];
	return (ns / size).toFixed(size === 1 ? 0 : 2) + " " + unit;
}

// Returns whether a function's name has the text of the search.
function matches(fn) {
	const { name, object } = model.functions[fn];
	const text = view.search.toLowerCase();
	return name.toLowerCase().includes(text) || object.toLowerCase().includes(text);
}

// --- what is shown --------------------------------------------------------------------------------

const TABS = ["graph", "functions", "lines", "code"];

function show() {
	for (const tab of TABS) {
		const chosen = tab === view.tab;
		byId(tab).hidden = !chosen;
		byId("tab-" + tab).setAttribute("aria-selected", chosen);
		byId("tab-" + tab).tabIndex = chosen ? 0 : -1;
	}
	({ graph: showGraph, functions: showFunctions, lines: showLines, code: showCode })[view.tab]();
	showTotals();
}

function showTotals() {
	const event = model.events[view.event], chosen = view.slices || view.thread >= 0;
	const parts = [];
	for (let side = 0; side < model.sides; side++) {
		let sum = 0;
		eachEntry(model, side, view, (frame, samples, period) => { sum += period; });
		const name = model.sides > 1 ? ["before: ", "after: "][side] : "";
		parts.push(name + numberText(sum) + (chosen ? " of " + numberText(event.periods[side]) : ""));
	}
	if (model.sides > 1 && !chosen) {
		parts.push(changeText(event.periods[0], event.periods[1]) || "no change");
	}
	const samples = event.samples[model.sides - 1];
	byId("totals").textContent = event.name + "  " + parts.join(", ") +
		(event.exact ? "  (exact)" : "  (" + numberText(samples) + (samples === 1 ? " sample)" : " samples)"));
}

function select(changes) {
	Object.assign(view, changes);
	if ("event" in changes || "thread" in changes || "slices" in changes) {
		view.zoom = null;
		showTimeline();
	}
	show();
}

function openFunction(fn) {
	select({ fn, tab: "code" });
}

// --- controls -------------------------------------------------------------------------------------

function fill(list, names, all) {
	list.replaceChildren(...(all ? [element("option", { value: -1 }, all)] : []),
		...names.map((name, i) => element("option", { value: i }, name)));
	list.parentElement.hidden = names.length < 2;
}

function setUpControls() {
	fill(byId("event"), model.events.map(event => event.name));
	fill(byId("thread"), model.threads.map(thread => thread.name), "all threads");
	byId("event").addEventListener("change", e => select({ event: Number(e.target.value) }));
	byId("thread").addEventListener("change", e => select({ thread: Number(e.target.value) }));
	byId("search").addEventListener("input", e => select({ search: e.target.value }));
	for (const tab of TABS) {
		byId("tab-" + tab).addEventListener("click", () => select({ tab }));
	}
	byId("tabs").addEventListener("keydown", e => {
		const step = { ArrowRight: 1, ArrowLeft: TABS.length - 1 }[e.key];
		if (step) {
			select({ tab: TABS[(TABS.indexOf(view.tab) + step) % TABS.length] });
			byId("tab-" + view.tab).focus();
		}
	});
	for (const layout of ["flame", "icicle"]) {
		byId("layout-" + layout).addEventListener("click", () => select({ layout }));
	}
	byId("help-open").addEventListener("click", () => byId("help").showModal());
	document.addEventListener("keydown", globalKey);
	window.addEventListener("resize", () => {
		showTimeline();
		show();
	});
}

// Keys that work wherever nothing is typed.
function globalKey(e) {
	const typing = e.target.tagName === "INPUT" || e.target.tagName === "SELECT";
	if (e.ctrlKey || e.altKey || e.metaKey || byId("help").open) {
		return;
	}
	if (e.key === "Escape" && e.target === byId("search")) {
		byId("search").value = "";
		byId("search").blur();
		select({ search: "" });
	} else if (!typing && e.key === "/") {
		e.preventDefault();
		byId("search").focus();
	} else if (!typing && e.key === "?") {
		byId("help").showModal();
	} else if (!typing && e.key >= "1" && e.key <= String(TABS.length)) {
		select({ tab: TABS[e.key - 1] });
		byId("tab-" + view.tab).focus();
	} else if (!typing && e.key === "Escape" && (view.zoom || view.slices)) {
		select({ zoom: null, slices: null });
	}
}

// The page says what it is about.
function setUpTitle() {
	const paths = model.profiles.map(profile => shortName(profile.path));
	document.title = paths.join(" → ") + " – softpmu";
	byId("name").textContent = paths.join(" → ");
	byId("command").textContent = model.profiles.map(profile => profile.command).filter(Boolean).join("\n");
	byId("command").hidden = !byId("command").textContent;
	document.body.classList.toggle("compared", model.sides > 1);
}

function start() {
	setUpTitle();
	if (!model.events.length) {
		byId("main").replaceChildren(element("p", { class: "note" }, model.sides > 1
			? "The profiles have no event in common." : "The profile has no samples."));
		return;
	}
	setUpControls();
	showTimeline();
	show();
}
