// Tables in a grid of texts, as spreadsheets and CSV files hold them: headers, several tables, titles, notes, sections.
import { BOTH, isPercentage, isStatistic, isTotal, isValue, makeTable, numberOf, shown } from "./model.js";
import { Problem } from "./problem.js";
import { findTotals } from "./totals.js";

const SIZE = /[,;:([\s]*\bN\s*=\s*([\d,. \u00a0]*\d)\s*[)\]]?\s*$/i;
const FOOTNOTE = /(?<=\D)\s*(\[\w{1,2}\]|\([a-z1-9]\)|[\u00b9\u00b2\u00b3\u2070-\u2079]+|[*\u2020\u2021]+)\s*$/;
const COUNTS = new Set(["n", "count", "counts", "number", "no.", "no", "freq", "frequency", "value", "obs"]);
const UNITS = /^(n|no\.?|count|counts|number|freq|frequency|%|percent|per cent|pct)?[ ,]*(\(?(n|%)\)?)?$/i;

/** The name of a column as a spreadsheet shows it: A, ..., Z, AA, ... */
export const letters = (column) =>
  (column >= 26 ? letters(Math.floor(column / 26) - 1) : "") + String.fromCharCode(65 + (column % 26));

/** Every table of a grid; an error where there is none. */
export function tablesOf(grid, name, source, named) {
  const found = [];
  let title = "";
  for (const block of blocksOf(grid)) {
    if (Math.max(...block.grid.map((row) => row.filter(Boolean).length)) < 2) {
      title = block.grid.flat().filter(Boolean).join(" ");
      continue;
    }
    found.push(...readBlock(block, found.length ? `${name}_${found.length + 1}` : name, source, title, named));
    title = "";
  }
  if (!found.length)
    throw new Problem(`${source}: no table was found: a row of headers, a column of labels and a body of counts are needed`);
  return found;
}

/** Rectangles between blank rows, then between blank columns. */
function* blocksOf(grid) {
  for (const rows of runsOf(grid.map((row) => row.some(Boolean)))) {
    const width = Math.max(...rows.map((row) => grid[row].length));
    const part = rows.map((row) => Array.from({ length: width }, (_, column) => grid[row][column] ?? ""));
    for (const columns of runsOf(part[0].map((_, column) => part.some((row) => row[column]))))
      yield { grid: part.map((row) => columns.map((column) => row[column])), top: rows[0], left: columns[0] };
  }
}

/** Runs of places whose flags are set. */
function runsOf(flags) {
  const runs = [];
  flags.forEach((flag, at) => {
    if (flag && (at === 0 || !flags[at - 1])) runs.push([]);
    if (flag) runs.at(-1).push(at);
  });
  return runs;
}

const placeOf = (block, row, column) => `${letters(block.left + column)}${block.top + row + 1}`;
const alone = (row) => Boolean(row[0]) && !row.slice(1).some(Boolean) && row.length > 1;

function readBlock(block, name, source, title, named) {
  const { grid } = block,
    notes = [];
  let top = 0,
    bottom = grid.length;
  while (top < bottom && alone(grid[top])) title = `${title} ${grid[top++][0]}`.trim();
  while (bottom > top && alone(grid[bottom - 1]) && isNote(grid[bottom - 1][0])) notes.unshift(grid[--bottom][0]);
  let body = top + 1;
  while (body < bottom && !isBody(grid[body])) body += 1;
  if (body >= bottom)
    throw new Problem(
      `${source}, ${placeOf(block, 0, 0)}: headers without counts below them; give the table a body, or take these rows out`,
    );
  const labels = labelColumns(block, body, bottom, source);
  checkHeads(block, source, top, body, labels);
  const heads = [];
  for (let row = top; row < body; row++) heads.push(filled(grid[row], labels, row < body - 1));
  return sectionsOf({ block, name, source, title, notes, body, bottom, labels, heads, named });
}

/** Whether a text alone in its row is a note, and not the label of a row whose counts are blank. */
const isNote = (text) => /^[^\p{L}\p{N}]|^(notes?|sources?)\b|^(\S+\s+){5}|\w{3}\.$/iu.test(text) && !isValue(text);

