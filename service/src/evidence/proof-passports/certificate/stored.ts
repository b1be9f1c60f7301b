import type { Owner } from "../../../kernel/identity/identity.ts";
import { orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import type { BlobUse } from "../../../kernel/platform/blobs/cipher.ts";
import { heldFile, type StoredFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { type Holder, memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { hashYielding } from "../../../kernel/platform/hash-yielding.ts";
import type { ProtectedTable } from "../../../kernel/platform/protected-data.ts";
import { deletedAt } from "../../../kernel/retention/retention.ts";
import { queueEntry } from "../../transparency-log/transparency-log.ts";
import type { LookupDeps } from "../lookup.ts";

/**
 * The facts that identify one stored proof certificate. Its content never changes after it is sealed: when one of these
 * facts changes, a new proof certificate is made.
 */
export type Edition = {
  passportId: string;
  /** True if the proof certificate names the firm. Only the proof certificate for the owner does. */
  namesFirm: boolean;
  /**
   * True if the sealed PDF is stored. When that PDF is deleted, the proof certificate that describes it is deleted too.
   */
  documentKept: boolean;
  /**
   * True if the X.509 certificate of the document's seal is retired. The proof certificate then states the retirement.
   */
  sealRetired: boolean;
  /**
   * SHA-256 of the X.509 chain that the service seals with now. A proof certificate with an earlier chain no longer
   * verifies once that chain expires or is retired. So each chain gets a proof certificate of its own.
   */
  sealChain: string;
};

const editionText = ({ passportId, namesFirm, documentKept, sealRetired }: Edition): string =>
  [passportId, namesFirm ? "firm" : "public", documentKept ? "kept" : "gone", sealRetired ? "retired" : "sound"].join(
    " ",
  );

const certificateUse = (edition: Edition, sha256: string): BlobUse => ({
  kind: "proof certificate",
  owner: editionText(edition),
  sha256,
});

export const certificateRows: ProtectedTable = {
  table: sql`proof_certificates`,
  key: sql`blob_key`,
  blobs: {
    columns: sql`passport_id AS "passportId", names_firm AS "namesFirm", document_kept AS "documentKept",
      seal_retired AS "sealRetired", seal_chain AS "sealChain", sha256`,
    useOf: ({ sha256, ...edition }: Edition & { sha256: string }) => certificateUse(edition, sha256),
  },
};

/** Opens the stored proof certificate; null when there is none, or when its blob is deleted, missing or altered. */
export async function openStoredCertificate(
  { db, blobs, log }: LookupDeps,
  edition: Edition,
  holder: Holder,
): Promise<StoredFile | null> {
  const { passportId, namesFirm, documentKept, sealRetired, sealChain } = edition;
  const [row] = await db.query<{ blobKey: string; sha256: string; deletedAt: Date | null }>(sql`
SELECT blob_key AS "blobKey", sha256, ${deletedAt(sql`proof_certificates.blob_key`)} FROM proof_certificates
WHERE passport_id = ${passportId} AND names_firm = ${namesFirm} AND document_kept = ${documentKept}
  AND seal_retired = ${sealRetired} AND seal_chain = ${sealChain}`);
  if (!row || row.deletedAt) return null;
  const file = await blobs.open(row.blobKey, certificateUse(edition, row.sha256), holder).catch((error: unknown) => {
    // The store is temporarily unavailable, so the blob may still exist. The caller gets the error instead of null.
    if (error instanceof ServiceError) throw error;
    log.error({ err: error, passportId }, "a proof certificate cannot be read");
    return null;
  });
  if (file) return file;
  log.error({ passportId }, "a proof certificate is gone, or is not the one that was sealed: another is made");
  return null;
}

/**
 * Stores a new proof certificate.
 * @returns this one, or the one that another node stored first
 */
export async function keepCertificate(
  deps: Omit<LookupDeps, "db"> & { db: Database; clock: Clock },
  edition: Edition,
  bytes: Buffer,
  owner: Owner,
): Promise<StoredFile> {
  const holder = memoryHolder(owner);
  const held = heldFile({ memory: deps.blobs.memory, holder }, bytes);
  const { passportId, namesFirm, documentKept, sealRetired, sealChain } = edition;
  const sha256 = (await hashYielding(bytes)).digest("hex");
  const blobKey = await deps.blobs.put(bytes, certificateUse(edition, sha256));
  const at = deps.clock();
  const write = async (tx: Tx) => {
    const won = await tx.query(sql`
INSERT INTO proof_certificates (blob_key, passport_id, names_firm, document_kept, seal_retired, seal_chain, sha256, created_at)
VALUES (${blobKey}, ${passportId}, ${namesFirm}, ${documentKept}, ${sealRetired}, ${sealChain}, ${sha256}, ${at})
ON CONFLICT (passport_id, names_firm, document_kept, seal_retired, seal_chain) DO NOTHING RETURNING blob_key`);
    if (won.length > 0) await tx.query(queueEntry(owner.environment, { kind: "seal/v1", sealedSha256: sha256 }, at));
    return won.length > 0;
  };
  if (await orDiscard(deps.blobs, blobKey, () => deps.db.transaction(write))) return held;
  return (await openStoredCertificate(deps, edition, holder)) ?? held;
}
