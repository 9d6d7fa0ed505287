// Which labels of a table add up others: by their names, by the numbers, by intervals inside intervals.
import { isTotal, joined, labelsOf, maybeTotal, numberOf, shown } from "./model.js";
import { Problem } from "./problem.js";

const BAND = /^(\d{1,9})\s*(?:-|\u2013|to|bis|a)\s*(\d{1,9})(?:\s*(?:years?|yrs?))?$/i;
const FROM = /^(\d{1,9})\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?$/i;
const UNDER = /^(?:under|less than|below|<)\s*(\d{1,9})(?:\s*years?)?$/i;
const FAR = 10 ** 9; // above every number that a band may hold

/**
 * The table with what adds up to what, and a note on how each total was recognised; `named` says of a column which label is
 * the total, or null for none. What has to be asked stands in `asked`.
 */
export function findTotals(table, named = {}) {
  const sums = new Map(),
    notes = [...table.notes],
    asked = [...table.asked];
  for (const column of table.columns) {
    const own = new Totals(table, column, Object.hasOwn(named, column) ? named[column] : undefined);
    if (own.sums.length) {
      checkTree(own.sums, `${table.source}: table ${table.name}: ${column}`);
      sums.set(column, own.sums);
    }
    if (own.how.length) notes.push(`${column}: ${own.how.join("; ")}`);
    asked.push(...own.asked);
  }
  return { ...table, sums, notes, asked };
}

/** What adds up to what in one column: each label stands in one sum at most, and none is among its own parts. */
function checkTree(sums, where) {
  const parent = new Map();
  for (const [label, children] of sums)
    for (const child of children) {
      if (parent.has(child))
        throw new Problem(
          `${where}: ${shown(child)} is a part of ${shown(parent.get(child))} and of ${shown(label)}; ` +
            "take one of the two out, or use the command",
        );
      parent.set(child, label);
    }
  for (const start of parent.keys())
    for (let label = parent.get(start), steps = 0; label !== undefined; label = parent.get(label))
      if (label === start || ++steps > parent.size)
        throw new Problem(`${where}: ${shown(start)} is among its own parts; choose another total`);
}

/** The sums of one column: `sums` is a list of a label and its parts, `how` says why, `asked` what only the user knows. */
class Totals {
  constructor(table, column, named) {
    const labels = labelsOf(table, column),
      where = `${table.source}: table ${table.name}`;
    if (named && !labels.includes(named)) throw new Problem(`${table.source}: ${column} has no label ${named}`);
    Object.assign(this, { table, column, labels, where, named, how: [], asked: [] });
    this.inner = new Map([...this.byName(), ...byInterval(labels)]);
    this.inner.delete(named);
    this.parts = new Set([...this.inner.values()].flat());
    for (const [label, children] of this.inner) this.how.push(`'${label}' adds up ${children.length} others`);
    const total = this.total();
    this.sums = [...(total === null ? [] : [[total, this.outer(total)]]), ...this.inner];
  }

  /** The labels that the total adds up: all that are part of nothing else. */
  outer(total) {
    return this.labels.filter((label) => label !== total && !this.parts.has(label));
  }

  total() {
    const { labels, parts, named } = this;
    if (named === null) return this.found(null, "no total, as told");
    if (named !== undefined) {
      if (parts.has(named))
        throw new Problem(`${this.where}: ${named} is a part of another label of ${this.column}; choose another total`);
      return this.found(named, `'${named}' is the total, as told`);
    }
    const called = labels.filter((label) => isTotal(label) && !parts.has(label));
    if (called.length > 1)
      throw new Problem(
        `${this.where}: ${called.join(" and ")} both look like the total of ${this.column}; rename the one that is not`,
      );
    if (called.length) return this.found(called[0], `'${called[0]}' is the total (by its name)`);
    const maybe = labels.filter((label) => maybeTotal(label) && !parts.has(label) && !this.inner.has(label));
    for (const label of maybe) {
      const agrees = this.addsUp(label, this.outer(label), true);
      if (agrees === "yes") return this.found(label, `'${label}' is the total (by its name, and it adds up the others)`);
      if (agrees === "unknown")
        this.ask(`is ${shown(label)} the total of ${this.column}, or one of its groups? The numbers do not tell`);
    }
    const position = this.byPosition();
    return position === null ? null : this.found(position, `'${position}' is the total (it adds up the others)`);
  }

