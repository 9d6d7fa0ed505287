// Printed tables in one system of sums: cells that two tables share are one cell, and every total is the sum of its parts.
import { joined, labelsOf, spelled } from "./model.js";
import { Problem } from "./problem.js";
import { byInterval } from "./bands.js";

const ALL = "";
const LARGEST_JOINT = 20000,
  MOST_UNFOLDED = 100000; // cells of all combinations of labels, over all tables: beyond, a page would stand still
const COMMON = new Set(["yes", "no", "true", "false", "0", "1", "other", "unknown"]);
const EVERYONE = "everyone";

/** A cell's name, from pairs of a column and a label: other pairs, another name. */
function nameOf(key) {
  const sorted = [...key].sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
  return sorted.map(([column, label]) => `${spelled(column)}=${spelled(label)}`).join(", ") || EVERYONE;
}

/** One system of all tables; `values` says what each text means, a list for each table in the order of its entries. */
export function link(tables, values) {
  const { columns, names, assumed } = columnsOf(tables);
  const placed = tables.map((table, at) => place(table, names[at]));
  const printed = new Map();
  placed.forEach((one, at) =>
    [...one.table.entries.values()].forEach((entry, number) => {
      const cell = one.cells.get(joined(entry.labels));
      if (!printed.has(cell)) printed.set(cell, []);
      printed.get(cell).push({ table: one.table, entry, value: values[at][number] });
    }),
  );
  const { frames, joint } = framesOf(placed, columns);
  const rows = new Map(rowsOf(frames, columns)); // two tables can give the same row
  const cells = new Set([...printed.keys(), ...[...rows.values()].flatMap((row) => [...row.keys()])]);
  const sums = systemOf(
    [...cells].map((cell) => [cell, endsOf(printed.get(cell) ?? [])]),
    rows,
  );
  if (tables.length > 1) assumed.push(`these ${tables.length} tables count the same people`);
  return { placed, printed, sums, joint, assumed, unsaid: unsaidOf(tables) };
}

/** How many combinations of a table's labels it does not print at all: they may be any count, or may not occur. */
function unsaidOf(tables) {
  const missing = (table) =>
    table.columns.reduce((size, column) => size * labelsOf(table, column).length, 1) - table.entries.size;
  return tables.reduce((sum, table) => sum + missing(table), 0);
}

/** The system as plain arrays: what a checker and a solver read, and what is saved. */
function systemOf(cells, rows) {
  const place = new Map(cells.map(([name], at) => [name, at]));
  const sums = {
    cells: cells.map(([name]) => name),
    rows: [...rows.keys()],
    lo: cells.map(([, ends]) => ends[0]),
    hi: cells.map(([, ends]) => ends[1]),
    start: [0],
    columns: [],
    weights: [],
    least: [],
    most: [],
  };
  for (const weights of rows.values()) {
    for (const [cell, weight] of weights) {
      sums.columns.push(place.get(cell));
      sums.weights.push(weight);
    }
    sums.start.push(sums.columns.length);
    sums.least.push(0);
    sums.most.push(0);
  }
  return sums;
}

/** What all texts of one cell say together, without an upper end where nobody printed one; an error where two disagree. */
function endsOf(said) {
  const top = ({ value }) => value.hi ?? Infinity;
  const lo = Math.max(0, ...said.map(({ value }) => value.lo)),
    hi = Math.min(Infinity, ...said.map(top));
  if (lo > hi) {
    const first = said.reduce((a, b) => (b.value.lo > a.value.lo ? b : a)),
      second = said.reduce((a, b) => (top(b) < top(a) ? b : a));
    throw new Problem(
      `${first.entry.place} prints ${first.entry.text || "blank"} and ${second.entry.place} prints ` +
        `${second.entry.text || "blank"} of the same people; correct one, or the rule`,
    );
  }
  return [lo, hi];
}

