import { EvidenceError } from "../../../../../packages/evidence/src/errors.ts";
import { lockPermission } from "../../../../../packages/evidence/src/pdf/changes/changes.ts";
import {
  dictionaryIn,
  itemsIn,
  loadRevisions,
  locate,
  lookUp,
  type PdfDocument,
} from "../../../../../packages/evidence/src/pdf/document.ts";
import { openUnlocked } from "../../../../../packages/evidence/src/pdf/encryption/unlock.ts";
import { findSignatures } from "../../../../../packages/evidence/src/pdf/signatures.ts";
import { stringBytes } from "../../../../../packages/evidence/src/pdf/text.ts";
import { nameOf, type PdfValue } from "../../../../../packages/evidence/src/pdf/values.ts";
import { MAX_DEPTH, MAX_OBJECTS, numberText, type Read, type Reading } from "./reading.ts";

/** Reads a file as the verifier does. */
export async function readByVerifier(bytes: Uint8Array): Promise<Read<Reading>> {
  const opened = await openUnlocked(bytes).then(
    (document) => ({ value: document }),
    (error: unknown) => ({ error }),
  );
  if ("error" in opened) return refusalOf(opened.error);
  const document = opened.value;
  return attempt(() => {
    const revisions = loadRevisions(document);
    const size = Math.max(
      ...revisions.flatMap(({ main, hybrid }) =>
        [main, hybrid].flatMap((section) => section?.subsections.map(({ first, count }) => first + count) ?? [0]),
      ),
    );
    const numbers = Array.from({ length: Math.min(size, MAX_OBJECTS) }, (_, number) => number);
    return {
      sections: revisions.map(({ main, hybrid }) => {
        const kind = main.kind === "table" ? (hybrid ? "hybrid" : "table") : "stream";
        return `${kind} at ${main.trailer.start}, before it ${main.prev || "none"}`;
      }),
      entries: numbers.map((number) => entryText(document, number)),
      objects: numbers.map((number) => attempt(() => objectText(document, number))),
      fields: attempt(() => fieldsIn(document)),
      signatures: attempt(() => findSignatures(document).reduce((sum, { fieldCount }) => sum + fieldCount, 0)),
      permission: attempt(() => {
        const levels = findSignatures(document).flatMap((one) => [one.docMdp, lockPermission(document, one)]);
        return ([1, 2, 3] as const).find((level) => levels.includes(level)) ?? null;
      }),
    };
  });
}

function attempt<T>(read: () => T): Read<T> {
  try {
    return { value: read() };
  } catch (error) {
    return refusalOf(error);
  }
}

function refusalOf(error: unknown): { readonly refusal: string } {
  if (error instanceof EvidenceError) return { refusal: `${error.code}: ${error.message}` };
  throw error;
}

function entryText(document: PdfDocument, number: number): string {
  const found = lookUp(document, number);
  if (found === undefined || found.type === "free") return "none";
  return found.type === "offset" ? `${found.offset} ${found.generation}` : `in ${found.stream}, ${found.index}`;
}

function objectText(document: PdfDocument, number: number): string {
  const found = lookUp(document, number);
  const generation = found?.type === "offset" ? found.generation : 0;
  const value = locate(document, { kind: "reference", number, generation, start: 0, end: 0 })?.value;
  return value === undefined ? "null" : valueText(value, 0);
}

function valueText(value: PdfValue, depth: number): string {
  if (depth > MAX_DEPTH) return "...";
  const below = (item: PdfValue) => valueText(item, depth + 1);
  switch (value.kind) {
    case "dictionary": {
      const { entries, repeated } = value;
      const items = [...entries].map(([key, item]) => `/${key} ${repeated.includes(key) ? "twice" : below(item)}`);
      return `<<${items.toSorted().join(" ")}>>`;
    }
    case "array":
      return `[${value.items.map(below).join(" ")}]`;
    case "string":
      return `(${Buffer.from(stringBytes(value)).toString("hex")})`;
    case "reference":
      return `${value.number} ${value.generation} R`;
    case "name":
      return `/${value.value}`;
    case "number":
      return numberText(value.value);
    case "boolean":
      return String(value.value);
    case "null":
      return "null";
  }
}

/** The form's fields, each before its children. A field that is listed twice is read once. */
function fieldsIn(document: PdfDocument): string[] {
  const catalog = dictionaryIn(document, document.trailer, "Root");
  const form = catalog && dictionaryIn(document, catalog, "AcroForm");
  const found: string[] = [];
  const seen = new Set<number>();
  const walk = (items: readonly PdfValue[], above: string | undefined): void => {
    for (const item of items) {
      if (item.kind !== "reference" || seen.has(item.number)) continue;
      seen.add(item.number);
      const field = locate(document, item)?.value;
      if (field?.kind !== "dictionary") continue;
      const type = nameOf(field, "FT") ?? above;
      found.push(`${item.number} ${type ?? "?"}`);
      walk(itemsIn(document, field, "Kids"), type);
    }
  };
  if (form !== undefined) walk(itemsIn(document, form, "Fields"), undefined);
  return found;
}
