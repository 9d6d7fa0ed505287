// Names of cells and labels, and the tables of counts that the reading hands over.

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

/** A table as the reading gives it, with its cells by their labels. */
export const tableOfCounts = (own) => ({
  ...own,
  sums: new Map(own.sums),
  entries: new Map(own.entries.map(([labels, text, number, place]) => [joined(labels), { labels, text, number, place }])),
});

/** The labels of a column, in their order. */
export function labelsOf(table, column) {
  const at = table.columns.indexOf(column);
  return [...new Set([...table.entries.values()].map((entry) => entry.labels[at]))];
}
