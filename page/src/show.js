// The answer as a report.
import { knownAs } from "./answer.js";
import { make, wide } from "./elements.js";

const MOST_ROWS = 80,
  MOST_ACROSS = 24;

/** The whole report into an element; `save` writes a file by its name. */
export function showReport(answer, into, save) {
  into.replaceChildren(
    make("h2", { tabIndex: -1, id: "answer" }, "The answer"),
    ...answer.lines.map((line) => make("p", {}, make("b", {}, line))),
    cards(answer),
    ...why(answer),
    make("div", { id: "advice" }),
    ...tables(answer),
    ...cellList(answer),
    ...saving(save),
    ...basis(answer),
  );
}

/** What to suppress as well, once that is known. */
export function showAdvice(found, into) {
  if (!found) return;
  const { cells, left, inTime } = found;
  const done = left.length
    ? `${left.length} are still known, or not shown to be open`
    : "none of them is known exactly any more";
  const which = cells.length === 1 ? "this cell" : `these ${cells.length} cells`;
  const said = cells.length
    ? `Also suppress ${which}, then ${done} (ranges proved and checked again):`
    : `No set of cells to suppress was found for ${left.length} of them.`;
  into.replaceChildren(
    make("h2", {}, "What to suppress as well"),
    make("p", {}, said),
    make("ul", {}, ...cells.map((cell) => make("li", {}, cell))),
    make(
      "p",
      { className: "soft" },
      `${inTime ? "" : "The search ran out of time. "}${cells.length > 1 ? "A smaller set may exist." : ""}`,
    ),
  );
}

function cards({ counts, accepted, left, unsaid }) {
  const shown = [
    [counts.printed, "printed cells"],
    [counts.suppressed, "suppressed cells"],
    [counts.suppressedExact, `of them known exactly${left.length || unsaid ? ", or more" : ""}`],
    [accepted, "steps of proofs, all accepted"],
  ];
  if (counts.other) shown.push([counts.otherExact, `of ${counts.other} rounded counts known exactly`]);
  return make(
    "ul",
    { className: "cards" },
    ...shown.map(([number, text]) => make("li", {}, make("b", {}, `${number}`), make("span", {}, text))),
  );
}

function why({ cells, reasons }) {
  const exact = cells.filter((cell) => cell.unclear && cell.exact);
  if (!exact.length) return [];
  const details = reasons.map((lines, at) =>
    make(
      "details",
      { open: at < 3 },
      make("summary", {}, `${exact[at].cell}: ${knownAs(exact[at])}`),
      make("ol", {}, ...lines.map((line) => make("li", {}, line))),
    ),
  );
  const more = exact.length - reasons.length;
  return [
    make("h2", {}, "Why"),
    ...details,
    ...(more > 0 ? [make("p", { className: "soft" }, `${more} more in cells.csv.`)] : []),
  ];
}

/** The tables as they are printed, and below each count that is not printed exactly what it must be. */
function tables({ placed, cells }) {
  const byName = new Map(cells.map((cell) => [cell.cell, cell]));
  const note = "Below each count that is not printed exactly: what it must be. Framed: known exactly all the same.";
  return [
    make("h2", {}, "The tables"),
    make("p", { className: "soft" }, note),
    ...placed.flatMap((table) => [
      make("h3", {}, table.title ? `${table.name}: ${table.title}` : table.name),
      wide(printedTable(table, byName), `the table ${table.name}`),
    ]),
  ];
}

function printedTable({ columns, entries }, byName) {
  const two = columns.length > 1,
    across = two ? [...new Set(entries.map(([labels]) => labels.at(-1)))] : ["count"];
  const rows = new Map();
  for (const [labels, text, name] of entries) {
    const own = two ? labels.slice(0, -1) : labels,
      key = JSON.stringify(own);
    if (!rows.has(key)) rows.set(key, { own, cells: new Map() });
    rows.get(key).cells.set(two ? labels.at(-1) : "count", { text, cell: byName.get(name) });
  }
  const head = [
    ...(two ? columns.slice(0, -1) : columns).map((text) => make("th", { scope: "col" }, text)),
    ...across.slice(0, MOST_ACROSS).map((text) => make("th", { scope: "col", className: "n" }, text)),
  ];
  const body = [...rows.values()]
    .slice(0, MOST_ROWS)
    .map(({ own, cells }) =>
      make(
        "tr",
        {},
        ...own.map((text) => make("th", { scope: "row" }, text)),
        ...across.slice(0, MOST_ACROSS).map((label) => printedCell(cells.get(label))),
      ),
    );
  const cut = rows.size > MOST_ROWS || across.length > MOST_ACROSS;
  return make(
    "table",
    { className: "printed" },
    cut ? make("caption", {}, "Cut for this page; all cells are in cells.csv.") : null,
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
}

function printedCell(own) {
  if (!own?.cell) return make("td");
  const { text, cell } = own,
    className = `n${cell.unclear && cell.exact ? " unsafe" : ""}`;
  return make("td", { className }, text || "blank", cell.unclear ? make("small", {}, knownAs(cell)) : null);
}

function cellList({ cells }) {
  const open = cells.filter((cell) => cell.unclear);
  if (!open.length) return [];
  const rows = open.map((cell) =>
    make(
      "tr",
      { className: cell.exact ? "exact" : "" },
      make("th", { scope: "row" }, cell.cell),
      ...[cell.published || "blank", `${cell.lower}`, cell.upper === null ? "no end" : `${cell.upper}`].map((text) =>
        make("td", { className: "n" }, text),
      ),
      make("td", {}, cell.exact ? "exactly known" : ""),
      make("td", {}, cell.attained ? "both ends" : "not attained within the limit"),
      make("td", {}, cell.proof.length ? "accepted" : "none needed"),
    ),
  );
  const head = ["cell", "published", "lower", "upper", "known exactly", "ends attained", "proof"];
  return [
    make("h2", {}, "Every count that is not printed exactly"),
    wide(
      make(
        "table",
        { id: "cells" },
        make(
          "thead",
          {},
          make(
            "tr",
            {},
            ...head.map((text, at) => make("th", { scope: "col", className: at > 0 && at < 4 ? "n" : "" }, text)),
          ),
        ),
        make("tbody", {}, ...rows),
      ),
      "every open count",
    ),
  ];
}

function saving(save) {
  const files = [
    ["cells.csv", "cells", false],
    ["system.json.gz", "system", true],
    ["proofs.jsonl.gz", "proofs", true],
  ];
  const buttons = files.map(([name, part, packed]) => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => save(name, part, packed));
    return button;
  });
  return [
    make("h2", {}, "Save"),
    make("p", { className: "actions" }, ...buttons),
    make(
      "p",
      { className: "soft" },
      "The last two, in one folder, can be checked by another program, without a solver: " +
        "genverify disclose --check --out FOLDER TABLE. Or print this page.",
    ),
  ];
}

function basis(answer) {
  const text =
    "All tables stand in one model: a cell that two tables share is one cell, and every total is the sum of its parts. " +
    `Every end of a range has a proof in whole numbers (${answer.accepted} steps), accepted by a checker that shares no ` +
    "code with the solver. Both ends of a range were found in counts that fit all tables, counted again, unless the list " +
    "says otherwise.";
  return [
    make("h2", {}, "The same by command"),
    make("pre", { id: "disclose" }, [answer.command, "", ...answer.summary].join("\n")),
    make("h2", {}, "What this rests on"),
    make("p", {}, text),
  ];
}
