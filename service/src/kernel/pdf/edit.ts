import type { Span } from "./lexer.ts";
import { PdfRefusal } from "./refusal.ts";
import type { Dict } from "./values.ts";

/**
 * The text of the dictionary (latin1: one character per byte) with new values for the keys of `changes`. Keys that it
 * lacks are added. All other bytes stay the same.
 * @throws PdfRefusal `needs_repair` when one of these keys occurs twice
 */
export function withEntries(dict: Dict, changes: Readonly<Record<string, string>>): string {
  const edits: { start: number; end: number; text: string }[] = [];
  let added = "";
  for (const [key, value] of Object.entries(changes)) {
    if (dict.repeated?.has(key))
      throw new PdfRefusal("needs_repair", `/${key} stands twice in the dictionary at ${dict.start}`);
    const old = dict.entries.get(key);
    // The space keeps a number apart from its key: `/Length 5`, not `/Length5`.
    if (old) edits.push({ start: old.start, end: old.end, text: ` ${value}` });
    else added += `/${key} ${value}`;
  }
  edits.sort((a, b) => a.start - b.start);
  let text = "";
  let at = dict.start;
  for (const edit of edits) {
    text += dict.bytes.toString("latin1", at, edit.start) + edit.text;
    at = edit.end;
  }
  return `${text}${dict.bytes.toString("latin1", at, dict.end - 2)}${added}>>`;
}

/** The array as text, with elements appended. @param added in PDF syntax */
export function withElements(array: Span, added: readonly string[]): string {
  return `${array.bytes.toString("latin1", array.start, array.end - 1)} ${added.join(" ")}]`;
}

/** Words by which some readers find objects when they search the file. Text from a user must not contain them. */
const FOUND_BY_READERS = /obj|stream|trailer|xref/;

/**
 * Writes a text string (ISO 32000-1 7.9.2.2). It is a literal for printable ASCII without a word of `FOUND_BY_READERS`,
 * else UTF-16 with a byte order mark.
 */
export function textString(text: string): string {
  if (/^[ -~]*$/.test(text) && !FOUND_BY_READERS.test(text)) return `(${text.replace(/[\\()]/g, "\\$&")})`;
  return `<FEFF${Buffer.from(text, "utf16le").swap16().toString("hex")}>`;
}

/** Bytes as a literal string, or as a hexadecimal string if they contain a word that readers search for. */
export function byteString(bytes: Buffer): string {
  const text = bytes.toString("latin1");
  if (FOUND_BY_READERS.test(text)) return `<${bytes.toString("hex")}>`;
  // Each seal writes a checkpoint of the log as such a string, so this must be fast. Testing each byte takes thirty
  // times as long as one replacement.
  return `(${text.replace(/[\\()]|[^ -~]/g, escaped)})`;
}

function escaped(char: string): string {
  if (char === "\n") return "\\n";
  return /[ -~]/.test(char) ? `\\${char}` : `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
}

/** Rounds an instant down to the second, as a PDF date states it. */
export const wholeSeconds = (instant: Date): Date => new Date(Math.floor(instant.getTime() / 1000) * 1000);

/** An instant as a date (ISO 32000-1 7.9.4), UTC, whole seconds. */
export function dateString(at: Date): string {
  return `(D:${at.toISOString().replace(/[-:T]/g, "").slice(0, 14)}Z)`;
}
