import { invalid } from "../../kernel/platform/errors.ts";
import { isPlainLines } from "../../kernel/platform/text.ts";

/** A row of the file: its cells by column, and its line number for messages. */
export type CsvRow = { readonly line: number; readonly cells: readonly string[] };

const maxRows = 5_000;
const maxColumns = 200;
const maxCellLength = 4_000;

const quote = 0x22;

/**
 * Reads a CSV file: RFC 4180, UTF-8 with or without a byte order mark, lines that end in CRLF or LF. Skips lines whose
 * cells are all empty.
 * @returns the column names from the first line, and the rows below it
 * @throws ServiceError naming the line and the rule
 */
export function readCsv(bytes: Buffer): { columns: string[]; rows: CsvRow[] } {
  const text = decoded(bytes);
  const all = linesOf(text).filter(({ cells }) => cells.some((cell) => cell.trim() !== ""));
  const [head, ...rows] = all;
  if (!head || rows.length === 0) throw invalid("file must have a line of columns, and at least one row.");
  if (rows.length > maxRows) throw invalid(`file must have at most ${maxRows.toLocaleString("en-US")} rows.`);
  const columns = head.cells.map((cell) => cell.trim());
  if (columns.length > maxColumns) throw invalid(`file must have at most ${maxColumns} columns.`);
  const repeated = columns.find((column, index) => column !== "" && columns.indexOf(column) !== index);
  if (repeated) throw invalid(`file must name each column once: ${repeated} is there twice.`);
  const uneven = rows.find(({ cells }) => cells.length !== columns.length);
  if (uneven)
    throw invalid(
      `file, line ${uneven.line}: there must be ${columns.length} cells, as columns, not ${uneven.cells.length}.`,
    );
  return { columns, rows };
}

function decoded(bytes: Buffer): string {
  try {
    // The decoder drops a byte order mark.
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("file must be UTF-8 text.");
  }
}

function linesOf(text: string): CsvRow[] {
  const rows: CsvRow[] = [];
  let [at, line, cells]: [number, number, string[]] = [0, 1, []];
  let from = line;
  while (at < text.length) {
    const cell = text.charCodeAt(at) === quote ? quotedCell(text, at, line) : plainCell(text, at);
    if (cell.text.length > maxCellLength)
      throw invalid(`file, line ${line}: a cell must have at most ${maxCellLength} characters.`);
    if (!isPlainLines(cell.text)) throw invalid(`file, line ${line}: a cell must have no control characters.`);
    cells.push(cell.text);
    line += cell.text.split("\n").length - 1;
    at = cell.end;
    if (text[at] === ",") {
      at += 1;
      // A file that ends with a comma has one more cell, which is empty.
      if (at === text.length) cells.push("");
      else continue;
    }
    rows.push({ line: from, cells });
    cells = [];
    if (text.startsWith("\r\n", at)) at += 2;
    else if (text[at] === "\n") at += 1;
    else if (at < text.length)
      throw invalid(`file, line ${line}: after a closing quote there must be a comma or the line's end.`);
    line += 1;
    from = line;
  }
  return rows;
}

function quotedCell(text: string, start: number, line: number): { text: string; end: number } {
  let found = "";
  let at = start + 1;
  for (;;) {
    const close = text.indexOf('"', at);
    if (close === -1) throw invalid(`file, line ${line}: a quoted cell has no closing quote.`);
    found += text.slice(at, close);
    if (text[close + 1] !== '"') return { text: found, end: close + 1 };
    found += '"';
    at = close + 2;
  }
}

function plainCell(text: string, start: number): { text: string; end: number } {
  let end = start;
  while (end < text.length && text[end] !== "," && text[end] !== "\n") end++;
  if (text[end] === "\n" && text[end - 1] === "\r" && end - 1 >= start) end -= 1;
  return { text: text.slice(start, end), end };
}
