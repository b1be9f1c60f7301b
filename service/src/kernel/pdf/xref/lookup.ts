import type { PdfFile } from "../file.ts";
import { type Ref, type Span, skipRegular } from "../lexer.ts";
import { LIMITS } from "../limits.ts";
import { type FoundDict, findEntry, resolve, resolveDict } from "../objects.ts";
import { headerOffset, openPdf, readableChain } from "../open.ts";
import { firstPage, type Page } from "../page-tree.ts";
import { certification, signaturesIn } from "../permissions.ts";
import { PdfRefusal } from "../refusal.ts";
import { asInteger, asName, asRef, type Dict, elements, entry, isArray, isString, unambiguous } from "../values.ts";
import { restate } from "./restate.ts";
import type { ObjectOffset } from "./xref-table.ts";

/**
 * The facts about a document that are needed to append a revision. They refer to the document's bytes without copying
 * them.
 */
export type PdfLookup = {
  readonly file: PdfFile;
  /** The kind of the newest cross-reference section; hybrid counts as a table. */
  readonly xrefKind: "table" | "stream";
  /** An unused object number: not below any Size, and above every listed object. */
  readonly nextObject: number;
  readonly root: { readonly ref: Ref; readonly dict: Dict };
  /** The value of Info in the newest trailer. */
  readonly info: Ref | null;
  /** The first element of the ID in the newest trailer, as written. */
  readonly firstId: Span | null;
  /** The value of Encrypt in the newest trailer, as written. */
  readonly encrypt: Span | null;
  readonly acroForm: FoundDict | null;
  readonly firstPage: Page;
  /**
   * The changes that a certification and the locks of signatures still allow: 2 allows forms and signatures, 3 also
   * annotations. Null when nothing is restricted.
   */
  readonly docMdp: 2 | 3 | null;
  /** The number of signed form fields, also of those that are not signature fields. */
  readonly signatures: number;
};

/**
 * Looks up, in a bounded number of steps, the objects that a signature needs.
 * @param bytes the document; not changed, not copied
 * @param maxBytes the largest length accepted, 35 MiB by default
 * @throws PdfRefusal for every document that can't be extended unchanged
 */
export function lookUpPdf(bytes: Buffer, maxBytes: number = LIMITS.fileBytes): PdfLookup {
  try {
    return lookUp(openPdf(bytes, maxBytes));
  } catch (error) {
    if (!(error instanceof PdfRefusal) || error.reason !== "needs_repair") throw error;
    if (mentionsEncryption(bytes)) throw new PdfRefusal("encrypted", `it needs repair too: ${error.detail}`);
    return lookUpRestated(bytes, error);
  }
}

/**
 * Looks up an unsigned document with an unreadable cross-reference by scanning for its objects.
 * @param refusal the reason why the cross-reference is unreadable
 * @throws PdfRefusal `refusal` for a signed document, or if readers could find different objects
 */
function lookUpRestated(bytes: Buffer, refusal: PdfRefusal): PdfLookup {
  try {
    const header = headerOffset(bytes);
    const look = lookUp(restate(bytes, header));
    // A signed document is refused. Readers verify each earlier signature in the revision that it covers. A rebuilt
    // cross-reference could give that revision other objects.
    const isSigned = look.signatures > 0 || look.docMdp !== null;
    if (!isSigned && listsAll(readableChain(bytes, header), look.file.restated ?? [])) return look;
  } catch (error) {
    if (!(error instanceof PdfRefusal)) throw error;
  }
  throw refusal;
}

/**
 * True if the document's own sections list every object that a scan finds, or if one of the sections is unreadable.
 * Otherwise, readers that trust the sections would see fewer objects than readers that scan the file.
 */
function listsAll(chain: PdfFile | null, restated: readonly ObjectOffset[]): boolean {
  return chain === null || restated.every(({ ref }) => findEntry(chain, ref.num)?.type === "offset");
}

/** True if a file that can't be parsed seems to have an Encrypt dictionary, judging by its text alone. */
function mentionsEncryption(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(ENCRYPT); at >= 0; at = bytes.indexOf(ENCRYPT, at + 1)) {
    if (skipRegular(bytes, at + 1) === at + ENCRYPT.length) return true;
  }
  return false;
}

const ENCRYPT = "/Encrypt";

function lookUp(file: PdfFile): PdfLookup {
  const trailer = newestTrailer(file);
  const root = catalog(file);
  const certified = certification(file, root.dict);
  const acroForm = resolveDict(file, entry(root.dict, "AcroForm"), "AcroForm") ?? null;
  if (acroForm) unambiguous(acroForm.dict, "the form");
  const { count: signatures, allows } = acroForm ? signaturesIn(file, acroForm.dict) : { count: 0, allows: null };
  const docMdp = certified === 2 || allows === 2 ? 2 : (certified ?? allows);
  return {
    file,
    xrefKind: file.sections[0]?.table ? "table" : "stream",
    nextObject: nextObject(file),
    root,
    info: asRef(entry(trailer, "Info")) ?? null,
    firstId: firstId(file, trailer),
    encrypt: entry(trailer, "Encrypt") ?? null,
    acroForm,
    firstPage: firstPage(file, root.dict),
    docMdp,
    signatures,
  };
}

function newestTrailer(file: PdfFile): Dict {
  const [newest] = file.sections;
  if (!newest) throw new PdfRefusal("needs_repair", "no cross-reference section");
  return newest.trailer;
}

/** The catalog that the newest trailer names. @throws PdfRefusal */
export function catalog(file: PdfFile): { ref: Ref; dict: Dict } {
  const trailer = newestTrailer(file);
  const found = resolveDict(file, entry(trailer, "Root"), "the catalog");
  if (!found?.ref) throw new PdfRefusal("needs_repair", `the trailer at ${trailer.start} leads to no catalog`);
  unambiguous(found.dict, "the catalog");
  const type = asName(entry(found.dict, "Type"));
  if (type !== undefined && type !== "Catalog")
    throw new PdfRefusal("needs_repair", `object ${found.ref.num} is a ${type} where the catalog belongs`);
  return { ref: found.ref, dict: found.dict };
}

function nextObject(file: PdfFile): number {
  let next = 1;
  for (const { table, stream, trailer } of file.sections) {
    const size = asInteger(entry(trailer, "Size")) ?? (file.restated === null ? undefined : 0);
    if (size === undefined) throw new PdfRefusal("needs_repair", `the trailer at ${trailer.start} has no Size`);
    next = Math.max(next, size, table?.size ?? 0, stream?.size ?? 0);
  }
  if (next > LIMITS.objectNumber - 16) throw new PdfRefusal("too_complex", `object numbers up to ${next}`);
  return next;
}

function firstId(file: PdfFile, trailer: Dict): Span | null {
  const id = resolve(file, entry(trailer, "ID"));
  if (!id || !isArray(id)) return null;
  const first = elements(id).next().value;
  return first && isString(first) ? first : null;
}
