// SPDX-License-Identifier: MIT
// timeline.js: the counts of each thread over the time of the run.  A part of the time can be
// selected by dragging or by keys; the rest of the page then shows that part.
"use strict";

const TIMELINE_THREADS = 6;
const timeline = { from: 0, to: 0, anchor: 0 };

// Several slices share a column, so that columns can be seen.
function columnsOf(slices) {
	const room = byId("timeline").clientWidth > 700 ? 256 : 128;
	return Math.min(slices, room);
}

function rowOf(row, columns, most) {
	const slices = row.slices.length / columns, bars = [];
	const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
	svg.setAttribute("viewBox", "0 0 " + columns + " 20");
	svg.setAttribute("preserveAspectRatio", "none");
	svg.setAttribute("aria-hidden", "true");
	for (let c = 0; c < columns; c++) {
		let sum = 0;
		for (let i = Math.floor(c * slices); i < (c + 1) * slices; i++) {
			sum += row.slices[i];
		}
		const height = most ? 20 * sum / most : 0;
		if (sum) {
			bars.push("M" + c + ",20V" + (20 - Math.max(height, 1)).toFixed(1) + "H" + (c + 1) + "V20Z");
		}
	}
	const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
	path.setAttribute("d", bars.join(""));
	svg.append(path);
	return element("div", { class: "track" + (view.thread >= 0 && view.thread !== row.thread ? " dim" : "") },
		element("span", { class: "track-name" }, model.threads[row.thread].name), svg);
}

function mostOf(rows, columns) {
	let most = 0;
	for (const row of rows) {
		const slices = row.slices.length / columns;
		for (let c = 0; c < columns; c++) {
			let sum = 0;
			for (let i = Math.floor(c * slices); i < (c + 1) * slices; i++) {
				sum += row.slices[i];
			}
			most = Math.max(most, sum);
		}
	}
	return most;
}

function showTimeline() {
	const profile = model.profiles[0], section = byId("timeline");
	section.hidden = model.sides > 1 || profile.slices < 2;
	if (section.hidden) {
		return;
	}
	const rows = timeRows(model, view), shown = rows.slice(0, TIMELINE_THREADS);
	const columns = columnsOf(profile.slices);
	byId("tracks").replaceChildren(...shown.map(row => rowOf(row, columns, mostOf(shown, columns))),
		element("div", { id: "selection", hidden: "" }));
	byId("hidden-threads").textContent = rows.length > shown.length
		? rows.length - shown.length + " more threads have less" : "";
	showSelection();
}

function showSelection() {
	const profile = model.profiles[0], mark = byId("selection");
	const length = (profile.last_ns - profile.first_ns) / profile.slices;
	mark.hidden = !view.slices;
	byId("all-times").hidden = !view.slices;
	if (!view.slices) {
		byId("times").textContent = "0 to " + timeText(profile.last_ns - profile.first_ns);
		return;
	}
	const [from, to] = view.slices;
	mark.style.left = 100 * from / profile.slices + "%";
	mark.style.width = 100 * (to + 1 - from) / profile.slices + "%";
	byId("times").textContent = timeText(from * length) + " to " + timeText((to + 1) * length);
}

function selectSlices(one, other) {
	const last = model.profiles[0].slices - 1;
	const clamp = slice => Math.max(0, Math.min(last, Math.floor(slice)));
	select({ slices: [clamp(Math.min(one, other)), clamp(Math.max(one, other))] });
}

function sliceAt(e) {
	const area = byId("tracks").getBoundingClientRect();
	return (e.clientX - area.left) / area.width * model.profiles[0].slices;
}

// Left and right move the selection; with Shift they change its end.
function timelineKey(e) {
	const slices = model.profiles[0].slices, step = Math.max(1, slices / 64);
	const [from, to] = view.slices || [0, Math.floor(slices / 8) - 1];
	const by = { ArrowLeft: -step, ArrowRight: step }[e.key];
	if (!by) {
		return;
	}
	e.preventDefault();
	if (e.shiftKey) {
		selectSlices(from, Math.max(from, to + by));
	} else if (!view.slices) {
		selectSlices(from, to);
	} else if (from + by >= 0 && to + by < slices) {
		selectSlices(from + by, to + by);
	}
}

byId("tracks").addEventListener("keydown", timelineKey);
byId("tracks").addEventListener("pointerdown", e => {
	timeline.anchor = sliceAt(e);
	e.currentTarget.setPointerCapture(e.pointerId);
});
byId("tracks").addEventListener("pointerup", e => {
	const here = sliceAt(e);
	if (Math.abs(here - timeline.anchor) > model.profiles[0].slices / 200) {
		selectSlices(timeline.anchor, here);
	}
});
byId("all-times").addEventListener("click", () => select({ slices: null }));
