// A whole audit: a text and what was told about it, in; the checked answer out.
import { settle } from "./answer.js";
import { ruleOf } from "./marks.js";
import { readText, understand } from "./read.js";
import { solve } from "./solver.js";

/** What a text gives away. `told`: marks, totals, rounding, base, suppress, seconds, name. */
export async function audit(text, told = {}, say = () => {}) {
  const tables = readText(text, told.name ?? "table", told.source ?? told.name ?? "table", told.totals ?? {});
  const rule = ruleOf(told.rounding ?? "none", told.base ?? 1, told.suppress ?? 0);
  const understood = understand(tables, told.marks ?? {}, rule), { linked } = understood;
  const place = new Map(linked.sums.cells.map((cell, at) => [cell, at]));
  const wanted = [...linked.printed.keys()].map((cell) => place.get(cell));
  const found = await solve(linked.sums, wanted, told.seconds ?? 60, say);
  return settle(understood, found);
}