/** An error where a row below complete headers is no row of counts either: its texts would be lost as headers. */
function checkHeads({ grid, left, top: above }, source, top, body, labels) {
  const complete = (row) => {
    const own = grid[row].slice(labels);
    return own.every(Boolean) && new Set(own.map(word)).size === own.length;
  };
  for (let row = top + 1; row < body; row++) {
    const own = grid[row].slice(labels).filter(Boolean);
    if (!complete(row - 1) || !own.length || own.every((text) => UNITS.test(text))) continue;
    throw new Problem(
      `${source}, ${placeOf({ left, top: above }, row, grid[row].indexOf(own[0]))}: ${shown(own[0])} stands ` +
        "where a count is expected; write a mark such as * for it, or take the row out",
    );
  }
}

/** A row of counts: more than half of what stands behind the first column is a value, and something does. */
function isBody(row) {
  const own = row.slice(1).filter(Boolean);
  return own.length > 0 && 2 * own.filter(isValue).length > own.length;
}

/** How many columns at the left hold labels. */
function labelColumns({ grid, left }, body, bottom, source) {
  for (let column = 1; column < grid[0].length; column++) {
    const texts = grid
      .slice(body, bottom)
      .map((row) => row[column])
      .filter(Boolean);
    if (texts.length && 2 * texts.filter(isValue).length >= texts.length) return column;
    const first = texts.find((text) => !isValue(text));
    if (texts.some((text) => numberOf(text) !== null))
      throw new Problem(
        `${source}: column ${letters(left + column)} holds words (${shown(first)}) and numbers: labels, or counts? ` +
          "If counts, write a mark such as * where one is withheld; if labels, write the numbers as words",
      );
  }
  return 1;
}

/** A header row; in rows above the last, a label stands for the empty cells to its right. */
function filled(row, labels, spans) {
  const own = [...row];
  for (let column = labels + 1; column < row.length; column++) if (spans && !own[column]) own[column] = own[column - 1];
  return own;
}

/** One table, or one for each section: a label alone in its row heads the rows below it. */
function sectionsOf(shape) {
  const sections = [["", []]];
  for (let row = shape.body; row < shape.bottom; row++) {
    const texts = shape.block.grid[row];
    if (texts[0] && !texts.slice(1).some(Boolean)) sections.push([texts[0].replace(/^[ :]+|[ :]+$/g, ""), []]);
    else if (texts.some(Boolean)) sections.at(-1)[1].push(row);
  }
  checkSections(sections, shape);
  const held = sections.filter(([, own]) => own.length);
  return held.map(([section, rows], at) => {
    const name = held.length === 1 ? shape.name : `${shape.name}_${at + 1}`;
    const table = tableOf({ ...shape, name, section, rows, title: `${shape.title} ${section}`.trim() });
    table.notes.push(...shape.notes.map((note) => `footnote: ${note}`));
    return findTotals(table, shape.named);
  });
}

/** An error where a label alone in its row can be a row whose counts are blank as well as the heading of those below it. */
function checkSections(sections, { block, source, heads, body }) {
  const before = block.grid[body - 1],
    named = heads.length > 1 && alone(before) ? [[before[0], sections[0][1]], ...sections.slice(1)] : sections;
  const [first, ...rest] = named,
    loose = !first[0] && first[1].some((row) => !isTotal(block.grid[row][0]));
  const heading = rest[0]?.[0] ?? first[0];
  if (!heading || (named.filter(([text]) => text).length > 1 && !loose && named.every(([text, own]) => own.length || !text)))
    return;
  throw new Problem(
    `${source}: ${shown(heading)} stands alone in its row: a heading, or a row whose counts are blank? Write a mark ` +
      "such as * for blank counts, or take the heading out",
  );
}

