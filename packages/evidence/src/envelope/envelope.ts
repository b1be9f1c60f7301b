export {
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
  type TrailEntry,
} from "./schema.ts";
export { verifySignedDocument } from "./signed-document.ts";
export { envelopeBytes, parseEnvelope, validateEnvelope } from "./validate.ts";
export { verifyEnvelope } from "./verify-envelope.ts";
