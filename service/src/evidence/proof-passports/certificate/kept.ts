import type { BlobUse } from "../../platform/blobs/cipher.ts";
import { heldFile, type StoredFile } from "../../platform/blobs/stored-file.ts";
import type { Clock } from "../../platform/clock.ts";
import { sql } from "../../platform/database/sql.ts";
import { ServiceError } from "../../platform/errors.ts";
import { hashYielding } from "../../platform/hash-yielding.ts";
import { notDeleted } from "../../retention/retention.ts";
import type { LookupDeps } from "../lookup.ts";

/** Which certificate of a passport: what it says is fixed when it is first sealed, but for what nobody is to miss later. */
export type Edition = {
  passportId: string;
  /** The owner's names the firm, which the public never learns. */
  namesFirm: boolean;
  /** One that speaks of the stored PDF is deleted with it. */
  documentKept: boolean;
  /** A retired seal is no longer vouched for as before. */
  sealRetired: boolean;
  /** SHA-256 of the certificates that seal now: what those before them sealed fails the check once they end or are retired. */
  sealChain: string;
};

const editionText = ({ passportId, namesFirm, documentKept, sealRetired }: Edition): string =>
  [passportId, namesFirm ? "firm" : "public", documentKept ? "kept" : "gone", sealRetired ? "retired" : "sound"].join(
    " ",
  );

/** What the blob of a certificate is. */
const certificateUse = (edition: Edition, sha256: string): BlobUse => ({
  kind: "proof certificate",
  owner: editionText(edition),
  sha256,
});

/** The certificate as it was first sealed, to be sent; null when there is none, and when it is gone or is not that one. */
export async function keptCertificate(
  { db, blobs, log }: LookupDeps,
  edition: Edition,
  holder: string,
): Promise<StoredFile | null> {
  const { passportId, namesFirm, documentKept, sealRetired, sealChain } = edition;
  const [row] = await db.query<{ blobKey: string; sha256: string }>(sql`
SELECT blob_key AS "blobKey", sha256 FROM proof_certificates
WHERE passport_id = ${passportId} AND names_firm = ${namesFirm} AND document_kept = ${documentKept}
  AND seal_retired = ${sealRetired} AND seal_chain = ${sealChain}
  AND ${notDeleted(sql`proof_certificates.blob_key`)}`);
  if (!row) return null;
  const file = await blobs.open(row.blobKey, certificateUse(edition, row.sha256), holder).catch((error: unknown) => {
    // A store that is away says nothing of what it holds.
    if (error instanceof ServiceError) throw error;
    log.error({ err: error, passportId }, "a proof certificate cannot be read");
    return null;
  });
  if (file) return file;
  log.error({ passportId }, "a proof certificate is gone, or is not the one that was sealed: another is made");
  return null;
}

/** Keeps a certificate that was sealed now. @returns the one that is kept: another's, where another node was first */
export async function keepCertificate(
  deps: LookupDeps & { clock: Clock },
  edition: Edition,
  bytes: Buffer,
  holder: string,
): Promise<StoredFile> {
  const made = heldFile({ memory: deps.blobs.memory, holder }, bytes);
  const { passportId, namesFirm, documentKept, sealRetired, sealChain } = edition;
  const sha256 = (await hashYielding(bytes)).digest("hex");
  const blobKey = await deps.blobs.put(bytes, certificateUse(edition, sha256));
  const won = await deps.db.query(sql`
INSERT INTO proof_certificates (blob_key, passport_id, names_firm, document_kept, seal_retired, seal_chain, sha256, created_at)
VALUES (${blobKey}, ${passportId}, ${namesFirm}, ${documentKept}, ${sealRetired}, ${sealChain}, ${sha256}, ${deps.clock()})
ON CONFLICT (passport_id, names_firm, document_kept, seal_retired, seal_chain) DO NOTHING RETURNING blob_key`);
  if (won.length > 0) return made;
  await deps.blobs.discard(blobKey);
  return (await keptCertificate(deps, edition, holder)) ?? made;
}
