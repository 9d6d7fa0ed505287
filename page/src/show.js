// The answer as a report; its tables answer to clicks: what forces a cell, and what if more cells were suppressed.
import { knownAs } from "./answer.js";
import { make, wide } from "./elements.js";
import { WORDS } from "./words.js";

const MOST_ROWS = 80,
  MOST_ACROSS = 24;

/** The whole report into an element; `acts` save a file by its name, say why a cell is known, and suppress or print cells. */
export function showReport(answer, into, acts) {
  into.replaceChildren(
    make("h2", { tabIndex: -1, id: "answer" }, WORDS.answer),
    ...whatIf(answer, acts),
    ...answer.lines.map((line) => make("p", {}, make("b", {}, line))),
    cards(answer),
    ...why(answer),
    make("div", { id: "advice" }),
    ...tables(answer, acts),
    make(
      "div",
      { className: "screen" },
      ...cellList(answer),
      ...(answer.without.length ? [] : saving(acts.save)),
      ...basis(answer),
    ),
    signing(),
  );
}

/** What only the printed page has: when it was audited, what was decided, and who signs. */
function signing() {
  const line = (text) => make("p", { className: "line" }, make("span", {}, text));
  return make(
    "section",
    { id: "sign" },
    make("p", {}, WORDS.audited(new Date().toISOString().slice(0, 10))),
    make("p", {}, WORDS.decision),
    ...WORDS.signed.map(line),
  );
}

/** That more is suppressed here than in the file, and a button that takes it back. */
function whatIf({ without }, { print }) {
  if (!without.length) return [];
  const button = make("button", { type: "button", id: "undo" }, WORDS.undo);
  button.addEventListener("click", () => print());
  return [make("p", { className: "note actions" }, WORDS.whatIf(without.length), button)];
}

/** What to suppress as well, once that is known; a button tries it in the table. */
export function showAdvice(found, into, suppress) {
  if (!found) return;
  const { cells, left, inTime } = found;
  const button = make("button", { type: "button", id: "try" }, WORDS.tryThem);
  button.addEventListener("click", () => suppress(cells));
  const notes = [inTime ? "" : WORDS.late, cells.length > 1 ? WORDS.smaller : ""].filter(Boolean);
  into.replaceChildren(
    make("h2", {}, WORDS.toSuppress),
    make(
      "p",
      {},
      cells.length
        ? WORDS.alsoSuppress(cells.length, left.length ? WORDS.stillKnown(left.length) : WORDS.noneKnown)
        : WORDS.noneFound(left.length),
    ),
    make("ul", {}, ...cells.map((cell) => make("li", {}, cell))),
    make("p", { className: "actions soft" }, ...(cells.length ? [button] : []), notes.join(" ")),
  );
}

function cards({ counts, accepted, left, unsaid }) {
  const shown = [
    [counts.printed, WORDS.cards.printed],
    [counts.suppressed, WORDS.cards.suppressed],
    [counts.suppressedExact, WORDS.cards.exact(left.length || unsaid)],
    [accepted, WORDS.cards.steps],
  ];
  if (counts.other) shown.push([counts.otherExact, WORDS.cards.other(counts.other)]);
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
    make("h2", {}, WORDS.why),
    ...details,
    ...(more > 0 ? [make("p", { className: "soft" }, WORDS.moreInCells(more))] : []),
  ];
}

/** The tables as they are printed, below each count that is not printed exactly its interval; all cells are buttons. */
function tables({ placed, cells, clash, without }, acts) {
  const state = { byName: new Map(cells.map((cell) => [cell.cell, cell])), clash: new Set(clash), without: new Set(without) };
  const box = make(
    "section",
    { id: "tables" },
    make("h2", {}, WORDS.theTables),
    make("p", { className: "soft" }, WORDS.note),
    ...(clash.length ? [make("p", { className: "note" }, WORDS.clash)] : []),
    make("p", { id: "forced", className: "note", hidden: true, ariaLive: "polite" }),
    ...placed.flatMap((table) => [
      make("h3", {}, table.title ? `${table.name}: ${table.title}` : table.name),
      wide(printedTable(table, state), WORDS.table(table.name)),
    ]),
  );
  box.addEventListener("click", ({ target }) => {
    const cell = state.byName.get(target.closest("[data-cell]")?.dataset.cell);
    if (!cell) return;
    if (cell.unclear && cell.exact && !state.without.has(cell.cell)) showForce(cell, box, acts);
    else if (!cell.unclear) acts.suppress([cell.cell]);
    else if (state.without.has(cell.cell)) acts.print(cell.cell);
  });
  box.addEventListener("keydown", ({ key }) => key === "Escape" && clear(box));
  return [box];
}

