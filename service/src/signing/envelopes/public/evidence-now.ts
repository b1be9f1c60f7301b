import { equalBytes } from "@signsealship/evidence/bytes";
import type { Claim } from "@signsealship/evidence/claim";
import {
  type EnvelopeEvidence,
  envelopeBytes,
  readCustodyCertificate,
  verifyEnvelope,
  verifyTrail,
} from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { withBytesOr } from "../../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { deletedAt, deletedMessage } from "../../../kernel/retention/retention.ts";
import { documentMembers, documentUse, fromDocuments } from "../../../orders/order/order.ts";
import { evidenceOf } from "../custody/evidence.ts";
import { type Envelope, findSigners } from "../records/envelope.ts";
import { type DocumentDeps, findRevisions } from "../records/revisions.ts";
import { alteredRecord, readTrail, type TrailRecord } from "../records/trail.ts";

type StoredDocument = {
  kind: string;
  sha256: string;
  bytes: number;
  blobKey: string;
  mac: Buffer | null;
  deletedAt: Date | null;
};

/** The stored records of an envelope, and the results of verifying them. */
export type EvidenceNow = {
  /**
   * The evidence of a completed envelope. Null in three cases: the envelope is not completed, it was signed in a
   * notary's presence, or its stored records can't be read as evidence.
   */
  evidence: EnvelopeEvidence | null;
  trail: readonly TrailRecord[];
  claims: readonly Claim[];
  certificate: StoredDocument | undefined;
  /**
   * The document that a notary completed after the signers. Undefined if there is none, if its row was altered, or if
   * the envelope was signed in a notary's presence.
   */
  notarized: StoredDocument | undefined;
};

/** Assembles an envelope's evidence from the stored records, and checks it as an outsider would. */
export async function evidenceNow(deps: DocumentDeps, envelope: Envelope): Promise<EvidenceNow> {
  const { verifyCode } = envelope;
  const trail = await readTrail(deps.db, envelope.id);
  const rows = rowsClaim(deps, verifyCode, trail);
  const documents = await documentsOf(deps, envelope);
  const [certificate, notarized] = [documents.get("custody_certificate"), documents.get("notarized")];
  // An envelope that was signed in a notary's presence has no sealed document of its own: the notary's signature is the
  // document's last one.
  const none = { evidence: null, certificate: undefined, notarized: undefined };
  if (envelope.outcome !== "Completed" || envelope.isInRoom)
    return { ...none, trail, claims: [rows, await openTrail(verifyCode, trail)] };
  const evidence = await completedEvidence(deps, envelope, trail, documents);
  if (evidence instanceof EvidenceError) {
    const why = `What is stored of the envelope can't be read: ${evidence.message}.`;
    return {
      evidence: null,
      trail,
      claims: [rows, { name: "envelope_readable", state: "fails", why }],
      certificate,
      notarized,
    };
  }
  const { claims } = await verifyEnvelope(envelopeBytes(evidence));
  const certificateState = await certificateClaim(deps, envelope, certificate, evidence);
  // The service has just assembled this evidence, so checks of its form (readable, canonical) would prove nothing.
  const meaningful = claims.filter(({ name }) => name !== "envelope_readable" && name !== "envelope_canonical");
  return { evidence, trail, claims: [rows, ...meaningful, certificateState], certificate, notarized };
}

function rowsClaim(
  { rowMac }: DocumentDeps,
  verifyCode: string,
  trail: readonly (TrailRecord & { mac: Buffer })[],
): Claim {
  const name = "trail_rows";
  const altered = alteredRecord(rowMac, verifyCode, trail);
  if (altered) return { name, state: "fails", why: `Record ${altered.position} of the trail is not what was written.` };
  return { name, state: "holds", why: `All ${trail.length} records of the trail are what was written.` };
}

async function openTrail(verifyCode: string, trail: readonly TrailRecord[]): Promise<Claim> {
  try {
    return await verifyTrail({ verifyCode, trail: trail.map(({ record }) => JSON.parse(record)) });
  } catch (error) {
    if (!(error instanceof EvidenceError || error instanceof SyntaxError)) throw error;
    return { name: "trail_chain", state: "fails", why: "A record of the trail can't be read." };
  }
}

/** The order's latest document of each kind, among the documents whose rows have a valid MAC. */
async function documentsOf({ db, rowMac }: DocumentDeps, { orderId, orderCode, partnerId, environment }: Envelope) {
  const rows = await db.query<StoredDocument>(sql`
    SELECT d.kind, d.sha256, d.bytes, d.blob_key AS "blobKey", d.row_mac AS mac, ${deletedAt(sql`d.blob_key`)}
    ${fromDocuments} WHERE d.order_id = ${orderId} AND d.kind IN ('original', 'sealed', 'custody_certificate', 'notarized')
    ORDER BY d.id`);
  const sound = rows.filter(({ mac, ...row }) =>
    rowMac.holds("documents", documentMembers({ orderCode, partnerId, environment, ...row }), mac),
  );
  return new Map(sound.map((row) => [row.kind, row]));
}

async function completedEvidence(
  { db }: DocumentDeps,
  envelope: Envelope,
  trail: readonly TrailRecord[],
  documents: ReadonlyMap<string, StoredDocument>,
): Promise<EnvelopeEvidence | EvidenceError> {
  const [original, sealed] = [documents.get("original"), documents.get("sealed")];
  if (!original || !sealed) return new EvidenceError("record", "a document's row is gone, or was altered");
  try {
    return evidenceOf({
      envelope,
      original: { bytes: original.bytes, sha256: original.sha256 },
      sealed: { bytes: sealed.bytes, sha256: sealed.sha256 },
      revisions: await findRevisions(db, envelope.id),
      signers: await findSigners(db, envelope.id),
      trail,
    });
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    if (error instanceof SyntaxError) return new EvidenceError("json", "a record of the trail is not JSON");
    throw error;
  }
}

/** Checks that the custody certificate is stored exactly as it was sealed, and has exactly this evidence attached. */
async function certificateClaim(
  { blobs }: DocumentDeps,
  envelope: Envelope,
  stored: StoredDocument | undefined,
  evidence: EnvelopeEvidence,
): Promise<Claim> {
  const name = "custody_certificate";
  const fails = (why: string) => ({ name, state: "fails", why }) as const;
  if (!stored) return fails("There is no custody certificate, or its row was altered.");
  if (stored.deletedAt)
    return { name, state: "unchecked", why: deletedMessage("The custody certificate", stored.deletedAt) };
  return withBytesOr<Claim>(
    blobs,
    { key: stored.blobKey, use: documentUse(stored.sha256), holder: memoryHolder(envelope) },
    async (bytes) => {
      if (!bytes) return fails(`The custody certificate of ${envelope.verifyCode} is gone.`);
      try {
        const { envelope } = await readCustodyCertificate(bytes);
        if (envelope !== null && equalBytes(envelope, envelopeBytes(evidence)))
          return { name, state: "holds", why: "The sealed custody certificate has this evidence attached." };
      } catch (error) {
        if (!(error instanceof EvidenceError)) throw error;
      }
      return fails("The sealed custody certificate has other evidence attached.");
    },
    (error) => {
      // A store that doesn't respond proves nothing about the certificate.
      if (error instanceof ServiceError) throw error;
      return fails("The stored bytes of the custody certificate were altered.");
    },
  );
}
