// How files were read, on the screen: sheets with the role of every cell, tables, totals as trees, symbols, what was left out.
import { make, wide } from "./elements.js";
import { AS_READ, commandOf, COUNT, isOffered, LABEL, SKIP } from "./told.js";
import { WORDS } from "./words.js";

const MOST_CHILDREN = 12,
  MOST_SUMS = 40,
  MOST_TABLES = 30,
  MOST_LINES = 12;

/** The reading into an element; `change` corrects what is told, and `rounded` says whether counts are. */
export function showReading(reading, told, into, change, rounded) {
  into.replaceChildren(
    make("h2", {}, WORDS.howRead),
    make("p", { id: "line" }, make("b", {}, reading.line)),
    make("p", { className: "soft" }, WORDS.roles),
    ...corrections(reading, told, change),
    ...reading.sheets.flatMap((sheet) => sheetTable(sheet, reading, told, change)),
    ...questions(reading, change, rounded),
    ...symbolsOf(reading, told, change),
    ...tablesOf(reading, told, change),
    ...leftOut(reading),
    ...saidOf(reading),
  );
}

function corrections(reading, told, change) {
  if (!told.pairs().length) return [];
  const back = make("button", { type: "button", id: "back" }, WORDS.takeBack);
  back.addEventListener("click", () => change((own) => Object.assign(own, new own.constructor())));
  const names = reading.files.map(({ name }) => name);
  return [
    make(
      "div",
      { id: "corrections", className: "note" },
      make("p", {}, WORDS.asCommand),
      copied(commandOf("read", names, told.pairs()), "command"),
      ...(reading.changed.length
        ? [
            make("p", {}, WORDS.asLines),
            copied(reading.changed.slice(0, MOST_LINES).join("\n"), "lines"),
          ]
        : []),
      make("p", { className: "actions" }, back),
    ),
  ];
}

/** A text with a button that copies it. */
function copied(text, id) {
  const button = make("button", { type: "button" }, WORDS.copy);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = WORDS.copied;
    } catch {
      const all = document.createRange();
      all.selectNodeContents(document.getElementById(id));
      getSelection().removeAllRanges();
      getSelection().addRange(all);
    }
  });
  return make("div", { className: "copied" }, make("pre", { id }, text), button);
}

/** A sheet as it is printed: every cell by its role, the heads of columns and rows to be clicked. */
function sheetTable(sheet, reading, told, change) {
  const width = Math.max(0, ...sheet.rows.map(({ texts }) => texts.length)),
    letters = Array.from({ length: width }, (_, at) => letterOf(at));
  const tables = reading.tables.filter((own) => own.file === sheet.file && own.sheet === sheet.name && !own.cube);
  const columns = letters.map((letter) =>
    tables.map((own) => own.columns.find(({ name }) => name === letter)).find(Boolean),
  );
  const heads = letters.map((letter, at) => columnHead(letter, columns[at], told, change));
  const rows = sheet.rows.map((row, at) =>
    make(
      "tr",
      { className: `row-${row.role.replace(" ", "-") || "empty"}` },
      rowHead(row, at + 1, told, change),
      ...letters.map((_, column) => {
        const role = row.roles[column] ?? "";
        return make(
          "td",
          { className: `role-${role.replace(" ", "-")}`, title: role && `${role}: ${row.whys[column]}` },
          row.texts[column] ?? "",
        );
      }),
    ),
  );
  const cut = [
    sheet.height > sheet.rows.length ? WORDS.firstRows(sheet.rows.length, sheet.height) : "",
    sheet.width > width ? WORDS.firstColumns(width, sheet.width) : "",
  ].filter(Boolean);
  const several = reading.sheets.length > 1 ? [make("h3", {}, `${sheet.file}: ${sheet.name}`)] : [];
  return [
    ...several,
    wide(
      make(
        "table",
        { className: "sheet" },
        make("thead", {}, make("tr", {}, make("th"), ...heads)),
        make("tbody", {}, ...rows),
      ),
      WORDS.sheet(sheet.name),
    ),
    ...(cut.length ? [make("p", { className: "soft" }, WORDS.cut(cut))] : []),
    legend(),
  ];
}

const legend = () =>
  make(
    "p",
    { className: "legend" },
    ...["label", "count", "symbol", "percentage", "note", "left-out"].map((role) =>
      make("span", { className: `role-${role}` }, role.replace("-", " ")),
    ),
  );

function letterOf(at) {
  let name = "";
  for (let left = at + 1; left; left = Math.floor((left - 1) / 26))
    name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  return name;
}

