import { type Account, checkBy } from "../account.ts";

const publicBase = "https://api.telnyx.com";

/** The account at Telnyx. */
export function telnyxAccount({ apiKey, apiBase }: { apiKey: string; apiBase: string | null }): Account {
  return {
    provider: "telnyx",
    baseUrl: apiBase ?? publicBase,
    authorization: `Bearer ${apiKey}`,
    verify: null,
    check: (call) => checkBy(call({ method: "GET", path: "/v2/balance" }), () => "the key is accepted"),
  };
}
