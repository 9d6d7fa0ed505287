// Why a cell is known: the steps of its proof in order, each with the sums that it uses in the numbers known by then.
import { WORDS } from "./words.js";

const MOST_STEPS = 12;

/** The steps that show a cell's range, the first one first, in words. */
export function whyOf(answer, name) {
  const needed = stepsOf(answer, name),
    steps = [];
  const lo = [...answer.sums.lo],
    hi = [...answer.sums.hi];
  answer.statements.forEach((statement, number) => {
    const cell = answer.place.get(statement.cell);
    if (needed.has(number)) addStep(steps, answer, { lo, hi }, cell, statement);
    if (statement.side === "upper") hi[cell] = statement.value;
    if (statement.side === "lower") lo[cell] = statement.value;
  });
  const said = steps.map(({ sums, cell, ends }) => WORDS.so(sums, answer.sums.cells[cell], ended(ends)));
  return said.length > MOST_STEPS ? [WORDS.stepsBefore(said.length - MOST_STEPS), ...said.slice(-MOST_STEPS)] : said;
}

/** The cells of the sums that show a cell's range, but not the cell itself. */
export function forcingCells(answer, name) {
  const { sums } = answer,
    place = new Map(sums.rows.map((row, at) => [row, at])),
    cells = new Set();
  for (const number of stepsOf(answer, name))
    for (const row of usedRows(answer.statements[number].proof)) {
      const at = place.get(row);
      sums.columns.slice(sums.start[at], sums.start[at + 1]).forEach((cell) => cells.add(sums.cells[cell]));
    }
  cells.delete(name);
  return [...cells];
}

/** The numbers of the statements that the range of a cell rests on. */
function stepsOf({ sums, statements, place }, name) {
  const needed = new Set(),
    open = [
      [place.get(name), "upper", statements.length],
      [place.get(name), "lower", statements.length],
    ];
  while (open.length) {
    const [cell, side, before] = open.pop();
    let number = before - 1;
    while (number >= 0 && (statements[number].side !== side || statements[number].cell !== sums.cells[cell])) number -= 1;
    if (number < 0 || needed.has(number)) continue;
    needed.add(number);
    const own = { [cell]: side === "upper" ? 1 : -1 };
    for (const [other, end] of endsUsed(sums, place, statements[number].proof, own)) open.push([other, end, number]);
  }
  return needed;
}

/** The ends that a proof uses: upper ends of cells that the multipliers leave above 0, lower ends of others. */
function endsUsed(sums, place, proof, c) {
  if ("at" in proof) {
    const cell = place.get(proof.cell);
    return [
      [cell, "upper"],
      [cell, "lower"],
      ...endsUsed(sums, place, proof.below, c),
      ...endsUsed(sums, place, proof.above, c),
    ];
  }
  const w = new Map(
    Object.entries(proof.kind === "empty" ? {} : c).map(([cell, own]) => [Number(cell), own * (proof.d ?? 1)]),
  );
  for (const [row, y] of Object.entries(proof.y ?? {})) {
    const number = sums.rows.indexOf(row);
    for (let at = sums.start[number]; at < sums.start[number + 1]; at++)
      w.set(sums.columns[at], (w.get(sums.columns[at]) ?? 0) - y * sums.weights[at]);
  }
  return [...w].filter(([, own]) => own).map(([cell, own]) => [cell, own > 0 ? "upper" : "lower"]);
}

/** A step; two about one cell from the same sums become one. */
function addStep(steps, { sums }, known, cell, { side, value, proof }) {
  const rows = [...new Set(usedRows(proof))],
    last = steps.at(-1);
  if (last?.cell === cell && last.rows.join() === rows.join()) {
    last.ends[side] = value;
    return;
  }
  const said = rows.slice(0, 4).map((row) => sumOf(sums, known, cell, sums.rows.indexOf(row)));
  if (rows.length > 4) said.push(WORDS.moreSums(rows.length - 4));
  if ("at" in proof) said.push(WORDS.caseByCase);
  steps.push({ cell, rows, sums: said, ends: { [side]: value } });
}

export const usedRows = (proof) =>
  "at" in proof ? [...usedRows(proof.below), ...usedRows(proof.above)] : Object.keys(proof.y ?? {});

/** A row in the numbers that are known, the cell in question as a question mark: `everyone (12) = 5 + 4 + ?`. */
function sumOf(sums, { lo, hi }, asked, row) {
  const parts = [];
  let total = "";
  for (let at = sums.start[row]; at < sums.start[row + 1]; at++) {
    const cell = sums.columns[at];
    const text =
      cell === asked
        ? "?"
        : lo[cell] === hi[cell]
          ? `${lo[cell]}`
          : Number.isFinite(hi[cell])
            ? WORDS.to(lo[cell], hi[cell])
            : WORDS.orMore(lo[cell]);
    if (sums.weights[at] < 0) total = `${sums.cells[cell]} (${text})`;
    else parts.push(/^\d+$|\?/.test(text) ? text : `(${text})`);
  }
  return `${total} = ${parts.join(" + ")}`;
}

function ended({ upper, lower }) {
  if (upper === undefined) return WORDS.atLeastIs(lower);
  if (lower === undefined) return WORDS.atMostIs(upper);
  return upper === lower ? `${upper}` : WORDS.to(lower, upper);
}