function columnHead(letter, column, told, change) {
  const role = column?.role ?? "",
    said = told.columns.has(letter);
  const button = make(
    "button",
    { type: "button", className: "head", title: column ? `${role}: ${column.why}` : WORDS.outside },
    make("b", {}, letter),
    make("span", {}, role || "\u2013"),
  );
  button.setAttribute("aria-haspopup", "dialog");
  button.addEventListener("click", () =>
    openMenu(button, WORDS.column(letter, column?.head, role || WORDS.inNoTable), [
      ...[LABEL, COUNT, SKIP].map((own) => [
        WORDS.holds[own],
        () => change((all) => all.column(letter, own)),
        told.columns.get(letter) === own,
      ]),
      ...totalChoices(column?.total ? [column.total] : [], told, change),
      ...(said ? [[AS_READ, () => change((all) => all.column(letter, AS_READ)), false]] : []),
    ]),
  );
  return make("th", { scope: "col", className: said ? "told" : "" }, button);
}

function rowHead(row, number, told, change) {
  const said = told.rows.has(number),
    button = make(
      "button",
      { type: "button", className: "head", title: row.role || WORDS.empty },
      make("b", {}, `${number}`),
      make("span", {}, said ? WORDS.skipped : row.role || "\u2013"),
    );
  button.setAttribute("aria-haspopup", "dialog");
  button.addEventListener("click", () =>
    openMenu(button, WORDS.row(number, row.role || WORDS.empty), [
      ...(said ? [] : [[WORDS.leaveOut, () => change((all) => all.row(number, SKIP)), false]]),
      ...totalChoices(row.axes, told, change),
      ...(said ? [[AS_READ, () => change((all) => all.row(number, AS_READ)), false]] : []),
    ]),
  );
  return make("th", { scope: "row", className: said ? "told" : "" }, button);
}

/** Choices for a row or column that can be a total of an axis, or that was taken for one. */
function totalChoices(pairs, told, change) {
  return pairs.flatMap(([axis, label, recognised]) => {
    const chosen = told.totals.get(axis) === label,
      none = told.noTotals.has(label);
    return [
      [WORDS.isTotal(label, axis), () => change((all) => all.total(axis, label)), chosen],
      ...(chosen ? [[WORDS.totalAsRead(axis), () => change((all) => all.total(axis, null)), false]] : []),
      ...(recognised || none ? [[WORDS.notTotal(label), () => change((all) => all.noTotal(label, !none)), none]] : []),
    ];
  });
}

/** Choices beside what was clicked; Escape or a click elsewhere closes them. */
function openMenu(button, title, choices) {
  const menu = document.getElementById("menu");
  const close = () => {
    menu.hidden = true;
    document.removeEventListener("click", outside, true);
  };
  const outside = (event) => !menu.contains(event.target) && close();
  const items = choices.map(([text, act, chosen]) => {
    const item = make("button", { type: "button" }, `${chosen ? "\u2713 " : ""}${text}`);
    item.addEventListener("click", () => {
      close();
      act();
    });
    return item;
  });
  menu.replaceChildren(make("p", {}, title), ...items);
  menu.hidden = false;
  menu.setAttribute("aria-label", title);
  const at = button.getBoundingClientRect(),
    left = Math.max(8, Math.min(at.left, innerWidth - menu.offsetWidth - 8));
  menu.style.left = `${left + scrollX}px`;
  menu.style.top = `${at.bottom + scrollY + 4}px`;
  menu.onkeydown = (event) => {
    if (event.key !== "Escape") return;
    close();
    button.focus();
  };
  items[0]?.focus({ preventScroll: true });
  setTimeout(() => document.addEventListener("click", outside, true));
}

/** What the file does not decide: the option that answers, and where it can be, a button that gives it. */
function questions({ questions: asked }, change, rounded) {
  if (!asked.length) return [];
  const rest = asked.filter(([, option]) => !option.startsWith("--symbol"));
  if (!rest.length) return [];
  return [
    make("h3", {}, WORDS.questions),
    make(
      "ul",
      { id: "questions" },
      ...rest.slice(0, MOST_LINES).map(([text, option]) => {
        const total = /^--total '([^=]+)=(.*?)'(?:, --no-total |$)/s.exec(option),
          rule = /^--rule round=(\d+)/.exec(option);
        const choices = total
          ? [
              [WORDS.yesTotal, () => change((all) => all.total(total[1], total[2]))],
              [WORDS.noTotal, () => change((all) => all.noTotal(total[2]))],
            ]
          : rule
            ? [
                [WORDS.yesRounded(rule[1]), () => rounded(rule[1], true)],
                [WORDS.notRounded, () => rounded(rule[1], false)],
              ]
            : [];
        const buttons = choices.flatMap(([words, act]) => {
          const button = make("button", { type: "button" }, words);
          button.addEventListener("click", act);
          return [button, " "];
        });
        if (!buttons.length) buttons.push(make("span", { className: "soft" }, WORDS.ifSo(option)));
        return make("li", {}, `${text}. `, ...buttons);
      }),
    ),
  ];
}

