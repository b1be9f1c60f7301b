import { PdfRefusal } from "./refusal.ts";

/** Limits on the cost of one document, far above the needs of real documents. */
export const LIMITS = {
  /** Largest document read, in bytes (35 MiB). */
  fileBytes: 35 * 1024 * 1024,
  /** `%PDF-` must begin within this many bytes. */
  headerSearch: 1024,
  /** `startxref` must be within this many bytes of the end. */
  startxrefSearch: 1024 * 1024,
  /** Cross-reference sections in one /Prev chain. */
  sections: 1024,
  /** Subsections of all sections together. */
  subsections: 100_000,
  /** Objects in all the object streams that are read. */
  compressedObjects: 1_000_000,
  /** Highest object number (ISO 32000-1 annex C). */
  objectNumber: 8_388_607,
  /** Nesting of direct arrays and dictionaries. */
  nesting: 100,
  /** Keys of one dictionary. */
  keys: 10_000,
  /** References that lead to other references. */
  indirections: 8,
  /** Nodes of the page tree or of the form's field tree. */
  treeNodes: 100_000,
  /** Output of all inflated streams together, in bytes. */
  inflatedBytes: 64 * 1024 * 1024,
  /** Bytes lexed and entries compared in total, regardless of the file's length: a fraction of a second. */
  lexedBytes: 32 * 1024 * 1024,
} as const;

/** The remaining budget while one document is read. */
export type Budget = { lexedBytes: number; inflatedBytes: number; subsections: number; compressedObjects: number };

/** Subtracts `count` lexed bytes from the budget. @throws PdfRefusal `too_complex` */
export function spendLexed(budget: Budget, count: number): void {
  budget.lexedBytes -= count;
  if (budget.lexedBytes < 0) throw new PdfRefusal("too_complex", "reading the document takes too many steps");
}

/** The full budget, for a new document. */
export function newBudget(): Budget {
  const { lexedBytes, inflatedBytes, subsections, compressedObjects } = LIMITS;
  return { lexedBytes, inflatedBytes, subsections, compressedObjects };
}
