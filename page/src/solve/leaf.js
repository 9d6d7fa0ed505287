// Whole multipliers of rows out of a solver's floating-point ones.
export const DENOMINATORS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 60, 120, 840];
const LARGEST_MULTIPLIER = 10 ** 6;

/**
 * A leaf that shows c x <= b between these ends: the multipliers y rounded over a small denominator. Whatever rounding
 * leaves over is taken at the ends of the cells, so every rounding is valid, and only the bound is to be tested.
 */
export function exactLeaf(sums, ends, y, c, b) {
  if (!y) return null;
  for (const d of DENOMINATORS) {
    const Y = Array.from(y, (own) => Math.round(own * d) || 0);
    if (Y.some((own) => !(Math.abs(own) <= LARGEST_MULTIPLIER))) return null;
    if (boundOf(sums, ends, Y, d, c) < d * (b + 1)) {
      const used = Object.fromEntries(Y.map((own, row) => [sums.rows[row], own]).filter(([, own]) => own));
      return d === 1 ? { y: used } : { y: used, d };
    }
  }
  return null;
}

/** A leaf that shows that no counts fit, from multipliers without a scale and, as solvers differ, without a sign. */
export function farkasLeaf(sums, ends, y) {
  if (!y) return null;
  const sizes = [
    ...new Set(
      Array.from(y, (own) => Math.abs(own))
        .filter((own) => own > 1e-9)
        .map((own) => own.toFixed(9)),
    ),
  ];
  for (const scale of [
    1,
    ...sizes
      .map(Number)
      .sort((a, b) => a - b)
      .slice(0, 5)
      .map((own) => 1 / own),
  ]) {
    for (const sign of [-1, 1]) {
      const leaf = exactLeaf(
        sums,
        ends,
        Array.from(y, (own) => own * scale * sign),
        [],
        -1,
      );
      if (leaf) return leaf;
    }
  }
  return null;
}

/** The most that c x can be by the multipliers Y; c is a list of a cell and its weight. */
function boundOf(sums, ends, Y, d, c) {
  const w = new Float64Array(sums.cells.length);
  for (const [cell, weight] of c) w[cell] += d * weight;
  let total = 0,
    size = 0;
  const add = (own) => {
    total += own;
    size += Math.abs(own);
  };
  Y.forEach((y, row) => {
    if (!y) return;
    for (let at = sums.start[row]; at < sums.start[row + 1]; at++) w[sums.columns[at]] -= y * sums.weights[at];
    add(y * (y > 0 ? sums.most[row] : sums.least[row]));
  });
  w.forEach((own, cell) => {
    if (own) add(own * (own > 0 ? ends.hi[cell] : ends.lo[cell]));
  });
  return size < 2 ** 53 ? total : Infinity; // above, a number is no longer exact
}
