import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { StartupError } from "../../kernel/platform/errors.ts";

/** An unusable data file. `message` is one line for an operator: `price-book.yaml:12: what is wrong`. */
export class DataFileError extends StartupError {
  readonly file: string;
  /** The line number, counted from 1; 0 when the file could not be read at all. */
  readonly line: number;

  constructor(file: string, line: number, problem: string) {
    super(line === 0 ? `${file}: ${problem}` : `${basename(file)}:${line}: ${problem}`);
    this.name = "DataFileError";
    this.file = file;
    this.line = line;
  }
}

/** A validated data file. `content` has plain JSON values in a fixed key order, and `sha256` (hex) covers that JSON. */
export type DataFile<T> = { readonly content: T; readonly sha256: string };

/** A place in a data file: the value there, its name, and its line. */
export type Place = {
  readonly file: string;
  readonly path: string;
  readonly line: number;
  readonly node: Node | null;
  readonly lineOf: (node: Node) => number;
};

/**
 * Reads the text of a data file (UTF-8).
 * @throws {DataFileError} when it cannot be read or is not UTF-8
 */
export function readDataFile(path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown cause";
    throw new DataFileError(
      path,
      0,
      code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "is not UTF-8" : `cannot be read (${code})`,
    );
  }
}

/**
 * Parses one YAML 1.2 document and returns its root. JSON is accepted because YAML contains it.
 * @throws {DataFileError} at the line of the first syntax error or unknown tag
 */
export function parseDataFile(text: string, file: string): Place {
  const lines = new LineCounter();
  // `uniqueKeys` is off, because `members` finds duplicate keys much faster than the library.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem !== undefined) {
    throw new DataFileError(file, lineAt(problem.pos[0]), problem.message.split("\n")[0] ?? "is not YAML");
  }
  const lineOf = (node: Node) => lineAt(node.range?.[0] ?? 0);
  const node = document.contents;
  return { file, path: "", line: node === null ? 1 : lineOf(node), node, lineOf };
}

/**
 * Refuses the value at a place.
 * @throws {DataFileError} always, with the message `<path> <rule>` and the place's line
 */
export function fail(place: Place, rule: string): never {
  throw new DataFileError(place.file, place.line, place.path === "" ? `the file ${rule}` : `${place.path} ${rule}`);
}

/** Returns a validated value with the SHA-256 of its JSON text. */
export function dataFile<T>(content: T): DataFile<T> {
  return { content, sha256: hash("sha256", JSON.stringify(content)) };
}

/**
 * The members of a mapping, in the file's order. A key is the text as written in the file, so `005` stays `005`.
 * @throws {DataFileError} when the place is not a mapping, a key is not plain, or a key appears twice
 */
export function members(place: Place): Map<string, Place> {
  if (!isMap(place.node)) fail(place, "must be a mapping of names to values");
  const found = new Map<string, Place>();
  for (const pair of place.node.items) {
    const key = pair.key;
    if (!isScalar(key)) fail(place, "must have plain names as keys");
    const name = key.source ?? String(key.value);
    const path = place.path === "" ? name : `${place.path}.${name}`;
    const line = place.lineOf(key);
    const node = asNode(pair.value);
    // Errors about an empty value name the line of its key, because there is no text. So do errors about a block, whose
    // text begins below the key.
    const inline = isScalar(node) && node.value !== null;
    const member = { ...place, path, node, line: inline ? place.lineOf(node) : line };
    if (found.has(name)) fail(member, "is given twice");
    found.set(name, member);
  }
  return found;
}

/**
 * The members of a mapping whose keys are known. Refuses missing and unknown keys, naming them.
 * @throws {DataFileError} at the line of an unknown key, or at the mapping's line for a missing key
 */
export function fields<R extends string, O extends string = never>(
  place: Place,
  keys: { required: readonly R[]; optional?: readonly O[] },
): Record<R, Place> & Partial<Record<O, Place>> {
  const found = members(place);
  const allowed: readonly string[] = [...keys.required, ...(keys.optional ?? [])];
  for (const [name, member] of found) {
    if (!allowed.includes(name)) fail(member, `is not a known key (known: ${allowed.join(", ")})`);
  }
  for (const name of keys.required) {
    if (!found.has(name)) fail(place, `must have the key ${name}`);
  }
  return Object.fromEntries(found) as Record<R, Place> & Partial<Record<O, Place>>;
}

/**
 * The elements of a list, each as a place.
 * @throws {DataFileError} when the place is not a list
 */
export function list(place: Place): Place[] {
  if (!isSeq(place.node)) fail(place, "must be a list");
  return place.node.items.map((item, index) => {
    const node = asNode(item);
    return { ...place, path: `${place.path}[${index}]`, node, line: node === null ? place.line : place.lineOf(node) };
  });
}

function asNode(value: unknown): Node | null {
  return isScalar(value) || isMap(value) || isSeq(value) ? value : null;
}
