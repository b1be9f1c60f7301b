import { hash } from "node:crypto";
import { auditLine } from "../../../kernel/audit/audit.ts";
import { type Blobs, orDiscard } from "../../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { ProtectedTable } from "../../../kernel/platform/protected-data.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { documentBlobs, documentUse, looksLikePdf } from "../../../orders/order/order.ts";
import { accepted, formReader } from "../form-reader.ts";
import { requireNotary } from "./keep.ts";

/** A file that proves a fact about a notary: a commission, a bond or a registration. */
export type Proof = { id: string; label: string; sha256: string; bytes: number; createdAt: Date };

export type ProofDeps = { db: Database; clock: Clock; blobs: Blobs };

export const listProofs = (db: Sql, notaryId: string) =>
  db.query<Proof>(sql`
    SELECT id, label, sha256, bytes, created_at AS "createdAt" FROM notary_proofs
    WHERE notary_id = ${notaryId} ORDER BY created_at, id`);

export const proofRows: ProtectedTable = { table: sql`notary_proofs`, key: sql`id`, blobs: documentBlobs };

const pictureHeaders = [Buffer.from("89504e470d0a1a0a", "hex"), Buffer.from("ffd8ff", "hex")];

const isPdfOrPicture = (bytes: Buffer): boolean =>
  looksLikePdf(bytes) || pictureHeaders.some((header) => bytes.subarray(0, header.length).equals(header));

/**
 * Stores a file that proves a notary's commission. The audit log names the actor.
 * @throws ServiceError naming the field and the rule
 */
export async function addProof(
  { db, clock, blobs }: ProofDeps,
  notaryId: string,
  { label, bytes }: { label: string; bytes: Buffer },
  actor: string,
): Promise<void> {
  const read = formReader({ label });
  const named = accepted(read.done(read.required("label", { max: 120 })));
  if (!isPdfOrPicture(bytes)) throw invalid("A proof must be a PDF, JPEG or PNG.");
  const notary = await requireNotary(db, notaryId);
  const sha256 = hash("sha256", bytes);
  const blobKey = await blobs.put(bytes, documentUse(sha256));
  const at = clock();
  await orDiscard(blobs, blobKey, () =>
    db.transaction(async (tx) => {
      await tx.query(sql`
        INSERT INTO notary_proofs (id, notary_id, label, sha256, bytes, blob_key, created_at)
        VALUES (${newUuid()}, ${notary.id}, ${named}, ${sha256}, ${bytes.length}, ${blobKey}, ${at})`);
      const detail = { notary: notary.id, label: named, sha256 };
      await tx.query(auditLine({ at, action: "notary.proof_added", actor, detail }));
    }),
  );
}

/**
 * The file of a proof. The audit log records who read it.
 * @throws ServiceError `not_found`, `unavailable`
 */
export async function openProof({ db, clock, blobs }: ProofDeps, notaryId: string, id: string, actor: string) {
  const [proof] =
    isUuid(notaryId) && isUuid(id)
      ? await db.query<{ label: string; sha256: string; blobKey: string }>(sql`
          SELECT label, sha256, blob_key AS "blobKey" FROM notary_proofs WHERE id = ${id} AND notary_id = ${notaryId}`)
      : [];
  if (!proof) throw new ServiceError("not_found", "Proof not found.");
  const file = await blobs.open(proof.blobKey, documentUse(proof.sha256), `notary ${notaryId}`);
  if (!file) throw new ServiceError("unavailable", "The proof can't be read now. Try again later.");
  const detail = { notary: notaryId, sha256: proof.sha256 };
  await db.query(auditLine({ at: clock(), action: "notary.proof_read", actor, detail }));
  return file;
}
