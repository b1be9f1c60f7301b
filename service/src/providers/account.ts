import type { Call } from "./calls/call.ts";
import type { InboundVerifier } from "./inbound/verifier.ts";
import type { ProviderName } from "./names.ts";

/** The result of a request that checks the account and has no side effects. */
export type AccountCheck = { ok: true; detail: string } | { ok: false; why: string };

/** An account at a provider: the URL of the API, the credentials, and the verifier of the account's events. */
export type Account = {
  provider: ProviderName;
  baseUrl: string;
  /** The time limit of one request; default 15 s. */
  timeoutMs?: number;
  /** The value of the header `Authorization`; never logged. */
  authorization: string;
  /** Verifies the account's events. Null when no secret for events is configured; then every event is refused. */
  verify: InboundVerifier | null;
  /** Checks the account with a request that changes nothing, such as reading the balance. */
  check: (call: Call) => Promise<AccountCheck>;
};

export const basicAuthorization = (apiKey: string): string => `Basic ${Buffer.from(`${apiKey}:`).toString("base64")}`;

export async function checkBy(asked: ReturnType<Call>, detailOf: (body: unknown) => string): Promise<AccountCheck> {
  const outcome = await asked;
  if (outcome.kind === "answered") return { ok: true, detail: detailOf(outcome.body) };
  return { ok: false, why: outcome.why };
}
