// A printed table as it was understood: its columns, what adds up to what, and the text of every cell.
import { Problem } from "./problem.js";

const TOTAL_WORDS = new Set([
  "total",
  "totals",
  "grand total",
  "sum",
  "all",
  "overall",
  "_t",
  "together",
  "both sexes",
  "all ages",
  "everyone",
  "all persons",
  "all people",
  "persons",
  "insgesamt",
  "totaal",
  "totalt",
  "ensemble",
]);
const NUMBER = /^[+-]?(\d{1,3}([,'\u00a0\u202f \u2009]\d{3})+|\d{1,3}(\.\d{3}){2,}|\d+)([.,]\d+)?$/;
const PERCENT = /^(.+?)\s*%$/;
export const BOTH = /^([\d,. \u00a0\u202f]*\d)\s*\(\s*([\d.,]+)\s*%\s*\)$/;
export const LIMIT = /^(<=|<|\u2264|less than|fewer than|under|>=|>|\u2265|at least|more than)\s*(\d+)$/i;
const MARK = new RegExp(
  "^(?:[*\\u2020#^~:.\\u2026/-]{1,4}|[\\u2010-\\u2015]|\\.{0,2}[A-Za-z]|[\\[(][A-Za-z*.:-]{1,3}[\\])]|n/?a" +
    "|[\\[(]?(?:nan|null|none|conf|supp?|suppressed|confidential|redacted|masked|hidden|withheld)[\\])]?" +
    "|status \\w{1,4})$",
  "i",
);
// of what can be a mark: what is no usual label, as f is
const SIGNS = /^[^A-Za-z0-9]+$|^[[(].*[\])]$|suppressed|confidential|redacted|masked|withheld/i;
const THOUSANDS_OR_NOT = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;
export const LARGEST = 10 ** 9; // sums of 5,000 counts times the multipliers of proofs stay whole in the solver's numbers

/** Labels as one text, to look a cell up: other labels, another text. */
export const joined = (labels) => JSON.stringify(labels);

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

/** A text that cannot be taken for what stands around it in the name of a cell. */
export const spelled = (text) =>
  text && text === text.trim() && !/[,="]/.test(text) && !UNSEEN.test(text) ? text : JSON.stringify(text);

/** A text for a message: short, and without characters that cannot be seen. */
export const shown = (text) =>
  spelled(text.length > 40 ? `${text.slice(0, 40)}...` : text).replace(
    new RegExp(UNSEEN, "gu"),
    (char) => `\\u{${char.codePointAt(0).toString(16)}}`,
  );

/** Columns without those that only name another one (a code and its name): crossed, they would make cells that cannot be. */
function withoutNames(columns, entries) {
  const sets = columns.map((_, at) => new Set(entries.map(({ labels }) => labels[at])));
  const pairs = (one, other) => new Set(entries.map(({ labels }) => joined([labels[one], labels[other]]))).size;
  const same = (one, other) =>
    sets[one].size > 1 && sets[one].size === sets[other].size && pairs(one, other) === sets[one].size;
  // the one that names a total is kept, else the first
  const better = (one, other) =>
    Number([...sets[other]].some(isTotal)) - Number([...sets[one]].some(isTotal)) || one - other;
  const by = columns.map((_, at) =>
    columns.findIndex((_, other) => other !== at && same(at, other) && better(other, at) < 0),
  );
  const kept = columns.map((_, at) => at).filter((at) => by[at] < 0);
  return {
    columns: kept.map((at) => columns[at]),
    entries:
      kept.length < columns.length ? entries.map((own) => ({ ...own, labels: kept.map((at) => own.labels[at]) })) : entries,
    notes: columns.flatMap((column, at) => (by[at] < 0 ? [] : [`${column} and ${columns[by[at]]} name the same`])),
  };
}

/** A table; an error where two cells have the same labels, or where a cell is no count. `left`: what was left out. */
export function makeTable(name, source, all, texts, title = "") {
  const { columns, entries, notes } = withoutNames(all, texts),
    held = new Map();
  for (const entry of entries) {
    checkCount(entry);
    if (entry.labels.includes(""))
      throw new Problem(
        `${entry.place}: the label of ${columns[entry.labels.indexOf("")]} is empty; give the row or column a label`,
      );
    const key = joined(entry.labels),
      other = held.get(key);
    if (other) {
      const which = columns.map((column, at) => `${column}: ${shown(entry.labels[at])}`).join(", ");
      throw new Problem(
        `${entry.place}: a second cell for ${which} (${shown(other.text)} at ${other.place}, now ${shown(entry.text)}); ` +
          "give its row or column another label",
      );
    }
    held.set(key, entry);
  }
  if (!held.size) throw new Problem(`${source}: table ${name} holds no counts`);
  const left = columns.flatMap((column, at) => {
    const labels = [...new Set(entries.map((entry) => entry.labels[at]))].filter(looksHidden);
    return labels.map((label) => ({ cells: 1, what: `${shown(label)} is read as a label of ${column}` }));
  });
  return { name, source, columns, entries: held, sums: new Map(), title, notes, left, asked: [] };
}

/** An error where a text among the counts is neither a whole number that this page can hold, nor a mark. */
function checkCount({ text, place }) {
  const number = numberOf(text),
    told = `${place}: ${shown(text)}`;
  if (text && !isValue(text))
    throw new Problem(`${told} stands among the counts, neither a number nor a mark; correct it, or take it out`);
  if (THOUSANDS_OR_NOT.test(text))
    throw new Problem(`${told} can be ${text.split(".")[0]} or ${text.replace(".", "")}; write it without a point`);
  if (isPercentage(text) || BOTH.test(text)) throw new Problem(`${told} is a percentage among counts; take it out`);
  if (NUMBER.test(text) && number === null)
    throw new Problem(`${told} is no whole number, so no count; take its row or column out`);
  if ((number ?? 0) < 0)
    throw new Problem(`${place}: the count ${shown(text)} is negative; counts are whole numbers from 0`);
  if ((number ?? 0) > LARGEST) throw new Problem(`${place}: the count ${shown(text)} is too large for this page`);
}

/** Whether a label could be a mark instead: then nobody may say that nothing is hidden. */
export const looksHidden = (label) => MARK.test(label) && SIGNS.test(label);

/** The labels of a column, in their order. */
export function labelsOf(table, column) {
  const at = table.columns.indexOf(column);
  return [...new Set([...table.entries.values()].map((entry) => entry.labels[at]))];
}

const folded = (label) =>
  label
    .toLowerCase()
    .replace(/^[ :.*]+|[ :.*]+$/g, "")
    .split(/\s+/)
    .filter(Boolean)
    .join(" ");

/** Whether a label names a total of everything. */
export const isTotal = (label) =>
  TOTAL_WORDS.has(folded(label)) || /^(grand )?total( persons| people| number| count)?$/.test(folded(label));

/** Whether a label may name a total of everything: `All schools`, but also `All other schools`. Numbers decide. */
export const maybeTotal = (label) => !isTotal(label) && (folded(label) === "t" || folded(label).startsWith("all "));

/** A whole number as it is printed; null where the text is none. */
export function numberOf(text) {
  text = text.trim();
  if (!NUMBER.test(text) || THOUSANDS_OR_NOT.test(text)) return null;
  let plain = text.replace(/[,'\u00a0\u202f \u2009](?=\d{3}(\D|$))/g, "");
  if (plain.split(".").length > 2) plain = plain.replace(/\.(?=\d{3}\.|\d{3}$)/g, "");
  plain = plain.replace(/[.,]0+$/, "");
  return /^[+-]?\d+$/.test(plain) ? Number(plain) : null;
}

/** Whether a header speaks of something else than counts: a percentage, a rate, a mean. `n (%)` heads counts. */
export const isStatistic = (head) =>
  /%|\b(per ?cent\w*|pct|shares?|proportions?|rates?|ratios?|mean|median|average|avg)\b/i.test(
    head.replace(/\bn\b[ ,]*\(?%\)?/i, ""),
  );

export const isPercentage = (text) => PERCENT.test(text.trim());

/** Whether a text can stand in the body of a table: a number, a number with its percentage, a limit, or a mark. */
export function isValue(text) {
  text = text.trim();
  return NUMBER.test(text) || isPercentage(text) || BOTH.test(text) || LIMIT.test(text) || MARK.test(text);
}
