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

/** True if the sandbox completed the signing of the order with these signers. */
export const isSimulated = (signers: readonly Pick<SignerState, "isSimulated">[]): boolean =>
  signers.some((signer) => signer.isSimulated);

/** The state of a signer, in words. */
export const signerWords = (
  { status, takenIn, wantsPaper, isSimulated }: Pick<SignerState, "status" | "takenIn" | "wantsPaper" | "isSimulated">,
  { orders }: Pick<Words, "orders"> = en,
): { tone: Tone; label: string } =>
  takenIn || isSimulated
    ? { tone: "stopped", label: isSimulated ? orders.simulated.signer : orders.signedElsewhere }
    : { tone: tones[status], label: wantsPaper ? orders.wantsPaper : orders.signerStates[status] };
