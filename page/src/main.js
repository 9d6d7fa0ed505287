// The form: files in, how they were read, what is told about them, the answer out.
import { download, showClash, showReading } from "./show_reading.js";
import { make } from "./elements.js";
import { Problem } from "./problem.js";
import { showAdvice, showReport } from "./show.js";
import { reader, solver } from "./threads.js";
import { commandOf, ruleWords, Told } from "./told.js";
import { WORDS } from "./words.js";

const EXAMPLE = `Made-up hospital: patients by ward and age
ward/age,0-17,18-39,40-64,65+,Total
North,12,*,31,*,70
South,*,22,*,14,58
East,9,17,20,*,61
West,*,*,18,11,43
Total,38,*,*,46,232`;
const LONGEST_SHOWN = 200000, // characters of a file that the box shows
  PAUSE = 250; // milliseconds without a key before a table is read
const at = (id) => document.getElementById(id);
let files = [], // what is read: names and bytes
  told = new Told(),
  reading = null,
  sent = null, // the thread that has the files
  without = new Set(), // cells that are suppressed here and not in the files
  asked = 0; // the number of the last question to the reader: what is older is not shown

/** Read the files as told, and show it; a correction that does not work is said, and taken back. */
async function look(before = null, focus = "") {
  const mine = ++asked;
  at("report").replaceChildren();
  fail("");
  if (!files.length) return forget();
  without = new Set();
  reads(reader.ready ? WORDS.reading : WORDS.starting);
  try {
    const given = before && sent === (await reader.begin()) ? {} : { files }; // another thread does not have them yet
    sent = await reader.begin();
    if (mine !== asked) return;
    const found = await reader.ask({ ask: "read", words: told.pairs().flat(), ...given });
    if (mine !== asked) return;
    reading = found;
    showReading(reading, told, at("reading"), change, rounded);
    at("reading").hidden = at("asked").hidden = false;
    reads("");
    if (focus) at(focus)?.focus();
  } catch (error) {
    if (mine !== asked) return;
    if (before) {
      told = before;
      await look(told, focus);
    } else forget();
    reads("");
    show(error);
  }
}

/** Correct what is told, and read again. */
function change(how, focus = "") {
  const before = told;
  told = told.copy();
  how(told);
  return look(before, focus);
}

function forget() {
  reading = null;
  at("reading").hidden = at("asked").hidden = true;
  at("reading").replaceChildren();
  reads("");
}

const number = (id) => (at(id).value.trim() === "" ? NaN : Number(at(id).value));

/** What is told about the numbers, read again with it. */
function treated() {
  at("base").disabled = ["none", "exact"].includes(at("rounding").value);
  try {
    const rule = ruleWords(at("rounding").value, number("base"), number("suppress"));
    if (rule.join() !== told.rule.join()) return change((all) => Object.assign(all, { rule }));
  } catch (error) {
    show(error);
  }
}

/** All counts are multiples of a number: they were rounded to it, or they were not. */
function rounded(base, is) {
  at("rounding").value = is ? "round" : "exact";
  at("base").value = base;
  return treated();
}

/** Seconds to search, and what is told for the audit beside how files are read. */
function options() {
  const seconds = number("seconds");
  if (!(seconds > 0)) throw new Problem(WORDS.secondsWrong);
  ruleWords(at("rounding").value, number("base"), number("suppress")); // an error where it is no rule: then none is told
  const flags = ["same-people", "allow-partial"].filter((id) => at(id).checked).map((id) => [`--${id}`, ""]);
  return { seconds, pairs: [...told.pairs(), ...flags] };
}

/** Audit the files, with the cells suppressed that were clicked; `focus` is the cell that gets the focus back. */
async function run(focus = "") {
  if (!focus) at("report").replaceChildren();
  fail("");
  busy(true);
  const mine = asked;
  try {
    const { seconds, pairs } = options(),
      system = await reader.ask({ ask: "system", words: pairs.flat() });
    const answer = await solver.ask({ ask: "audit", system, seconds, without: [...without] }, (done, of) =>
      say(WORDS.progress(done, of)),
    );
    if (mine !== asked) throw new Problem(WORDS.changed);
    const command = commandOf(
      "disclose",
      reading.files.map(({ name }) => name),
      pairs,
    );
    showClash(
      answer.cells.filter(({ cell }) => answer.clash.includes(cell)).map(({ place }) => place),
      reading.sheets,
      at("reading"),
    );
    showReport({ ...answer, command, without: [...without] }, at("report"), { save, suppress, print, why: forces });
    (document.querySelector(`#tables button[data-cell="${CSS.escape(focus)}"]`) ?? at("answer")).focus();
    say(WORDS.searching);
    showAdvice(await solver.ask({ ask: "suppress", seconds }), at("advice"), suppress);
  } catch (error) {
    show(error);
  }
  say("");
  busy(false);
  if (!at("failed").hidden) at("failed").scrollIntoView({ block: "nearest" });
}

