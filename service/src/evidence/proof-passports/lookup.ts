import { hash } from "node:crypto";
import type { Owner } from "../identity/identity.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { StoredFile } from "../platform/blobs/stored-file.ts";
import type { Sql } from "../platform/database/database.ts";
import type { DocumentNames } from "../platform/document-name.ts";
import { ServiceError } from "../platform/errors.ts";
import type { Log } from "../platform/logs.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { isUuid, isVerifyCode } from "../platform/text.ts";
import {
  type EvidenceRow,
  isKept,
  type PassportRow,
  type PublicPassport,
  passportUse,
  rowHolds,
  selectEvidence,
  selectOwnPassport,
  selectOwnPassports,
  selectPassportByCode,
} from "./store.ts";

export type LookupDeps = { db: Sql; blobs: Blobs; rowMac: RowMac; log: Log };

/** What also shows what documents are called. */
export type NamedDeps = LookupDeps & { names: DocumentNames };

/** Anything else is unknown without a look at the database. */
export const isPassportId = (text: string): boolean => isUuid(text.toLowerCase());

/** The owner's passport, or undefined. @param id as it came; need not be a UUID */
export async function findOwnPassport(deps: LookupDeps, id: string, owner: Owner): Promise<PassportRow | undefined> {
  return isPassportId(id) ? verifiedRow(deps, await selectOwnPassport(deps.db, id, owner)) : undefined;
}

/** The owner's passports among these, by id. */
export async function findOwnPassports(
  deps: LookupDeps,
  ids: readonly string[],
  owner: Owner,
): Promise<ReadonlyMap<string, PassportRow>> {
  const known = ids.filter(isPassportId);
  const rows = known.length === 0 ? [] : await selectOwnPassports(deps.db, known, owner);
  return new Map(rows.filter((row) => verifiedRow(deps, row)).map((row) => [row.id, row]));
}

/** The passport under a verify code, or undefined. @param verifyCode as it came; need not be one */
export async function findPassport(deps: LookupDeps, verifyCode: string): Promise<PublicPassport | undefined> {
  return isVerifyCode(verifyCode) ? verifiedRow(deps, await selectPassportByCode(deps.db, verifyCode)) : undefined;
}

/** A passport with its evidence, or undefined. @param verifyCode as it came; need not be one */
export async function findEvidence(deps: LookupDeps, verifyCode: string): Promise<EvidenceRow | undefined> {
  if (!isVerifyCode(verifyCode)) return undefined;
  const row = verifiedRow(deps, await selectEvidence(deps.db, verifyCode));
  if (!row || hash("sha256", row.chainPem) === row.sealChain) return row;
  deps.log.error({ passportId: row.id }, "the certificates of a passport's seal were altered: it is not vouched for");
  return undefined;
}

/** A row that is not what was written at the seal says nothing: it is reported, and treated as absent. */
export function verifiedRow<Row extends PassportRow>(
  { rowMac, log }: LookupDeps,
  row: Row | undefined,
): Row | undefined {
  if (!row || rowHolds(rowMac, row)) return row;
  log.error({ passportId: row.id }, "a passport's row was altered, or SECRETS_KEY is another: it is not vouched for");
  return undefined;
}

/** The sealed PDF, to be sent; null when it was not kept, was deleted, is gone or is not the one that was sealed. */
export async function openSealed({ blobs, log }: LookupDeps, passport: PassportRow): Promise<StoredFile | null> {
  if (passport.blobKey === null || !isKept(passport)) return null;
  return blobs.open(passport.blobKey, passportUse(passport), passport.partnerId).catch((error: unknown) => {
    // A store that is away says nothing of what it holds.
    if (error instanceof ServiceError) throw error;
    log.error(
      { err: error, passportId: passport.id },
      "a sealed PDF is not the one that was sealed, or cannot be read",
    );
    return null;
  });
}

/** Works on the bytes of the sealed PDF; null where `openSealed` is. */
export async function withSealed<T>(
  deps: LookupDeps,
  passport: PassportRow,
  work: (bytes: Buffer) => Promise<T>,
): Promise<T | null> {
  const sound = await openSealed(deps, passport);
  if (sound === null || passport.blobKey === null) return null;
  const at = { key: passport.blobKey, use: passportUse(passport), holder: passport.partnerId };
  return deps.blobs.withBytes(at, async (bytes) => bytes && work(bytes));
}
