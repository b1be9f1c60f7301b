import { type Claim, claim } from "../claim.ts";
import { sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { type DocumentSignature, signaturesByEnd } from "./act-signatures.ts";
import type { EnvelopeEvidence } from "./schema.ts";

export type SignedDocumentClaimName = "document_hash" | "document_revisions" | "document_acts";

/**
 * Verifies that a sealed document matches its envelope. The document must have the recorded hash. Each revision that
 * the envelope lists must be the beginning of the document. The signature that ends an act's revision must contain the
 * hash of that act. `verifyProof` verifies the signatures and the seal.
 *
 * @param signatures the signatures of the document, if the caller has read them already
 */
export async function verifySignedDocument(
  envelope: EnvelopeEvidence,
  document: Uint8Array,
  signatures?: ReadonlyMap<number, DocumentSignature> | EvidenceError,
): Promise<Claim<SignedDocumentClaimName>[]> {
  const { bytes, sealedSha256 } = envelope.document;
  return [
    claim(
      "document_hash",
      document.length === bytes && (await sha256Hex(document)) === sealedSha256,
      `The document is the one named: ${bytes} bytes, SHA-256 ${sealedSha256}.`,
      `The document is another than the one named: not ${bytes} bytes of SHA-256 ${sealedSha256}.`,
    ),
    await revisionsClaim(envelope, document),
    actsClaim(envelope, signatures ?? (await signaturesByEnd(document))),
  ];
}

async function revisionsClaim(
  { revisions }: EnvelopeEvidence,
  document: Uint8Array,
): Promise<Claim<"document_revisions">> {
  const name = "document_revisions";
  for (const { number, bytes, sha256 } of revisions) {
    if (bytes > document.length || (await sha256Hex(document.subarray(0, bytes))) !== sha256)
      return { name, state: "fails", why: `The first ${bytes} bytes are not revision ${number}.` };
  }
  return { name, state: "holds", why: `Revisions 0 to ${revisions.length - 1} are the beginnings of the document.` };
}

function actsClaim(
  { revisions, trail }: EnvelopeEvidence,
  signatures: ReadonlyMap<number, DocumentSignature> | EvidenceError,
): Claim<"document_acts"> {
  const name = "document_acts";
  if (signatures instanceof EvidenceError)
    return { name, state: "fails", why: `The signatures can't be read: ${signatures.message}.` };
  const acts = trail.filter(({ event }) => event === "signed");
  const hashAt = (end: number) => signatures.get(end)?.actSha256;
  const ends = revisions.filter(({ kind }) => kind === "signed");
  const fault = ends.find(({ bytes }, index) => hashAt(bytes) !== acts[index]?.actSha256);
  if (fault)
    return { name, state: "fails", why: `No signature over revision ${fault.number} bears the hash of its act.` };
  // Acts of an earlier signing are part of the uploaded document, so they are not counted.
  const prepared = revisions[1]?.bytes ?? 0;
  return claim(
    name,
    [...signatures].filter(([end, { actSha256 }]) => end > prepared && actSha256 !== null).length === ends.length,
    "The signature over each act's revision bears the hash of that act.",
    "The document bears acts that the envelope does not name.",
  );
}
