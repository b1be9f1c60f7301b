import { EvidenceError } from "../errors.ts";
import { dictionaryIn, itemsIn, locate, type PdfDocument, resolve } from "./document.ts";
import { readIndirectObject } from "./lexer.ts";
import { isTextAt } from "./search.ts";
import { stringText } from "./text.ts";
import { type PdfDictionary, type PdfValue, unambiguous } from "./values.ts";

const MAX_NODES = 1024;
const MAX_DEPTH = 16;

/**
 * The data of the attached file with this name in a document's /EmbeddedFiles name tree (ISO 32000-2 sections 7.9.6 and
 * 7.11.4); null when there is none. The data must be uncompressed, as this service writes it.
 *
 * @param limit limit of the data in bytes
 * @throws EvidenceError `pdf` when readers might disagree on the data: several files have the name, a dictionary that
 * leads to the file repeats a key, there is a /Filter, /Length is wrong, or /F and /UF of /EF differ; `limit` past a
 * bound, `unsupported` for an encrypted document
 */
export function attachedFile(document: PdfDocument, name: string, limit: number): Uint8Array | null {
  const [only, another] = attachments(document).filter(({ names }) => names.includes(name));
  if (only === undefined) return null;
  if (another !== undefined) throw new EvidenceError("pdf", `several attached files named ${name}`);
  return dataOf(document, only.specification, limit);
}

/**
 * The names in a document's /EmbeddedFiles name tree, without duplicates.
 * @throws EvidenceError `pdf` for a repeated key in a dictionary that leads to a file, `limit` past a bound,
 * `unsupported` for an encrypted document
 */
export const attachedNames = (document: PdfDocument): string[] => [
  ...new Set(attachments(document).flatMap(({ names }) => names)),
];

type Attachment = { readonly names: readonly string[]; readonly specification: PdfDictionary };

function attachments(document: PdfDocument): Attachment[] {
  const catalog = dictionaryIn(document, document.trailer, "Root");
  const names = catalog && dictionaryIn(document, catalog, "Names");
  const tree = names && dictionaryIn(document, names, "EmbeddedFiles");
  if (tree === undefined) return [];
  if (document.trailer.entries.has("Encrypt")) throw new EvidenceError("unsupported", "an encrypted document");
  const found: Attachment[] = [];
  collect(document, tree, found, { nodes: 0 }, 0);
  return found;
}

function collect(
  document: PdfDocument,
  node: PdfDictionary,
  found: Attachment[],
  walk: { nodes: number },
  depth: number,
): void {
  if (depth > MAX_DEPTH) throw new EvidenceError("limit", "the tree of attached files is too deep");
  const step = () => {
    if (++walk.nodes > MAX_NODES) throw new EvidenceError("limit", "too many attached files");
  };
  step();
  unambiguous(node, "the tree of attached files");
  const pairs = itemsIn(document, node, "Names");
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    step();
    const specification = resolve(document, pairs[index + 1]);
    if (specification?.kind !== "dictionary") continue;
    unambiguous(specification, "a file specification");
    const texts = [pairs[index], specification.entries.get("UF"), specification.entries.get("F")];
    found.push({ names: texts.flatMap((value) => textOf(document, value) ?? []), specification });
  }
  for (const kid of itemsIn(document, node, "Kids")) {
    const below = resolve(document, kid);
    if (below?.kind === "dictionary") collect(document, below, found, walk, depth + 1);
  }
}

function textOf(document: PdfDocument, value: PdfValue | undefined): string | undefined {
  const string = resolve(document, value);
  return string?.kind === "string" ? stringText(string) : undefined;
}

function dataOf(document: PdfDocument, specification: PdfDictionary, limit: number): Uint8Array {
  const embedded = dictionaryIn(document, specification, "EF");
  const [file, unicode] = ["F", "UF"].map((key) => embedded?.entries.get(key));
  const start = file?.kind === "reference" ? locate(document, file)?.start : undefined;
  if (unicode !== undefined && (unicode.kind !== "reference" || locate(document, unicode)?.start !== start)) {
    throw new EvidenceError("pdf", "an attached file whose /F and /UF name different data");
  }
  const object = start === undefined ? undefined : readIndirectObject(document.bytes, start, document.budget);
  if (object?.value.kind !== "dictionary" || object.streamStart === undefined) {
    throw new EvidenceError("pdf", "an attached file without data");
  }
  const { entries } = unambiguous(object.value, "an attached file");
  if (entries.has("Filter") || entries.has("F")) throw new EvidenceError("pdf", "an attached file that is encoded");
  const length = resolve(document, entries.get("Length"));
  if (length?.kind !== "number" || !length.integer || length.value < 0) {
    throw new EvidenceError("pdf", "an attached file without a length");
  }
  if (length.value > limit) throw new EvidenceError("limit", `an attached file longer than ${limit} bytes`);
  const end = object.streamStart + length.value;
  if (!endsStream(document.bytes, end)) throw new EvidenceError("pdf", "an attached file of another length");
  return document.bytes.subarray(object.streamStart, end);
}

/**
 * True if `endstream` begins at `end`, or after one line end. Some readers find the end of a stream by this word, and
 * others by /Length. Both kinds of readers read the same data only if the word is here.
 */
function endsStream(bytes: Uint8Array, end: number): boolean {
  return ["", "\n", "\r", "\r\n"].some((line) => isTextAt(bytes, `${line}endstream`, end));
}
