// Which labels of a table add up others: by their names, by the numbers, by intervals inside intervals.
import { isTotal, joined, labelsOf, numberOf } from "./model.js";
import { Problem } from "./problem.js";

const BAND = /^(\d+)\s*(?:-|\u2013|to|bis|a)\s*(\d+)(?:\s*(?:years?|yrs?))?$/i;
const FROM = /^(\d+)\s*(?:\+|and over|and above|or more|and older|plus|years and over)(?:\s*years?)?$/i;
const UNDER = /^(?:under|less than|below|<)\s*(\d+)(?:\s*years?)?$/i;
const FAR = 10 ** 6;

/** The table with what adds up to what, and a note on how each total was recognised; `named` says which label it is. */
export function findTotals(table, named = {}) {
  const sums = new Map(table.sums),
    notes = [...table.notes];
  for (const column of table.columns) {
    if (sums.has(column)) continue;
    const [found, how] = sumsOf(table, column, Object.hasOwn(named, column) ? named[column] : undefined);
    if (found.length) {
      sums.set(column, found);
      notes.push(`${column}: ${how}`);
    }
  }
  return { ...table, sums, notes };
}

function sumsOf(table, column, named) {
  const labels = labelsOf(table, column);
  if (named !== undefined) {
    if (!labels.includes(named)) throw new Problem(`${table.source}: ${column} has no label ${named}`);
    return [[[named, labels.filter((label) => label !== named)]], `'${named}' is the total, as told`];
  }
  const inner = new Map([...byName(table, column, labels), ...byInterval(labels)]);
  const parts = new Set([...inner.values()].flat());
  let total = labels.filter((label) => isTotal(label) && !parts.has(label));
  if (total.length > 1)
    throw new Problem(
      `${table.source}: table ${table.name}: ${total.join(" and ")} both look like the total of ${column}; ` +
        "rename the one that is not",
    );
  const how = [...inner].map(([label, children]) => `'${label}' adds up ${children.length} others`);
  if (total.length) how.push(`'${total[0]}' is the total (by its name)`);
  else {
    const found = byPosition(
      table,
      column,
      labels.filter((label) => !inner.has(label)),
    );
    total = found !== null && !parts.has(found) ? [found] : [];
    if (total.length) how.push(`'${total[0]}' is the total (it adds up the others)`);
  }
  const top = total.map((label) => [label, labels.filter((x) => x !== label && !parts.has(x))]);
  return [[...top, ...inner], how.join("; ")];
}

/** Subtotals called so: `Subtotal`, `Total owned`, `Owned, total`: the labels right before or after add up to it. */
function* byName(table, column, labels) {
  let others = [];
  for (const [at, label] of labels.entries()) {
    if (isTotal(label)) continue;
    if (!/\b(sub-?total|total)\b|\btotal_|_total\b/i.test(label)) {
      others.push(label);
      continue;
    }
    const rest = labels.slice(at + 1),
      end = rest.findIndex((other) => /\btotal\b/i.test(other));
    for (const children of [others, end < 0 ? rest : rest.slice(0, end)]) {
      if (children.length > 1 && addsUp(table, column, label, children)) {
        yield [label, children];
        break;
      }
    }
    others = [];
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

/** The last or the first label, if it adds up all others in every line that is printed whole, and there are some. */
function byPosition(table, column, labels) {
  if (labels.length <= 2) return null;
  for (const label of [labels.at(-1), labels[0]])
    if (
      addsUp(
        table,
        column,
        label,
        labels.filter((other) => other !== label),
        true,
      )
    )
      return label;
  return null;
}

/** Whether the numbers agree that a label adds up others; with `sure`, two lines must say so, and not by zeros. */
function addsUp(table, column, label, children, sure = false) {
  const at = table.columns.indexOf(column);
  let agree = 0;
  for (const { labels, text } of table.entries.values()) {
    const total = numberOf(text);
    if (labels[at] !== label || total === null) continue;
    const parts = children.map((child) => printed(table, labels.with(at, child)));
    const known = parts.filter((part) => part !== null),
      sum = known.reduce((a, b) => a + b, 0);
    if (sum > total + 3 * parts.length) return false; // printed counts may be rounded
    if (known.length === parts.length) {
      if (sum !== total && (sure || Math.abs(sum - total) > 3 * parts.length)) return false;
      agree += total > 0;
    }
  }
  return sure ? agree >= 2 : true;
}

function printed(table, labels) {
  const entry = table.entries.get(joined(labels));
  return entry ? numberOf(entry.text) : null;
}
