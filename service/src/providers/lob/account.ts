import { type Account, basicAuthorization, checkBy } from "../account.ts";

const publicBase = "https://api.lob.com";

/** The account at Lob. */
export function lobAccount({ apiKey, apiBase }: { apiKey: string; apiBase: string | null }): Account {
  return {
    provider: "lob",
    baseUrl: apiBase ?? publicBase,
    authorization: basicAuthorization(apiKey),
    verify: null,
    check: (call) => checkBy(call({ method: "GET", path: "/v1/letters?limit=1" }), () => "the key is accepted"),
  };
}
