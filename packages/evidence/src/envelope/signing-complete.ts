import type { Claim } from "../claim.ts";
import type { EvidenceCrypto } from "../crypto-port.ts";
import { EvidenceError } from "../errors.ts";
import type { EarlierSignature } from "../seal/earlier-signatures.ts";
import type { PadesVerification } from "../seal/pades.ts";
import type { ProofContext, ProofTrust, ProofVerification } from "../seal/verify-proof.ts";
import { verifyChain } from "../x509/chain.ts";
import { type DocumentSignature, signaturesByEnd } from "./act-signatures.ts";

/** The warning for a file with signers' acts but without the seal that completes them. */
export const incompleteSigning = "Part of a signing that was not completed in this file.";

/**
 * Verifies that every act in a document is followed by the service's seal for a signed document. A file that was cut
 * off after an act can be sealed for another purpose, and then looks finished.
 *
 * The verdict does not depend on this claim, because sealing a half-signed document is not forgery.
 *
 * @param proof the result of `verifyProof` for the same bytes
 * @returns null for a document in which no acts can be found
 */
export async function verifySigningComplete(
  bytes: Uint8Array,
  proof: ProofVerification,
  { trust, at, crypto }: ProofContext,
): Promise<Claim<"signing_complete"> | null> {
  const name = "signing_complete";
  const signatures = await signaturesByEnd(bytes);
  if (proof.earlierSignatures.some((one) => one.isAct && !isInForm(signatures, one))) {
    const why = `${incompleteSigning} A later revision took a signer's act away, or altered it.`;
    return { name, state: "fails", why };
  }
  if (signatures instanceof EvidenceError) return null;
  const acts = [...signatures].filter(([, { actSha256 }]) => actSha256 !== null);
  if (acts.length === 0) return null;
  const seals = [...signatures].filter(([, { purpose }]) => purpose?.kind === "signed");
  const ended = endedBy(signatures, acts, seals);
  const open = acts.find(([end]) => !ended.has(end));
  if (open) {
    const why = `${incompleteSigning} No seal over a signed document follows the act that ends at byte ${open[0]}: others may have had to sign.`;
    return { name, state: "fails", why };
  }
  for (const [end] of seals) {
    if (![...ended.values()].includes(end)) continue;
    const pades = end === bytes.length ? proof.seal?.pades : earlier(proof, end);
    const state = pades ? await isService(pades, trust, at, crypto) : "fails";
    if (state === "holds") continue;
    const why =
      state === "fails"
        ? `${incompleteSigning} The seal that seems to end it is not genuine.`
        : "A seal that says it is for a signed document ends the signing; no certificate that was given confirms whose it is.";
    return { name, state, why };
  }
  return { name, state: "holds", why: "A seal for a signed document follows the acts, and ends their signing." };
}

const isInForm = (
  signatures: ReadonlyMap<number, DocumentSignature> | EvidenceError,
  { revisionEnd }: EarlierSignature,
) =>
  !(signatures instanceof EvidenceError) &&
  revisionEnd !== null &&
  typeof signatures.get(revisionEnd)?.actSha256 === "string";

/**
 * Maps the end of each act to the end of the seal that completes its signing, both as byte offsets. The seal states the
 * end of the last act, and each act states the end of the previous one.
 */
function endedBy(
  signatures: ReadonlyMap<number, DocumentSignature>,
  acts: readonly (readonly [number, DocumentSignature])[],
  seals: readonly (readonly [number, DocumentSignature])[],
): ReadonlyMap<number, number> {
  const isAct = new Set(acts.map(([end]) => end));
  const ended = new Map<number, number>();
  for (const [sealEnd, seal] of seals) {
    let at = seal.originalLength;
    while (at !== null && isAct.has(at) && !ended.has(at)) {
      ended.set(at, sealEnd);
      at = signatures.get(at)?.originalLength ?? null;
    }
  }
  return ended;
}

const earlier = ({ earlierSignatures }: ProofVerification, end: number): PadesVerification | null => {
  const [found, another] = earlierSignatures.filter(({ revisionEnd }) => revisionEnd === end);
  return another ? null : (found?.pades ?? null);
};

async function isService(
  { valid, certificate: leaf, certificates: intermediates }: PadesVerification,
  { sealAnchors: anchors }: ProofTrust,
  at: number,
  crypto: EvidenceCrypto,
): Promise<"holds" | "fails" | "unchecked"> {
  if (!valid || leaf === null || leaf.isSigners) return "fails";
  const chain = await verifyChain({ leaf, intermediates, anchors, at, purpose: "documentSigning", crypto });
  return chain.valid ? "holds" : "unchecked";
}
