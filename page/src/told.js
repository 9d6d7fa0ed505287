// What a user says about a table, as the options of `genverify read`: a click on a column or a row is one of them.
import { Problem } from "./problem.js";
import { WORDS } from "./words.js";

export const LABEL = "label",
  COUNT = "count",
  SKIP = "skip",
  AS_READ = WORDS.asRead;

/** What is told of a table: columns by letter, rows to skip by number, totals by axis and labels that are none, symbols. */
export class Told {
  constructor() {
    Object.assign(this, {
      columns: new Map(),
      rows: new Set(),
      totals: new Map(),
      noTotals: new Set(),
      labels: new Set(),
      symbols: new Map(),
      rule: [],
    });
  }

  /** The same, to be changed without this one. */
  copy() {
    const { columns, rows, totals, noTotals, labels, symbols, rule } = this;
    return Object.assign(new Told(), {
      columns: new Map(columns),
      rows: new Set(rows),
      totals: new Map(totals),
      noTotals: new Set(noTotals),
      labels: new Set(labels),
      symbols: new Map(symbols),
      rule: [...rule],
    });
  }

  column(letter, role) {
    if (role === AS_READ) this.columns.delete(letter);
    else this.columns.set(letter, role);
  }

  row(number, role) {
    if (role === AS_READ) this.rows.delete(number);
    else this.rows.add(number);
  }

  /** A label that adds up the others of an axis; null: as it was read. */
  total(axis, label) {
    if (label === null) this.totals.delete(axis);
    else {
      this.totals.set(axis, label);
      this.noTotals.delete(label);
    }
  }

  /** A label that is no total; or, once more, as it was read. */
  noTotal(label, is = true) {
    if (!is) this.noTotals.delete(label);
    else {
      this.noTotals.add(label);
      for (const [axis, own] of this.totals) if (own === label) this.totals.delete(axis);
    }
  }

  symbol(text, meaning) {
    if (meaning) this.symbols.set(text, meaning);
    else this.symbols.delete(text);
  }

  /** The options, each with its value. */
  pairs() {
    const letters = (role) => [...this.columns].filter(([, own]) => own === role).map(([letter]) => letter),
      skipped = [...[...this.rows].sort((a, b) => a - b), ...letters(SKIP)];
    const listed = (option, own) => (own.length ? [[option, own.join(",")]] : []);
    return [
      ...listed("--labels", letters(LABEL)),
      ...listed("--counts", letters(COUNT)),
      ...listed("--skip", skipped),
      ...[...this.totals].map(([axis, label]) => ["--total", `${axis}=${label}`]),
      ...[...this.noTotals].map((label) => ["--no-total", label]),
      ...[...this.labels].map((label) => ["--label", label]),
      ...[...this.symbols].map(([text, meaning]) => ["--symbol", `${text}=${meaning}`]),
      ...this.rule.map((word) => ["--rule", word]),
    ];
  }
}

/** A word as a shell takes it for itself. */
export const quotedWord = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The command that reads files in the same way, or audits them. */
export const commandOf = (command, names, pairs) =>
  [
    "genverify",
    command,
    ...names.map(quotedWord),
    ...pairs.flatMap(([option, own]) => (own ? [option, quotedWord(own)] : [option])),
  ].join(" ");

/** Whether a symbol's meaning is only suggested: nobody told it, no legend gives it, and it does not print its ends. */
export const isOffered = (how) => /^(suggested|not in)/.test(how);

/** How numbers were treated, in the words of the command line. */
export function ruleWords(rounding, base, suppress) {
  const whole = (value, name, least) => {
    if (!Number.isInteger(value) || value < least || value > 10 ** 6)
      throw new Problem(WORDS.notWhole(name, value, least));
    return value;
  };
  return [
    ...(rounding === "none"
      ? []
      : rounding === "exact"
        ? ["exact"]
        : [`${rounding}=${whole(base, WORDS.baseName, 1)}`]),
    ...(whole(suppress, WORDS.thresholdName, 0) ? [`suppress=${suppress}`] : []),
  ];
}
