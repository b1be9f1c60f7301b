import type { SignerState } from "../../../envelopes/envelopes.ts";
import type { Tone } from "../components.ts";

/** Where a signer stands, in words. */
export const signerWords: Readonly<Record<SignerState["status"], { tone: Tone; label: string }>> = {
  pending: { tone: "waiting", label: "Not asked yet" },
  sent: { tone: "progress", label: "Asked to sign" },
  viewed: { tone: "progress", label: "Opened" },
  signed: { tone: "done", label: "Signed" },
  declined: { tone: "stopped", label: "Declined" },
  locked: { tone: "attention", label: "Locked: too many wrong codes" },
};
