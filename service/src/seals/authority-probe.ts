import { randomBytes } from "node:crypto";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import type { Fetch } from "../platform/bounds/bounded-request.ts";
import type { Clock } from "../platform/clock.ts";
import { createTimeStamping, type TimeStampRefusal } from "./time-stamping.ts";
import type { AnchorsOf } from "./tsa-trust.ts";

/** How somebody else's server is asked whether it is there. */
export type ProbeDeps = {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly anchorsOf: AnchorsOf;
};

/**
 * Has random bytes stamped by an authority and checks the token as that of a seal.
 * @returns what the token gives as its time
 * @throws Error with the reason why a seal would go without its token
 */
export async function probeAuthority(url: string, deps: ProbeDeps): Promise<Date> {
  let refusal: TimeStampRefusal | undefined;
  const stamp = createTimeStamping({
    ...deps,
    authorities: [url],
    randomBytes,
    crypto: createNodeCrypto(),
    onRefusal: (refused) => {
      refusal = refused;
    },
  });
  const stamped = await stamp(randomBytes(32));
  if (stamped === null) throw new Error(refusal ? `${refusal.failed}: ${refusal.why}` : "no answer");
  return stamped.genTime;
}
