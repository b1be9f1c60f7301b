import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import { type Task, TaskKilled, type Workers } from "../../platform/workers/task.ts";
import * as store from "./store.ts";
import type { KnownCredential, Verified, VerifyInput } from "./verify-task.ts";

/** `ownOrigin` is the origin of the service's public address: passkeys are made for its host and work there alone. */
export type PasskeyDeps = { db: Database; clock: Clock; rowMac: RowMac; workers: Workers; ownOrigin: string };

const challengeMs = 5 * 60_000;

// By a worker: the library takes a quarter of a second to load.
const task: Task<VerifyInput, Verified> = {
  name: "verify a passkey",
  module: import.meta.resolve("./verify-task.ts"),
  limitMs: 10_000,
};

/** The relying party (WebAuthn level 3, section 5.1.2): a host name; an address in numbers is none. @throws ServiceError */
export function relyingParty({ ownOrigin }: Pick<PasskeyDeps, "ownOrigin">): { id: string; name: string } {
  const { hostname } = new URL(ownOrigin);
  if (!hasPasskeys({ ownOrigin }))
    throw invalid("Passkeys need a host name: this service is reached by a bare address.");
  return { id: hostname, name: "SignSealShip" };
}

export function hasPasskeys({ ownOrigin }: Pick<PasskeyDeps, "ownOrigin">): boolean {
  const { hostname } = new URL(ownOrigin);
  return isIP(hostname.replace(/^\[|\]$/g, "")) === 0;
}

/** A new challenge for a session; the one before it of this purpose is over. */
export async function newChallenge(
  { db, clock }: Pick<PasskeyDeps, "db" | "clock">,
  sessionId: string,
  purpose: store.Purpose,
): Promise<string> {
  const challenge = randomBytes(32).toString("base64url");
  const expiresAt = new Date(clock().getTime() + challengeMs);
  await store.putChallenge(db, { sessionId, purpose, challenge, expiresAt });
  return challenge;
}

export const refusedPasskey = () => invalid("The passkey was not accepted. Try again.");

/** What names a person to authenticators (section 5.4.3). */
export const handleOf = (userId: string): string =>
  Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");

/** The answer of an authenticator, as a form sends it. @throws ServiceError for a text that is none */
export function answerOf(text: string): { id: string; response: { userHandle?: unknown; transports?: unknown } } {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    throw refusedPasskey();
  }
  const { id, response } = (answer ?? {}) as { id?: unknown; response?: unknown };
  if (typeof id !== "string" || typeof response !== "object" || response === null) throw refusedPasskey();
  return { ...(answer as object), id, response };
}

/**
 * Verifies an answer to the session's challenge, which is used up by it, whatever it is.
 * @param asked.known the credential that is shown; null for a new one
 * @throws ServiceError when it is not accepted
 */
export async function verifyAnswer(
  deps: PasskeyDeps,
  asked: { sessionId: string; userId: string; purpose: store.Purpose; answer: object; known: KnownCredential | null },
): Promise<Verified> {
  const { sessionId, userId, purpose, answer, known } = asked;
  const challenge = await store.takeChallenge(deps.db, sessionId, purpose, deps.clock());
  if (challenge === undefined) throw refusedPasskey();
  const expected = { challenge, origin: deps.ownOrigin, rpId: relyingParty(deps).id };
  try {
    return await deps.workers.run(task, { holder: userId, input: { ...expected, response: answer, known } });
  } catch (error) {
    if (error instanceof TaskKilled) throw error;
    throw new ServiceError("validation", refusedPasskey().message, { cause: error });
  }
}
