import type { SignerState } from "../../../signing/envelopes/envelopes.ts";
import type { Tone } from "../components.ts";
import { en, type Words } from "../words/en/en.ts";

const tones: Readonly<Record<SignerState["status"], Tone>> = {
  pending: "waiting",
  sent: "progress",
  viewed: "progress",
  signed: "done",
  declined: "stopped",
  locked: "attention",
};

/** The state of a signer, in words. */
export const signerWords = (
  { status, takenIn }: Pick<SignerState, "status" | "takenIn">,
  { orders }: Pick<Words, "orders"> = en,
): { tone: Tone; label: string } =>
  takenIn
    ? { tone: "stopped", label: orders.signedElsewhere }
    : { tone: tones[status], label: orders.signerStates[status] };