function clear(box) {
  box.querySelectorAll(".forces").forEach((own) => own.classList.remove("forces"));
  box.querySelector("#forced").hidden = true;
}

/** Highlight the cells that force one, and say how, beside its table. */
async function showForce(cell, box, acts) {
  const { cells, lines } = await acts.why(cell.cell),
    names = new Set(cells),
    said = box.querySelector("#forced");
  clear(box);
  box.querySelectorAll("[data-cell]").forEach((own) => names.has(own.dataset.cell) && own.closest("td").classList.add("forces"));
  said.replaceChildren(
    WORDS.forced(cell.cell, knownAs(cell)),
    make("ol", {}, ...lines.map((line) => make("li", {}, line))),
  );
  said.hidden = false;
}

function printedTable({ columns, entries }, state) {
  const two = columns.length > 1,
    across = two ? [...new Set(entries.map(([labels]) => labels.at(-1)))] : [WORDS.count];
  const rows = new Map();
  for (const [labels, text, name] of entries) {
    const own = two ? labels.slice(0, -1) : labels,
      key = JSON.stringify(own);
    if (!rows.has(key)) rows.set(key, { own, cells: new Map() });
    rows.get(key).cells.set(two ? labels.at(-1) : WORDS.count, { text, cell: state.byName.get(name) });
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
        ...across.slice(0, MOST_ACROSS).map((label) => printedCell(cells.get(label), state)),
      ),
    );
  const cut = rows.size > MOST_ROWS || across.length > MOST_ACROSS;
  return make(
    "table",
    { className: "printed" },
    cut ? make("caption", {}, WORDS.tableCut) : null,
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...body),
  );
}

function printedCell(own, { clash, without }) {
  if (!own?.cell) return make("td");
  const { text, cell } = own,
    name = cell.cell,
    added = without.has(name),
    known = cell.unclear && cell.exact;
  const kinds = ["n", known ? "unsafe" : "", added ? "added" : "", clash.has(name) ? "clash" : ""];
  const inside = [text || WORDS.blankCell, cell.unclear ? make("small", {}, knownAs(cell)) : null];
  const title = added
    ? WORDS.printIt(name)
    : known
      ? WORDS.showWhy(name, knownAs(cell))
      : cell.unclear
        ? ""
        : WORDS.suppressIt(name);
  const held = title ? make("button", { type: "button", className: "cell", title }, ...inside) : make("span", {}, ...inside);
  held.dataset.cell = name;
  return make("td", { className: kinds.filter(Boolean).join(" ") }, held);
}

function cellList({ cells }) {
  const open = cells.filter((cell) => cell.unclear);
  if (!open.length) return [];
  const rows = open.map((cell) =>
    make(
      "tr",
      { className: cell.exact ? "exact" : "" },
      make("th", { scope: "row" }, cell.cell),
      ...[cell.published || WORDS.blankCell, `${cell.lower}`, cell.upper === null ? WORDS.noEnd : `${cell.upper}`].map((text) =>
        make("td", { className: "n" }, text),
      ),
      make("td", {}, cell.exact ? WORDS.exactly : ""),
      make("td", {}, cell.attained ? WORDS.bothEnds : WORDS.notBoth),
      make("td", {}, cell.proof.length ? WORDS.accepted : WORDS.noneNeeded),
    ),
  );
  return [
    make("h2", {}, WORDS.everyOpen),
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
            ...WORDS.openHeads.map((text, at) => make("th", { scope: "col", className: at > 0 && at < 4 ? "n" : "" }, text)),
          ),
        ),
        make("tbody", {}, ...rows),
      ),
      WORDS.openRegion,
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
  const sheet = make("button", { type: "button", id: "print" }, WORDS.print);
  sheet.addEventListener("click", () => window.print());
  return [
    make("h2", {}, WORDS.save),
    make("p", { className: "actions" }, ...buttons, sheet),
    make("p", { className: "soft" }, WORDS.checkable),
  ];
}

function basis(answer) {
  return [
    make("h2", {}, WORDS.sameCommand),
    make("pre", { id: "disclose" }, [answer.command, "", ...answer.summary].join("\n")),
    make("h2", {}, WORDS.restsOn),
    make("p", {}, WORDS.basis(answer.accepted)),
  ];
}
