import type { SignerState } from "../../../envelopes/envelopes.ts";
import type { Tone } from "../components.ts";
import { en } from "../words/en/en.ts";
import type { Words } from "../words/words.ts";

const tones: Readonly<Record<SignerState["status"], Tone>> = {
  pending: "waiting",
  sent: "progress",
  viewed: "progress",
  signed: "done",
  declined: "stopped",
  locked: "attention",
};

/** Where a signer stands, in words. */
export const signerWords = (
  status: SignerState["status"],
  { orders }: Pick<Words, "orders"> = en,
): { tone: Tone; label: string } => ({ tone: tones[status], label: orders.signerStates[status] });
