export type { ActClaimName } from "./act-claims.ts";
export { type ActFieldKind, type ActFields, fillsOwnFields } from "./act-fields.ts";
export { actSha256In, signaturesByEnd } from "./act-signatures.ts";
export {
  anotherFileWords,
  type CustodyClaimName,
  type CustodyVerification,
  envelopeAttachmentName,
  readCustodyCertificate,
  verifyCustody,
} from "./custody.ts";
export { memberOf } from "./member.ts";
export {
  type EnvelopeEvidence,
  type EnvelopeRevision,
  type EnvelopeSigner,
  envelopeFormat,
  envelopeVersion,
  revisionKinds,
  type TrailEntry,
} from "./schema.ts";
export { verifySignedDocument } from "./signed-document.ts";
export { incompleteSigning, verifySigningComplete } from "./signing-complete.ts";
export { envelopeBytes, parseEnvelope, validateEnvelope } from "./validate.ts";
export { verifyEnvelope, verifyTrail } from "./verify-envelope.ts";
