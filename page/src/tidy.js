// Tidy tables: a line for every cell with its labels and its count.
import { isStatistic, isValue, joined, LIMIT, looksHidden, makeTable, numberOf } from "./model.js";
import { Problem } from "./problem.js";
import { findTotals } from "./totals.js";

const VALUES = [
  "obs_value",
  "count",
  "counts",
  "value",
  "n",
  "freq",
  "frequency",
  "number",
  "households",
  "persons",
  "people",
];
const FLAGS = ["conf_status", "obs_status", "status", "flag", "flags", "obs_flag"];
const APART = ["variable", "table", "dataset", "structure_id", "structure"]; // one table for each of its values
const IGNORED = [
  "dataflow",
  "structure",
  "structure_id",
  "action",
  "freq",
  "unit_measure",
  "unit_mult",
  "decimals",
  ...FLAGS,
];
const OPEN = ["", "A", "F", "E", "P", "R"]; // what a status says of a count that may be seen: normal, free, estimated, ...

/**
 * Whether a grid has a line for every cell: a column called so holds the values, and all others are labels. A column of
 * numbers is one of labels (a year) only where the words beside it do not tell the lines apart already; with marks, never.
 */
export function isTidy(grid, source) {
  const head = grid[0].map((text) => text.toLowerCase()),
    value = valueColumn(head);
  const rows = grid.slice(1).filter((row) => row.some(Boolean));
  if (value < 0 || head.length < 2 || !rows.length || rows.some((row) => row.length !== head.length)) return false;
  if (head[value] === "obs_value") return true;
  if (new Set(head).size < head.length) return false;
  const others = head.map((_, at) => at).filter((at) => at !== value && !isIgnored(head[at]));
  const numeric = (text) => numberOf(text) !== null,
    texts = (at) => rows.map((row) => row[at]);
  const words = others.filter((at) => !texts(at).some(numeric) && (!texts(at).every(isValue) || isLetters(texts(at)))),
    numbers = others.filter((at) => !words.includes(at));
  if (!others.length || (!words.length && others.length > 1)) return false;
  const apart = (labels) => new Set(rows.map((row) => joined(labels.map((at) => row[at])))).size === rows.length;
  if (!numbers.length || (apart(words) && words.length)) return !numbers.length;
  const marked = numbers.findLast(
    (at) =>
      texts(at).some((text) => looksHidden(text) || LIMIT.test(text)) ||
      (numbers.length > 1 && apart(others.filter((other) => other !== at))),
  );
  if (marked !== undefined)
    throw new Problem(
      `${source}: column ${grid[0][marked]} can hold counts or labels; take it out, give each row a label of its own ` +
        "if they are counts, write words if they are labels",
    );
  return true;
}

const isIgnored = (head) => IGNORED.includes(head) || isStatistic(head);

/** Whether a column holds letters that tell lines apart: sex as f and m. */
const isLetters = (texts) => texts.every((text) => /^[A-Za-z]+$/.test(text)) && new Set(texts).size > 1;

/** The column of the values by its name: the first of the usual names that is there. */
function valueColumn(head) {
  const name = VALUES.find((own) => head.includes(own));
  return name === undefined ? -1 : head.indexOf(name);
}

/** The tables of a tidy grid: one, or one for each value of a column called table or variable. */
export function tidyTables(grid, name, source, named) {
  const head = grid[0].map((text) => text.toLowerCase()),
    value = valueColumn(head);
  const flag = head.findIndex((_, at) => head[at] === FLAGS.find((known) => head.includes(known)));
  const apart = head.findIndex((own) => APART.includes(own));
  const rows = grid
    .map((row, at) => ({ row, line: at + 1 }))
    .slice(1)
    .filter(({ row }) => row.some(Boolean));
  let labels = head.map((_, at) => at).filter((at) => at !== value && at !== apart && !isIgnored(head[at]));
  const constant = labels.filter((at) => new Set(rows.map(({ row }) => row[at])).size === 1);
  const varied = labels.filter((at) => !constant.includes(at));
  labels = varied.length ? varied : labels.slice(0, 1);
  const columns = labels.map((at) => grid[0][at]);
  const parts = apart < 0 ? [""] : [...new Set(rows.map(({ row }) => row[apart]))];
  return parts.map((part) => {
    const own = rows.filter(({ row }) => apart < 0 || row[apart] === part);
    const entries = own.map(({ row, line }) => entryOf(row, labels, value, flag, `${source}, line ${line}`));
    const table = makeTable(part || name, source, columns, entries);
    table.notes.push(`a line for each cell; counts in ${grid[0][value]}`);
    if (constant.length)
      table.notes.push(`the same in every line: ${constant.map((at) => `${grid[0][at]} = ${rows[0].row[at]}`).join(", ")}`);
    table.left.push(...unread(head, grid[0], own, flag));
    return findTotals(table, named);
  });
}

/** The columns that nothing was made of although they say something: percentages, rates, a status beside another. */
function unread(head, names, rows, flag) {
  const said = (at) =>
    new Set(rows.map(({ row }) => row[at]).filter((text) => !FLAGS.includes(head[at]) || !OPEN.includes(text)));
  return head
    .map((_, at) => at)
    .filter(
      (at) =>
        isIgnored(head[at]) && at !== flag && said(at).size > (FLAGS.includes(head[at]) || isStatistic(head[at]) ? 0 : 1),
    )
    .map((at) => ({
      cells: rows.filter(({ row }) => row[at]).length,
      what: `${isStatistic(head[at]) ? "percentages or rates in " : ""}column ${names[at]}`,
    }));
}

/** The text of a value with its labels; where it is not there or NaN, the status says why. */
function entryOf(row, labels, value, flag, place) {
  const texts = labels.map((at) => row[at]);
  let text = row[value];
  if (flag >= 0 && !OPEN.includes(row[flag]) && (!text || text.toLowerCase() === "nan")) text = `status ${row[flag]}`;
  if (flag >= 0 && !OPEN.includes(row[flag]) && numberOf(text) === 0)
    throw new Problem(
      `${place}: is 0 a count here, or does the status ${row[flag]} say that it is withheld? Leave it blank, or the status`,
    );
  return { labels: texts, text, place };
}
