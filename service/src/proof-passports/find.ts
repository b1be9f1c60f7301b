import type { Environment } from "../identity/identity.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Sql } from "../platform/database.ts";
import { hashInTurns } from "../platform/hash-yielding.ts";
import type { Log } from "../platform/logs.ts";
import type { RowMac } from "./row-integrity.ts";
import { type PassportRow, selectOwnPassport, selectPassportByCode } from "./store.ts";

export type FindDeps = { db: Sql; blobs: Blobs; rowMac: RowMac; log: Log };

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const verifyCodes = /^[a-z2-7]{26}$/;

/** Anything else is unknown without a look at the database. */
export const isPassportId = (text: string): boolean => uuid.test(text);

/** The caller's own passport, or undefined. @param id as it came; need not be a UUID */
export async function findOwnPassport(deps: FindDeps, id: string, of: { partnerId: string; environment: Environment }) {
  return isPassportId(id) ? sound(deps, await selectOwnPassport(deps.db, id, of)) : undefined;
}

/** The passport under a verify code, or undefined. @param verifyCode as it came; need not be one */
export async function findPassport(deps: FindDeps, verifyCode: string) {
  return verifyCodes.test(verifyCode) ? sound(deps, await selectPassportByCode(deps.db, verifyCode)) : undefined;
}

/** A row that is not what was written at the seal says nothing: it is reported, and treated as absent. */
export function sound({ rowMac, log }: FindDeps, row: PassportRow | undefined): PassportRow | undefined {
  if (!row || rowMac.holds(row, row.rowMac)) return row;
  log.error({ passportId: row.id }, "a passport's row was altered, or SECRETS_KEY is another: it is not vouched for");
  return undefined;
}

/** The sealed PDF, hashed again; null when it was not kept, is gone or is not the one that was sealed. */
export async function sealedDocument({ blobs, log }: FindDeps, passport: PassportRow): Promise<Buffer | null> {
  if (passport.blobKey === null) return null;
  const bytes = await blobs.get(passport.blobKey).catch((error) => {
    log.error({ err: error, passportId: passport.id }, "a sealed PDF cannot be read");
    return null;
  });
  if (bytes === null) return null;
  const sha256 = (await hashInTurns(bytes)).digest("hex");
  if (sha256 === passport.sealedSha256) return bytes;
  log.error({ passportId: passport.id, sha256 }, "a sealed PDF is not the one that was sealed");
  return null;
}
