import { isIP } from "node:net";
import { type Clock, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { type Task, TaskKilled, type Workers } from "../../../kernel/platform/workers/task.ts";
import * as store from "./store.ts";
import type { CurrentCredential, Verified, VerifyInput } from "./verify-task.ts";

/** `ownOrigin` is the origin of the service's public URL. Passkeys are bound to its host. */
export type PasskeyDeps = {
  db: Database;
  clock: Clock;
  random: Random;
  rowMac: RowMac;
  workers: Workers;
  ownOrigin: string;
};

const challengeMs = 5 * minuteMs;

// Runs the verification in a worker, because its library takes a quarter of a second to load.
const task: Task<VerifyInput, Verified> = {
  name: "verify a passkey",
  module: import.meta.resolve("./verify-task.ts"),
  limitMs: 10_000,
};

/**
 * The relying party (WebAuthn level 3, section 5.1.2). It needs a host name, not an IP address.
 * @throws ServiceError
 */
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

/**
 * Creates a challenge for a session. The new challenge replaces the session's earlier challenge for the same purpose.
 */
export async function newChallenge(
  { db, clock, random }: Pick<PasskeyDeps, "db" | "clock" | "random">,
  sessionId: string,
  purpose: store.Purpose,
): Promise<string> {
  const challenge = random.bytes(32).toString("base64url");
  const expiresAt = new Date(clock().getTime() + challengeMs);
  await store.putChallenge(db, { sessionId, purpose, challenge, expiresAt });
  return challenge;
}

export const refusedPasskey = () => invalid("The passkey was not accepted. Try again.");

/** The user handle for authenticators (section 5.4.3). */
export const handleOf = (userId: string): string =>
  Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");

/** Parses an authenticator's response from a form. @throws ServiceError when the text is not such a response */
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
 * Verifies a response to the session's challenge, and consumes the challenge even when the response is refused.
 * @param asked.current the stored credential; null for a new one
 * @throws ServiceError when the response is not accepted
 */
export async function verifyAnswer(
  deps: PasskeyDeps,
  asked: {
    sessionId: string;
    userId: string;
    purpose: store.Purpose;
    answer: object;
    current: CurrentCredential | null;
  },
): Promise<Verified> {
  const { sessionId, userId, purpose, answer, current } = asked;
  const challenge = await store.consumeChallenge(deps.db, sessionId, purpose, deps.clock());
  if (challenge === undefined) throw refusedPasskey();
  const expected = { challenge, origin: deps.ownOrigin, rpId: relyingParty(deps).id };
  try {
    return await deps.workers.run(task, { holder: userId, input: { ...expected, response: answer, current } });
  } catch (error) {
    if (error instanceof TaskKilled) throw error;
    throw new ServiceError("validation", refusedPasskey().message, { cause: error });
  }
}