/** Suppress more cells, or print one or all of them again, and audit once more; not while an audit runs. */
function suppress(cells) {
  if (at("run").disabled) return;
  cells.forEach((cell) => without.add(cell));
  run(cells.at(-1));
}

function print(cell = "") {
  if (at("run").disabled) return;
  if (cell) without.delete(cell);
  else without.clear();
  run(cell);
}

const forces = (cell) => solver.ask({ ask: "why", cell });

async function save(name, part, packed) {
  const text = (await solver.ask({ ask: "files" }))[part],
    blob = new Blob([text]);
  download(name, packed ? await new Response(blob.stream().pipeThrough(new CompressionStream("gzip"))).blob() : blob);
}

function busy(is) {
  at("run").disabled = is;
  at("stop").hidden = !is;
  at("report").setAttribute("aria-busy", `${is}`);
  if (is) say(WORDS.working);
}

const say = (text) => {
  at("said").textContent = text;
};
const reads = (text) => {
  at("reads").textContent = text;
};
const fail = (text) => {
  at("failed").textContent = text;
  at("failed").hidden = !text;
};

/** A mistake in words; the library names its options, which are buttons here. */
function show(error) {
  if (error.refused) fail(WORDS.refused(error.message));
  else if (error instanceof Problem) {
    fail(error.message + (error.message.includes(" --") ? WORDS.here : ""));
    showClash(error.places ?? [], reading?.sheets ?? [], at("reading"));
  } else {
    fail(WORDS.broken(error?.message ?? error));
    throw error;
  }
}

async function take(chosen) {
  const own = await Promise.all(
    [...chosen].map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })),
  );
  const [first] = own,
    text = own.length === 1 && first.bytes.length <= LONGEST_SHOWN ? new TextDecoder().decode(first.bytes) : "";
  at("text").value = /[\0\ufffd]/.test(text) ? "" : text;
  fresh(own);
}

/** Other files: nothing is taken over from the last ones. */
function fresh(own) {
  files = own;
  told = new Told();
  for (const [id, value] of [["rounding", "none"], ["suppress", "0"]]) at(id).value = value; // prettier-ignore
  at("base").disabled = true;
  return look();
}

const pasted = (text, name = "table.csv") => (text.trim() ? [{ name, bytes: new TextEncoder().encode(text) }] : []);

function wire() {
  for (const own of document.querySelectorAll("[data-words]")) own.textContent = WORDS[own.dataset.words];
  document.title = WORDS.title;
  at("rounding").append(...Object.entries(WORDS.roundings).map(([value, text]) => make("option", { value }, text)));
  for (const id of ["rounding", "base", "suppress"]) at(id).addEventListener("change", treated);
  let pause = 0;
  at("text").addEventListener("input", () => {
    clearTimeout(pause);
    reads(WORDS.reading);
    pause = setTimeout(() => fresh(pasted(at("text").value)), PAUSE);
  });
  at("example").addEventListener("click", () => {
    at("text").value = EXAMPLE;
    at("file").value = "";
    fresh(pasted(EXAMPLE, "example.csv"));
  });
  at("file").addEventListener("change", () => at("file").files.length && take(at("file").files));
  at("asked").addEventListener("submit", (event) => {
    event.preventDefault();
    without.clear();
    run();
  });
  at("stop").addEventListener("click", () => solver.stop());
  for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => event.preventDefault());
  document.addEventListener("drop", (event) => event.dataTransfer.files.length && take(event.dataTransfer.files));
}

wire();
if (at("text").value) fresh(pasted(at("text").value)); // a browser may put back what stood there
const begun = performance.now();
reader.ask({ ask: "ready" }).then(() => {
  reader.ready = true;
  globalThis.genverify.started = performance.now() - begun;
  if (!files.length) reads("");
}, show);
globalThis.genverify = {
  /** For tests: what the threads answer, and how a text is read and audited. */
  reader: (question) => reader.ask(question),
  solver: (question) => solver.ask(question),
  started: null,
};
