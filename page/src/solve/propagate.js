// What single rows say of their cells, again and again until nothing changes; every step is a proof of one row.
const PASSES = 50;

/** The ends of every cell so far, the statements that show them, and whether no counts fit. */
export class Known {
  constructor(sums) {
    this.sums = sums;
    this.lo = [...sums.lo];
    this.hi = [...sums.hi];
    this.statements = [];
    this.empty = false;
  }

  /** Another bound with its proof, in effect from here on. */
  say(cell, side, value, proof) {
    value ||= 0; // never -0
    this.statements.push({ cell: this.sums.cells[cell], side, value, proof });
    if (side === "upper") this.hi[cell] = value;
    else this.lo[cell] = value;
  }

  contradict(proof) {
    this.statements.push({ side: "empty", proof });
    this.empty = true;
  }
}

/** The ends that single rows imply. */
export function propagate(sums) {
  const known = new Known(sums);
  for (let pass = 0; pass < PASSES && !known.empty; pass++) {
    let changed = false;
    for (let row = 0; row < sums.rows.length && !known.empty; row++) changed = fromRow(known, row) || changed;
    if (!changed) break;
  }
  return known;
}

/** The bounds that one row improves, one entry after the other, each from the ends as they are then. */
function fromRow(known, row) {
  const { sums } = known,
    name = sums.rows[row],
    before = known.statements.length;
  const reach = new Reach(known, row);
  if (reach.least() > sums.most[row] || reach.most() < sums.least[row]) {
    known.contradict({ y: { [name]: reach.least() > sums.most[row] ? 1 : -1 } });
    return true;
  }
  for (let at = sums.start[row]; at < sums.start[row + 1]; at++) {
    const cell = sums.columns[at],
      weight = sums.weights[at],
      size = Math.abs(weight),
      sign = Math.sign(weight);
    reach.add(partOf(known, cell, weight), -1);
    const up = sums.most[row] - reach.least(),
      down = sums.least[row] - reach.most(); // what the entry itself may add
    const proof = (y) => (size === 1 ? { y: { [name]: y } } : { y: { [name]: y }, d: size });
    const upper = Math.floor((sign > 0 ? up : -down) / size),
      lower = Math.ceil((sign > 0 ? down : -up) / size);
    if (upper < known.hi[cell]) known.say(cell, "upper", upper, proof(sign));
    if (lower > known.lo[cell]) known.say(cell, "lower", lower, proof(-sign));
    known.empty ||= known.lo[cell] > known.hi[cell];
    if (known.empty) return true;
    reach.add(partOf(known, cell, weight), 1);
  }
  return known.statements.length > before;
}

/** The least and the greatest that an entry can add to its row. */
function partOf(known, cell, weight) {
  const ends = [weight * known.lo[cell], weight * known.hi[cell]];
  return weight > 0 ? ends : ends.reverse();
}

/** The least and the greatest that a row can be; entries without an end are counted, so that they can be taken away. */
class Reach {
  constructor(known, row) {
    const { sums } = known;
    this.sum = [0, 0];
    this.open = [0, 0];
    for (let at = sums.start[row]; at < sums.start[row + 1]; at++)
      this.add(partOf(known, sums.columns[at], sums.weights[at]), 1);
  }

  add(part, times) {
    part.forEach((own, side) => {
      if (Number.isFinite(own)) this.sum[side] += times * own;
      else this.open[side] += times;
    });
  }

  least() {
    return this.open[0] ? -Infinity : this.sum[0];
  }

  most() {
    return this.open[1] ? Infinity : this.sum[1];
  }
}
