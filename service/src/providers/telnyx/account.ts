import { type Account, checkBy } from "../account.ts";
import { telnyxVerifier } from "./verify.ts";

const publicBase = "https://api.telnyx.com";

type Settings = { apiKey: string; apiBase: string | null; publicKey: string | null };

/** The account at Telnyx. */
export function telnyxAccount({ apiKey, apiBase, publicKey }: Settings): Account {
  return {
    provider: "telnyx",
    // A fax's file goes up with its request: up to 50 MB.
    timeoutMs: 60_000,
    baseUrl: apiBase ?? publicBase,
    authorization: `Bearer ${apiKey}`,
    verify: publicKey === null ? null : telnyxVerifier(publicKey),
    check: (call) => checkBy(call({ method: "GET", path: "/v2/balance" }), () => "the key is accepted"),
  };
}
