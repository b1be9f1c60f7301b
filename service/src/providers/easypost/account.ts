import { Type } from "typebox";
import { Value } from "typebox/value";
import { type Account, basicAuthorization, checkBy } from "../account.ts";
import { easypostVerifier } from "./events.ts";

/** Where the API is unless a setting says another. */
export const easypostBase = "https://api.easypost.com";

type Settings = { apiKey: string; apiBase: string | null; webhookSecret: string | null };

const User = Type.Object({ balance: Type.String({ pattern: "^-?\\d{1,9}\\.\\d+$" }) });

const detailOf = (body: unknown): string =>
  Value.Check(User, body)
    ? `the key is accepted; the balance is $${Number(body.balance).toFixed(2)}`
    : "the key is accepted";

/** The account at EasyPost. */
export function easypostAccount({ apiKey, apiBase, webhookSecret }: Settings): Account {
  return {
    provider: "easypost",
    baseUrl: apiBase ?? easypostBase,
    authorization: basicAuthorization(apiKey),
    verify: webhookSecret === null ? null : easypostVerifier(webhookSecret),
    check: async (call) =>
      apiKey.startsWith("EZTK")
        ? { ok: false, why: "it is a test key: its labels are accepted by no carrier" }
        : checkBy(call({ method: "GET", path: "/v2/users" }), detailOf),
  };
}
