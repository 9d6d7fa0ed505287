// A system of sums, part by part: cells that are known exactly tie nothing together, so the rest falls into pieces.
import { Known, propagate } from "./propagate.js";
import { Search } from "./ranges.js";

/**
 * The range of every wanted cell: statements in an order in which they can be checked, and for every end that counts attain,
 * these counts (`points`, whole datasets; `attained` names the point of an end).
 */
export function allRanges(highs, sums, wanted, seconds, say = () => {}) {
  const known = propagate(sums),
    deadline = performance.now() + 1000 * seconds;
  const lo = [...known.lo],
    hi = [...known.hi],
    statements = [...known.statements];
  const result = { statements, empty: known.empty, limit: "", parts: [] };
  const pieces = known.empty ? [] : piecesOf(sums, lo, hi);
  let done = 0;
  for (const { cells, rows } of pieces) {
    const part = select(sums, lo, hi, cells, rows),
      asked = askedOf(part, cells, wanted);
    const search = new Search(highs, part, new Known(part), asked, deadline, (own) =>
      say(done + own, sums.cells.length),
    ).run();
    statements.push(...search.known.statements);
    cells.forEach((cell, at) => {
      lo[cell] = search.known.lo[at];
      hi[cell] = search.known.hi[at];
    });
    result.empty ||= search.known.empty;
    result.limit ||= search.limit;
    result.parts.push({
      cells,
      points: search.points,
      ray: search.ray,
      at: [...search.at].map(([end, number]) => [...named(end, cells), number]),
    });
    done += cells.length;
  }
  return { ...result, lo, hi };
}

const named = (end, cells) => [cells[Number(end.split(" ")[0])], end.split(" ")[1]];

const askedOf = (part, cells, wanted) =>
  cells.map((_, at) => at).filter((at) => wanted.has(cells[at]) && part.lo[at] < part.hi[at]);

/** The open cells that rows tie together, with the known cells of their rows; small pieces first. */
function piecesOf(sums, lo, hi) {
  const parent = sums.cells.map((_, at) => at);
  const root = (at) => {
    while (parent[at] !== at) at = parent[at] = parent[parent[at]];
    return at;
  };
  const entries = (row) => sums.columns.slice(sums.start[row], sums.start[row + 1]);
  const open = sums.rows.map((_, row) => entries(row).filter((cell) => lo[cell] < hi[cell]));
  for (const cells of open)
    cells.forEach((cell) => {
      parent[root(cell)] = root(cells[0]);
    });
  const pieces = new Map();
  open.forEach((cells, row) => {
    if (!cells.length) return;
    const own = root(cells[0]);
    if (!pieces.has(own)) pieces.set(own, { cells: new Set(), rows: [] });
    pieces.get(own).rows.push(row);
    entries(row).forEach((cell) => pieces.get(own).cells.add(cell));
  });
  return [...pieces.values()]
    .map(({ cells, rows }) => ({ cells: [...cells].sort((a, b) => a - b), rows }))
    .sort((a, b) => a.cells.length - b.cells.length);
}

/** The part of some cells and some rows, with the ends as they are now. */
function select(sums, lo, hi, cells, rows) {
  const place = new Map(cells.map((cell, at) => [cell, at]));
  const part = {
    cells: cells.map((cell) => sums.cells[cell]),
    lo: cells.map((cell) => lo[cell]),
    hi: cells.map((cell) => hi[cell]),
    rows: rows.map((row) => sums.rows[row]),
    start: [0],
    columns: [],
    weights: [],
    least: rows.map((row) => sums.least[row]),
    most: rows.map((row) => sums.most[row]),
  };
  for (const row of rows) {
    for (let at = sums.start[row]; at < sums.start[row + 1]; at++) {
      part.columns.push(place.get(sums.columns[at]));
      part.weights.push(sums.weights[at]);
    }
    part.start.push(part.columns.length);
  }
  return part;
}
