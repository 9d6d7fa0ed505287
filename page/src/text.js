// Bytes and separated text: any common encoding, any common delimiter; a grid of texts comes out.
import { Problem } from "./problem.js";

const DELIMITERS = [",", ";", "\t", "|"];
const MOST_TEXT = 2 * 10 ** 6, // characters, and lines: more than 5,000 cells ever need, less than what freezes a page
  MOST_LINES = 20000;
const NAMED = { ",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars" };

/** The text of a file: UTF-16 by its mark, else UTF-8, else the Windows code page. */
export function decoded(bytes, source) {
  const wide = { "255,254": "utf-16le", "254,255": "utf-16be" }[bytes.slice(0, 2).join()];
  for (const encoding of wide ? [wide] : ["utf-8", "windows-1252"]) {
    try {
      const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
      if (text.includes("\0")) break;
      return text;
    } catch {
      continue;
    }
  }
  throw new Problem(`${source}: is no text in UTF-8, UTF-16 or the Windows code page; save it as UTF-8 CSV`);
}

/** The texts of separated lines, and how they were read. */
export function gridOf(text, source) {
  if (!text.trim()) throw new Problem(`${source}: there is nothing in it`);
  if (text.length > MOST_TEXT) throw new Problem(`${source}: too long for this page; use the command genverify disclose`);
  const delimiter = delimiterOf(text);
  const raw = separated(text, delimiter, source);
  if (raw.length > MOST_LINES)
    throw new Problem(`${source}: ${raw.length} lines are too many for this page; use the command genverify disclose`);
  checkIndents(raw, source);
  const grid = raw.map((row) => row.map((cell) => cell.trim()));
  checkCommas(grid.flat(), source);
  return { grid, how: `separated by ${NAMED[delimiter]}` };
}

/** An error where a row with counts has indented rows below it: they may be parts of it, and this page cannot know. */
function checkIndents(raw, source) {
  const above = [];
  raw.forEach((row, line) => {
    if (!row[0]?.trim()) return;
    const indent = row[0].search(/\S/);
    while (above.length && above.at(-1).indent >= indent) above.pop();
    const parent = above.at(-1),
      counts = row.filter((cell) => cell.trim()).length > 1;
    if (counts && parent?.counts && parent.line > firstLine(raw))
      throw new Problem(
        `${source}, line ${line + 1}: ${row[0].trim()} is indented below ${parent.label}, as if it were a part ` +
          "of it; take the parts or the row above them out, or the blanks if they mean nothing; or use the " +
          "command genverify disclose",
      );
    above.push({ indent, line, counts, label: row[0].trim() });
  });
}

/** The headers: the first line with more than one text. */
const firstLine = (raw) => raw.findIndex((row) => row.filter((cell) => cell.trim()).length > 1);

/** An error where a comma stands for decimals in one number and could stand for thousands in another. */
function checkCommas(texts, source) {
  const decimal = texts.find((text) => /^[+-]?\d+,(\d{1,2}|\d{4,})\s*%?$/.test(text)),
    unclear = decimal && texts.find((text) => /^[+-]?[1-9]\d{0,2},\d{3}$/.test(text));
  if (unclear)
    throw new Problem(
      `${source}: the comma in ${decimal} stands for decimals, so ${unclear} can be ${unclear.split(",")[0]} or ` +
        `${unclear.replace(",", "")}; write numbers without signs for thousands`,
    );
}

/** The delimiter that cuts most lines into the same number of fields, above one. */
function delimiterOf(text) {
  const lines = text
    .split(/\r\n|\r|\n/)
    .filter((line) => line.trim())
    .slice(0, 200)
    .join("\n");
  let best = null;
  for (const delimiter of DELIMITERS) {
    const [count, width] = commonWidth(separated(lines, delimiter, null).map((row) => row.length));
    if (!best || count > best[0] || (count === best[0] && width > best[1])) best = [count, width, delimiter];
  }
  return best[2];
}

function commonWidth(widths) {
  const counts = new Map();
  for (const width of widths) counts.set(width, (counts.get(width) ?? 0) + 1);
  const [width, count] = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0])[0] ?? [0, 0];
  return [width > 1 ? count : 0, width];
}

/** The fields of separated text; without a source, bad quotation marks are let pass. */
export function separated(text, delimiter, source) {
  const rows = [];
  let row = [],
    field = "",
    at = 0,
    line = 1;
  const end = () => {
    rows.push([...row, field]);
    row = [];
    field = "";
  };
  while (at < text.length) {
    if (text[at] === '"' && field === "") {
      const from = line;
      [field, at] = quoted(text, at + 1);
      line += field.split("\n").length - 1;
      const next = text[at];
      if (source !== null && (at > text.length || !(next === undefined || next === delimiter || /[\r\n]/.test(next))))
        throw new Problem(
          `${source}, line ${from}: a quotation mark is not closed, or text follows it; check the quotation marks`,
        );
    } else if (text[at] === delimiter) {
      row.push(field);
      field = "";
      at += 1;
    } else if (/[\r\n]/.test(text[at])) {
      at += text.startsWith("\r\n", at) ? 2 : 1;
      line += 1;
      end();
    } else {
      field += text[at];
      at += 1;
    }
  }
  if (field || row.length) end();
  return rows;
}

/** A quoted field from its first character on, and where it ends; beyond the text where it is never closed. */
function quoted(text, from) {
  let field = "",
    at = from;
  for (;;) {
    const mark = text.indexOf('"', at);
    if (mark < 0) return [field + text.slice(at), text.length + 1];
    field += text.slice(at, mark);
    if (text[mark + 1] !== '"') return [field, mark + 1];
    field += '"';
    at = mark + 2;
  }
}
