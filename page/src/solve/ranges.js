// The exact range of every wanted cell: counts that attain both ends, and proofs that nothing lies outside.
import { exactLeaf, farkasLeaf } from "./leaf.js";
import { bestCounts, CellProgram, INTEGRAL, integerPoint, rayOf } from "./program.js";

const ROUNDS = 40; // objectives that pull all open ends at once, before single ends are asked for
const IDLE = 3; // of them in a row that brought little
const NODES = 2000,
  LEAVES = 200,
  DEPTH = 100;

/** The search in one part of a system; `known` holds what rows alone imply, `deadline` is a time in milliseconds. */
export class Search {
  constructor(highs, sums, known, wanted, deadline, say) {
    Object.assign(this, { highs, sums, known, wanted, deadline, say });
    this.ends = { lo: [...known.lo], hi: [...known.hi] };
    this.least = known.lo.map(() => null);
    this.most = known.lo.map(() => null);
    this.at = new Map(); // the points that attain an end, by the text of cell and side
    this.points = [];
    this.ray = null; // steps that some cells can grow by, again and again: the page counts them again
    this.limit = "";
    this.random = randomNumbers(1);
  }

  run() {
    this.lp = new CellProgram(this.highs, this.sums, this.ends, this.left());
    try {
      if (this.first()) {
        this.ray = rayOf(this.highs, this.sums, this.ends);
        this.many();
        this.single();
      }
    } finally {
      this.lp.dispose();
    }
    return this;
  }

  left() {
    return Math.max((this.deadline - performance.now()) / 1000, 0);
  }

  late() {
    return this.left() <= 0;
  }

  /** A point that fits, counted again; what it attains is kept. */
  take(z) {
    const x = integerPoint(z);
    if (x === null || !fits(this.sums, this.ends, x)) return;
    let useful = this.points.length === 0;
    const number = this.points.length;
    for (const cell of this.wanted) {
      if (this.most[cell] === null || x[cell] > this.most[cell]) {
        this.most[cell] = x[cell];
        this.at.set(`${cell} up`, number);
        useful = true;
      }
      if (this.least[cell] === null || x[cell] < this.least[cell]) {
        this.least[cell] = x[cell];
        this.at.set(`${cell} down`, number);
        useful = true;
      }
    }
    if (useful) this.points.push(x);
  }

  /** Whether some counts fit; a contradiction is shown, a limit is noted. */
  first() {
    const answer = this.lp.maximise(this.objective([]));
    if (answer && !answer.z) return this.contradict(answer.ray);
    this.take(answer?.z);
    if (!this.points.length) this.take(this.integers([]));
    if (!this.points.length) this.provedEmpty();
    if (!this.points.length && !this.known.empty) this.limit = "no counts that fit were found within the limits";
    return this.points.length > 0;
  }

  contradict(ray) {
    const leaf = farkasLeaf(this.sums, this.ends, ray);
    if (leaf) this.known.contradict(leaf);
    else this.limit = "no counts fit, by the solver, but without an exact proof";
    return false;
  }

  /** Where the linear program has a point and no counts were found: a proof by cases that there are none. */
  provedEmpty() {
    const proof = new Cases(this, [], -1).node(this.ends, 0);
    this.lp.setEnds(this.ends);
    if (proof) this.known.contradict(proof);
  }

  objective(c) {
    const own = new Float64Array(this.sums.cells.length);
    for (const [cell, weight] of c) own[cell] = weight;
    return own;
  }

  integers(c) {
    return bestCounts(this.highs, this.sums, this.ends, this.objective(c), NODES, this.left() / 4);
  }

  /** The ends that no point attains yet, as a list of a cell and a sign. */
  open() {
    return this.wanted.flatMap((cell) =>
      [1, -1].filter((sign) => this.seen(cell, sign) !== this.proved(cell, sign)).map((sign) => [cell, sign]),
    );
  }

