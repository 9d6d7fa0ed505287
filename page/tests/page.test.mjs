// The modules of the page by themselves, with small cases that can be checked by hand. Run: npm test (in page/).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { linesOf } from "../src/answer.js";
import { audit, linkedOf, suppressing } from "../src/audit.js";
import { CertificateError, checkEnds, checkSums, fitsSums, isRay } from "../src/check.js";
import { cellsCsv, digestOf } from "../src/files.js";
import { begin } from "../src/solve/highs.js";
import { propagate } from "../src/solve/propagate.js";
import { commandOf, isOffered, ruleWords, Told } from "../src/told.js";
import { forcingCells } from "../src/why.js";
import { WORDS } from "../src/words.js";

const SMALL = {
  cells: ["men", "women", "all"],
  rows: ["all"],
  lo: [0, 3, 5],
  hi: [9, 3, 5],
  start: [0, 3],
  columns: [0, 1, 2],
  weights: [1, 1, -1],
  least: [0],
  most: [0],
};

test("the checker imports nothing", () => {
  const text = readFileSync(new URL("../src/check.js", import.meta.url), "utf8");
  assert.doesNotMatch(text, /^import|import\(|require\(/m);
});

test("a right statement is accepted, a better one refused", () => {
  const said = (value, y = 1) => [{ cell: "men", side: "upper", value, proof: { y: { all: y } } }];
  assert.equal(checkSums(SMALL, said(2)).hi[0], 2n);
  assert.throws(() => checkSums(SMALL, said(1)), CertificateError);
  assert.throws(() => checkSums(SMALL, said(2, -1)), CertificateError);
  assert.throws(() => checkSums(SMALL, said(2, 1.5)), CertificateError);
  assert.throws(() => checkSums(SMALL, [{ side: "empty", proof: { y: { all: 1 } } }]), CertificateError);
  assert.throws(() => checkSums({ ...SMALL, cells: ["men", "men", "all"] }, []), CertificateError);
});

test("whole numbers beyond 2^53 stay exact in the checker", () => {
  // 3 men = all - 2^40 women = 1: numbers with a fraction of 53 bits would lose the 1
  const huge = {
    ...SMALL,
    weights: [3, 2 ** 40, -(2 ** 40)],
    lo: [0, 2 ** 50, 2 ** 50],
    hi: [9, 2 ** 50, 2 ** 50],
    least: [0],
    most: [1],
  };
  const said = (value) => [{ cell: "men", side: "upper", value, proof: { y: { all: 1 }, d: 3 } }];
  assert.equal(checkSums(huge, said(0)).hi[0], 0n);
  assert.throws(() => checkSums({ ...huge, most: [3] }, said(0)), CertificateError);
});

test("a fork needs both sides, and an odd number is no sum of even ones", () => {
  const odd = {
    cells: ["x"],
    rows: ["twice"],
    lo: [0],
    hi: [9],
    start: [0, 1],
    columns: [0],
    weights: [2],
    least: [5],
    most: [5],
  };
  const leaf = (y) => ({ y: { twice: y }, kind: "empty" });
  const whole = { cell: "x", at: 2, below: leaf(-1), above: leaf(1) };
  assert.ok(checkSums(odd, [{ side: "empty", proof: whole }]).empty);
  assert.throws(() => checkSums(odd, [{ side: "empty", proof: { ...whole, above: leaf(-1) } }]), CertificateError);
  assert.throws(() => checkSums(odd, [{ side: "empty", proof: { ...whole, at: 3 } }]), CertificateError);
  assert.throws(() => checkSums(odd, [{ side: "empty", proof: { cell: "x", at: 2, below: leaf(-1) } }]), CertificateError);
});

test("an end that nobody printed carries no proof", () => {
  for (const none of [null, Infinity]) {
    const open = { ...SMALL, hi: [9, 3, none] };
    const said = (value) => [{ cell: "men", side: "upper", value, proof: { y: { all: 1 } } }];
    assert.throws(() => checkSums(open, said(10 ** 6)), /nobody printed one/);
    assert.equal(checkSums(open, [{ cell: "all", side: "upper", value: 12, proof: { y: { all: -1 } } }]).hi[2], 12n);
    assert.ok(fitsSums(open, [9, 3, 12]));
    assert.ok(!isRay(open, [1, 0, 1]), "men have an upper end");
    assert.ok(isRay({ ...open, hi: [none, 3, none] }, [1, 0, 1]));
    assert.ok(!isRay({ ...open, hi: [none, 3, none] }, [1, 0, 2]), "the row does not hold");
    assert.ok(!isRay({ ...open, hi: [none, 3, none] }, [-1, 0, -1]));
  }
  const printed = new Map([
    ["women", [{ value: { lo: 3, hi: 3 } }]],
    ["all", [{ value: { lo: 5, hi: 5 } }]],
  ]);
  checkEnds({ ...SMALL, hi: [null, 3, 5] }, printed);
  assert.throws(() => checkEnds(SMALL, printed), /nobody printed that men is at most 9/);
  assert.throws(
    () => checkEnds({ ...SMALL, hi: [null, 3, 5], lo: [1, 3, 5] }, printed),
    /nobody printed that men is at least 1/,
  );
});

test("counts are counted again", () => {
  assert.ok(fitsSums(SMALL, [2, 3, 5]));
  for (const wrong of [
    [1, 3, 5],
    [2, 3],
    [2, 4, 6],
  ])
    assert.ok(!fitsSums(SMALL, wrong));
});

test("single rows imply what they imply, with proofs that are accepted", () => {
  const known = propagate(SMALL);
  assert.deepEqual([known.lo[0], known.hi[0]], [2, 2]);
  assert.deepEqual(checkSums(SMALL, known.statements).lo.map(Number), known.lo);
});

test("a text that looks like a formula is neutral in the CSV file", () => {
  const cell = { table: "t", cell: "=1+1", published: "-5", lower: 1, upper: null, proof: [], place: 'a "b", c' };
  assert.match(cellsCsv({ cells: [cell] }), /\nt,'=1\+1,-5,1,,printed,False,False,printed,"a ""b"", c"\n$/);
});

test("clicks become options, and a shell takes them as they are", () => {
  const told = new Told();
  told.column("C", "label");
  told.column("D", "skip");
  told.row(59, "skip");
  told.row(7, "skip");
  told.total("sex", "Both sexes");
  told.noTotal("All other");
  told.symbol("*", "1-4");
  assert.equal(
    commandOf("read", ["a b.csv"], told.pairs()),
    "genverify read 'a b.csv' --labels C --skip 7,59,D --total 'sex=Both sexes' --no-total 'All other' --symbol '*=1-4'",
  );
  const other = told.copy();
  other.column("C", "as it was read");
  other.row(59, "as it was read");
  other.noTotal("Both sexes"); // one label cannot be both
  other.symbol("*", "");
  assert.deepEqual(other.pairs(), [
    ["--skip", "7,D"],
    ["--no-total", "All other"],
    ["--no-total", "Both sexes"],
  ]);
  assert.equal(told.pairs().length, 5, "a copy is changed alone");
  assert.equal(
    commandOf("disclose", ["it's.csv"], [["--same-people", ""]]),
    "genverify disclose 'it'\\''s.csv' --same-people",
  );
});

test("a rule has a whole base, and a meaning that is only suggested is told apart", () => {
  assert.deepEqual(ruleWords("none", NaN, 0), []);
  assert.deepEqual(ruleWords("random", 3, 5), ["random=3", "suppress=5"]);
  assert.throws(() => ruleWords("round", 2.5, 0), /not a whole number/);
  assert.throws(() => ruleWords("none", 1, NaN), /not a whole number/);
  assert.deepEqual(["suggested", "not in the vocabulary: ...", "as given", "legend at A9"].map(isOffered), [
    true,
    true,
    false,
    false,
  ]);
});

/** The solver out of the built page, so that these tests need no package. */
function beginSolver() {
  const page = readFileSync(new URL("../../src/genverify/disclosure/page.html", import.meta.url), "utf8");
  const part = (id) => new RegExp(`<script type="text/plain" id="${id}">(.*?)</script>`, "s").exec(page)[1];
  const code = `${part("solver").split("/* genverify:")[0]}; return Module;`;
  const loader = new Function("require", "__filename", "__dirname", code)(createRequire(import.meta.url), "", "");
  begin(Promise.resolve(gunzipSync(Buffer.from(part("wasm"), "base64"))), loader);
}

/** A table of two rows and two columns with totals, as the reader hands it over; b and c are suppressed. */
const GIVEN = {
  sums: {
    cells: ["a", "b", "c", "d", "ab", "cd"],
    rows: ["ab = a + b", "cd = c + d"],
    lo: [1, 0, 0, 4, 5, 9],
    hi: [1, null, null, 4, 5, 9],
    start: [0, 3, 6],
    columns: [4, 0, 1, 5, 2, 3],
    weights: [-1, 1, 1, -1, 1, 1],
    least: [0, 0],
    most: [0, 0],
  },
  printed: [
    ["a", [["t", "1", "B2", 1, 1, false]]],
    ["b", [["t", "*", "C2", 0, null, true]]],
    ["c", [["t", "*", "B3", 0, null, true]]],
    ["d", [["t", "4", "C3", 4, 4, false]]],
    ["ab", [["t", "5", "D2", 5, 5, false]]],
    ["cd", [["t", "9", "D3", 9, 9, false]]],
  ],
  placed: [{ name: "t", title: "", columns: ["x", "y"], entries: [[["r", "s"], "1", "a"]] }],
  joint: true,
  assumed: [],
  left: [],
  summary: [],
};

test("a whole audit: what is suppressed is found, proved and checked", async () => {
  beginSolver();
  const answer = await audit(GIVEN, 20);
  assert.deepEqual(
    answer.cells.map(({ lower, upper, exact, hidden }) => [lower, upper, exact, hidden]),
    [
      [1, 1, true, false],
      [4, 4, true, true],
      [5, 5, true, true],
      [4, 4, true, false],
      [5, 5, true, false],
      [9, 9, true, false],
    ],
  );
  assert.equal(linesOf(answer)[0], "2 of your 2 suppressed cells are known exactly.");
  assert.equal(answer.safe, false);
  const left = await audit({ ...GIVEN, left: ["t: column D: no counts (2 cells)"] }, 20);
  assert.match(linesOf(left)[0], /^Not everything was read\. Left out, and may give away more: t: column D/);
  const wrong = { ...GIVEN, sums: { ...GIVEN.sums, lo: [6, 0, 0, 4, 5, 9], hi: [6, null, null, 4, 5, 9] } };
  wrong.printed = [["a", [["t", "6", "B2", 6, 6, false]]], ...GIVEN.printed.slice(1)];
  const rest = await audit(wrong, 20); // a sum that cannot be right is left out, and the rest is answered
  assert.match(rest.left[0], /^1 sums that contradict each other \(proof checked\): ab = a \+ b /);
  assert.equal(rest.safe, false);
  assert.deepEqual(rest.sums.least, [-Infinity, 0]);
  assert.deepEqual([rest.cells[1].upper, rest.cells[2].upper], [null, 5]);
  assert.deepEqual(rest.clash, rest.sums.columns.slice(0, rest.sums.start[1]).map((cell) => rest.sums.cells[cell]));
});

test("an end that nobody printed is open, in the digest as Python writes it", async () => {
  const { sums, unsaid } = linkedOf(GIVEN);
  assert.deepEqual(sums.hi.slice(0, 3), [1, Infinity, Infinity]);
  assert.equal(unsaid, 0);
  assert.equal(await digestOf(sums), await digestOf(GIVEN.sums));
});

test("cells that force another are those of its sums, and a suppressed one forces nothing", async () => {
  beginSolver();
  const answer = await audit(GIVEN, 20),
    [, hidden] = answer.sums.cells,
    forcing = forcingCells(answer, hidden);
  assert.ok(forcing.length && !forcing.includes(hidden));
  const open = await audit(suppressing(GIVEN, forcing), 20);
  assert.equal(open.cells.find(({ cell }) => cell === hidden).exact, false);
  assert.equal(suppressing(GIVEN, []), GIVEN);
});

test("every text of the page has its words", () => {
  const page = readFileSync(new URL("../src/page.html", import.meta.url), "utf8"),
    keys = [...page.matchAll(/data-words="(\w+)"/g)].map(([, key]) => key);
  assert.ok(keys.length > 15);
  for (const key of keys) assert.equal(typeof WORDS[key], "string", key);
});
