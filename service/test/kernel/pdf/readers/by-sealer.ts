import type { PdfFile } from "../../../../src/kernel/pdf/file.ts";
import { formFields } from "../../../../src/kernel/pdf/form-fields.ts";
import type { Ref, Span } from "../../../../src/kernel/pdf/lexer.ts";
import { findEntry, resolve, resolveDict } from "../../../../src/kernel/pdf/objects.ts";
import { openPdf } from "../../../../src/kernel/pdf/open.ts";
import { certification, signaturesIn } from "../../../../src/kernel/pdf/permissions.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { stringBytes } from "../../../../src/kernel/pdf/strings.ts";
import {
  asInteger,
  asName,
  asRef,
  type Dict,
  elements,
  entry,
  isArray,
  isDict,
  isString,
  readDict,
} from "../../../../src/kernel/pdf/values.ts";
import { catalog } from "../../../../src/kernel/pdf/xref/lookup.ts";
import { MAX_DEPTH, MAX_OBJECTS, numberText, type Read, type Reading } from "./reading.ts";

/** Reads a file as the sealer does. */
export function readBySealer(bytes: Uint8Array): Read<Reading> {
  return attempt(() => {
    const file = openPdf(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), Number.POSITIVE_INFINITY);
    const { dict: root } = catalog(file);
    const form = () => resolveDict(file, entry(root, "AcroForm"), "AcroForm")?.dict ?? null;
    const numbers = Array.from({ length: Math.min(sizeOf(file), MAX_OBJECTS) }, (_, number) => number);
    return {
      sections: file.sections.map(({ table, stream, trailer }) => {
        const kind = table ? (stream ? "hybrid" : "table") : "stream";
        // Some programs write 0 when there is no earlier section.
        return `${kind} at ${trailer.start}, before it ${asInteger(entry(trailer, "Prev")) || "none"}`;
      }),
      entries: numbers.map((number) => entryText(file, number)),
      objects: numbers.map((number) => attempt(() => objectText(file, number))),
      fields: attempt(() => {
        const dict = form();
        return dict ? [...formFields(file, dict)].map(({ ref, type }) => `${ref.num} ${type ?? "?"}`) : [];
      }),
      signatures: attempt(() => {
        const dict = form();
        return dict ? [...formFields(file, dict)].filter((field) => isSigned(file, field)).length : 0;
      }),
      permission: permissionOf(() => {
        const dict = form();
        const levels = [certification(file, root), dict && signaturesIn(file, dict).allows];
        return levels.includes(2) ? 2 : levels.includes(3) ? 3 : null;
      }),
    };
  });
}

/** True if the value of a field is a signature, by the field's type or by the value. */
function isSigned(file: PdfFile, { dict, type }: { readonly dict: Dict; readonly type: string | undefined }): boolean {
  const value = resolve(file, entry(dict, "V"));
  return value !== undefined && isDict(value) && (type === "Sig" || entryOf(value, "ByteRange"));
}

const entryOf = (value: Span, key: string): boolean => readDict(value.bytes, value.start).entries.has(key);

/**
 * The changes that the document permits. For a document that permits none, the sealer only throws a refusal, which is
 * read as permission 1.
 */
function permissionOf(read: () => 2 | 3 | null): Reading["permission"] {
  try {
    return { value: read() };
  } catch (error) {
    if (!(error instanceof PdfRefusal)) throw error;
    return error.reason === "docmdp_forbids_changes" ? { value: 1 } : refusalOf(error);
  }
}

function attempt<T>(read: () => T): Read<T> {
  try {
    return { value: read() };
  } catch (error) {
    if (error instanceof PdfRefusal) return refusalOf(error);
    throw error;
  }
}

const refusalOf = ({ reason, detail }: PdfRefusal) => ({ refusal: `${reason}: ${detail}` });

const sizeOf = ({ sections }: PdfFile): number =>
  Math.max(...sections.map(({ table, stream }) => Math.max(table?.size ?? 0, stream?.size ?? 0)));

function entryText(file: PdfFile, number: number): string {
  const found = findEntry(file, number);
  if (found === undefined || found.type === "free") return "none";
  return found.type === "offset" ? `${found.offset} ${found.gen}` : `in ${found.stream}, ${found.index}`;
}

function objectText(file: PdfFile, number: number): string {
  const found = findEntry(file, number);
  if (found === undefined || found.type === "free") return "null";
  const ref = { num: number, gen: found.type === "offset" ? found.gen : 0 };
  const bytes = Buffer.from(`${number} ${ref.gen} R`);
  const value = resolve(file, { bytes, start: 0, end: bytes.length });
  return value ? valueText(file, ref, value, 0) : "null";
}

function valueText(file: PdfFile, owner: Ref, value: Span, depth: number): string {
  if (depth > MAX_DEPTH) return "...";
  const below = (item: Span) => valueText(file, owner, item, depth + 1);
  if (isDict(value)) {
    const { entries, repeated } = readDict(value.bytes, value.start);
    const items = [...entries].map(([key, item]) => `/${key} ${repeated?.has(key) ? "twice" : below(item)}`);
    return `<<${items.toSorted().join(" ")}>>`;
  }
  if (isArray(value)) return `[${[...elements(value)].map(below).join(" ")}]`;
  if (isString(value)) {
    const written = stringBytes(value);
    const cipher = value.bytes === file.bytes ? file.encryption?.strings : null;
    return `(${((cipher ? cipher.decrypt(written, owner) : null) ?? written).toString("hex")})`;
  }
  const ref = asRef(value);
  if (ref) return `${ref.num} ${ref.gen} R`;
  const name = asName(value);
  if (name !== undefined) return `/${name}`;
  const text = value.bytes.toString("latin1", value.start, value.end);
  return /^[-+.\d]/.test(text) ? numberText(Number(text)) : text;
}
