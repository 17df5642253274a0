// SPDX-License-Identifier: MIT
// tables.js: sortable tables of functions and of source lines.
"use strict";

const TABLE_ROWS = 400;
const order = { functions: null, lines: null }; // the column and direction of each table

// A column has a title, a value to sort by, and a text.
function numberColumn(title, value, text, classes) {
	return { title, value, text, classes: "number " + (classes || ""), down: true };
}

function wholeOf(side) {
	let sum = 0;
	eachEntry(model, side, view, (frame, samples, period) => { sum += period; });
	return sum;
}

function countColumns(exact) {
	const last = model.sides - 1, whole = wholeOf(last);
	if (model.sides > 1) {
		const change = row => row.self[1] - row.self[0];
		return [
			numberColumn("Change", row => Math.abs(change(row)), row => signedText(change(row)), "change"),
			numberColumn("Percent", row => row.self[0] ? change(row) / row.self[0] : row.self[1] ? Infinity : 0,
				row => changeText(row.self[0], row.self[1]), "change wide"),
			numberColumn("Before", row => row.self[0], row => numberText(row.self[0]), "wide"),
			numberColumn("After", row => row.self[1], row => numberText(row.self[1]), "wide"),
		];
	}
	return [
		numberColumn("Self", row => row.self[0], row => percentText(row.self[0], whole)),
		numberColumn("Count", row => row.self[0], row => numberText(row.self[0]), "wide"),
		numberColumn(exact ? "Times" : "Samples", row => row.count[0], row => numberText(row.count[0]), "wide"),
	];
}

function nameColumn(title, classes) {
	const text = row => model.functions[row.fn].name;
	return { title, value: text, text, classes };
}

function functionColumns() {
	const exact = model.events[view.event].exact, whole = wholeOf(0), columns = countColumns(exact);
	if (model.sides === 1) {
		columns.splice(1, 0, numberColumn("Total", row => row.total[0], row => percentText(row.total[0], whole)));
		columns[3].title = exact ? "Calls" : "Samples";
	}
	const file = row => model.functions[row.fn].short;
	return columns.concat([nameColumn("Function", "name"),
		{ title: "File", value: file, text: file, classes: "file wide" }]);
}

function lineColumns() {
	return countColumns(model.events[view.event].exact).concat([
		{ title: "Line", value: row => shortName(row.path) + ":" + String(row.line).padStart(7, "0"),
			text: row => shortName(row.path) + ":" + row.line, classes: "name place" },
		nameColumn("Function", "name wide"),
	]);
}

function sortRows(rows, columns, by) {
	const { value } = columns[by.column], sign = by.down ? -1 : 1;
	return rows.sort((a, b) => {
		const one = value(a), other = value(b);
		return one === other ? 0 : one < other ? -sign : sign;
	});
}

function headOf(name, columns, redraw) {
	const by = order[name];
	return element("tr", {}, ...columns.map((column, i) => element("th", {
		class: column.classes, scope: "col",
		"aria-sort": i !== by.column ? "none" : by.down ? "descending" : "ascending",
	}, element("button", {
		type: "button",
		onclick: () => {
			order[name] = { column: i, down: i === by.column ? !by.down : Boolean(column.down) };
			redraw();
			byId(name).querySelectorAll("th button")[i].focus();
		},
	}, column.title))));
}

// In a comparison, what grew has the color of more.
function cellClass(column, row) {
	const change = row.self[1] - row.self[0];
	const sign = !column.classes.includes("change") || !change ? "" : change > 0 ? " grown" : " shrunk";
	return column.classes + sign;
}

function rowElement(columns, row) {
	const made = element("tr", { tabindex: 0, title: model.functions[row.fn].title || model.functions[row.fn].object },
		...columns.map(column => element("td", { class: cellClass(column, row) }, column.text(row))));
	made.addEventListener("click", () => openFunction(row.fn));
	made.addEventListener("keydown", e => {
		const next = { ArrowDown: made.nextElementSibling, ArrowUp: made.previousElementSibling }[e.key];
		if (e.key === "Enter") {
			openFunction(row.fn);
		}
		if (next) {
			e.preventDefault();
			next.focus();
		}
	});
	return made;
}

function showTable(name, rows, columns, redraw) {
	order[name] = order[name] || { column: 0, down: true };
	const found = rows.filter(row => !view.search || matches(row.fn));
	const shown = sortRows(found, columns, order[name]).slice(0, TABLE_ROWS);
	byId(name).replaceChildren(
		element("table", {}, element("thead", {}, headOf(name, columns, redraw)),
			element("tbody", {}, ...shown.map(row => rowElement(columns, row)))),
		element("p", { class: "note" }, found.length > shown.length
			? "The first " + numberText(shown.length) + " of " + numberText(found.length) + "; search to see others."
			: found.length ? "" : "Nothing matches."));
}

function showFunctions() {
	const rows = functionRows(model, view).filter(row => row.self.some(Boolean) || row.total.some(Boolean));
	showTable("functions", rows, functionColumns(), showFunctions);
}

function showLines() {
	const rows = lineRows(model, view);
	showTable("lines", rows, lineColumns(), showLines);
	if (!rows.length) {
		byId("lines").replaceChildren(element("p", { class: "note" },
			"No debug information names the lines of these functions."));
	} else if (view.thread >= 0 || view.slices) {
		byId("lines").append(element("p", { class: "note" }, "Lines are counted for all threads and times."));
	}
}
