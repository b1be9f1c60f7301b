import type { Proof } from "../../../src/kernel/identity/identity.ts";

/** Of somebody who has just signed in, by a mailed link alone. */
export const recentProof = (): Proof => ({
  confirmedAt: new Date(),
  passkeyAt: null,
  hasPasskey: false,
  passkeyForLive: false,
});
