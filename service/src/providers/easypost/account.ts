import { type Account, basicAuthorization, checkBy } from "../account.ts";
import { easypostVerifier } from "./events.ts";

/** Where the API is unless a setting says another. */
export const easypostBase = "https://api.easypost.com";

type Settings = { apiKey: string; apiBase: string | null; webhookSecret: string | null };

/** The account at EasyPost. */
export function easypostAccount({ apiKey, apiBase, webhookSecret }: Settings): Account {
  return {
    provider: "easypost",
    baseUrl: apiBase ?? easypostBase,
    authorization: basicAuthorization(apiKey),
    verify: webhookSecret === null ? null : easypostVerifier(webhookSecret),
    check: (call) => checkBy(call({ method: "GET", path: "/v2/users" }), () => "the key is accepted"),
  };
}
