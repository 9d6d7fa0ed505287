// What printed texts say of counts: numbers by the rule of the publisher, symbols by what the reading says they mean.
import { LARGEST, shown } from "./model.js";
import { Problem } from "./problem.js";
import { isOffered } from "./told.js";

export const ROUNDINGS = {
  none: "exact",
  round: "rounded to the nearest multiple (halves up)",
  random: "rounded at random to a neighbouring multiple",
  "random-nonzero": "rounded at random, but a count above 0 never to 0",
  midpoint: "printed as the middle of an interval",
  key: "off by at most this much (cell keys)",
};

/** What every symbol says of a count: lo to hi (null: no upper end), and whether it was suppressed; one not known is asked. */
export function symbolValues(tables, symbols) {
  const met = new Map(),
    values = new Map();
  for (const { text, number, place } of tables.flatMap((table) => [...table.entries.values()]))
    if (number === null && !met.has(text)) met.set(text, place);
  const asked = symbols.filter(({ text, how }) => met.has(text) && isOffered(how));
  if (asked.length)
    throw new Problem(
      `${met.get(asked[0].text)}: what do these symbols mean: ` +
        `${asked.map(({ text, cells }) => `${shown(text)} (${cells} times)`).join(", ")}? Choose it above: suppressed, missing, ` +
        "zero, or a range such as 1-4",
    );
  for (const { text, meaning } of symbols) if (met.has(text)) values.set(text, meaningValue(text, meaning));
  const lost = [...met.keys()].find((text) => !values.has(text));
  if (lost !== undefined) throw new Problem(`${met.get(lost)}: the meaning of ${shown(lost)} is not known`);
  return values;
}

/** The ends that a meaning gives; what is missing or not applicable may be any count, and is not called suppressed. */
export function meaningValue(text, meaning) {
  if (meaning === "suppressed") return { lo: 0, hi: null, hidden: true };
  if (meaning === "zero") return { lo: 0, hi: 0, hidden: false };
  const ends = /^between (\d+) and ?(\d+)?$/.exec(meaning);
  if (!ends) return { lo: 0, hi: null, hidden: false };
  const lo = Number(ends[1]),
    hi = ends[2] === undefined ? null : Number(ends[2]);
  if (Math.max(lo, hi ?? 0) > LARGEST) throw new Problem(`${shown(text)}: ${shown(meaning)} is too large for this page`);
  if (hi !== null && lo > hi) throw new Problem(`${shown(text)}: the range ${lo}-${hi} is empty; give the lower end first`);
  return { lo, hi, hidden: true };
}

/** A rule: how numbers were rounded, to which base, and below what suppressed; an error where it makes no sense. */
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
    suppress: whole(suppress, "counts below this are suppressed", 0),
  };
}

/** A rule in the words of the command line. */
export const ruleWords = ({ rounding, base, suppress }) => [
  ...(rounding === "none" ? [] : [`${rounding}=${base}`]),
  ...(suppress ? [`suppress=${suppress}`] : []),
];

/** What a cell's text says of its count. */
export function valueOf({ text, number, place }, symbols, rule) {
  if (number === null) return symbols.get(text);
  if (number < 0) throw new Problem(`${place}: the count ${shown(text)} is negative; counts are whole numbers from 0`);
  if (number > LARGEST) throw new Problem(`${place}: the count ${shown(text)} is too large for this page`);
  if (!possible(number, rule))
    throw new Problem(
      `${place}: ${text} cannot come from rounding to base ${rule.base}; check the rule, or the number`,
    );
  return { ...knownOf(number, rule, place), hidden: false };
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
    throw new Problem(`${place}: a count of ${value} is shown, but counts below ${rule.suppress} are to be suppressed`);
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