/** The columns of all tables; two are one where they have one name, or, one without a name, the same labels. */
function columnsOf(tables) {
  const columns = new Map(),
    names = [],
    assumed = [];
  for (const table of tables) {
    const own = new Map();
    for (const column of table.columns) {
      const tops = topsOf(table, column),
        labels = labelsOf(table, column).filter((label) => !tops.includes(label));
      const name = same(columns, column, labels) ?? free(columns, column);
      if (name !== column && columns.has(name))
        assumed.push(`${table.name}: ${column} is taken for ${name}, which has the same labels`);
      own.set(column, name);
      if (!columns.has(name)) columns.set(name, { name, labels: new Set(), sums: new Map(), untold: new Map() });
      const known = columns.get(name);
      labels.forEach((label) => known.labels.add(label));
      for (const [parent, children] of table.sums.get(column) ?? [])
        put(known, tops.includes(parent) ? ALL : parent, children);
      const inner = new Set((table.sums.get(column) ?? []).flatMap(([, children]) => children)),
        outer = labels.filter((label) => !inner.has(label));
      if (!tops.length && !known.untold.has(joined(outer)))
        known.untold.set(joined(outer), { outer, where: `${table.name}: ${column}` });
    }
    names.push(own);
  }
  for (const known of columns.values()) complete(known, assumed);
  return { columns, names, assumed };
}

/** The labels of tables without a total cover everyone where no table says what does; an error where sets differ. */
function complete(column, assumed) {
  for (const [parent, children] of byInterval([...column.labels])) put(column, parent, children);
  if (!column.sums.has(ALL))
    for (const { outer, where } of column.untold.values()) {
      put(column, ALL, outer);
      assumed.push(`${where} has no total; its ${outer.length} labels are taken to cover everyone`);
    }
  if (!oneSetOfParts(column))
    throw new Problem(
      `two tables have other labels of ${column.name}, and both sets are said to cover everyone: then what ` +
        "is in one only would be 0. Put the tables in one by one, or give them the same labels",
    );
}

/** Another set of parts of a label; each set once. */
function put(column, parent, children) {
  if (!column.sums.has(parent)) column.sums.set(parent, new Map());
  column.sums.get(parent).set(joined(children), children);
}

/** The labels that mean everyone: totals that are part of no other. */
function topsOf(table, column) {
  const sums = table.sums.get(column) ?? [],
    parts = new Set(sums.flatMap(([, children]) => children));
  const labels = labelsOf(table, column);
  return sums.map(([parent]) => parent).filter((parent) => !parts.has(parent) && covers(parent, sums, labels));
}

/** Whether a label adds up, over some levels, every finest label. */
function covers(parent, sums, labels) {
  const parents = new Map(sums),
    inside = new Set(),
    open = [parent];
  while (open.length) {
    const label = open.pop();
    inside.add(label);
    open.push(...(parents.get(label) ?? []).filter((child) => !inside.has(child)));
  }
  return labels.every((label) => parents.has(label) || inside.has(label));
}

/** Whether everyone is made up of one set of finest labels, however it is added up. */
function oneSetOfParts({ sums }) {
  const finest = (labels) =>
    labels.flatMap((label) => (sums.has(label) ? finest(sums.get(label).values().next().value) : [label]));
  const sets = [...(sums.get(ALL)?.values() ?? [])].map((children) => finest(children).sort());
  return sets.every((own) => new Set(own).size === own.length && joined(own) === joined(sets[0]));
}

const anonymous = (name) => ["rows", "columns"].includes(name.replace(/[0-9 ()]+$/, ""));

function same(columns, name, labels) {
  const folded = (texts) => joined([...new Set([...texts].map((text) => text.toLowerCase()))].sort());
  for (const known of columns.keys()) if (known.toLowerCase() === name.toLowerCase() && !anonymous(name)) return known;
  if (labels.every((label) => COMMON.has(label.toLowerCase()))) return undefined;
  for (const [known, column] of columns)
    if (folded(labels) === folded(column.labels) && (anonymous(name) || anonymous(known))) return known;
  return undefined;
}

function free(columns, name) {
  let own = name;
  for (let number = 2; columns.has(own); number++) own = `${name} ${number}`;
  return own;
}

