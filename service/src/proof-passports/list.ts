import type { Owner } from "../identity/identity.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../platform/database/page.ts";
import { isPassportId, type LookupDeps, type NamedDeps, verifiedRow } from "./lookup.ts";
import { type AnchorStatus, isKept, type PassportRow, selectOwnPassport, selectPassports } from "./store.ts";

/** A proof passport in the list of its firm. */
export type ListedPassport = {
  passportId: string;
  /** What the document is called, where its file had a name. */
  name: string | null;
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

const pageSize = { usual: 20, most: 100 };

/** A cursor is the id of the last passport of the page before: it is no credential. */
async function afterOf({ db }: LookupDeps, owner: Owner, query: PageQuery): Promise<string | null> {
  const cursor = cursorOf(query.cursor);
  if (cursor === null) return null;
  if (!isPassportId(cursor) || !(await selectOwnPassport(db, cursor, owner))) throw foreignCursor();
  return cursor;
}

const listed = ({ names }: NamedDeps, row: PassportRow): ListedPassport => ({
  passportId: row.id,
  name: names.open(row.name, row.id),
  verifyCode: row.verifyCode,
  docSha256: row.docSha256,
  sealedAt: row.createdAt,
  documentKept: isKept(row),
  timeStampedAt: row.stampedAt,
  anchorStatus: row.anchorStatus,
});

/** A page of the owner's proof passports, newest first, and the cursor of the next page or null. @throws ServiceError */
export async function listPassports(deps: NamedDeps, owner: Owner, query: PageQuery) {
  const limit = limitOf(query.limit, pageSize);
  const rows = await selectPassports(deps.db, owner, limit + 1, await afterOf(deps, owner, query));
  const { items, nextCursor } = pageOf(rows, limit, ({ id }) => id);
  return { passports: items.filter((row) => verifiedRow(deps, row)).map((row) => listed(deps, row)), nextCursor };
}
