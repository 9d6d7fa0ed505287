// What single rows say of their cells, again and again until nothing changes; every step is a proof of one row.
const PASSES = 50;
const FAR = 10 ** 6; // an end that far out stands for "no end": it is moved only if that says something

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
  let [least, most] = reachOf(known, row);
  if (least > sums.most[row] || most < sums.least[row]) {
    known.contradict({ y: { [name]: least > sums.most[row] ? 1 : -1 } });
    return true;
  }
  for (let at = sums.start[row]; at < sums.start[row + 1]; at++) {
    const cell = sums.columns[at],
      weight = sums.weights[at],
      size = Math.abs(weight),
      sign = Math.sign(weight);
    const [small, large] = partOf(known, cell, weight);
    const up = sums.most[row] - (least - small),
      down = sums.least[row] - (most - large); // what the entry itself may add
    const proof = (y) => (size === 1 ? { y: { [name]: y } } : { y: { [name]: y }, d: size });
    const upper = Math.floor((sign > 0 ? up : -down) / size),
      lower = Math.ceil((sign > 0 ? down : -up) / size);
    if (upper < (known.hi[cell] < FAR ? known.hi[cell] : known.hi[cell] / 2)) known.say(cell, "upper", upper, proof(sign));
    if (lower > known.lo[cell]) known.say(cell, "lower", lower, proof(-sign));
    known.empty ||= known.lo[cell] > known.hi[cell];
    if (known.empty) return true;
    const [smaller, larger] = partOf(known, cell, weight);
    [least, most] = [least + smaller - small, most + larger - large];
  }
  return known.statements.length > before;
}

/** The least and the greatest that an entry can add to its row. */
function partOf(known, cell, weight) {
  const ends = [weight * known.lo[cell], weight * known.hi[cell]];
  return weight > 0 ? ends : ends.reverse();
}

/** The least and the greatest that a row can be. */
function reachOf(known, row) {
  const { sums } = known;
  let least = 0,
    most = 0;
  for (let at = sums.start[row]; at < sums.start[row + 1]; at++) {
    const [small, large] = partOf(known, sums.columns[at], sums.weights[at]);
    [least, most] = [least + small, most + large];
  }
  return [least, most];
}
