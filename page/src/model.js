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
  "t",
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
    "|nan|null|none|conf|supp?|suppressed|confidential|redacted|masked|hidden)$",
  "i",
);

/** Labels as one text, to look a cell up. */
export const joined = (labels) => labels.join("\u001f");

/** A table; an error where two cells have the same labels. */
export function makeTable(name, source, columns, entries, title = "") {
  const held = new Map();
  for (const entry of entries) {
    const key = joined(entry.labels),
      other = held.get(key);
    if (other && other.text !== entry.text) {
      const shown = columns.map((column, at) => `${column}: ${entry.labels[at]}`).join(", ");
      throw new Problem(
        `${entry.place}: a second cell for ${shown} (${other.text} at ${other.place}, now ${entry.text}); ` +
          "give its row or column another label",
      );
    }
    if (!other) held.set(key, entry);
  }
  if (!held.size) throw new Problem(`${source}: table ${name} holds no counts`);
  return { name, source, columns, entries: held, sums: new Map(), title, notes: [] };
}

/** The labels of a column, in their order. */
export function labelsOf(table, column) {
  const at = table.columns.indexOf(column);
  return [...new Set([...table.entries.values()].map((entry) => entry.labels[at]))];
}

/** Whether a label names a total of everything. */
export function isTotal(label) {
  const text = label
    .toLowerCase()
    .replace(/^[ :.*]+|[ :.*]+$/g, "")
    .split(/\s+/)
    .filter(Boolean)
    .join(" ");
  return TOTAL_WORDS.has(text) || text.startsWith("all ") || /^(grand )?total( persons| people| number| count)?$/.test(text);
}

/** A whole number as it is printed; null where the text is none. */
export function numberOf(text) {
  text = text.trim();
  if (!NUMBER.test(text)) return null;
  let plain = text.replace(/[,'\u00a0\u202f \u2009](?=\d{3}(\D|$))/g, "");
  if (plain.split(".").length > 2) plain = plain.replace(/\.(?=\d{3}\.|\d{3}$)/g, "");
  plain = plain.replace(/[.,]0+$/, "");
  return /^[+-]?\d+$/.test(plain) ? Number(plain) : null;
}

export const isPercentage = (text) => PERCENT.test(text.trim());

/** Whether a text can stand in the body of a table: a number, a number with its percentage, a limit, or a mark. */
export function isValue(text) {
  text = text.trim();
  return NUMBER.test(text) || isPercentage(text) || BOTH.test(text) || LIMIT.test(text) || MARK.test(text);
}
