// Tidy tables: a line for every cell with its labels and its count.
import { isValue, makeTable } from "./model.js";
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

/** Whether a grid has a line for every cell: a column called so holds the values, and another one repeats itself. */
export function isTidy(grid) {
  const head = grid[0].map((text) => text.toLowerCase()),
    value = valueColumn(head);
  const rows = grid.slice(1).filter((row) => row.some(Boolean));
  if (value < 0 || head.length < 2 || !rows.length || rows.some((row) => row.length !== head.length)) return false;
  if (head[value] === "obs_value") return true;
  const others = head.map((_, at) => at).filter((at) => at !== value && !FLAGS.includes(head[at]));
  const numeric = others.filter((at) => rows.every((row) => /^\d+$/.test(row[at]) || isValue(row[at])));
  return (others.length > 1 && numeric.length < others.length) || (others.length === 1 && head.length <= 3);
}

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
  let labels = head.map((_, at) => at).filter((at) => at !== value && at !== apart && !IGNORED.includes(head[at]));
  const constant = labels.filter((at) => new Set(rows.map(({ row }) => row[at])).size === 1);
  const varied = labels.filter((at) => !constant.includes(at));
  labels = varied.length ? varied : labels.slice(0, 1);
  const columns = labels.map((at) => grid[0][at]);
  const parts = apart < 0 ? [""] : [...new Set(rows.map(({ row }) => row[apart]))];
  return parts.map((part) => {
    const own = rows.filter(({ row }) => apart < 0 || row[apart] === part);
    const entries = own.map(({ row, line }) => entryOf(row, labels, columns, value, flag, `${source}, line ${line}`));
    const table = makeTable(part || name, source, columns, entries);
    table.notes.push(`a line for each cell; counts in ${grid[0][value]}`);
    if (constant.length)
      table.notes.push(`the same in every line: ${constant.map((at) => `${grid[0][at]} = ${rows[0].row[at]}`).join(", ")}`);
    return findTotals(table, named);
  });
}

/** The text of a value with its labels; where it is not there or NaN, the status says why. */
function entryOf(row, labels, columns, value, flag, place) {
  const texts = labels.map((at) => row[at]);
  let text = row[value];
  if (flag >= 0 && !OPEN.includes(row[flag]) && (!text || text.toLowerCase() === "nan")) text = `status ${row[flag]}`;
  if (text && !isValue(text) && !text.startsWith("status "))
    throw new Problem(`${place}: the value ${text} is neither a number nor a mark`);
  if (texts.includes("")) throw new Problem(`${place}: ${columns[texts.indexOf("")]} is empty; every line needs its labels`);
  return { labels: texts, text, place };
}
