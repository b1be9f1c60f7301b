import type { Call } from "./calls/call.ts";
import type { InboundVerifier } from "./inbound/verifier.ts";
import type { ProviderName } from "./names.ts";

/** What an account says of itself when it is asked without acting. */
export type AccountCheck = { ok: true; detail: string } | { ok: false; why: string };

/** An account at a provider: where it is asked, how it shows who asks, and how its events are known. */
export type Account = {
  provider: ProviderName;
  baseUrl: string;
  /** How long one request may take; default 15 s. */
  timeoutMs?: number;
  /** The value of the header `Authorization`; never logged. */
  authorization: string;
  /** Null without the secret of its events: none is taken in. */
  verify: InboundVerifier | null;
  /** Asks the account itself, its balance or the like; changes nothing. */
  check: (call: Call) => Promise<AccountCheck>;
};

export const basicAuthorization = (apiKey: string): string => `Basic ${Buffer.from(`${apiKey}:`).toString("base64")}`;

/** Reads what came of the one request of a check. */
export async function checkBy(asked: ReturnType<Call>, detailOf: (body: unknown) => string): Promise<AccountCheck> {
  const outcome = await asked;
  if (outcome.kind === "answered") return { ok: true, detail: detailOf(outcome.body) };
  return { ok: false, why: outcome.why };
}
