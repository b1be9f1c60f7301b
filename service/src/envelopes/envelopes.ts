/** Envelopes: a document's way from the order to the seal, by the acts of its signers. */
export type { Ceremony, Link, SignOutcome, SignRequest } from "./ceremony/ceremony.ts";
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
export type { FieldKind, PlannedField, PreparedField, SignatureMark } from "./pdf/fields.ts";
export { planFields } from "./pdf/placement/plan-fields.ts";
