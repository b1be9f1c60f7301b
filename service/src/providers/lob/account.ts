import { type Account, basicAuthorization, checkBy } from "../account.ts";
import { lobVerifier } from "./verifier.ts";

const publicBase = "https://api.lob.com";

// A letter is sent with its file.
const uploadMs = 60_000;

type LobSettings = { apiKey: string; apiBase: string | null; webhookSecret: string | null };

/** The account at Lob. */
export function lobAccount({ apiKey, apiBase, webhookSecret }: LobSettings): Account {
  return {
    provider: "lob",
    baseUrl: apiBase ?? publicBase,
    authorization: basicAuthorization(apiKey),
    verify: webhookSecret === null ? null : lobVerifier(webhookSecret),
    timeoutMs: uploadMs,
    async check(call) {
      const found = await checkBy(call({ method: "GET", path: "/v1/letters?limit=1" }), () => "the key is accepted");
      const isTest = apiKey.startsWith("test_");
      return found.ok && isTest
        ? { ok: false, why: "it is a test key: letters are accepted, and never mailed" }
        : found;
    },
  };
}
