import { parse } from "csv-parse/sync";
import { StartupError } from "../../../../kernel/platform/errors.ts";

/** A cell of the table: its text, and the source of that text. The source is null when the table gives none. */
export type Cell = { text: string; source: string | null };

/** A row of a table: its cells by column name, in lower case with `_` between words. */
export type TableRow = ReadonlyMap<string, Cell>;

const columnName = (name: string): string =>
  name
    .trim()
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_|_$/g, "");

/** The endings that mark a column as the source of another column's values, such as `_source`. */
const sourceEnding = /_(statute|source|citation|cite|authority)$/;

/**
 * Reads the rows of a table of jurisdictions: CSV with a header (RFC 4180), a JSON array of objects, or a JSON object
 * that contains such an array. A value may be an object `{value, source}`. A column `NAME_source` (or `_statute`,
 * `_citation`) is the source of column NAME.
 * @throws StartupError for any other format
 */
export function tableRows(text: string, file: string): TableRow[] {
  const records = /^\s*[[{]/.test(text) ? jsonRecords(text, file) : csvRecords(text, file);
  if (records.length === 0) throw new StartupError(`${file}: has no rows`);
  return records.map(rowOf);
}

function rowOf(record: Readonly<Record<string, unknown>>): TableRow {
  const columns = Object.entries(record).map(([name, value]) => [columnName(name), cellOf(value)] as const);
  const row = new Map(columns);
  for (const [name, { text }] of columns) {
    const about = row.get(name.replace(sourceEnding, ""));
    if (sourceEnding.test(name) && about && text !== "") about.source ??= text;
  }
  return row;
}

function cellOf(value: unknown): Cell {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { text: textOf(value), source: null };
  const entries = new Map(Object.entries(value).map(([name, each]) => [columnName(name), textOf(each)]));
  const first = (...names: string[]) => names.map((name) => entries.get(name)).find((each) => each);
  return {
    text: first("value", "text", "summary") ?? "",
    source: first("source", "statute", "citation", "cite", "authority") ?? null,
  };
}

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join("; ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return typeof value === "string" || typeof value === "number" ? String(value).trim().replace(/\s+/g, " ") : "";
}

const isRecords = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.every((each) => typeof each === "object" && each !== null && !Array.isArray(each));

function jsonRecords(text: string, file: string): Record<string, unknown>[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw new StartupError(`${file}: ${(error as Error).message}`);
  }
  const found = isRecords(content) ? content : Object.values(content as object).find(isRecords);
  if (!found) throw new StartupError(`${file}: must hold an array of objects, one for each jurisdiction`);
  return found;
}

function csvRecords(text: string, file: string): Record<string, unknown>[] {
  try {
    return parse(text, { columns: true, bom: true, skip_empty_lines: true });
  } catch (error) {
    throw new StartupError(`${file}: ${(error as Error).message}`);
  }
}
