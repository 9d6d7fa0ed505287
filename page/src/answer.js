// The answer: what the checked proofs show of every printed cell, and why. Nothing that a solver said is used unchecked.
import { CertificateError, checkEnds, checkSums, fitsSums, isRay } from "./check.js";
import { Contradiction } from "./contradiction.js";
import { WORDS } from "./words.js";

/**
 * The answer from what was found: every proof is checked here, and every dataset that is said to attain an end is counted
 * again. A proof that fails is an error: then nothing is reported.
 */
export function settle(linked, found) {
  const { sums, left } = linked;
  checkEnds(sums, linked.printed);
  const bounds = checkSums(sums, found.statements);
  if (bounds.empty) throw new Contradiction(linked, found.statements);
  const [lo, hi] = endsShown(bounds);
  const ends = attainedEnds(sums, lo, hi, found.parts);
  const base = {
    sums,
    lo,
    hi,
    statements: found.statements,
    linked,
    limit: found.limit,
    point: ends.point,
    place: new Map(sums.cells.map((cell, at) => [cell, at])),
  };
  const cells = [...linked.printed].map(([name, said]) => cellOf(base, ends, name, said));
  const open = cells.filter((cell) => cell.unclear);
  // safe: nothing was left out or not told, and of every count that is not printed exactly two values were found that fit
  const safe = !left.length && !linked.unsaid && !found.limit && open.every((cell) => !cell.exact && cell.attained);
  return { ...base, cells, counts: countsOf(cells, linked), accepted: found.statements.length, left, safe };
}

/** The ends as numbers of the page; Infinity where there is no upper end. */
export const endsShown = ({ lo, hi }) => [lo.map(Number), hi.map((own) => (own === null ? Infinity : Number(own)))];

/** One printed cell: what is printed, its range, and what is known of it. */
function cellOf({ sums, lo, hi, statements, linked, place }, ends, name, said) {
  const at = place.get(name),
    first = said[0];
  const numbers = statements.flatMap((statement, number) => (statement.cell === name ? [number] : []));
  return {
    cell: name,
    at,
    table: [...new Set(said.map(({ table }) => table))].join(" "),
    place: first.place,
    published: first.text,
    lower: lo[at],
    upper: Number.isFinite(hi[at]) ? hi[at] : null,
    exact: lo[at] === hi[at],
    hidden: said.every(({ value }) => value.hidden),
    unclear: sums.lo[at] < sums.hi[at],
    attained: linked.joint && ends.down.has(at) && ends.up.has(at),
    proof: numbers,
  };
}

/** The cells whose lower and whose upper end some counts attain, all counted again; and counts that fit. */
export function attainedEnds(sums, lo, hi, parts) {
  const base = [...lo],
    down = new Set(),
    up = new Set();
  for (const { cells, points } of parts) {
    if (!points.length) return { down, up, point: null };
    cells.forEach((cell, at) => {
      base[cell] = points[0][at];
    });
  }
  const mark = (x, cells) =>
    cells.forEach((cell) => {
      if (x[cell] === lo[cell]) down.add(cell);
      if (x[cell] === hi[cell]) up.add(cell);
    });
  const fit = fitsSums(sums, base);
  if (fit)
    mark(
      base,
      base.map((_, cell) => cell),
    );
  for (const { cells, points } of parts) {
    for (const point of points) {
      const x = [...base];
      cells.forEach((cell, at) => {
        x[cell] = point[at];
      });
      if (fitsSums(sums, x)) mark(x, cells);
    }
  }
  const summed = new Set(sums.columns);
  if (fit) base.forEach((_, cell) => !summed.has(cell) && up.add(cell)); // a cell of no sum attains its own ends
  for (const { cells, ray } of fit ? parts.filter((part) => part.ray) : []) {
    const step = base.map(() => 0);
    cells.forEach((cell, at) => {
      step[cell] = ray[at];
    });
    if (isRay(sums, step)) step.forEach((own, cell) => own && hi[cell] === Infinity && up.add(cell));
  }
  return { down, up, point: fit ? base : null };
}

function countsOf(cells, linked) {
  const count = (kept) => cells.filter(kept).length;
  return {
    tables: linked.placed.length,
    printed: cells.length,
    suppressed: count((cell) => cell.hidden),
    suppressedExact: count((cell) => cell.hidden && cell.unclear && cell.exact),
    other: count((cell) => cell.unclear && !cell.hidden),
    otherExact: count((cell) => cell.unclear && !cell.hidden && cell.exact),
  };
}

/** The answer in a few sentences. */
export function linesOf({ counts, limit, linked, cells, left }) {
  const lines = [],
    known = (number) => ((left.length || linked.unsaid) && number < counts.suppressed ? WORDS.atLeast(number) : `${number}`);
  if (left.length)
    lines.push(WORDS.notRead(left.slice(0, 5), left.length - 5));
  if (counts.suppressed)
    lines.push(WORDS.suppressedKnown(known(counts.suppressedExact), counts.suppressed));
  if (counts.other) lines.push(WORDS.roundedKnown(counts.otherExact, counts.other));
  if (!counts.suppressed && !counts.other)
    lines.push(left.length ? WORDS.allReadExact(counts.printed) : WORDS.allExact(counts.printed));
  if (counts.suppressed && !linked.sums.rows.length) lines.push(WORDS.noTotals);
  if (linked.unsaid && (counts.suppressed || counts.other))
    lines.push(WORDS.unsaid(linked.unsaid));
  if (linked.placed.length > 1) lines.push(WORDS.assumed(linked.assumed));
  if (limit) lines.push(WORDS.limit(limit));
  if (!linked.joint) lines.push(WORDS.loop);
  const open = cells.filter((cell) => cell.unclear && !cell.attained).length;
  if (open && linked.joint) lines.push(WORDS.notAttained(open));
  return lines;
}

export const knownAs = ({ exact, lower, upper }) =>
  exact ? `${lower}` : upper === null ? WORDS.orMore(lower) : WORDS.to(lower, upper);

export { CertificateError };
