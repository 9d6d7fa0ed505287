// A whole audit: the tables of a reading and what was told about their numbers, in; the checked answer out.
import { linesOf, settle, summaryOf } from "./answer.js";
import { cellsCsv, digestOf, proofsText, systemText } from "./files.js";
import { link } from "./link.js";
import { labelsOf, tableOfCounts } from "./model.js";
import { Problem } from "./problem.js";
import { solve } from "./solve/highs.js";
import { ruleOf, symbolValues, valueOf } from "./values.js";
import { whyOf } from "./why.js";
import { withhold } from "./withhold.js";

const MOST_CELLS = 5000,
  MOST_TABLES = 60, // each is linked with each
  MOST_UNFOLDED_OF_ONE = 20000, // all combinations of labels: what is not printed becomes a cell too
  MOST_WHY = 20;

/** The system of the tables of a reading. `told`: rounding, base, suppress. */
export function understand({ tables: given, symbols, left }, told) {
  const tables = given.map(tableOfCounts),
    cells = tables.reduce((sum, table) => sum + table.entries.size, 0);
  if (!cells) throw new Problem("no counts were read: click the head of a column that holds counts");
  if (cells > MOST_CELLS)
    throw new Problem(`${cells} counts are too many for this page (at most ${MOST_CELLS}); use the command genverify disclose`);
  if (tables.length > MOST_TABLES)
    throw new Problem(`${tables.length} tables are too many for this page (at most ${MOST_TABLES}); take some out`);
  tables.forEach(checkSize);
  const rule = ruleOf(told.rounding ?? "none", told.base ?? 1, told.suppress ?? 0),
    meanings = symbolValues(tables, symbols);
  const values = tables.map((table) => [...table.entries.values()].map((entry) => valueOf(entry, meanings, rule)));
  return { tables, symbols, meanings, rule, left, linked: link(tables, values) };
}

/** An error, before anything is unfolded, where the labels of a table have too many combinations. */
function checkSize(table) {
  const sizes = table.columns.map((column) => [column, labelsOf(table, column).length]).sort((a, b) => b[1] - a[1]);
  if (sizes.reduce((size, [, own]) => size * own, 1) <= MOST_UNFOLDED_OF_ONE) return;
  const most = sizes.slice(0, 4).map(([column, own]) => `${column} (${own} labels)`);
  throw new Problem(
    `${table.name}: all combinations of ${most.join(" x ")} are too many cells for this page ` +
      `(at most ${MOST_UNFOLDED_OF_ONE}). Leave a column out, or use the command genverify disclose`,
  );
}

/** What the tables of a reading give away, found within `told.seconds` and checked; `say` hears how far the search is. */
export async function audit(reading, told = {}, say = () => {}) {
  const understood = understand(reading, told),
    { linked } = understood;
  const place = new Map(linked.sums.cells.map((cell, at) => [cell, at]));
  const wanted = [...linked.printed.keys()].map((cell) => place.get(cell));
  return settle(understood, await solve(linked.sums, wanted, told.seconds ?? 60, say));
}

let last = null; // the answer of the last audit, to which the page's further questions are

/** The tasks of the thread, by the name under which the page asks for them; what they hand back can be sent. */
export const TASKS = {
  async audit({ reading, told }, say) {
    const answer = (last = await audit(reading, told, say));
    const exact = answer.cells.filter((cell) => cell.unclear && cell.exact);
    return {
      lines: linesOf(answer),
      summary: summaryOf(answer.understood),
      counts: answer.counts,
      cells: answer.cells,
      left: answer.left,
      safe: answer.safe,
      limit: answer.limit,
      accepted: answer.accepted,
      unsaid: answer.linked.unsaid,
      placed: answer.linked.placed.map(({ table, cells }) => ({ table, cells })),
      reasons: exact.slice(0, MOST_WHY).map((cell) => whyOf(answer, cell.cell)),
    };
  },
  withhold: async ({ seconds }) => (last ? withhold(last, seconds) : null),
  async files() {
    return { cells: cellsCsv(last), system: systemText(last.sums), proofs: await proofsText(last) };
  },
  /** For tests: the system and statements of an audit, a digest, a solution, a check. */
  async system({ reading, told }) {
    const { sums } = understand(reading, told).linked;
    return { sums, digest: await digestOf(sums) };
  },
  proofs: async () => ({ system: last.sums, digest: await digestOf(last.sums), statements: last.statements }),
  solve: ({ sums, wanted, seconds }, say) => solve(sums, wanted, seconds, say),
};
