// From a text to tables, to a system: what the page does before anything is solved.
import { tablesOf } from "./grid.js";
import { link } from "./link.js";
import { completeMarks, valueOf } from "./marks.js";
import { labelsOf } from "./model.js";
import { Problem } from "./problem.js";
import { gridOf } from "./text.js";
import { isTidy, tidyTables } from "./tidy.js";

const MOST_CELLS = 5000,
  MOST_TABLES = 60, // each is linked with each
  MOST_UNFOLDED_OF_ONE = 20000; // all combinations of labels: what is not printed becomes a cell too
const YEAR = /\b(?:19|20)\d\d\b/g;
const TIME = /^(year|quarter|month|week|day|date|time|period|time_period)s?$/i;

/** The tables of a pasted or dropped text; `named` says of a column which label is the total. */
export function readText(text, name = "table", source = name, named = {}) {
  const { grid, how } = gridOf(text, source);
  const tables = (isTidy(grid, source) ? tidyTables : tablesOf)(grid, name, source, named);
  const cells = tables.reduce((sum, table) => sum + table.entries.size, 0);
  if (cells > MOST_CELLS)
    throw new Problem(
      `${source}: ${cells} cells are too many for this page (at most ${MOST_CELLS}); use the command genverify disclose`,
    );
  if (tables.length > MOST_TABLES)
    throw new Problem(
      `${source}: ${tables.length} tables are too many for this page (at most ${MOST_TABLES}); take some out`,
    );
  tables.forEach(checkSize);
  checkPeriods(tables, source);
  return tables.map((table) => ({ ...table, notes: [...table.notes, how] }));
}

/** An error, before anything is unfolded, where the labels of a table have too many combinations. */
function checkSize(table) {
  const sizes = table.columns.map((column) => [column, labelsOf(table, column).length]).sort((a, b) => b[1] - a[1]);
  if (sizes.reduce((size, [, own]) => size * own, 1) <= MOST_UNFOLDED_OF_ONE) return;
  const most = sizes.slice(0, 4).map(([column, own]) => `${column} (${own} labels)`);
  throw new Problem(
    `${table.source}: table ${table.name}: all combinations of ${most.join(" x ")} are too many cells for this page ` +
      `(at most ${MOST_UNFOLDED_OF_ONE}). If one column only names another (a code and its name), take one out`,
  );
}

/** An error where tables speak of other years: one model would take them for tables of the same people. */
function checkPeriods(tables, source) {
  const dated = tables.map((table) => {
    const columns = table.columns.filter((column) => TIME.test(column) || labelsOf(table, column).every(isYear));
    const said = [
      table.name === source ? "" : table.name,
      table.title,
      ...table.columns,
      ...columns.flatMap((column) => labelsOf(table, column)),
    ];
    return { table, columns, years: [...new Set(said.join(" ").match(YEAR) ?? [])].sort() };
  });
  for (const one of dated)
    for (const other of dated) {
      const years = one.years.length && other.years.length && one.years.join() !== other.years.join();
      if (one === other || (!years && one.columns.length <= other.columns.length)) continue;
      throw new Problem(
        `${source}: table ${one.table.name} is about ${one.years.join(", ") || one.columns.join(", ")}, ` +
          `table ${other.table.name} about ${other.years.join(", ") || "no period"}: they may count other ` +
          "people. Put them in one by one",
      );
    }
}

const isYear = (label) => /^(19|20)\d\d$/.test(label);

/** The system of tables whose marks mean what was told, and whose numbers were treated by a rule. */
export function understand(tables, told, rule) {
  const asked = tables.flatMap((table) => table.asked);
  if (asked.length) throw new Problem(asked[0]);
  const marks = completeMarks(tables, told);
  const values = tables.map((table) => [...table.entries.values()].map((entry) => valueOf(entry, marks.meanings, rule)));
  return { tables, marks, rule, linked: link(tables, values) };
}
