import { type Account, basicAuthorization, checkBy } from "../account.ts";

const publicBase = "https://api.easypost.com";

/** The account at EasyPost. */
export function easypostAccount({ apiKey, apiBase }: { apiKey: string; apiBase: string | null }): Account {
  return {
    provider: "easypost",
    baseUrl: apiBase ?? publicBase,
    authorization: basicAuthorization(apiKey),
    verify: null,
    check: (call) => checkBy(call({ method: "GET", path: "/v2/users" }), () => "the key is accepted"),
  };
}
