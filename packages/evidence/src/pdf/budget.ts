import { EvidenceError } from "../errors.ts";

/**
 * What may still be spent on reading one file, whatever is in it: a unit is some ten nanoseconds of work, or a few bytes of
 * memory that stay in use. All that is read of a file shares one budget, however often it is opened.
 */
export type Budget = { left: number };

/** Half a second, or a hundred megabytes. */
const MAX_WORK = 48_000_000;

/** What reading costs, beside a unit for each byte that is looked at. */
export const COST = {
  /** A value of any kind. */
  value: 25,
  /** What a dictionary takes beside its entries, and an entry beside its value. */
  dictionary: 75,
  entry: 25,
  /** Finding an object. */
  object: 100,
  /** A value on the way to what an object is for. */
  way: 4,
  /** A subsection of a cross-reference table. */
  subsection: 50,
  /** A byte of compressed data. */
  compressedByte: 8,
  /** An entry of a cross-reference section that is looked at alone; so many bytes in which a word is looked for. */
  entryLook: 10,
  searchedBytes: 8,
  /** A value of a signature in BER. */
  berValue: 30,
  /** A place in the file that might be a signature's /ByteRange. */
  candidate: 400,
  /** A signature, each byte of its value, and so many bytes that are hashed. */
  signature: 100_000,
  signatureByte: 20,
  hashedBytes: 20,
} as const;

export const newBudget = (): Budget => ({ left: MAX_WORK });

/** @throws EvidenceError `limit` when nothing is left */
export function spend(budget: Budget, work: number): void {
  budget.left -= work;
  if (budget.left < 0) throw new EvidenceError("limit", "reading this file takes too much work");
}
