import { hash } from "node:crypto";
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import { type StoredFile, withReadErrors } from "../../kernel/platform/blobs/stored-file.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../../kernel/platform/database/page.ts";
import type { DocumentNames } from "../../kernel/platform/document-name.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { isUuid, isVerifyCode } from "../../kernel/platform/text.ts";
import {
  type AnchorStatus,
  type EvidenceRow,
  isDocumentStored,
  type PassportRow,
  type PublicPassport,
  passportUse,
  rowHolds,
  selectEvidence,
  selectOwnPassport,
  selectOwnPassports,
  selectPassportByCode,
  selectPassports,
} from "./store.ts";

export type LookupDeps = { db: Sql; blobs: Blobs; rowMac: RowMac; log: Log };

export type NamedDeps = LookupDeps & { names: DocumentNames };

/** True if the text is a UUID. Any other text can't be the id of a passport, so no query is needed. */
const isPassportId = (text: string): boolean => isUuid(text.toLowerCase());

/**
 * The owner's passport, or undefined.
 * @param id as received; need not be a UUID
 */
export async function findOwnPassport(deps: LookupDeps, id: string, owner: Owner): Promise<PassportRow | undefined> {
  return isPassportId(id) ? verifiedRow(deps, await selectOwnPassport(deps.db, id, owner)) : undefined;
}

/** Finds the owner's passports with these ids, keyed by id. Leaves out all others, and those that were altered. */
export async function findOwnPassports(
  deps: LookupDeps,
  ids: readonly string[],
  owner: Owner,
): Promise<ReadonlyMap<string, PassportRow>> {
  const wellFormed = ids.filter(isPassportId);
  const rows = wellFormed.length === 0 ? [] : await selectOwnPassports(deps.db, wellFormed, owner);
  return new Map(rows.filter((row) => verifiedRow(deps, row)).map((row) => [row.id, row]));
}

/**
 * The passport with a verify code, or undefined.
 * @param verifyCode as received; may be invalid
 */
export async function findPassport(deps: LookupDeps, verifyCode: string): Promise<PublicPassport | undefined> {
  return isVerifyCode(verifyCode) ? verifiedRow(deps, await selectPassportByCode(deps.db, verifyCode)) : undefined;
}

/**
 * A passport with its evidence, or undefined.
 * @param verifyCode as received; may be invalid
 */
export async function findEvidence(deps: LookupDeps, verifyCode: string): Promise<EvidenceRow | undefined> {
  if (!isVerifyCode(verifyCode)) return undefined;
  const row = verifiedRow(deps, await selectEvidence(deps.db, verifyCode));
  if (!row || hash("sha256", row.chainPem) === row.sealChain) return row;
  deps.log.error({ passportId: row.id }, "the certificates of a passport's seal were altered: it is not vouched for");
  return undefined;
}

/** Returns the row if its MAC is valid. An altered row is logged and treated as missing. */
function verifiedRow<Row extends PassportRow>({ rowMac, log }: LookupDeps, row: Row | undefined): Row | undefined {
  if (!row || rowHolds(rowMac, row)) return row;
  log.error({ passportId: row.id }, "a passport's row was altered, or SECRETS_KEY is another: it is not vouched for");
  return undefined;
}

/**
 * Opens the sealed PDF; null when it was not stored, was deleted, or its blob is missing or altered.
 * @param missing creates the error that a later read throws if it finds the blob altered
 * @throws ServiceError `unavailable` when the store doesn't respond. A later read also throws it when the blob is gone
 */
export async function openSealed(
  deps: LookupDeps,
  passport: PassportRow,
  missing: () => Error,
): Promise<StoredFile | null> {
  const file = await openBlob(deps, passport, "once");
  const frame = { memory: deps.blobs.memory, holder: memoryHolder(passport) };
  return (
    file &&
    withReadErrors(frame, file, async (error) => {
      logUnread(deps, passport, error);
      return missing();
    })
  );
}

/** @param check `again` compares the whole PDF with its hash even if it was compared before */
async function openBlob(deps: LookupDeps, passport: PassportRow, check: "once" | "again"): Promise<StoredFile | null> {
  if (passport.blobKey === null || !isDocumentStored(passport)) return null;
  return deps.blobs
    .open(passport.blobKey, passportUse(passport), memoryHolder(passport), check)
    .catch((error: unknown) => {
      logUnread(deps, passport, error);
      return null;
    });
}

/** @throws ServiceError while the store is temporarily unavailable, because the blob may still exist then */
function logUnread({ log }: LookupDeps, { id }: PassportRow, error: unknown): void {
  if (error instanceof ServiceError) throw error;
  log.error({ err: error, passportId: id }, "a sealed PDF is not the one that was sealed, or cannot be read");
}

/** Runs work on the bytes of the sealed PDF; null when it cannot be opened (`openSealed`). */
export async function withSealed<T>(
  deps: LookupDeps,
  passport: PassportRow,
  work: (bytes: Buffer) => Promise<T>,
): Promise<T | null> {
  const sound = await openBlob(deps, passport, "again");
  if (sound === null || passport.blobKey === null) return null;
  const at = { key: passport.blobKey, use: passportUse(passport), holder: memoryHolder(passport) };
  return deps.blobs.withBytes(at, async (bytes) => bytes && work(bytes));
}

/** A proof passport in the list of its firm. */
export type ListedPassport = {
  passportId: string;
  /** The document's name; null when the upload had no useful file name, and after the sealed PDF was deleted. */
  name: string | null;
  verifyCode: string;
  /** Lowercase hex SHA-256 of the document as uploaded. */
  docSha256: string;
  sealedAt: Date;
  /** True if the sealed PDF was stored and not deleted. A missing or altered blob doesn't change this. */
  documentKept: boolean;
  /** The RFC 3161 time stamp; null without one. */
  timeStampedAt: Date | null;
  /** The state of the OpenTimestamps anchor; null without one. */
  anchorStatus: AnchorStatus | null;
};

const pageSize = { usual: 20, max: 100 };

/**
 * The id of the previous page's last passport, as the caller's cursor names it; null for the first page.
 * @throws ServiceError for a cursor that is not the id of a passport of the owner
 */
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
  documentKept: isDocumentStored(row),
  timeStampedAt: row.stampedAt,
  anchorStatus: row.anchorStatus,
});

/**
 * A page of the owner's proof passports, newest first, and the cursor of the next page or null.
 * @throws ServiceError for a cursor or a limit that is invalid
 */
export async function listPassports(deps: NamedDeps, owner: Owner, query: PageQuery) {
  const limit = limitOf(query.limit, pageSize);
  const rows = await selectPassports(deps.db, owner, limit + 1, await afterOf(deps, owner, query));
  const { items, nextCursor } = pageOf(rows, limit, ({ id }) => id);
  return { passports: items.filter((row) => verifiedRow(deps, row)).map((row) => listed(deps, row)), nextCursor };
}
