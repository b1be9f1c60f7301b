import { PdfRefusal } from "./refusal.ts";

/** Limits on the cost of one document, far above the needs of real documents. */
export const LIMITS = {
  /** The largest document read, in bytes (35 MiB), unless a caller sets another limit. */
  fileBytes: 35 * 1024 * 1024,
  /** `%PDF-` must begin within this many bytes. */
  headerSearch: 1024,
  /** `startxref` must be within this many bytes of the end. */
  startxrefSearch: 1024 * 1024,
  /** The most cross-reference sections in one /Prev chain. */
  sections: 1024,
  /** The most subsections of all sections together. */
  subsections: 100_000,
  /** The most objects in all the object streams that are read. */
  compressedObjects: 1_000_000,
  /** The highest object number (ISO 32000-1 annex C). */
  objectNumber: 8_388_607,
  /**
   * The deepest nesting of direct arrays and dictionaries, of the page tree, and of the form's field tree. Also limits
   * how many entries the Reference array of one signature may have.
   */
  nesting: 100,
  /** The most keys of one dictionary. */
  keys: 10_000,
  /** The longest chain of references that lead to other references. */
  indirections: 8,
  /** The most nodes of the page tree or of the form's field tree, and the most objects found by a scan (`restate`). */
  treeNodes: 100_000,
  /** The largest output of all inflated and decrypted streams together, in bytes. */
  inflatedBytes: 64 * 1024 * 1024,
  /**
   * The budget for reading one document: bytes parsed plus entries compared. Using all of it takes a fraction of a
   * second.
   */
  lexedBytes: 32 * 1024 * 1024,
} as const;

/** The remaining budget while one document is read. */
export type Budget = { lexedBytes: number; inflatedBytes: number; subsections: number; compressedObjects: number };

/** Subtracts `count` lexed bytes from the budget. @throws PdfRefusal `too_complex` */
export function spendLexed(budget: Budget, count: number): void {
  budget.lexedBytes -= count;
  if (budget.lexedBytes < 0) throw new PdfRefusal("too_complex", "reading the document takes too many steps");
}

/** The budget when a document is opened: nothing is used yet. */
export function newBudget(): Budget {
  const { lexedBytes, inflatedBytes, subsections, compressedObjects } = LIMITS;
  return { lexedBytes, inflatedBytes, subsections, compressedObjects };
}