function tableOf({ block, name, source, title, rows, labels, heads, section }) {
  const last = heads.at(-1),
    entries = [];
  const measured = last
    .map((_, column) => column)
    .filter((column) => column >= labels && heads.some((head) => head[column]));
  for (let column = labels; column < last.length; column++) {
    const row = measured.includes(column) ? undefined : rows.find((at) => block.grid[at][column]);
    if (row !== undefined)
      throw new Problem(`${source}, ${placeOf(block, row, column)}: this column has no header; give it one, or take it out`);
  }
  const shares = measured.filter((column) =>
    isShare(
      block.grid,
      rows,
      column,
      heads.map((head) => head[column]),
    ),
  );
  const counted = measured.filter((column) => !shares.includes(column));
  const levels = levelsOf(heads, counted);
  const names = namesOf(heads, labels, levels.length, section, spanning(heads, levels, counted));
  const sizes = sizesOf(levels, counted, title);
  let previous = Array(labels).fill("");
  for (const row of rows) {
    previous = block.grid[row].slice(0, labels).map((text, at) => text || (at < labels - 1 ? previous[at] : ""));
    for (const column of counted) {
      const place = `${source}, ${placeOf(block, row, column)}`;
      entries.push({
        labels: [...previous.map(word), ...levels.map((head) => word(head[column]))],
        text: BOTH.exec(block.grid[row][column])?.[1] ?? block.grid[row][column],
        place,
      });
    }
  }
  for (const [own, size] of sizes)
    entries.push({
      labels: [...Array(labels).fill("Total"), ...own],
      text: size,
      place: `${source}, N in a header or title`,
    });
  const table = makeTable(name, source, names, entries, title);
  const filledIn = (column) => rows.filter((row) => block.grid[row][column]).length;
  for (const column of shares)
    table.left.push({ cells: filledIn(column), what: `percentages or rates in column ${letters(block.left + column)}` });
  const both = rows.flatMap((row) => counted.filter((column) => BOTH.test(block.grid[row][column]))).length;
  if (both) table.left.push({ cells: both, what: "percentages beside counts" });
  table.notes.push(...sizes.map(([, size]) => `N = ${size} from the header`));
  return table;
}

/** The header rows that tell the counts apart. */
function levelsOf(heads, counted) {
  if (counted.length <= 1) return [];
  const words = (head) => new Set(counted.map((column) => word(head[column])));
  const apart = (head) => [...words(head)].filter(Boolean).length > 1 || heads.length === 1;
  const own = heads.filter((head) => apart(head) && ![...words(head)].every((text) => COUNTS.has(text.toLowerCase())));
  return own.length ? own : [heads.at(-1)];
}

function isShare(grid, rows, column, heads) {
  const texts = rows.map((row) => grid[row][column]).filter(Boolean);
  return heads.some(isStatistic) || (texts.length > 0 && texts.every(isPercentage));
}

/** The numbers of people that headers and titles name: `Drug A (N = 98)`. */
function sizesOf(levels, counted, title) {
  const found = new Map();
  const put = (own, size) => found.set(own.join("\u001f"), [own, size]);
  for (const column of counted) {
    const sizes = levels.map((head) => SIZE.exec(head[column])).filter(Boolean);
    if (sizes.length)
      put(
        levels.map((head) => word(head[column])),
        sizes.at(-1)[1],
      );
  }
  const size = SIZE.exec(title);
  if (size)
    put(
      levels.map(() => "Total"),
      size[1],
    );
  return [...found.values()];
}

/** A label that spans all counts names what the row below it shows. */
function spanning(heads, levels, counted) {
  const words = heads.filter((head) => !levels.includes(head)).map((head) => new Set(counted.map((at) => word(head[at]))));
  const single = words.filter((own) => own.size === 1).map((own) => [...own][0]);
  return single.find((text) => text && !COUNTS.has(text.toLowerCase()) && !isStatistic(text)) ?? "";
}

/** What the columns are called: the corner of the headers says it, or the section; else rows, columns. */
function namesOf(heads, labels, levels, section, above) {
  const corner = Array.from(
    { length: labels },
    (_, column) =>
      heads
        .map((head) => head[column])
        .filter(Boolean)
        .at(-1) ?? "",
  );
  let rows = corner.map((text, column) => (section && column === labels - 1 ? section : word(text)));
  let across = Array(levels).fill(levels === 1 ? above : "");
  const parts = rows[0].split(/\s*[\\/|]\s*/);
  if (labels === 1 && parts.length === 2 && levels === 1 && !section) [rows, across] = [[parts[0]], [parts[1]]];
  const names = [
    ...rows.map((name, at) => name || (rows.length === 1 ? "rows" : `rows${at + 1}`)),
    ...across.map((name, at) => name || (levels === 1 ? "columns" : `columns${at + 1}`)),
  ];
  return names.map((name, at) => (names.slice(0, at).includes(name) ? `${name} (${at + 1})` : name));
}

/** A label without footnote marks and numbers of people. */
function word(text) {
  const plain = (own) => own.split(/\s+/).filter(Boolean).join(" ");
  return plain(text.replace(SIZE, "").replace(FOOTNOTE, "")) || plain(text);
}
