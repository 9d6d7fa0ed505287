// The cheapest printed cells that would have to be suppressed so that one cell can take another value.
const TOTALS = 4,
  ZEROS = 1.5,
  FREE = 1e-4; // a total, or a 0, is rather printed than an inner cell
const ROOM = 4,
  NODES_OF_MOVE = 2000;

/**
 * The cells to suppress so that `target` can be one more or one less than in the counts x, or null. `fixed` are the printed
 * cells that may be suppressed, `open` those that are suppressed already; everything else stays within its ends.
 */
export function cheapestMove(highs, sums, x, fixed, open, target, seconds) {
  const totals = new Set(sums.columns.filter((_, at) => sums.weights[at] < 0)),
    movable = new Set([...fixed, ...open, target]);
  const cost = x.map((own, cell) => {
    if (cell === target) return 0;
    return fixed.has(cell) ? (totals.has(cell) ? TOTALS : own === 0 ? ZEROS : 1) : FREE;
  });
  const lo = sums.lo.map((own, cell) => (movable.has(cell) ? 0 : own)),
    hi = sums.hi.map((own, cell) => (movable.has(cell) ? Infinity : own));
  const moves = [1, -1]
    .map((sign) => moved(highs, sums, x, { lo, hi, cost, target, sign, seconds }))
    .filter(Boolean)
    .map((change) => fixedIn(change, fixed, cost));
  return moves.length ? moves.reduce((best, one) => (one.cost < best.cost ? one : best)).cells : null;
}

function fixedIn(change, fixed, cost) {
  const cells = change.flatMap((own, cell) => (own && fixed.has(cell) ? [cell] : []));
  return { cells, cost: cells.reduce((sum, cell) => sum + cost[cell], 0) };
}

/** How far every cell moves up or down; the rows hold before and after. */
function moved(highs, sums, x, { lo, hi, cost, target, sign, seconds }) {
  const n = x.length,
    most = (own) => Math.max(Math.min(own, ROOM), 0);
  const activity = sums.rows.map((_, row) => {
    let total = 0;
    for (let at = sums.start[row]; at < sums.start[row + 1]; at++) total += sums.weights[at] * x[sums.columns[at]];
    return total;
  });
  const { starts, indices, values } = twice(sums, n, target);
  const data = {
    numCols: 2 * n,
    numRows: sums.rows.length + 1,
    sense: highs.constants.objectiveSense.minimize,
    colCost: Float64Array.from([...cost, ...cost]),
    colLower: new Float64Array(2 * n),
    colUpper: Float64Array.from([
      ...hi.map((own, cell) => most(own - x[cell])),
      ...lo.map((own, cell) => most(x[cell] - own)),
    ]),
    rowLower: Float64Array.from([...activity.map((own, row) => sums.least[row] - own), sign]),
    rowUpper: Float64Array.from([...activity.map((own, row) => sums.most[row] - own), sign]),
    matrix: { format: "csr", numRows: sums.rows.length + 1, numCols: 2 * n, starts, indices, values },
    integrality: new Int32Array(2 * n).fill(highs.constants.variableType.integer),
  };
  return highs.withModel(data, (model) => {
    model.options.set({ output_flag: false, mip_max_nodes: NODES_OF_MOVE, time_limit: Math.max(seconds, 0.05) });
    model.run();
    if (model.getModelStatus() !== highs.constants.modelStatus.optimal) return null;
    const { colValue } = model.getSolution();
    return x.map((_, cell) => Math.round(colValue[cell] - colValue[n + cell]));
  });
}

/** The rows over moves up and moves down, and one row for the target. */
function twice(sums, n, target) {
  const starts = [0],
    indices = [],
    values = [];
  for (let row = 0; row < sums.rows.length; row++) {
    for (const [shift, sign] of [
      [0, 1],
      [n, -1],
    ]) {
      for (let at = sums.start[row]; at < sums.start[row + 1]; at++) {
        indices.push(sums.columns[at] + shift);
        values.push(sign * sums.weights[at]);
      }
    }
    starts.push(indices.length);
  }
  indices.push(target, target + n);
  values.push(1, -1);
  starts.push(indices.length);
  return { starts: Int32Array.from(starts), indices: Int32Array.from(indices), values: Float64Array.from(values) };
}