/** Every symbol with its meaning and how that is known; what the file does not say is asked for. */
function symbolsOf({ symbols: met, like, blanks }, told, change) {
  const blank = {
    text: "blank",
    meaning: "missing",
    how: told.symbols.has("blank") ? "as given" : "suggested",
    said: "",
    cells: blanks,
  };
  const symbols = blanks ? [...met, blank] : met;
  if (!symbols.length && !like.length) return [];
  const fields = symbols.slice(0, 40).map(({ text, meaning, how, said, cells }) => {
    const id = `symbol ${text}`,
      open = isOffered(how);
    const chosen = told.symbols.get(text) ?? "",
      known = WORDS.meanings.some(([value]) => value === chosen);
    const first = open ? WORDS.isIt(meaning) : `${meaning} (${how}${said ? `: \u201c${said}\u201d` : ""})`;
    const choice = make(
      "select",
      { id },
      make("option", { value: "" }, how === "as given" ? AS_READ : first),
      ...WORDS.meanings.map(([value, words]) => make("option", { value }, words)),
    );
    const other = make("input", { type: "text", placeholder: "1-4, <5, >=3", hidden: true, ariaLabel: WORDS.rangeOf(text) });
    choice.value = chosen && !known ? "other" : chosen;
    other.value = chosen && !known ? chosen : "";
    other.hidden = choice.value !== "other";
    choice.addEventListener("change", () => {
      other.hidden = choice.value !== "other";
      if (other.hidden) change((all) => all.symbol(text, choice.value), id);
      else other.focus();
    });
    other.addEventListener("change", () => change((all) => all.symbol(text, other.value.trim()), id));
    const label = make("label", { htmlFor: id }, make("b", {}, text), WORDS.cellsOf(cells));
    return make("p", { className: "field" }, label, choice, other);
  });
  const more = like.slice(0, MOST_LINES).map(([text, often]) => `${text} (${often})`);
  return [
    make("h3", {}, WORDS.symbols),
    make(
      "fieldset",
      { id: "symbols" },
      make("legend", {}, WORDS.inPlace),
      ...fields,
      ...(symbols.length > 40 ? [make("p", { className: "soft" }, WORDS.more(symbols.length - 40))] : []),
    ),
    ...(more.length
      ? [make("p", { className: "soft" }, WORDS.likeSymbols(more))]
      : []),
  ];
}

function tablesOf({ tables }, told, change) {
  if (!tables.length) return [make("p", { className: "note" }, WORDS.noTable)];
  const more =
    tables.length > MOST_TABLES ? [make("p", { className: "soft" }, WORDS.more(tables.length - MOST_TABLES))] : [];
  return [
    make("h3", {}, WORDS.tables),
    ...tables.slice(0, MOST_TABLES).map((table, at) => tableOf(table, at, told, change)),
    ...more,
  ];
}

function tableOf(table, at, told, change) {
  const people = Object.entries(table.population).map(([name, text]) => `${name}: ${text}`);
  const rows = runsOf(table.columns).map(({ columns, role, why }) => {
    const [first, last] = [columns[0], columns.at(-1)];
    return make(
      "tr",
      {},
      make("th", { scope: "row" }, first === last ? first.name : `${first.name}\u2013${last.name}`),
      make("td", {}, make("span", { className: `role-${role.replace(" ", "-")}` }, role)),
      make("td", {}, short(columns.map(({ head }) => head).join(", "), 90)),
      make("td", { className: "soft" }, why),
    );
  });
  const title = [table.name, table.hidden ? WORDS.hiddenSheet : "", table.title ? `: ${short(table.title, 120)}` : ""];
  return make(
    "details",
    { open: at < 3, className: "read-table" },
    make("summary", {}, make("b", {}, title.join("")), WORDS.countsAndSymbols(table.cells)),
    wide(
      make(
        "table",
        {},
        make(
          "thead",
          {},
          make("tr", {}, ...WORDS.columnHeads.map((text) => make("th", { scope: "col" }, text))),
        ),
        make("tbody", {}, ...rows),
      ),
      WORDS.columnsOf(table.name),
    ),
    ...table.axes.map((axis) => axisOf(axis, told, change)),
    ...(people.length ? [make("p", { className: "soft" }, WORDS.of(people))] : []),
  );
}

