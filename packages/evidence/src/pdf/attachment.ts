import { EvidenceError } from "../errors.ts";
import { dictionaryIn, itemsIn, locate, type PdfDocument, resolve } from "./document.ts";
import { readIndirectObject } from "./lexer.ts";
import { decodeStream } from "./stream.ts";
import { stringText } from "./text.ts";
import type { PdfDictionary, PdfValue } from "./values.ts";

const MAX_NODES = 1024;
const MAX_DEPTH = 16;

/**
 * The data of the one file of this name that is attached to a document by its /EmbeddedFiles name tree
 * (ISO 32000-2 sections 7.9.6 and 7.11.4); null when there is none.
 *
 * @param limit the most bytes that may come out
 * @throws EvidenceError `pdf` when it cannot be read or several have the name, `limit` past a bound, `unsupported` for
 *   an encrypted document or a filter other than Flate
 */
export function attachedFile(document: PdfDocument, name: string, limit: number): Uint8Array | null {
  const catalog = dictionaryIn(document, document.trailer, "Root");
  const names = catalog && dictionaryIn(document, catalog, "Names");
  const tree = names && dictionaryIn(document, names, "EmbeddedFiles");
  if (tree === undefined) return null;
  if (document.trailer.entries.has("Encrypt")) throw new EvidenceError("unsupported", "an encrypted document");
  const found: PdfDictionary[] = [];
  const walk = { nodes: 0 };
  collect(document, tree, name, found, walk, 0);
  const [only, another] = found;
  if (only === undefined) return null;
  if (another !== undefined) throw new EvidenceError("pdf", `several attached files named ${name}`);
  return dataOf(document, only, limit);
}

function collect(
  document: PdfDocument,
  node: PdfDictionary,
  name: string,
  found: PdfDictionary[],
  walk: { nodes: number },
  depth: number,
): void {
  if (depth > MAX_DEPTH) throw new EvidenceError("limit", "the tree of attached files is too deep");
  const step = () => {
    if (++walk.nodes > MAX_NODES) throw new EvidenceError("limit", "too many attached files");
  };
  step();
  const pairs = itemsIn(document, node, "Names");
  for (let index = 0; index + 1 < pairs.length; index += 2) {
    step();
    const specification = resolve(document, pairs[index + 1]);
    if (specification?.kind !== "dictionary") continue;
    const texts = [pairs[index], specification.entries.get("UF"), specification.entries.get("F")];
    if (texts.some((value) => textOf(document, value) === name)) found.push(specification);
  }
  for (const kid of itemsIn(document, node, "Kids")) {
    const below = resolve(document, kid);
    if (below?.kind === "dictionary") collect(document, below, name, found, walk, depth + 1);
  }
}

function textOf(document: PdfDocument, value: PdfValue | undefined): string | undefined {
  const string = resolve(document, value);
  return string?.kind === "string" ? stringText(string) : undefined;
}

function dataOf(document: PdfDocument, specification: PdfDictionary, limit: number): Uint8Array {
  const embedded = dictionaryIn(document, specification, "EF");
  const start = locate(document, embedded?.entries.get("F") ?? embedded?.entries.get("UF"))?.start;
  const object = start === undefined ? undefined : readIndirectObject(document.bytes, start, document.budget);
  if (object?.value.kind !== "dictionary" || object.streamStart === undefined) {
    throw new EvidenceError("pdf", "an attached file without data");
  }
  const length = resolve(document, object.value.entries.get("Length"));
  if (length?.kind !== "number") throw new EvidenceError("pdf", "an attached file without a length");
  const { bytes, budget } = document;
  const stream = { bytes, dictionary: object.value, start: object.streamStart, length: length.value };
  const data = decodeStream(stream, limit, budget);
  if (data.length > limit) throw new EvidenceError("limit", `an attached file longer than ${limit} bytes`);
  return data;
}
