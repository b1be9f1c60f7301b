import type { Proof } from "../../../src/kernel/identity/identity.ts";

/** The proof of a person who has just signed in, only with a mailed link. */
export const recentProof = (): Proof => ({
  confirmedAt: new Date(),
  passkeyAt: null,
  hasPasskey: false,
  passkeyForLive: false,
});