/** Neighbouring columns of one role and reason together. */
function runsOf(columns) {
  const runs = [];
  for (const column of columns) {
    const last = runs.at(-1);
    if (last?.role === column.role && last.why === column.why) last.columns.push(column);
    else runs.push({ columns: [column], role: column.role, why: column.why });
  }
  return runs;
}

/** What a table counts by: its labels as a tree of what adds up to what, and a choice of another total. */
function axisOf(axis, told, change) {
  const id = `total ${axis.name}`,
    before = told.totals.get(axis.name);
  const choice = make(
    "select",
    { id },
    make("option", { value: "" }, axis.tree.length && before === undefined ? WORDS.asRecognised : AS_READ),
    ...axis.labels.slice(0, 400).map((label) => make("option", { value: `=${label}` }, short(label, 60) || WORDS.blank)),
  );
  choice.value = before === undefined ? "" : `=${before}`;
  choice.addEventListener("change", () =>
    change((all) => all.total(axis.name, choice.value ? choice.value.slice(1) : null), id),
  );
  const kind = WORDS.kinds[axis.kind] ?? axis.kind;
  return make(
    "div",
    { className: "axis" },
    make(
      "p",
      {},
      make("b", {}, WORDS.by(axis.name)),
      WORDS.labelsOf(axis.of, kind, short(axis.why ?? "", 200)),
    ),
    ...(axis.tree.length ? [treeOfAxis(axis)] : []),
    make("p", { className: "field" }, make("label", { htmlFor: id }, WORDS.totalOf(axis.name)), choice),
  );
}

/** Totals as trees: below every total its parts, and below these theirs. */
function treeOfAxis({ tree }) {
  const sets = new Map();
  for (const [parent, children] of tree.slice(0, 400)) sets.set(parent, [...(sets.get(parent) ?? []), children]);
  const parts = new Set(tree.flatMap(([, children]) => children));
  let sums = 0;
  const branch = (label, depth) => {
    const own = depth < 8 ? (sets.get(label) ?? []) : [];
    return make(
      "li",
      {},
      short(label, 80) || WORDS.blank,
      ...own.map((children) => {
        if (++sums > MOST_SUMS) return make("span", { className: "soft" }, WORDS.parts(children.length));
        const more = children.length - MOST_CHILDREN;
        const shown = children.slice(0, MOST_CHILDREN).map((child) => branch(child, depth + 1));
        return make("ul", {}, ...shown, ...(more > 0 ? [make("li", { className: "soft" }, WORDS.more(more))] : []));
      }),
    );
  };
  const tops = [...sets.keys()].filter((parent) => !parts.has(parent));
  return make("ul", { className: "tree" }, ...tops.slice(0, MOST_SUMS).map((top) => branch(top, 0)));
}

function leftOut({ left_out: left }) {
  if (!left.length) return [];
  const lines = left
    .slice(0, MOST_LINES)
    .map(([where, cells, why, remedy]) =>
      make("li", {}, WORDS.leftOutLine(where, cells, why, remedy)),
    );
  const more = left.length - MOST_LINES;
  return [
    make("h3", {}, WORDS.leftOut),
    make("ul", { id: "left" }, ...lines, ...(more > 0 ? [make("li", {}, WORDS.moreReasons(more))] : [])),
  ];
}

function saidOf(reading) {
  const save = make("button", { type: "button" }, "reading.yaml");
  save.addEventListener("click", () => download("reading.yaml", new Blob([reading.reading_file], { type: "text/yaml" })));
  return [
    ...(reading.said.length ? [make("p", { className: "soft" }, reading.said.join(". "))] : []),
    make("p", { className: "actions" }, WORDS.saveReading, save),
  ];
}

/** Highlight the cells of the sheets at these places, as the library names them: file, and column with row. */
export function showClash(places, sheets, into) {
  const tables = [...into.querySelectorAll("table.sheet")];
  sheets.forEach((sheet, at) => {
    for (const place of places) {
      const found = /^(.*?)([A-Z]+)(\d+)$/.exec(place),
        alone = sheets.filter(({ file }) => file === sheet.file).length === 1;
      if (!found || !place.startsWith(sheet.file) || (!alone && !found[1].includes(sheet.name))) continue;
      const column = [...found[2]].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0);
      tables[at]?.tBodies[0].rows[Number(found[3]) - 1]?.cells[column]?.classList.add("clash");
    }
  });
}

/** Save something under a name. */
export function download(name, blob) {
  const address = URL.createObjectURL(blob),
    link = make("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

const short = (text, most) => (text.length > most ? `${text.slice(0, most)}\u2026` : text);
