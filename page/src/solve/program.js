// Programs over cells between ends, in HiGHS: a linear one that is kept warm, and integer ones.
import { DENOMINATORS } from "./leaf.js";

export const INTEGRAL = 1e-6;
const DUAL = 1,
  PRIMAL = 4;

/** Maximise c x over lo <= x <= hi and least <= A x <= most: another objective, or other ends, again and again. */
export class CellProgram {
  constructor(highs, sums, ends, seconds) {
    this.highs = highs;
    this.model = highs.createModel(modelOf(highs, sums, ends));
    this.model.options.set({ output_flag: false, presolve: "off", simplex_iteration_limit: 200000, time_limit: seconds });
    this.all = { kind: "range", from: 0, to: sums.cells.length - 1 };
    this.moved = true;
  }

  setEnds({ lo, hi }) {
    this.model.changeColsBounds(this.all, Float64Array.from(lo), Float64Array.from(hi));
    this.moved = true;
  }

  /** What is best: `{ value, z, y }`, or `{ ray }` where nothing fits, or null at a limit. */
  maximise(objective) {
    this.model.changeColsCost(this.all, Float64Array.from(objective));
    this.model.options.set("simplex_strategy", this.moved ? DUAL : PRIMAL);
    this.model.run();
    const status = this.model.getModelStatus(),
      { optimal, infeasible } = this.highs.constants.modelStatus;
    this.moved = status !== optimal;
    if (status === optimal) {
      const { colValue, rowDual } = this.model.getSolution();
      return { value: this.model.getObjectiveValue(), z: colValue, y: rowDual };
    }
    return status === infeasible ? { ray: this.ray() } : null;
  }

  /** The multipliers of a program without a point, which only the dual simplex method leaves behind. */
  ray() {
    const found = this.model.getDualRay();
    if (found) return found.values;
    this.model.options.set("simplex_strategy", DUAL);
    this.model.clearSolver();
    this.model.run();
    return this.model.getDualRay()?.values ?? null;
  }

  dispose() {
    this.model.dispose();
  }
}

/** The best counts by the solver's integer search, or the best that it met within its limits; null where there is none. */
export function bestCounts(highs, sums, ends, objective, nodes, seconds) {
  const data = {
    ...modelOf(highs, sums, ends),
    colCost: Float64Array.from(objective),
    integrality: new Int32Array(sums.cells.length).fill(highs.constants.variableType.integer),
  };
  return highs.withModel(data, (model) => {
    model.options.set({
      output_flag: false,
      mip_max_nodes: nodes,
      time_limit: Math.max(seconds, 0.05),
      mip_rel_gap: 0,
      mip_abs_gap: 0.5,
    });
    model.run();
    const { colValue } = model.getSolution();
    return integerPoint(colValue);
  });
}

/**
 * How far every cell can grow beyond all limits, in whole steps that keep all rows; null where none was found. Steps are
 * s + t with t at most 1, and as many t as possible are 1: so every cell that can grow at all does.
 */
export function rayOf(highs, sums, ends) {
  const n = sums.cells.length,
    free = ends.hi.map((own) => (own === Infinity ? 1 : 0));
  if (!free.includes(1)) return null;
  const own = modelOf(highs, sums, ends),
    still = new Float64Array(sums.rows.length),
    { starts, indices, values } = own.matrix;
  const doubled = (list, shift) =>
    sums.rows.flatMap((_, row) =>
      [0, shift].flatMap((by) => Array.from(list.slice(starts[row], starts[row + 1]), (x) => x + by)),
    );
  const data = {
    ...own,
    numCols: 2 * n,
    colCost: Float64Array.from([...free.map(() => 0), ...free]),
    colLower: new Float64Array(2 * n),
    colUpper: Float64Array.from([...free.map((own) => (own ? Infinity : 0)), ...free]),
    rowLower: still,
    rowUpper: still,
    matrix: {
      ...own.matrix,
      numCols: 2 * n,
      starts: starts.map((own) => 2 * own),
      indices: Int32Array.from(doubled(indices, n)),
      values: Float64Array.from(doubled(values, 0)),
    },
  };
  const z = highs.withModel(data, (model) => {
    model.options.set({ output_flag: false });
    model.run();
    return model.getModelStatus() === highs.constants.modelStatus.optimal ? model.getSolution().colValue : null;
  });
  for (const d of z ? DENOMINATORS : []) {
    const step = integerPoint(free.map((_, cell) => d * (z[cell] + z[n + cell])));
    if (step && step.some(Boolean)) return step;
  }
  return null;
}

/** The point in whole numbers; null where it is none. */
export function integerPoint(z) {
  if (!z || !z.length) return null;
  const x = Array.from(z, (own) => Math.round(own) || 0);
  return x.every((own, at) => Math.abs(own - z[at]) <= INTEGRAL) ? x : null;
}

function modelOf(highs, sums, ends) {
  const numCols = sums.cells.length,
    numRows = sums.rows.length;
  return {
    numCols,
    numRows,
    sense: highs.constants.objectiveSense.maximize,
    colCost: new Float64Array(numCols),
    colLower: Float64Array.from(ends.lo),
    colUpper: Float64Array.from(ends.hi),
    rowLower: Float64Array.from(sums.least),
    rowUpper: Float64Array.from(sums.most),
    matrix: {
      format: "csr",
      numRows,
      numCols,
      starts: Int32Array.from(sums.start),
      indices: Int32Array.from(sums.columns),
      values: Float64Array.from(sums.weights),
    },
  };
}
