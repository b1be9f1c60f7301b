import type { Proof } from "../../../src/kernel/identity/identity.ts";

/** The proof of a person who has just signed in, with a mailed link alone. */
export const recentProof = (): Proof => ({
  confirmedAt: new Date(),
  passkeyAt: null,
  hasPasskey: false,
  passkeyForLive: false,
});
