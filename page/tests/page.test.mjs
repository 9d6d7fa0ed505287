// The modules of the page by themselves, with small cases that can be checked by hand. Run: npm test (in page/).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { linesOf, settle } from "../src/answer.js";
import { read } from "../src/audit.js";
import { CertificateError, checkSums, fitsSums } from "../src/check.js";
import { cellsCsv } from "../src/files.js";
import { marksIn, meaningOf, ruleOf, valueOf } from "../src/marks.js";
import { isTotal, numberOf } from "../src/model.js";
import { Problem } from "../src/problem.js";
import { readText, understand } from "../src/read.js";
import { allRanges } from "../src/solve/parts.js";
import { propagate } from "../src/solve/propagate.js";
import { decoded, separated } from "../src/text.js";
import { interval } from "../src/totals.js";

const EXACT = ruleOf("none", 1, 0);
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

test("numbers, totals, intervals and marks are read as Python reads them", () => {
  assert.deepEqual(["1,234", "12 345", "7", "3.5", "*", "1.234.567", "5.0"].map(numberOf), [
    1234,
    12345,
    7,
    null,
    null,
    1234567,
    5,
  ]);
  assert.deepEqual(["Total", "All ages", "Both sexes", "Allergies"].map(isTotal), [true, true, true, false]);
  assert.deepEqual(["15 to 19", "65+", "Under 15", "women"].map(interval), [[15, 19], [65, 10 ** 9], [0, 14], null]);
  assert.deepEqual(meaningOf("<5", "x"), { lo: 0, hi: 4, hidden: true });
  assert.throws(() => meaningOf("perhaps", "x"), /no meaning of a mark/);
});

test("rounded numbers leave the counts that the rule leaves", () => {
  const ends = (text, rounding, base, suppress = 0) => {
    const { lo, hi } = valueOf({ text, place: "here" }, new Map(), ruleOf(rounding, base, suppress));
    return [lo, hi];
  };
  assert.deepEqual(ends("10", "round", 5), [8, 12]);
  assert.deepEqual(ends("0", "round", 5), [0, 2]);
  assert.deepEqual(ends("6", "random", 3), [4, 8]);
  assert.deepEqual(ends("3", "random-nonzero", 3), [1, 5]);
  assert.deepEqual(ends("9", "midpoint", 6), [7, 12]);
  assert.deepEqual(ends("1", "key", 2), [0, 3]);
  assert.deepEqual(ends("5", "random", 5, 4), [4, 9]);
  assert.throws(() => ends("7", "random", 3), /cannot come from rounding/);
  assert.throws(() => ends("2", "none", 1, 5), /are to be withheld/);
});

test("separated text: quotation marks, delimiters, encodings", () => {
  assert.deepEqual(separated('a,"b ""c"", d"\r\ne,f\n', ",", "x"), [
    ["a", 'b "c", d'],
    ["e", "f"],
  ]);
  assert.throws(() => separated('a,"b\n', ",", "x"), /not closed/);
  assert.equal(decoded(new Uint8Array([0xff, 0xfe, 0x61, 0]), "x"), "a");
  assert.equal(decoded(new Uint8Array([0xe9]), "x"), "\u00e9");
  const [table] = readText("sex;a;b;c\nf;1;2;3\nm;4;5;9\n");
  assert.deepEqual(table.sums.get("columns"), [["c", ["a", "b"]]]);
});

test("a mark is asked for, unless it says what it means", () => {
  const tables = readText("sex,a,b\nf,*,<5\nm,2,3\n");
  assert.deepEqual(
    marksIn(tables).map(({ mark, says }) => [mark, says?.hi ?? null]),
    [
      ["*", null],
      ["<5", 4],
    ],
  );
  assert.throws(() => understand(tables, {}, EXACT), /what do these marks mean: \* \(1 times\)\?/);
  const { linked } = understand(tables, { "*": "1-4" }, EXACT);
  assert.deepEqual([linked.sums.lo[0], linked.sums.hi[0]], [1, 4]);
});

test("two tables of one text share the cells that are about the same people", () => {
  const { linked } = understand(
    readText("sex,a,b,Total\nf,1,*,3\nm,2,2,4\n\nsex,count\nf,3\nm,4\n"),
    { "*": "suppressed" },
    EXACT,
  );
  assert.equal(linked.placed.length, 2);
  assert.equal(linked.printed.get("sex=f").length, 2);
});

test("a text that looks like a formula is neutral in the CSV file", () => {
  const cell = { table: "t", cell: "=1+1", published: "-5", lower: 1, upper: null, proof: [], place: 'a "b", c' };
  assert.match(cellsCsv({ cells: [cell] }), /\nt,'=1\+1,-5,1,,printed,False,False,printed,"a ""b"", c"\n$/);
});

/** The solver out of the built page, so that these tests need no package. */
async function solverOfThePage() {
  const page = readFileSync(new URL("../../src/genverify/disclosure/page.html", import.meta.url), "utf8");
  const part = (id) => new RegExp(`<script type="text/plain" id="${id}">(.*?)</script>`, "s").exec(page)[1];
  const code = `${part("solver").split("/* genverify:")[0]}; return Module;`;
  const loader = new Function("require", "__filename", "__dirname", code)(createRequire(import.meta.url), "", "");
  const bytes = gunzipSync(Buffer.from(part("wasm"), "base64"));
  return loader({
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(bytes, imports).then(({ instance }) => done(instance));
      return {};
    },
  });
}

/** The same cases as Python's: what may be said of a table, and what never may. */
const CASES = JSON.parse(readFileSync(new URL("../../tests/data/false_answers.json", import.meta.url), "utf8"));
const solver = solverOfThePage();

async function answered({ files, marks, totals }) {
  const understood = read(Object.values(files)[0], { marks, totals }),
    { sums, printed } = understood.linked;
  const wanted = new Set([...printed.keys()].map((cell) => sums.cells.indexOf(cell)));
  return settle(understood, allRanges(await solver, sums, wanted, 20));
}

for (const one of CASES.filter(({ page }) => page))
  test(`no false answer: ${one.about}: ${one.name}`, async () => {
    let answer;
    try {
      answer = await answered(one);
    } catch (error) {
      assert.ok(error instanceof Problem, error.stack);
      assert.ok(one.outcome.includes("refused"), error.message);
      assert.doesNotMatch(error.message, /contradict/);
      assert.match(error.message, new RegExp(one.says));
      assert.ok(error.message.length < 600, "a message that can be read");
      return;
    }
    const said = linesOf(answer).join("\n");
    for (const text of one.never) assert.ok(!said.includes(text), said);
    const found = Object.fromEntries(
      answer.cells.map(({ place, lower, upper }) => [place.replace(/^table, /, ""), [lower, upper]]),
    );
    const right = Object.entries(one.cells ?? {}).every(([place, ends]) => `${found[place]}` === `${ends}`);
    if (one.outcome.includes("not safe") && !right) assert.equal(answer.safe, false, said);
    else assert.ok(one.outcome.includes("cells") && right, JSON.stringify([said, found]).slice(0, 2000));
  });
