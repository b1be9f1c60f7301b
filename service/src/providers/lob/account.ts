import { type Account, basicAuthorization, checkBy } from "../account.ts";
import { lobVerifier } from "./verifier.ts";

const publicBase = "https://api.lob.com";

type LobSettings = { apiKey: string; apiBase: string | null; webhookSecret: string | null };

/** The account at Lob. */
export function lobAccount({ apiKey, apiBase, webhookSecret }: LobSettings): Account {
  return {
    provider: "lob",
    baseUrl: apiBase ?? publicBase,
    authorization: basicAuthorization(apiKey),
    verify: webhookSecret === null ? null : lobVerifier(webhookSecret),
    check: (call) => checkBy(call({ method: "GET", path: "/v1/letters?limit=1" }), () => "the key is accepted"),
  };
}
