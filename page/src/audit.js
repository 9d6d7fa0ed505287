// A whole audit: a text and what was told about it, in; the checked answer out.
import { settle } from "./answer.js";
import { ruleOf } from "./marks.js";
import { Problem } from "./problem.js";
import { readText, understand } from "./read.js";
import { solve } from "./solver.js";

/** What a text says. `told`: marks, totals, rounding, base, suppress, name. */
export function read(text, told) {
  const name = told.name ?? "table",
    tables = readText(text, name, name, told.totals ?? {});
  const lost = Object.keys(told.totals ?? {}).find((column) => !tables.some((table) => table.columns.includes(column)));
  if (lost !== undefined) throw new Problem(`${name}: a total of ${lost} is told, but no table has that column`);
  return understand(tables, told.marks ?? {}, ruleOf(told.rounding ?? "none", told.base ?? 1, told.suppress ?? 0));
}

/** What a text gives away, found within `told.seconds` and checked; `say` hears how far the search is. */
export async function audit(text, told = {}, say = () => {}) {
  const understood = read(text, told),
    { linked } = understood;
  const place = new Map(linked.sums.cells.map((cell, at) => [cell, at]));
  const wanted = [...linked.printed.keys()].map((cell) => place.get(cell));
  const found = await solve(linked.sums, wanted, told.seconds ?? 60, say);
  return settle(understood, found);
}
