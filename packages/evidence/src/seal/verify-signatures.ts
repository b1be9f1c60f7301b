import type { EvidenceCrypto } from "../crypto-port.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { findSignatures } from "../pdf/signatures.ts";
import { withRanges } from "../pdf/structure.ts";
import type { Certificate } from "../x509/certificate.ts";
import { type EarlierSignature, verifyEarlierSignatures } from "./earlier-signatures.ts";

/**
 * Verifies every signature of a PDF over its own revision, and classifies later changes. None of them is treated as a
 * seal.
 *
 * @param at the instant of the verification, epoch ms
 * @throws EvidenceError for an unreadable file, or one with more than 64 signatures
 */
export async function verifySignatures(
  bytes: Uint8Array,
  tsaAnchors: readonly Certificate[],
  at: number,
  crypto: EvidenceCrypto,
): Promise<EarlierSignature[]> {
  const document = await openUnlocked(bytes);
  const signatures = withRanges(document, findSignatures(document));
  return verifyEarlierSignatures({
    document,
    signatures,
    seal: null,
    trust: { sealAnchors: [], tsaAnchors },
    at,
    crypto,
  });
}
