// The form: a table in, what is told about it, the answer out.
import { CertificateError, notesOf, settle } from "./answer.js";
import { audit, read } from "./audit.js";
import { checkSums, fitsSums } from "./check.js";
import { cellsCsv, digestOf, proofsText, systemText } from "./files.js";
import { BLANK, marksIn, ROUNDINGS } from "./marks.js";
import { labelsOf } from "./model.js";
import { Problem } from "./problem.js";
import { readText } from "./read.js";
import { make, showAdvice, showReport } from "./show.js";
import { solve, stop } from "./solver.js";
import { decoded } from "./text.js";
import { whyOf } from "./why.js";
import { withhold } from "./withhold.js";

const EXAMPLE = `Made-up hospital: patients by ward and age
ward/age,0-17,18-39,40-64,65+,Total
North,12,*,31,*,70
South,*,22,*,14,58
East,9,17,20,*,61
West,*,*,18,11,43
Total,38,*,*,46,232`;
const CHOICES = [
  ["", "choose what it means"],
  ["suppressed", "suppressed: any count"],
  ["missing", "missing: not told"],
  ["0", "zero"],
  ["other", "a range or a limit"],
];
const at = (id) => document.getElementById(id);
let name = "table",
  told = { marks: {}, totals: {} };

/** Read what stands in the box, and ask what has to be asked. */
function look() {
  at("report").replaceChildren();
  at("asked").hidden = true;
  say("");
  if (!at("text").value.trim()) return fail("");
  attempt(() => {
    const tables = readText(at("text").value, name, name, told.totals);
    fail("");
    at("understood").replaceChildren(...tables.map(described));
    at("totals").replaceChildren(...tables.flatMap((table) => table.columns.map((column) => totalChoice(table, column))));
    const marks = marksIn(tables);
    at("marks").replaceChildren(...marks.map(markChoice));
    at("marked").hidden = !marks.length;
    at("asked").hidden = false;
  });
}

function described(table) {
  const columns = table.columns.map((column) => `${column} (${labelsOf(table, column).length})`).join(" \u00d7 ");
  const title = table.title ? `${table.name}, ${table.title}` : table.name;
  return make("li", {}, `${title}: ${table.entries.size} cells, ${columns}; ${notesOf(table).join("; ")}`);
}

/** The total of a column: as it was recognised, or another label. */
function totalChoice(table, column) {
  const id = `total ${table.name} ${column}`,
    recognised = (table.sums.get(column) ?? []).map(([parent]) => parent);
  const words = recognised.length ? `as recognised: ${recognised.join(", ")}` : "no total";
  const choice = make(
    "select",
    { id, name: column },
    make("option", { value: "" }, words),
    make("option", { value: "none" }, "none of the labels is a total"),
    ...labelsOf(table, column).map((label) => make("option", { value: `=${label}` }, label)),
  );
  const before = told.totals[column];
  choice.value = before === undefined ? "" : before === null ? "none" : `=${before}`;
  choice.addEventListener("change", () => {
    chooseTotal(column, choice.value);
    at(id)?.focus();
  });
  return labelled(id, `Total of ${column}`, choice);
}

/** Read again with another total; a choice that does not work is said, and taken back. */
function chooseTotal(column, value) {
  const before = told.totals;
  told.totals = { ...before };
  if (value) told.totals[column] = value === "none" ? null : value.slice(1);
  else delete told.totals[column];
  look();
  if (!at("asked").hidden) return;
  const problem = at("failed").textContent;
  told.totals = before;
  look();
  fail(problem);
}

/** What a mark means: asked for, unless the mark says it. */
function markChoice({ mark, times, says }) {
  const shown = mark || BLANK,
    id = `mark ${shown}`,
    label = `${mark || "blank cells"} (${times} times)`;
  if (says) {
    const range = says.hi === null ? `${says.lo} or more` : `${says.lo} to ${says.hi}`;
    return make("p", {}, `${label}: ${range}, as it says`);
  }
  const choice = make("select", { id }, ...CHOICES.map(([value, text]) => make("option", { value }, text)));
  const other = make("input", {
    type: "text",
    placeholder: "1-4, <5, >=3",
    hidden: true,
    ariaLabel: `range or limit of ${shown}`,
  });
  const keep = () => {
    other.hidden = choice.value !== "other";
    told.marks[shown] = other.hidden ? choice.value : other.value;
  };
  const before = told.marks[shown] ?? "";
  choice.value = CHOICES.some(([value]) => value === before) ? before : "other";
  other.value = choice.value === "other" ? before : "";
  other.hidden = choice.value !== "other";
  choice.addEventListener("change", keep);
  other.addEventListener("input", keep);
  return labelled(id, label, choice, other);
}

