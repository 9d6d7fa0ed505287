// What printed texts say of counts: numbers by the rule of the publisher, marks by what they are said to mean.
import { LARGEST, LIMIT, numberOf, shown } from "./model.js";
import { Problem } from "./problem.js";

export const BLANK = "blank";
export const MEANINGS = "suppressed (any count), missing (not told), 0, a range such as 1-4, or a limit such as <5 or >=3";
export const ROUNDINGS = {
  none: "exact",
  round: "rounded to the nearest multiple (halves up)",
  random: "rounded at random to a neighbouring multiple",
  "random-nonzero": "rounded at random, but a count above 0 never to 0",
  midpoint: "printed as the middle of an interval",
  key: "off by at most this much (cell keys)",
};

/** What is said of a mark: lo to hi (null: no upper end), and whether the count itself was withheld. */
export function meaningOf(text, where) {
  const own = text.trim().toLowerCase();
  if ((own.match(/\d+/g) ?? []).some((digits) => Number(digits) > LARGEST))
    throw new Problem(`${where}: ${shown(text)} is too large for this page`);
  if (own === "suppressed" || own === "missing") return { lo: 0, hi: null, hidden: own === "suppressed" };
  if (/^\d+$/.test(own)) return { lo: Number(own), hi: Number(own), hidden: false };
  const range = /^(\d+)\s*(?:-|to)\s*(\d+)$/.exec(own);
  if (range && Number(range[1]) > Number(range[2]))
    throw new Problem(`${where}: the range ${own} is empty; give the lower end first`);
  if (range) return { lo: Number(range[1]), hi: Number(range[2]), hidden: true };
  const limit = LIMIT.exec(own);
  if (limit) return limitValue(limit[1], Number(limit[2]));
  throw new Problem(`${where}: ${shown(text)} is no meaning of a mark; a mark means ${MEANINGS}`);
}

function limitValue(sign, number) {
  sign = sign.toLowerCase();
  if (["<", "less than", "fewer than", "under"].includes(sign)) return { lo: 0, hi: Math.max(number - 1, 0), hidden: true };
  if (["<=", "\u2264"].includes(sign)) return { lo: 0, hi: number, hidden: true };
  return { lo: [">", "more than"].includes(sign) ? number + 1 : number, hi: null, hidden: true };
}

/** Texts among the counts that are no numbers: how often each stands there, and what it says by itself (`<5`). */
export function marksIn(tables) {
  const found = new Map();
  for (const { text, place } of tables.flatMap((table) => [...table.entries.values()])) {
    if (numberOf(text) !== null) continue;
    const mark = text.trim(),
      known = found.get(mark),
      limit = LIMIT.exec(mark);
    if (known) known.times += 1;
    else found.set(mark, { mark, times: 1, place, says: limit ? meaningOf(mark, place) : null });
  }
  return [...found.values()];
}

/** The meaning of every mark: as told (a mark and its words), else as it says; the rest is an error, never guessed. */
export function completeMarks(tables, told) {
  const meanings = new Map(),
    how = new Map(),
    unknown = [],
    met = marksIn(tables);
  const missing = Object.keys(told).filter((mark) => told[mark] && !met.some((own) => (own.mark || BLANK) === mark));
  if (missing.length)
    throw new Problem(
      `the mark ${missing.map(shown).join(", ")} stands nowhere among the counts; check how the table was ` +
        "read, or take it back",
    );
  for (const { mark, times, place, says } of met) {
    const words = told[mark || BLANK];
    if (words) {
      meanings.set(mark, meaningOf(words, mark || BLANK));
      how.set(mark, "as told");
    } else if (says) {
      meanings.set(mark, says);
      how.set(mark, "as it says");
    } else unknown.push({ text: `${mark || BLANK} (${times} times)`, place });
  }
  if (unknown.length)
    throw new Problem(
      `${unknown[0].place}: what do these marks mean: ${unknown.map((one) => one.text).join(", ")}? ` +
        `A mark means ${MEANINGS}.`,
    );
  return { meanings, how };
}

/** A rule: how numbers were rounded, to which base, and below what they were withheld; an error where it makes no sense. */
export function ruleOf(rounding, base, suppress) {
  const whole = (value, name, least) => {
    if (!Number.isInteger(value) || value < least || value > 10 ** 6)
      throw new Problem(`${name}: ${value} is no whole number from ${least} to 1,000,000`);
    return value;
  };
  if (!(rounding in ROUNDINGS)) throw new Problem(`unknown rule ${rounding}`);
  return {
    rounding,
    base: rounding === "none" ? 1 : whole(base, "the base of the rounding", 1),
    suppress: whole(suppress, "counts below this are withheld", 0),
  };
}

/** What a cell's text says of its count. */
export function valueOf(entry, meanings, rule) {
  const text = entry.text.trim(),
    number = numberOf(text);
  if (number === null) return meanings.get(text);
  if (!possible(number, rule))
    throw new Problem(
      `${entry.place}: ${text} cannot come from rounding to base ${rule.base}; check the rule, or the number`,
    );
  return { ...knownOf(number, rule, entry.place), hidden: false };
}

/** Whether a value can be printed at all: rounded counts are multiples of the base. */
function possible(value, { rounding, base }) {
  if (rounding === "midpoint") return value === 0 || (value + Math.floor(base / 2)) % base === 0;
  return !["round", "random", "random-nonzero"].includes(rounding) || value % base === 0;
}

/** The least and the greatest true count behind a printed value; zeros are shown, counts from 1 to suppress - 1 are not. */
function knownOf(value, rule, place) {
  let [lo, hi] = beforeRounding(value, rule);
  const zero = lo <= 0;
  lo = lo < rule.suppress && !zero ? rule.suppress : Math.max(lo, 0);
  hi = hi < rule.suppress ? (zero ? 0 : -1) : hi;
  if (lo > hi)
    throw new Problem(`${place}: a count of ${value} is shown, but counts below ${rule.suppress} are to be withheld`);
  return { lo, hi };
}

function beforeRounding(value, { rounding, base }) {
  const half = Math.floor(base / 2),
    rest = Math.floor((base + 1) / 2) - 1;
  const [below, above] = {
    none: [0, 0],
    round: [half, rest],
    random: [base - 1, base - 1],
    "random-nonzero": [base - 1, base - 1],
    midpoint: [rest, half],
    key: [base, base],
  }[rounding];
  // a printed 0 is a 0, and nothing else is
  if (value === 0 && ["random-nonzero", "midpoint"].includes(rounding)) return [0, 0];
  return [["random-nonzero", "midpoint"].includes(rounding) ? Math.max(value - below, 1) : value - below, value + above];
}
