import type { Principal } from "../identity/identity.ts";
import { invalid } from "../platform/errors.ts";
import { type FindDeps, isPassportId, sound } from "./find.ts";
import { type AnchorStatus, type ListedPassportRow, selectOwnPassport, selectPassports } from "./store.ts";

export type PassportListQuery = { limit?: string; cursor?: string };

/** A proof passport in the list of its firm. */
export type ListedPassport = {
  passportId: string;
  verifyCode: string;
  /** Lowercase hex SHA-256 of the document as it was handed in. */
  docSha256: string;
  sealedAt: Date;
  /** Whether the sealed PDF can be downloaded. */
  documentKept: boolean;
  /** Null when no time stamp was had. */
  timeStampedAt: Date | null;
  /** Null when no calendar took the hash. */
  anchorStatus: AnchorStatus | null;
};

const defaultLimit = 20;
const maxLimit = 100;

function limitOf(text: string | undefined): number {
  if (text === undefined || text === "") return defaultLimit;
  if (!/^[+-]?\d+$/.test(text)) throw invalid(`limit must be a whole number from 1 to ${maxLimit}.`);
  return Math.min(Math.max(Number(text), 1), maxLimit);
}

/** A cursor is the id of the last passport of the page before: it is no credential. */
async function afterOf({ db }: FindDeps, principal: Principal, cursor: string | undefined): Promise<string | null> {
  if (cursor === undefined || cursor === "") return null;
  if (!isPassportId(cursor) || !(await selectOwnPassport(db, cursor, principal)))
    throw invalid("cursor is not one that this list has given.");
  return cursor;
}

const listed = (row: ListedPassportRow): ListedPassport => ({
  passportId: row.id,
  verifyCode: row.verifyCode,
  docSha256: row.docSha256,
  sealedAt: row.createdAt,
  documentKept: row.blobKey !== null,
  timeStampedAt: row.stampedAt,
  anchorStatus: row.anchorStatus,
});

/** A page of the caller's proof passports, newest first, and the cursor of the next page or null. @throws ServiceError */
export async function listPassports(deps: FindDeps, principal: Principal, query: PassportListQuery) {
  const limit = limitOf(query.limit);
  // One more than asked tells whether another page follows.
  const rows = await selectPassports(deps.db, principal, limit + 1, await afterOf(deps, principal, query.cursor));
  const page = rows.slice(0, limit);
  return {
    passports: page.filter((row) => sound(deps, row)).map(listed),
    nextCursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}