  found(label, how) {
    this.how.push(how);
    return label;
  }

  ask(question) {
    this.asked.push(
      `${this.where}: ${question}. Choose under Totals: the label that is the total of ${this.column}, or none`,
    );
  }

  /** Subtotals called so: `Subtotal`, `Total owned`, `Owned, total`: the labels right before or after add up to it. */
  *byName() {
    let others = [];
    for (const [at, label] of this.labels.entries()) {
      if (isTotal(label) || label === this.named) continue;
      if (!/\b(sub-?total|total)\b|\btotal_|_total\b/i.test(label)) {
        others.push(label);
        continue;
      }
      const rest = this.labels.slice(at + 1).filter((other) => other !== this.named),
        end = rest.findIndex((other) => /\btotal\b/i.test(other));
      const groups = [others, end < 0 ? rest : rest.slice(0, end)].filter((children) => children.length > 1);
      const children = groups.find((own) => this.addsUp(label, own) === "yes");
      if (children) yield [label, children];
      else
        this.asked.push(
          `${this.where}: ${shown(label)} is called a total, and no numbers show of what. If it is the total of ` +
            `${this.column}, choose it under Totals; else take it out, call it by another name, or use the ` +
            "command with a hierarchy",
        );
      others = [];
    }
  }

  /** The last or the first label, if it adds up all others in every line that is printed whole, and there are some. */
  byPosition() {
    const labels = this.labels.filter((label) => !this.inner.has(label));
    if (labels.length <= 2) return null;
    const adds = (label) =>
      this.addsUp(
        label,
        labels.filter((other) => other !== label),
        true,
      ) === "yes";
    return [labels.at(-1), labels[0]].find((label) => !this.parts.has(label) && adds(label)) ?? null;
  }

  /** Whether the numbers say that a label adds up others: yes, no, unknown. With `sure`, two lines say so to the unit. */
  addsUp(label, children, sure = false) {
    const { table, column } = this,
      at = table.columns.indexOf(column);
    let agree = 0;
    for (const { labels, text } of table.entries.values()) {
      const total = numberOf(text);
      if (labels[at] !== label || total === null) continue;
      const parts = children.map((child) => printed(table, labels.with(at, child)));
      const known = parts.filter((part) => part !== null),
        sum = known.reduce((a, b) => a + b, 0),
        room = 3 * parts.length; // printed counts may be rounded
      if (sum > total + room) return "no";
      if (known.length < parts.length) continue;
      if (sum !== total && (sure || Math.abs(sum - total) > room)) return "no";
      // a small total is near a sum by chance
      agree += total > 0 && (sum === total || total > 10 * room);
    }
    return agree >= (sure ? 2 : 1) ? "yes" : "unknown";
  }
}

/** A label as an interval of whole numbers; null where it is none. */
export function interval(label) {
  const text = label.trim();
  let found = BAND.exec(text);
  if (found) return Number(found[1]) <= Number(found[2]) ? [Number(found[1]), Number(found[2])] : null;
  found = FROM.exec(text);
  if (found) return [Number(found[1]), FAR];
  found = UNDER.exec(text);
  return found ? [0, Number(found[1]) - 1] : null;
}

/** A label whose interval is made up of others: 0-9 is 0-4 and 5-9. */
export function* byInterval(labels) {
  const bands = labels.map((label) => [label, interval(label)]).filter(([, band]) => band);
  for (const [label, [low, high]] of bands) {
    const chain = [];
    let at = low;
    while (at <= high) {
      const inside = bands.filter(
        ([other, band]) => other !== label && band[0] === at && band[1] <= high && !(band[0] === low && band[1] === high),
      );
      if (!inside.length) break;
      const [other, band] = inside.reduce((best, one) =>
        one[1][1] > best[1][1] || (one[1][1] === best[1][1] && one[0] > best[0]) ? one : best,
      );
      chain.push(other);
      at = band[1] + 1;
    }
    if (at > high && chain.length > 1) yield [label, chain];
  }
}

function printed(table, labels) {
  const entry = table.entries.get(joined(labels));
  return entry ? numberOf(entry.text) : null;
}
