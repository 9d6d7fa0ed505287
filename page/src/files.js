// What is saved: the cells as CSV, and the system with its proofs as `genverify disclose --check` reads them.
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const COLUMNS = [
  "table",
  "cell",
  "published",
  "lower",
  "upper",
  "status",
  "known_exactly",
  "ends_attained",
  "proof",
  "place",
];

/** A row for each printed cell; a text that a spreadsheet program would take for a formula has ' before it. */
export function cellsCsv({ cells }) {
  const rows = cells.map((cell) => [
    cell.table,
    cell.cell,
    cell.published,
    cell.lower,
    cell.upper ?? "",
    !cell.unclear ? "printed" : cell.exact ? "known exactly" : "open",
    cell.exact ? "True" : "False",
    cell.attained ? "True" : "False",
    cell.proof.join(" ") || "printed",
    cell.place,
  ]);
  return [COLUMNS, ...rows].map((row) => row.map(csvField).join(",") + "\n").join("");
}

function csvField(value) {
  const text = String(value),
    own = FORMULA.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(own) ? `"${own.replaceAll('"', '""')}"` : own;
}

/** SHA-256 of everything that is known, as the proofs name it. */
export async function digestOf(sums) {
  const arrays = [sums.lo, sums.hi, sums.start, sums.columns, sums.weights, sums.least, sums.most];
  const text = [
    sums.cells.join("\n"),
    sums.rows.join("\n"),
    ...arrays.map((own) => own.map((end) => (Number.isFinite(end) ? end : "open")).join(" ")),
  ].join("\n\n");
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The system; an end that nobody printed is null. */
export const systemText = (sums) => JSON.stringify(sums);

/** The certificate: its version, the system that it is about, and the statements. */
export async function proofsText({ sums, statements }) {
  const about = { kind: "system", name: "tables", digest: await digestOf(sums) };
  return JSON.stringify({ version: 1, about, model: "linear", statements }) + "\n";
}
