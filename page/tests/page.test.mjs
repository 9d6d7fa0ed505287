// The modules of the page by themselves, with small cases that can be checked by hand. Run: npm test (in page/).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { linesOf, settle } from "../src/answer.js";
import { read } from "../src/audit.js";
import { CertificateError, checkEnds, checkSums, fitsSums, isRay } from "../src/check.js";
import { cellsCsv } from "../src/files.js";
import { marksIn, meaningOf, ruleOf, valueOf } from "../src/marks.js";
import { isTotal, maybeTotal, numberOf, shown, spelled } from "../src/model.js";
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
  assert.deepEqual(["2.000", "2,000", "0.000", "12.00"].map(numberOf), [null, 2000, 0, 12]);
  assert.deepEqual(["Total", "All ages", "Both sexes", "Allergies", "All other races"].map(isTotal), [
    true,
    true,
    true,
    false,
    false,
  ]);
  assert.deepEqual(["All other races", "T", "Allergies", "Total"].map(maybeTotal), [true, true, false, false]);
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
  const page = readFileSync(new URL("../../src/genverify/disclose/page.html", import.meta.url), "utf8");
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
    // a table with a line for each cell gives the line only
    const at = (place) => found[place] ?? found[`line ${place.replace(/\D/g, "")}`];
    const right = Object.entries(one.cells ?? {}).every(([place, ends]) => `${at(place)}` === `${ends}`);
    if (one.outcome.includes("not safe") && !right) assert.equal(answer.safe, false, said);
    else assert.ok(one.outcome.includes("cells") && right, JSON.stringify([said, found]).slice(0, 2000));
  });

test("answers follow when counts are multiplied and rows are added", async () => {
  const table = (times, more) => {
    const lines = [
      ["N", 3, "*", 7],
      ["S", "*", "*", 9],
      ["E", 2, 0, "*"],
    ];
    const own = lines.map((line) => line.map((cell) => (typeof cell === "number" ? cell * times : cell)));
    const added = Array.from({ length: more }, (_, at) => [`r${at}`, 10 * times, 20 * times, 30 * times]);
    return ["area,a,b,Total", ...own.map((line) => line.join()), ...added.map((line) => line.join())].join("\n");
  };
  const ends = async (text) => {
    const { cells } = await answered({ files: { text }, marks: { "*": "suppressed" } });
    return cells.slice(0, 9).map(({ lower, upper }) => [lower, upper]);
  };
  const first = await ends(table(1, 0));
  assert.deepEqual(first.slice(1, 5), [
    [4, 4],
    [7, 7],
    [0, 9],
    [0, 9],
  ]);
  assert.deepEqual(await ends(table(1, 1000)), first);
  const scaled = first.map((own) => own.map((end) => end && 1000 * end));
  assert.deepEqual(await ends(table(1000, 0)), scaled);
});

test("a total that the numbers cannot show is asked for, and can be told", () => {
  const text = "race,x,y\nWhite,*,*\nBlack,*,*\nAll other races,30,40\n";
  const tables = (totals) => readText(text, "table", "table", totals);
  assert.throws(() => understand(tables({}), { "*": "suppressed" }, EXACT), /is All other races the total of race/);
  const none = understand(tables({ race: null }), { "*": "suppressed" }, EXACT);
  assert.equal(none.tables[0].sums.has("race"), false);
  const told = understand(tables({ race: "All other races" }), { "*": "suppressed" }, EXACT);
  assert.deepEqual(told.tables[0].sums.get("race"), [["All other races", ["White", "Black"]]]);
});

test("names of cells are told apart, and what cannot be seen is written out", () => {
  assert.deepEqual(["f", "x, B=y", 'a"b', "", "a\u001bb"].map(spelled), ["f", '"x, B=y"', '"a\\"b"', '""', '"a\\u001bb"']);
  assert.equal(shown("a\u202eb"), '"a\\u{202e}b"');
});