/** A table in the system: the labels of its columns there, and the cell of every entry. */
function place(table, names) {
  const tops = table.columns.map((column) => topsOf(table, column));
  const labels = new Map(
    table.columns.map((column, at) => [
      names.get(column),
      labelsOf(table, column).filter((label) => !tops[at].includes(label)),
    ]),
  );
  const cells = new Map(
    [...table.entries.values()].map((entry) => {
      const parts = table.columns.map((column, at) => [names.get(column), entry.labels[at]]);
      return [joined(entry.labels), nameOf(parts.filter(([, label], at) => !tops[at].includes(label)))];
    }),
  );
  return { table, labels, cells };
}

const sizeOf = (frame) => [...frame.values()].reduce((size, labels) => size * (labels.length + 1), 1);

/** The sets of columns, with labels, over which rows are written; and whether they leave no circle open. */
function framesOf(placed, columns) {
  const frames = placed.map((one) => one.labels);
  placed.forEach((one, at) =>
    placed.slice(at + 1).forEach((other) => {
      const shared = [...one.labels.keys()].filter((column) => other.labels.has(column));
      frames.push(new Map(shared.map((c) => [c, [...new Set([...one.labels.get(c), ...other.labels.get(c)])]])));
    }),
  );
  if (frames.reduce((sum, frame) => sum + sizeOf(frame), 0) > MOST_UNFOLDED)
    throw new Problem(
      `these ${placed.length} tables share too many combinations of labels for this page; put them in one by one`,
    );
  const circle = circleOf(placed.map((one) => new Set(one.labels.keys())));
  if (!circle.size) return { frames, joint: true };
  const joint = new Map([...circle].sort().map((column) => [column, [...columns.get(column).labels]]));
  if (sizeOf(joint) > LARGEST_JOINT) return { frames, joint: false };
  return { frames: [...frames, joint], joint: true };
}

/** The columns that are left when columns of one set alone and sets inside others are taken away in turn (Graham). */
function circleOf(sets) {
  const within = (own, other) => [...own].every((column) => other.has(column));
  const inside = (own, at, all) =>
    all.some((other, place) => place !== at && within(own, other) && (own.size < other.size || at > place));
  for (let left = sets; ;) {
    const before = JSON.stringify(left.map((own) => [...own]));
    left = left.map((own) => new Set([...own].filter((column) => left.filter((other) => other.has(column)).length > 1)));
    left = left.filter((own, at, all) => own.size && !inside(own, at, all));
    if (JSON.stringify(left.map((own) => [...own])) === before) return new Set(left.flatMap((own) => [...own]));
  }
}

/** Every total as a row: it less its parts is 0. A row has the name of its total and of the column that is added up. */
function* rowsOf(frames, columns) {
  for (const frame of frames) {
    for (const [column, labels] of frame) {
      const others = [...frame]
        .filter(([other]) => other !== column)
        .map(([other, own]) => [...own, ALL].map((label) => [other, label]));
      for (const [parent, number, children] of setsOf(columns.get(column))) {
        if (!children.every((child) => labels.includes(child)) || (parent !== ALL && !labels.includes(parent))) continue;
        for (const rest of product(others))
          yield rowOf(
            column,
            parent,
            children,
            number,
            rest.filter(([, label]) => label !== ALL),
          );
      }
    }
  }
}

const setsOf = ({ sums }) =>
  [...sums].flatMap(([parent, sets]) => [...sets.values()].map((children, number) => [parent, number, children]));

function* product(lists) {
  if (!lists.length) yield [];
  else for (const first of lists[0]) for (const rest of product(lists.slice(1))) yield [first, ...rest];
}

function rowOf(column, parent, children, number, base) {
  // another set of parts of the same total may be listed alike: it has a number
  const total = nameOf(parent === ALL ? base : [...base, [column, parent]]);
  const names = children.map(spelled),
    listed = names.length <= 4 ? names : [...names.slice(0, 2), `... ${names.length} in all ...`, names.at(-1)];
  const weights = new Map([[total, -1], ...children.map((child) => [nameOf([...base, [column, child]]), 1])]);
  return [`${total} = sum over ${spelled(column)} (${listed.join(", ")})${number ? ` [${number + 1}]` : ""}`, weights];
}