const labelled = (id, text, ...inputs) => make("p", { className: "field" }, make("label", { htmlFor: id }, text), ...inputs);

/** What was told, for an audit. */
function options() {
  const number = (id) => (at(id).value.trim() === "" ? NaN : Number(at(id).value));
  const seconds = number("seconds");
  if (!(seconds > 0)) throw new Problem("seconds: give a number above 0");
  // of marks and columns that are no longer in the table, nothing is told
  const kept = (own, here) => Object.fromEntries(Object.entries(own).filter(([key]) => here(key)));
  const columns = [...at("totals").querySelectorAll("select")].map((choice) => choice.name);
  const marks = kept(told.marks, (mark) => at(`mark ${mark}`)),
    totals = kept(told.totals, (column) => columns.includes(column));
  return {
    marks,
    totals,
    name,
    rounding: at("rounding").value,
    base: number("base"),
    suppress: number("suppress"),
    seconds,
  };
}

async function run() {
  at("report").replaceChildren();
  fail("");
  busy(true);
  await attempt(async () => {
    const text = at("text").value,
      how = options();
    const answer = await audit(text, how, (done, of) => say(`${done} of ${of} cells ...`));
    if (at("text").value !== text) throw new Problem("the table was changed meanwhile: ask again");
    showReport(answer, at("report"));
    at("answer").focus();
    say("looking for cells to withhold as well ...");
    const advice = at("advice");
    showAdvice(await withhold(answer, how.seconds), advice);
  });
  say("");
  busy(false);
  if (!at("failed").hidden) at("failed").scrollIntoView({ block: "nearest" });
}

function busy(is) {
  at("run").disabled = is;
  at("stop").hidden = !is;
  at("report").setAttribute("aria-busy", `${is}`);
  if (is) say("working ...");
}

const say = (text) => {
  at("said").textContent = text;
};
const fail = (text) => {
  at("failed").textContent = text;
  at("failed").hidden = !text;
};

/** Do something; a mistake is shown in words. */
function attempt(work) {
  const shown = (error) => {
    if (error instanceof CertificateError)
      fail(`A proof was refused, so nothing is reported. Please report this: ${error.message}`);
    else if (error instanceof Problem) fail(error.message);
    else {
      fail(`Something went wrong in this page: ${error?.message ?? error}`);
      throw error;
    }
  };
  try {
    return Promise.resolve(work()).catch(shown);
  } catch (error) {
    return Promise.resolve(shown(error));
  }
}

async function take(file) {
  await attempt(async () => {
    const text = decoded(new Uint8Array(await file.arrayBuffer()), file.name);
    name = file.name.replace(/\.(csv|tsv|txt)$/i, "");
    fresh(text);
  });
}

function fresh(text) {
  at("text").value = text;
  told = { marks: {}, totals: {} };
  look();
}

function wire() {
  at("rounding").append(...Object.entries(ROUNDINGS).map(([value, text]) => make("option", { value }, text)));
  at("rounding").addEventListener("change", () => {
    at("base").disabled = at("rounding").value === "none";
  });
  at("text").addEventListener("input", look);
  at("text").addEventListener("paste", () => {
    // another table: nothing is taken over from the last one
    name = "table";
    told = { marks: {}, totals: {} };
  });
  at("example").addEventListener("click", () => {
    name = "example";
    fresh(EXAMPLE);
  });
  at("file").addEventListener("change", () => at("file").files[0] && take(at("file").files[0]));
  at("asked").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  at("stop").addEventListener("click", stop);
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
  document.addEventListener("drop", (event) => event.dataTransfer.files[0] && take(event.dataTransfer.files[0]));
}

wire();
look();
globalThis.genverify = {
  audit,
  read,
  settle,
  solve,
  whyOf,
  withhold,
  checkSums,
  fitsSums,
  cellsCsv,
  systemText,
  proofsText,
  digestOf,
};
