// All texts of the page that are not the library's: to translate it, translate this file. {{names}} of page.html are keys here.

const cells = (number) => `${number} ${number === 1 ? "cell" : "cells"}`;
const many = (number) => number.toLocaleString("en");

export const WORDS = {
  // the page
  title: "What does this table give away?",
  intro:
    "Paste a table with suppressed or rounded counts and its totals. The page shows how it reads every cell, computes the " +
    "feasibility interval of every suppressed count, proves it, and checks the proof.",
  private: "Nothing leaves this machine: the page has no access to a network and works without one.",
  second:
    "Files are read by the library's own Python. Solver and checker are a second implementation, in JavaScript; tests compare " +
    "its answers with the library's.",
  paste: "Paste a table here (from a spreadsheet, or CSV), or drop files on this page:",
  choose: "or choose files",
  example: "Try an example",
  formats:
    "Excel (.xlsx), OpenDocument (.ods), CSV, TSV, pasted text, JSON-stat, PC-Axis, and a reading file with its table. Several " +
    "files are audited as linked tables.",
  starting: "The reader is starting ...",
  reading: "reading ...",
  treated: "How were the printed numbers treated?",
  numbers: "Numbers and time",
  are: "Numbers are",
  base: "base of the rounding",
  threshold: "counts from 1 to below this were suppressed (0: none)",
  samePeople: "several tables count the same people",
  partial: "continue without what is unclear or was left out; then no table is called safe",
  seconds: "seconds to search at most",
  run: "Audit",
  stop: "Stop",
  licences: "Licences",

  // work and problems
  working: "working ...",
  progress: (done, of) => `${done} of ${of} cells ...`,
  searching: "searching for secondary suppressions ...",
  changed: "the table has changed in the meantime: start the audit again",
  secondsWrong: "seconds: give a number above 0",
  refused: (why) => `A proof was refused, so nothing is reported. Please report this: ${why}`,
  broken: (why) => `Something went wrong in this page: ${why}`,
  here:
    ". On this page: answer with the buttons under Questions, the list of symbols, a click on a column or row, or the boxes " +
    "above Audit",
  stopped: "stopped",
  threadFailed: (name, why) => `the ${name} failed: ${why}`,
  threadNotStarted: (name, why) => `the ${name} cannot be started: ${why}`,
  notWhole: (name, value, least) => `${name}: ${value} is not a whole number from ${least} to 1,000,000`,
  baseName: "the base of the rounding",
  thresholdName: "counts below this were suppressed",

  // how a file was read
  howRead: "How it was read",
  roles: "Every cell has one role. If a role is wrong, click the head of its column, or its row.",
  asRead: "as it was read",
  takeBack: "Undo all corrections",
  asCommand: "Your corrections, as a command:",
  asLines: "or, as lines of the reading file (genverify read --write reading.yaml):",
  copy: "Copy",
  copied: "Copied",
  sheet: (name) => `the sheet ${name}`,
  firstRows: (shown, all) => `the first ${shown} of ${many(all)} rows`,
  firstColumns: (shown, all) => `the first ${shown} of ${many(all)} columns`,
  cut: (parts) => `Shown: ${parts.join(", ")}. All were read.`,
  outside: "outside every table",
  inNoTable: "in no table",
  column: (letter, head, role) => `Column ${letter}${head ? `, ${head}` : ""}: ${role}`,
  row: (number, role) => `Row ${number}: ${role}`,
  empty: "empty",
  skipped: "skipped",
  holds: { label: "It holds labels", count: "It holds counts", skip: "Leave it out" },
  leaveOut: "Leave it out",
  isTotal: (label, axis) => `${label || "(blank)"} is the total of ${axis}`,
  totalAsRead: (axis) => `total of ${axis}: as it was read`,
  notTotal: (label) => `${label} is not a total`,
  questions: "Questions",
  yesTotal: "Yes, it is the total",
  noTotal: "No, it is not",
  yesRounded: (base) => `Yes, rounded to ${base}`,
  notRounded: "No, they are exact",
  ifSo: (option) => `If so: ${option}`,
  symbols: "Symbols",
  inPlace: "Symbols in place of numbers",
  isIt: (meaning) => `is it ${meaning}? choose`,
  meanings: [
    ["suppressed", "suppressed: any count"],
    ["missing", "missing: not stated"],
    ["not applicable", "not applicable: no count"],
    ["0", "zero"],
    ["other", "a range or a limit"],
  ],
  rangeOf: (text) => `range of ${text}`,
  cellsOf: (number) => ` (${cells(number)})`,
  more: (number) => `and ${number} more`,
  moreReasons: (number) => `and ${number} more reasons`,
  likeSymbols: (texts) => `Texts that could be symbols, found among labels or notes: ${texts.join(", ")}.`,
  noTable: "No table was recognised.",
  tables: "Tables",
  countsAndSymbols: (number) => ` ${many(number)} counts and symbols`,
  hiddenSheet: "(hidden sheet)",
  columnHeads: ["column", "role", "header", "why"],
  columnsOf: (name) => `the columns of ${name}`,
  of: (people) => `Of ${people.join(", ")}.`,
  kinds: {
    additive: "adds up",
    time: "time: nothing is added up over it",
    measure: "measures: nothing is added up over them",
    stacked: "several breakdowns of one total",
    parts: "no total is printed",
  },
  by: (axis) => `by ${axis}`,
  labelsOf: (number, kind, why) => ` (${number} labels): ${kind}${why ? `; ${why}` : ""}`,
  asRecognised: "as recognised",
  totalOf: (axis) => `Total of ${axis}`,
  blank: "(blank)",
  parts: (number) => ` = ${number} parts`,
  leftOut: "Left out",
  leftOutLine: (where, number, why, remedy) => `${where}: ${cells(number)}: ${why}${remedy ? ` (${remedy})` : ""}`,
  saveReading: "Save the reading, to correct any line of it:",

  // how numbers were treated
  roundings: {
    none: "not stated",
    exact: "exact: none was rounded",
    round: "rounded to the nearest multiple (halves up)",
    random: "rounded at random to a neighbouring multiple",
    "random-nonzero": "rounded at random, but a count above 0 never to 0",
    midpoint: "printed as the middle of an interval",
    key: "off by at most this much (cell keys)",
  },

  // the answer
  answer: "The answer",
  notRead: (left, more) =>
    `Not everything was read. Left out, and may give away more: ${left.join("; ")}${more > 0 ? `; and ${more} more` : ""}. ` +
    "So this does not prove that the table is safe, and no secondary suppression is proposed.",
  suppressedKnown: (known, all) => `${known} of your ${all} suppressed cells are known exactly.`,
  atLeast: (number) => `At least ${number}`,
  roundedKnown: (known, all) => `${known} of ${all} rounded counts are known exactly.`,
  allReadExact: (number) => `All ${number} cells that were read are printed exactly.`,
  allExact: (number) => `All ${number} cells are printed exactly: nothing is suppressed, so there is nothing to recover.`,
  unsaid: (number) =>
    `Note: ${number} combinations of labels are not in the table and were taken for any count. If they cannot occur, or are ` +
    "0, more is known: add them with a 0.",
  noTotals: "Nothing follows, because no totals are printed: without a sum that contains it, a suppressed count can be anything.",
  assumed: (all) => `Assumed: ${all.join("; ")}.`,
  limit: (why) => `Note: ${why}. All intervals hold, but some may be wider than necessary (try more seconds).`,
  loop: "Note: the tables are linked in a loop too large to solve as one. Intervals hold, but may be too wide.",
  notAttained: (number) => `Note: the ends of ${number} intervals were not both attained within the limit.`,
  orMore: (lower) => `${lower} or more`,
  to: (lower, upper) => `${lower} to ${upper}`,
  cards: {
    printed: "printed cells",
    suppressed: "suppressed cells",
    exact: (open) => `of them known exactly${open ? ", or more" : ""}`,
    steps: "steps of proofs, all accepted",
    other: (all) => `of ${all} rounded counts known exactly`,
  },
  why: "Why",
  moreInCells: (number) => `${number} more in cells.csv.`,
  theTables: "The tables",
  note:
    "Below each count that is not printed exactly: its feasibility interval. Framed: known exactly. Click a framed cell to " +
    "see the cells that force it. Click a printed count to suppress it too; click again to print it.",
  clash: "Dashed: these printed counts contradict each other; the sums that they break were left out.",
  table: (name) => `the table ${name}`,
  tableCut: "Cut for this page; all cells are in cells.csv.",
  count: "count",
  blankCell: "blank",
  suppressIt: (cell) => `${cell}: suppress it too`,
  printIt: (cell) => `${cell}: suppressed here; print it again`,
  showWhy: (cell, known) => `${cell} is known exactly: ${known}. Show the cells that force it`,
  forced: (cell, known) => `${cell} is ${known}. Highlighted: the cells that force it.`,
  whatIf: (number) =>
    `What if: ${cells(number)} suppressed here in addition to those of your file. Files cannot be saved for this table.`,
  undo: "Print them again",
  everyOpen: "Every count that is not printed exactly",
  openRegion: "every open count",
  openHeads: ["cell", "published", "lower", "upper", "known exactly", "ends attained", "proof"],
  noEnd: "no end",
  exactly: "exactly known",
  bothEnds: "both ends",
  notBoth: "not attained within the limit",
  accepted: "accepted",
  noneNeeded: "none needed",
  toSuppress: "What to suppress as well",
  stillKnown: (number) => `${number} are still known, or may be`,
  noneKnown: "none can be worked out",
  alsoSuppress: (number, then) =>
    `Also suppress ${number === 1 ? "this cell" : `these ${number} cells`}; then ${then} (intervals proved and checked again):`,
  noneFound: (number) => `No secondary suppression was found for ${number} of them.`,
  late: "The search ran out of time.",
  smaller: "A smaller set may exist.",
  tryThem: "Try it in the table",
  save: "Save",
  checkable:
    "The last two, in one folder, can be checked by another program, without a solver: " +
    "genverify disclose --check --out FOLDER TABLE.",
  print: "Print one page to sign",
  audited: (day) =>
    `Audited on ${day} with the offline page of genverify: every interval has a proof in whole numbers that was checked here.`,
  decision: "Decision:  \u2610 release   \u2610 release after the changes above   \u2610 do not release",
  signed: ["File", "Name", "Date", "Signature"],
  sameCommand: "The same as a command",
  restsOn: "What this rests on",
  basis: (steps) =>
    "All tables form one linear system: a cell that two tables share is one cell, and every total is the sum of its parts. " +
    `Every end of an interval has a proof in whole numbers (${steps} steps), accepted by a checker that shares no code with ` +
    "the solver. Both ends of an interval were found in counts that fit all tables, counted again, unless the list says " +
    "otherwise.",

  // proofs in words
  so: (sums, cell, ends) => `${sums.join(" and ")}, so ${cell} is ${ends}`,
  stepsBefore: (number) => `... ${number} steps before`,
  moreSums: (number) => `${number} more sums`,
  caseByCase: "case by case",
  atLeastIs: (lower) => `at least ${lower}`,
  atMostIs: (upper) => `at most ${upper}`,
  contradiction: (rows, where) =>
    `these printed counts contradict each other (proof checked): ${rows}. They are ${where.join("; ")}. Correct one; or say ` +
    "how numbers were rounded, or click a row or column and say that it is not a total",
  leftContradiction: (number, rows) =>
    `${number} sums that contradict each other (proof checked): ${rows} (correct the file, or say how numbers were rounded, or ` +
    "click a row or column and say that it is not a total)",
  andMoreSums: (number) => ` and ${number} more sums`,
  at: (text, place) => `${text || "blank"} at ${place}`,
  solverFailed: (why) => `the solver failed: ${why}`,
};
