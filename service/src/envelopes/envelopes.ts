/** Envelopes: a document's way from the order to the seal, by the acts of its signers. */
export type { Ceremony, Link, PreparedAct, SignOutcome, SignRequest } from "./ceremony/ceremony.ts";
export { openCeremony } from "./ceremony/open-ceremony.ts";
export {
  type Client,
  type DeclineKind,
  declineKinds,
  type Language,
  languages,
  type ShownField,
  type SigningState,
  type SigningView,
} from "./ceremony/view.ts";
export { type ConsentText, type ConsentTexts, readConsentTexts } from "./consent/texts.ts";
export { envelopeJobs } from "./envelope-jobs.ts";
export type { EnvelopeDeps } from "./lifecycle/deps.ts";
export { sweepEnvelopes } from "./lifecycle/due.ts";
export {
  type OpenedSignerAuthority,
  openSignerAuthority,
  probeSignerAuthority,
  type SignerAuthoritySettings,
} from "./open-signer-authority.ts";
export type { FieldKind, PlannedField, PreparedField, SignatureMark } from "./pdf/fields.ts";
export { planFields } from "./pdf/placement/plan-fields.ts";
export { createPreflight } from "./preflight/preflight.ts";
export { type TrailFacts, trailMembers } from "./records/trail.ts";
export { issueSignerCertificate, oneActKey } from "./signer-authority.ts";