  /** Objectives that pull at all open ends at once: a corner often attains many of them. */
  many() {
    let idle = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const before = this.open();
      if (!before.length || idle >= IDLE || this.late()) return;
      const both = new Map();
      for (const [cell, sign] of before) if (!both.has(cell) || this.random() < 0.5) both.set(cell, sign);
      this.take(this.lp.maximise(this.objective([...both].map(([cell, sign]) => [cell, sign * (0.5 + this.random())])))?.z);
      const gone = before.length - this.open().length;
      idle = gone <= Math.max(1, before.length / 50) ? idle + 1 : 0;
    }
  }

  /** Every end that is still open, one after the other. */
  single() {
    this.wanted.forEach((cell, number) => {
      for (const sign of [1, -1]) {
        if (this.late()) this.limit = "time limit";
        else this.end(cell, sign);
      }
      this.say(number);
    });
  }

  /** The most of sign x[cell]: attained and proved, or left as it is. */
  end(cell, sign) {
    if (this.seen(cell, sign) === this.proved(cell, sign)) return;
    const answer = this.lp.maximise(this.objective([[cell, sign]]));
    if (!answer?.z) return;
    this.take(answer.z);
    const relaxed = Math.floor(answer.value + INTEGRAL),
      proved = this.proved(cell, sign);
    const leaf = exactLeaf(this.sums, this.ends, answer.y, [[cell, sign]], Math.min(relaxed, proved));
    if (leaf && relaxed < proved) this.prove(cell, sign, relaxed, leaf);
    if (this.seen(cell, sign) < Math.min(relaxed, proved)) this.byIntegers(cell, sign);
  }

  /** The linear program leaves a gap: the solver's own integer search, counted again; then a proof by cases. */
  byIntegers(cell, sign) {
    this.take(this.integers([[cell, sign]]));
    const best = this.seen(cell, sign);
    if (best >= this.proved(cell, sign)) return;
    const cases = new Cases(this, [[cell, sign]], best),
      proof = cases.node(this.ends, 0);
    this.lp.setEnds(this.ends);
    if (cases.better)
      this.end(cell, sign); // the cases met counts that the solver had missed: asked once more from there
    else if (proof) this.prove(cell, sign, best, proof);
  }

  seen(cell, sign) {
    if (sign > 0 && this.ray?.[cell]) return Infinity;
    const own = sign > 0 ? this.most[cell] : this.least[cell];
    return own === null ? -Infinity : sign * own;
  }

  proved(cell, sign) {
    return sign > 0 ? this.known.hi[cell] : -this.known.lo[cell];
  }

  prove(cell, sign, value, proof) {
    this.known.say(cell, sign > 0 ? "upper" : "lower", sign * value, proof);
  }
}

/** A proof by cases that c x <= best, branching on cells that the linear program leaves open; without c: nothing fits. */
class Cases {
  constructor(search, c, best) {
    Object.assign(this, { search, c, best, leaves: 0, better: false });
    this.objective = search.objective(c);
  }

  node(ends, depth) {
    const { search } = this;
    this.leaves += 1;
    if (this.leaves > LEAVES || depth > DEPTH || this.better || search.late()) return null;
    search.lp.setEnds(ends);
    const answer = search.lp.maximise(this.objective);
    if (!answer) return null;
    if (!answer.z) {
      const leaf = farkasLeaf(search.sums, ends, answer.ray);
      return leaf && { ...leaf, kind: "empty" };
    }
    if (Math.floor(answer.value + INTEGRAL) <= this.best) return exactLeaf(search.sums, ends, answer.y, this.c, this.best);
    const far = Array.from(answer.z, (own) => Math.abs(own - Math.round(own)));
    const cell = far.indexOf(Math.max(...far));
    if (far[cell] <= INTEGRAL) {
      search.take(answer.z);
      this.better = this.c.length === 0 || search.seen(...this.c[0]) > this.best;
      return null;
    }
    return this.split(ends, cell, Math.floor(answer.z[cell]) || 0, depth);
  }

  split(ends, cell, at, depth) {
    const below = this.node({ lo: ends.lo, hi: ends.hi.with(cell, at) }, depth + 1);
    const above = below && this.node({ lo: ends.lo.with(cell, at + 1), hi: ends.hi }, depth + 1);
    return above && { cell: this.search.sums.cells[cell], at, below, above };
  }
}

function fits(sums, ends, x) {
  if (x.some((own, at) => own < ends.lo[at] || own > ends.hi[at])) return false;
  return sums.rows.every((_, row) => {
    let total = 0;
    for (let at = sums.start[row]; at < sums.start[row + 1]; at++) total += sums.weights[at] * x[sums.columns[at]];
    return total >= sums.least[row] && total <= sums.most[row];
  });
}

/** Numbers from 0 to 1, the same in every run. */
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
