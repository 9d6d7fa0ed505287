// From a text to tables, to a system: what the page does before anything is solved.
import { tablesOf } from "./grid.js";
import { link } from "./link.js";
import { completeMarks, valueOf } from "./marks.js";
import { Problem } from "./problem.js";
import { gridOf } from "./text.js";
import { isTidy, tidyTables } from "./tidy.js";

const MOST_CELLS = 5000;

/** The tables of a pasted or dropped text; `named` says of a column which label is the total. */
export function readText(text, name = "table", source = name, named = {}) {
  const { grid, how } = gridOf(text, source);
  const tables = (isTidy(grid) ? tidyTables : tablesOf)(grid, name, source, named);
  const cells = tables.reduce((sum, table) => sum + table.entries.size, 0);
  if (cells > MOST_CELLS)
    throw new Problem(
      `${source}: ${cells} cells are too many for this page (at most ${MOST_CELLS}); use the command genverify disclose`,
    );
  return tables.map((table) => ({ ...table, notes: [...table.notes, how] }));
}

/** The system of tables whose marks mean what was told, and whose numbers were treated by a rule. */
export function understand(tables, told, rule) {
  const marks = completeMarks(tables, told);
  const values = tables.map((table) => [...table.entries.values()].map((entry) => valueOf(entry, marks.meanings, rule)));
  return { tables, marks, rule, linked: link(tables, values) };
}
