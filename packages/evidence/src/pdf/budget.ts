import { EvidenceError } from "../errors.ts";

/**
 * Limits the work and memory of reading one hostile file. A unit is about ten nanoseconds of work, or a few bytes of
 * memory that stay allocated. Several openings of one file can share a budget (see `openDocument`).
 */
export type Budget = { left: number };

/** The budget of one file, in units: about half a second of work. */
const MAX_WORK = 48_000_000;

/** The costs of reading, in addition to one unit per byte. */
export const COST = {
  /** The cost of reading a PDF value of any kind. */
  value: 25,
  /** The cost of reading a dictionary; `entry` is added for each of its entries. */
  dictionary: 75,
  entry: 25,
  /** The cost of finding an object. */
  object: 100,
  /** The cost of one step of the walk through the document's structure. */
  way: 4,
  /** The cost of a subsection of a cross-reference table. */
  subsection: 50,
  /** The cost of a byte of compressed data. */
  compressedByte: 8,
  /**
   * `entryLook` is the cost of looking up one entry of a cross-reference section. A search for a text costs one unit
   * per `searchedBytes` bytes.
   */
  entryLook: 10,
  searchedBytes: 8,
  /** The cost of one value of a signature that is read as BER. */
  berValue: 30,
  /**
   * The cost of each position that might be a signature's /ByteRange, or an object or trailer that no section names.
   */
  candidate: 400,
  /**
   * The cost of a signature; `signatureByte` is added for each byte of its value. Hashing costs one unit per
   * `hashedBytes` bytes.
   */
  signature: 100_000,
  signatureByte: 20,
  hashedBytes: 20,
} as const;

export const newBudget = (): Budget => ({ left: MAX_WORK });

/**
 * Takes work from the budget.
 * @throws EvidenceError `limit` when the budget is used up
 */
export function spend(budget: Budget, work: number): void {
  budget.left -= work;
  if (budget.left < 0) throw new EvidenceError("limit", "reading this file takes too much work");
}
