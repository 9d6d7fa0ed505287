// What a user says about a table, as the options of `genverify read`: a click on a column or a row is one of them.

export const LABEL = "label",
  COUNT = "count",
  SKIP = "skip",
  AS_READ = "as it was read";

/** What is told of a table: columns by letter, rows to skip by number, totals by axis, symbols, rules. */
export class Told {
  constructor() {
    Object.assign(this, { columns: new Map(), rows: new Set(), totals: new Map(), symbols: new Map(), rule: [] });
  }

  /** The same, to be changed without this one. */
  copy() {
    const { columns, rows, totals, symbols, rule } = this;
    return Object.assign(new Told(), {
      columns: new Map(columns),
      rows: new Set(rows),
      totals: new Map(totals),
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

  total(axis, label) {
    if (label === null) this.totals.delete(axis);
    else this.totals.set(axis, label);
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
      ...[...this.symbols].map(([text, meaning]) => ["--symbol", `${text}=${meaning}`]),
      ...this.rule.map((word) => ["--rule", word]),
    ];
  }
}

/** A word as a shell takes it for itself. */
export const quotedWord = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The command that reads files in the same way. */
export const commandOf = (names, told) =>
  ["genverify", "read", ...names.map(quotedWord), ...told.pairs().flatMap(([option, own]) => [option, quotedWord(own)])].join(
    " ",
  );

/** Whether a symbol's meaning is only offered: nobody told it, no legend gives it, and it does not print its ends. */
export const isOffered = (how) => /^(offered|not in)/.test(how);
