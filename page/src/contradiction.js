// Sums that no counts can meet together: the smallest failing set is looked for, left out, and named, as the library does.
import { checkSums } from "./check.js";
import { Problem } from "./problem.js";
import { solve } from "./solve/highs.js";
import { usedRows } from "./why.js";
import { WORDS } from "./words.js";

const MOST_TRIED = 60; // sums of a contradiction that are tried one by one
const TRIAL_SECONDS = 2;
const MOST_NAMED = 3;

/** The sums and cells that cannot all be right, where they are printed. */
export class Contradiction extends Problem {
  constructor({ sums, printed }, statements) {
    const rows = new Set(),
      cells = new Set(),
      place = new Map(sums.rows.map((row, at) => [row, at]));
    for (const statement of [...statements].reverse()) {
      if (rows.size && !cells.has(statement.cell)) continue;
      for (const row of usedRows(statement.proof)) {
        rows.add(row);
        const at = place.get(row);
        sums.columns.slice(sums.start[at], sums.start[at + 1]).forEach((cell) => cells.add(sums.cells[cell]));
      }
    }
    const where = [...printed]
      .filter(([name]) => [...cells].slice(0, 12).includes(name))
      .flatMap(([, all]) => all);
    const named = where.slice(0, 8).map((own) => WORDS.at(own.text, own.place));
    super(WORDS.contradiction(namesOf([...rows]), named));
    this.rows = [...rows];
    this.places = where.map((own) => own.place);
  }
}

const cellsOfRow = (sums, at) => sums.columns.slice(sums.start[at], sums.start[at + 1]).map((cell) => sums.cells[cell]);

const namesOf = (rows) =>
  rows.slice(0, MOST_NAMED).join("; ") + (rows.length > MOST_NAMED ? WORDS.andMoreSums(rows.length - MOST_NAMED) : "");

/** The system in which only the sums that are chosen by their names say something. */
function keeping(sums, chosen) {
  const ends = (own, none) => own.map((end, row) => (chosen(sums.rows[row]) ? end : none));
  return { ...sums, least: ends(sums.least, -Infinity), most: ends(sums.most, Infinity) };
}

/** The sums to leave out: a contradiction without those that it does not need; with one that fails alone, all of these. */
export async function failingRows({ sums }, { rows: all }) {
  let rows = all;
  for (const row of all.length <= MOST_TRIED ? all : []) {
    const fewer = rows.filter((other) => other !== row);
    if (!fewer.length) break;
    const part = keeping(sums, (name) => fewer.includes(name)),
      { statements } = await solve(part, [], TRIAL_SECONDS);
    if (checkSums(part, statements).empty) rows = fewer;
  }
  return rows.length === 1 ? [...new Set([...rows, ...sums.rows.filter((row) => failsAlone(sums, row))])] : rows;
}

/** Whether printed counts alone contradict a sum, by a proof of one row. */
function failsAlone(sums, row) {
  return [1, -1].some((sign) => {
    try {
      return checkSums(sums, [{ side: "empty", proof: { y: { [row]: sign } } }]).empty;
    } catch {
      return false; // no proof: it may hold
    }
  });
}

/** The tables without sums that contradict each other; this is said, and then nothing is called safe. */
export function withoutRows(linked, rows) {
  const said = WORDS.leftContradiction(rows.length, namesOf(rows)),
    { sums } = linked,
    clash = new Set(rows.flatMap((row) => cellsOfRow(sums, sums.rows.indexOf(row))));
  return { ...linked, sums: keeping(sums, (name) => !rows.includes(name)), left: [...linked.left, said], clash };
}
