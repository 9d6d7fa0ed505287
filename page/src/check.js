// The checker of bounds of counts that are tied by sums. Whole numbers without limit (BigInt), no solver, and no code shared
// with what found the proofs: this file imports nothing.
//
// Bounds are shown one after the other, and each may use those before it. A leaf gives a whole multiplier y to some rows and
// a denominator d. For any counts x that fit, with w = d c - y A (c the cell in question, or nothing for a contradiction)
//
//     d c x  =  y A x + w x  <=  sum of y most (y > 0) or y least (y < 0)  +  sum of w hi (w > 0) or w lo (w < 0),
//
// so that c x <= that sum / d, rounded down. An upper end is null (or Infinity) where nobody printed one: a leaf that would
// use it shows nothing, and is refused. A fork is a split into cases: a cell is at most t, or at least t + 1.

const DEEPEST = 250;
const NOTHING = -(10n ** 30n);

/** A proof that does not show what it says. */
export class CertificateError extends Error {}

/** Check statements in their order; an error names the first that fails. What they show together is handed back. */
export function checkSums(sums, statements) {
  const checker = new SumsChecker(sums);
  statements.forEach((statement, number) => checker.statement(statement, `statement ${number}`));
  return { lo: checker.lo, hi: checker.hi, empty: checker.empty };
}

/** Whether counts lie between all ends and in all rows, counted again in whole numbers. */
export function fitsSums(sums, point) {
  const x = point.map((own) => BigInt(own));
  if (x.length !== sums.cells.length) return false;
  if (x.some((own, at) => own < BigInt(sums.lo[at]) || (!isOpen(sums.hi[at]) && own > BigInt(sums.hi[at])))) return false;
  return activityOf(sums, x).every(
    (total, row) =>
      (isOpen(sums.least[row]) || total >= BigInt(sums.least[row])) &&
      (isOpen(sums.most[row]) || total <= BigInt(sums.most[row])),
  );
}

/** Whether any counts that fit still fit with this added, again and again: then its cells have no upper end. */
export function isRay(sums, step) {
  const x = step.map((own) => BigInt(own));
  if (x.length !== sums.cells.length || x.some((own, at) => own < 0n || (own > 0n && !isOpen(sums.hi[at])))) return false;
  return activityOf(sums, x).every((total) => total === 0n);
}

/** An error where a system has an end that nobody printed; `printed` gives the values that were, by cell. */
export function checkEnds(sums, printed) {
  sums.cells.forEach((cell, at) => {
    const said = printed.get(cell) ?? [];
    if (!isOpen(sums.hi[at]) && !said.some(({ value }) => value.hi === sums.hi[at]))
      throw new CertificateError(`nobody printed that ${cell} is at most ${sums.hi[at]}`);
    if (sums.lo[at] !== 0 && !said.some(({ value }) => value.lo === sums.lo[at]))
      throw new CertificateError(`nobody printed that ${cell} is at least ${sums.lo[at]}`);
  });
}

const isOpen = (end) => end === null || end === Infinity || end === -Infinity;

/** The sum of every row. */
function activityOf(sums, x) {
  return sums.rows.map((_, row) => {
    let total = 0n;
    for (let at = sums.start[row]; at < sums.start[row + 1]; at++) total += BigInt(sums.weights[at]) * x[sums.columns[at]];
    return total;
  });
}

class SumsChecker {
  constructor(sums) {
    const whole = (list) => list.map((own) => (isOpen(own) ? null : BigInt(own)));
    [this.lo, this.hi, this.weights, this.least, this.most] = [sums.lo, sums.hi, sums.weights, sums.least, sums.most].map(
      whole,
    );
    this.start = sums.start;
    this.columns = sums.columns;
    this.place = new Map(sums.cells.map((name, at) => [name, at]));
    this.row = new Map(sums.rows.map((name, at) => [name, at]));
    this.empty = false;
    if (this.place.size < sums.cells.length || this.row.size < sums.rows.length)
      throw new CertificateError("two rows or two cells have one name");
  }

