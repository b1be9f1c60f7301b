import { toHex } from "../bytes.ts";
import { type Claim, claim } from "../claim.ts";
import { sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { withRanges } from "../pdf/structure.ts";
import { stringBytes } from "../pdf/text.ts";
import type { EnvelopeEvidence } from "./schema.ts";

export type SignedDocumentClaimName = "document_hash" | "document_revisions" | "document_acts";

/**
 * Holds a sealed document against its envelope: it has the hash named, each revision of the table is a prefix of it, and
 * the signature that ends the revision of an act bears the hash of that act. Whether signatures and seal are valid is for
 * `verifyProof`.
 */
export async function verifySignedDocument(
  envelope: EnvelopeEvidence,
  document: Uint8Array,
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
    await actsClaim(envelope, document),
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

async function actsClaim(
  { revisions, trail }: EnvelopeEvidence,
  document: Uint8Array,
): Promise<Claim<"document_acts">> {
  const name = "document_acts";
  const borne = await actsIn(document);
  if (borne instanceof EvidenceError)
    return { name, state: "fails", why: `The signatures can't be read: ${borne.message}.` };
  const acts = trail.filter(({ event }) => event === "signed");
  const ends = revisions.filter(({ kind }) => kind === "signed");
  const fault = ends.find(({ bytes }, index) => borne.get(bytes) !== acts[index]?.actSha256);
  if (fault)
    return { name, state: "fails", why: `No signature over revision ${fault.number} bears the hash of its act.` };
  // Acts of an earlier signing are a part of what was sent.
  const prepared = revisions[1]?.bytes ?? 0;
  return claim(
    name,
    [...borne.keys()].filter((end) => end > prepared).length === ends.length,
    "The signature over each act's revision bears the hash of that act.",
    "The document bears acts that the envelope does not name.",
  );
}

/** The hashes of acts that signatures bear, by where the signed bytes end. */
async function actsIn(bytes: Uint8Array): Promise<Map<number, string> | EvidenceError> {
  try {
    const document = await openUnlocked(bytes);
    const acts = new Map<number, string>();
    for (const { dictionary, byteRange } of withRanges(document, findSignatures(document), "foreign")) {
      const value = dictionary.entries.get("SSSActSha256");
      if (value?.kind !== "string" || !byteRange.ok) continue;
      const { end } = byteRange.range;
      if (acts.has(end)) throw new EvidenceError("pdf", "two signatures over one revision");
      acts.set(end, toHex(stringBytes(value)));
    }
    return acts;
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}
