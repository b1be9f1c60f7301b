export { type AttachedClaimName, verifyAttachedRecord } from "./attached-record.ts";
export {
  type ClosingCertificate,
  readCarriedCheckpoint,
  readClosingCertificate,
  readSealPurpose,
} from "./closing-certificate.ts";
export type { DetachedEvidence } from "./detached-evidence.ts";
export { type EarlierClaimName, type EarlierSignature, verifySignatures } from "./earlier-signatures.ts";
export { isForeignSignature, type ProofStatement } from "./proof-statement.ts";
export { type SealPurpose, type SealReason, sealPurposeOf, sealReasons } from "./purpose.ts";
export { keyStaysSafe, type RetiredCertificate, retirementReasons } from "./retirement.ts";
export { mayBeListed, type RoomManifests, roomDocumentClaim } from "./room-document.ts";
export {
  isTrustList,
  parseTrustList,
  readTrust,
  type TrustList,
  type TrustListEntry,
  trustListFormat,
  trustListPath,
} from "./trust-list.ts";
export { type ClosingVerdict, type ClosingVerification, type ClosingVersion, verifyClosing } from "./verify-closing.ts";
export {
  type ProofClaimName,
  type ProofContext,
  type ProofTrust,
  type ProofVerdict,
  type ProofVerification,
  verifyProof,
} from "./verify-proof.ts";