  statement(text, where) {
    const { side } = text;
    if (!["upper", "lower", "empty"].includes(side)) throw new CertificateError(`${where}: side is ${side}`);
    if (side === "empty") {
      if (this.mostOf(new Map(), text.proof, new Map(), where, 0) >= 0n)
        throw new CertificateError(`${where}: the proof does not show that no counts fit`);
      this.empty = true;
      return;
    }
    const cell = this.cell(text.cell, where),
      value = wholeNumber(text.value, `${where}, value`);
    const sign = side === "upper" ? 1n : -1n;
    const found = this.mostOf(new Map([[cell, sign]]), text.proof, new Map(), where, 0);
    if (found > sign * value)
      throw new CertificateError(
        `${where}: ${text.cell} ${sign > 0n ? "<=" : ">="} ${value} is said, but ${sign * found} is shown`,
      );
    if (sign > 0n) this.hi[cell] = least(value, this.hi[cell]);
    if (sign < 0n && value > this.lo[cell]) this.lo[cell] = value;
    this.empty ||= crossed(this.lo[cell], this.hi[cell]);
  }

  /** The most that c x can be by this proof; `ends` are the cells that the forks above narrow. */
  mostOf(c, node, ends, where, depth) {
    if (node === null || typeof node !== "object" || Array.isArray(node))
      throw new CertificateError(`${where}: there is no proof`);
    if (depth > DEEPEST) throw new CertificateError(`${where}: more than ${DEEPEST} forks above one another`);
    if (!("at" in node)) return this.leaf(c, node, ends, where);
    const cell = this.cell(node.cell, where),
      at = wholeNumber(node.at, `${where}, at`);
    const [lo, hi] = this.endsOf(cell, ends);
    const below = new Map(ends).set(cell, [lo, least(at, hi)]);
    const above = new Map(ends).set(cell, [at + 1n > lo ? at + 1n : lo, hi]);
    const first = this.mostOf(c, node.below, below, `${where}.below`, depth + 1);
    const second = this.mostOf(c, node.above, above, `${where}.above`, depth + 1);
    return first > second ? first : second;
  }

  leaf(c, leaf, ends, where) {
    const d = wholeNumber(leaf.d ?? 1, `${where}, d`);
    if (d <= 0n) throw new CertificateError(`${where}: d is ${d}, not above 0`);
    if ([...ends.values()].some(([lo, hi]) => crossed(lo, hi))) return NOTHING; // a case of the fork without counts
    if (leaf.kind === "empty") {
      // the multipliers speak of no cell: if even 0 is above what is possible, this case holds no counts
      const none = this.bound(new Map(), leaf, ends, where);
      if (none < 0n) return NOTHING;
    }
    const scaled = new Map([...c].map(([cell, own]) => [cell, d * own]));
    return floorDivided(this.bound(scaled, leaf, ends, where), d);
  }

  /** The bound of w x + (rows used), with w what the multipliers leave of c. */
  bound(c, leaf, ends, where) {
    const w = new Map(c);
    let total = 0n;
    for (const [name, text] of Object.entries(leaf.y ?? {})) {
      const row = this.row.get(name),
        y = wholeNumber(text, `${where}, y of ${name}`);
      if (row === undefined) throw new CertificateError(`${where}: there is no row ${name}`);
      for (let at = this.start[row]; at < this.start[row + 1]; at++)
        w.set(this.columns[at], (w.get(this.columns[at]) ?? 0n) - y * this.weights[at]);
      const end = y > 0n ? this.most[row] : this.least[row];
      if (y && end === null) throw new CertificateError(`${where}: needs an end of row ${name}, and nobody stated one`);
      if (y) total += y * end;
    }
    for (const [cell, own] of w) {
      const [lo, hi] = this.endsOf(cell, ends);
      if (own > 0n && hi === null)
        throw new CertificateError(`${where}: needs an upper end of cell ${cell}, and nobody printed one`);
      if (own) total += own * (own > 0n ? hi : lo);
    }
    return total;
  }

  endsOf(cell, ends) {
    const [lo, hi] = ends.get(cell) ?? [this.lo[cell], this.hi[cell]];
    return [lo > this.lo[cell] ? lo : this.lo[cell], least(hi, this.hi[cell])];
  }

  cell(name, where) {
    if (!this.place.has(name)) throw new CertificateError(`${where}: there is no cell ${String(name).slice(0, 60)}`);
    return this.place.get(name);
  }
}

/** The lower of two upper ends, where null is none. */
const least = (a, b) => (a === null || (b !== null && b < a) ? b : a);
const crossed = (lo, hi) => hi !== null && lo > hi;

function wholeNumber(value, where) {
  if (!Number.isSafeInteger(value))
    throw new CertificateError(`${where}: ${String(value).slice(0, 40)} is not a whole number`);
  return BigInt(value);
}

/** Divided and rounded down, below 0 too. */
function floorDivided(a, b) {
  const q = a / b;
  return a % b !== 0n && a < 0n ? q - 1n : q;
}
