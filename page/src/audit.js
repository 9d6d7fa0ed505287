// A whole audit: the system that the reader made of the tables, in; the checked answer out.
import { linesOf, settle } from "./answer.js";
import { Contradiction, failingRows, withoutRows } from "./contradiction.js";
import { cellsCsv, digestOf, proofsText, systemText } from "./files.js";
import { solve } from "./solve/highs.js";
import { forcingCells, whyOf } from "./why.js";
import { suppressMore } from "./suppress.js";

const MOST_WHY = 20;
// sums that are left out: so many, or one of so many, as in the library; tables with more are not what they were read as
const FEW_CONTRADICTORY = 200;
const LARGEST_SHARE = 10;

/** The system as the solver and the checker take it: an end that nobody printed is infinite. */
export function linkedOf({ sums, printed, placed, ...rest }) {
  const open = (ends, none) => ends.map((end) => end ?? none);
  return {
    ...rest,
    placed,
    sums: { ...sums, hi: open(sums.hi, Infinity), least: open(sums.least, -Infinity), most: open(sums.most, Infinity) },
    printed: new Map(
      printed.map(([cell, said]) => [
        cell,
        said.map(([table, text, place, lo, hi, hidden]) => ({ table, text, place, value: { lo, hi, hidden } })),
      ]),
    ),
    unsaid: placed.reduce((sum, table) => sum + unsaidOf(table), 0),
  };
}

/** How many combinations of a table's labels it does not print at all: they may be any count, or may not occur. */
function unsaidOf({ columns, entries }) {
  const labels = columns.map((_, at) => new Set(entries.map(([own]) => own[at])).size);
  return labels.reduce((size, own) => size * own, 1) - entries.length;
}

/**
 * What the tables give away, found within `seconds` and checked; `say` hears how far the search is. Sums that cannot all be
 * right are left out, and the rest is answered.
 */
export async function audit(system, seconds = 60, say = () => {}) {
  const whole = linkedOf(system),
    wanted = [...whole.printed.keys()].map((cell) => whole.sums.cells.indexOf(cell)),
    without = [];
  for (let linked = whole; ; linked = withoutRows(whole, without)) {
    const found = await solve(linked.sums, wanted, seconds, say);
    try {
      return { ...settle(linked, found), clash: [...(linked.clash ?? [])] };
    } catch (error) {
      if (!(error instanceof Contradiction)) throw error;
      without.push(...(await failingRows(linked, error)));
      if (without.length > Math.max(FEW_CONTRADICTORY, whole.sums.rows.length / LARGEST_SHARE)) throw error;
    }
  }
}

/** The system with more cells suppressed, by their names: any count from 0 is then possible for them. */
export function suppressing(system, names) {
  if (!names.length) return system;
  const chosen = new Set(names),
    { sums } = system,
    ends = (own, none) => own.map((end, at) => (chosen.has(sums.cells[at]) ? none : end));
  const hide = ([table, text, place]) => [table, text, place, 0, null, true];
  return {
    ...system,
    sums: { ...sums, lo: ends(sums.lo, 0), hi: ends(sums.hi, null) },
    printed: system.printed.map(([cell, said]) => [cell, chosen.has(cell) ? said.map(hide) : said]),
  };
}

let last = null; // the answer of the last audit, to which the page's further questions are

/** The tasks of the thread, by the name under which the page asks for them; what they hand back can be sent. */
export const TASKS = {
  async audit({ system, seconds, without = [] }, say) {
    const answer = (last = await audit(suppressing(system, without), seconds, say));
    const exact = answer.cells.filter((cell) => cell.unclear && cell.exact);
    return {
      lines: linesOf(answer),
      summary: [...answer.linked.summary],
      counts: answer.counts,
      cells: answer.cells,
      left: answer.left,
      safe: answer.safe,
      limit: answer.limit,
      accepted: answer.accepted,
      unsaid: answer.linked.unsaid,
      placed: answer.linked.placed,
      clash: answer.clash,
      reasons: exact.slice(0, MOST_WHY).map((cell) => whyOf(answer, cell.cell)),
    };
  },
  /** The cells that force one that is known exactly, and the steps in words. */
  why: async ({ cell }) => ({ cells: forcingCells(last, cell), lines: whyOf(last, cell) }),
  suppress: async ({ seconds }) => (last ? suppressMore(last, seconds) : null),
  async files() {
    return { cells: cellsCsv(last), system: systemText(last.sums), proofs: await proofsText(last) };
  },
  /** For tests: the system and the statements of the last audit. */
  proofs: async () => ({ system: last.sums, digest: await digestOf(last.sums), statements: last.statements }),
  solve: ({ sums, seconds }, say) => {
    const { sums: own } = linkedOf({ sums, printed: [], placed: [] });
    return solve(own, own.cells.map((_, at) => at), seconds, say); // prettier-ignore
  },
};
