import {
  type Environment,
  mayUseLive,
  type Principal,
  type Proof,
  type ResolveSession,
  type Session,
} from "../../../kernel/identity/identity.ts";
import { type Clock, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { requireRecentProof } from "../../../kernel/platform/recent-proof.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { type CookieName, cookieNames, cookieOf } from "./cookies.ts";
import { factorDueSeconds, sessionLimits } from "./limits.ts";
import * as store from "./store.ts";
import { newToken } from "./tokens.ts";
import * as writes from "./writes.ts";

export type SessionDeps = { db: Sql; clock: Clock; rowMac: RowMac };

type ReadDeps = Pick<SessionDeps, "db" | "clock">;
type EndDeps = { db: Database; clock: Clock };

// The last use of a session is written at most this often, to save a write at every request.
const touchEveryMs = 5 * minuteMs;

type Used = Pick<store.SessionRow, "sessionId" | "lastSeenAt">;

async function noteUse(db: Sql, { sessionId, lastSeenAt }: Used, now: Date): Promise<void> {
  if (now.getTime() - lastSeenAt.getTime() > touchEveryMs) await store.touchSession(db, sessionId, now);
}

/** Returns a function that finds the session of a cookie with one indexed read. */
export function sessionResolver({ db, clock, rowMac }: SessionDeps): ResolveSession {
  return async (cookie, isUse = true) => {
    const token = cookieOf(cookie, cookieNames.session);
    if (token === undefined) return null;
    const now = clock();
    const row = await store.findSession(db, rowMac, tokenSha256(token), now);
    if (!row) return null;
    if (isUse) await noteUse(db, row, now);
    const { sessionId: id, userId, email, confirmedAt, passkeyAt, hasPasskey, passkeyForLive } = row;
    const proof = { confirmedAt, passkeyAt, hasPasskey, passkeyForLive: passkeyForLive ?? false };
    return { id, userId, email, proof, principal: principalFrom(row, proof) };
  };
}

function principalFrom(row: store.SessionRow, proof: Proof): Principal | null {
  const { partnerId, role, firmName, tier, liveEnabled, userId, email } = row;
  if (partnerId === null || role === null || firmName === null || tier === null || liveEnabled === null) return null;
  const [liveAccess, seesBilling] = [row.liveAccess ?? false, row.seesBilling ?? false];
  const member = { userId, email, role, liveAccess, seesBilling, proof };
  const principal: Principal = { partnerId, environment: "test", firmName, tier, liveEnabled, key: null, member };
  // If the member or the firm has no live access, the session continues in test.
  return mayUseLive(principal) ? { ...principal, environment: row.environment } : principal;
}

/**
 * Finds the session of a `Cookie` header, if an operator began it with a link from the command line. Returns null
 * without a valid session.
 */
export async function findOperatorSession(
  { db, clock, rowMac }: SessionDeps,
  cookie: string | undefined,
): Promise<store.OperatorSession | null> {
  const token = cookieOf(cookie, cookieNames.operator);
  if (token === undefined) return null;
  const now = clock();
  const row = await store.findOperatorSession(db, rowMac, tokenSha256(token), now);
  if (row) await noteUse(db, row, now);
  return row ?? null;
}

export type SessionStart = {
  userId: string | null;
  environment: Environment;
  userAgent: string | undefined;
  at: Date;
  /** True if the second factor is due. Until `completeSession` the session grants no access. */
  factorDue: boolean;
};

/** Begins a session. @returns its token, which exists only in the cookie */
export async function beginSession(tx: Tx, rowMac: RowMac, start: SessionStart): Promise<string> {
  const { userId, environment, userAgent, at, factorDue } = start;
  const token = newToken();
  const { wholeSeconds } = sessionLimits[userId === null ? "operator" : "member"];
  const seconds = factorDue ? factorDueSeconds : wholeSeconds;
  await writes.insertSession(tx, rowMac, {
    id: newUuid(),
    tokenSha256: tokenSha256(token),
    userId,
    environment,
    device: deviceOf(userAgent),
    at,
    factorDue,
    expiresAt: new Date(at.getTime() + seconds * 1000),
  });
  return token;
}

/**
 * Completes a session after its second factor.
 * @param passkeyAt when the passkey was used; null after a recovery code
 * @returns its new token
 * @throws ServiceError when the session has ended or is already complete
 */
export async function completeSession(
  tx: Tx,
  rowMac: RowMac,
  { sessionId, at, passkeyAt }: { sessionId: string; at: Date; passkeyAt: Date | null },
): Promise<string> {
  const token = newToken();
  const expiresAt = new Date(at.getTime() + sessionLimits.member.wholeSeconds * 1000);
  const row = { sessionId, tokenSha256: tokenSha256(token), at, expiresAt, passkeyAt };
  if (!(await writes.completeSession(tx, rowMac, row))) throw new ServiceError("not_found", "No such session.");
  return token;
}

/** The person's sessions, latest first. */
export const listSessions = ({ db, clock }: ReadDeps, { userId }: Session) => store.selectSessions(db, userId, clock());

/**
 * Ends one of the person's own sessions. Ending another session than the current one needs a recent proof.
 * @throws ServiceError for an unknown id, or without the proof
 */
export async function endSession({ db, clock }: EndDeps, session: Session, sessionId: string): Promise<void> {
  const { userId, proof } = session;
  if (sessionId !== session.id) requireRecentProof(proof, clock());
  const wasDeleted =
    isUuid(sessionId) && (await db.transaction((tx) => store.deleteSession(tx, userId, sessionId, clock())));
  if (!wasDeleted) throw new ServiceError("not_found", "No such session.");
}

/** Ends the sessions whose tokens are in the cookies with these names. */
export async function signOut(
  { db, clock }: EndDeps,
  header: string | undefined,
  names: readonly CookieName[] = [cookieNames.session, cookieNames.operator],
): Promise<void> {
  for (const name of names) {
    const token = cookieOf(header, name);
    if (token !== undefined) await db.transaction((tx) => store.deleteSessionByToken(tx, tokenSha256(token), clock()));
  }
}

/**
 * Switches a session between live and test. @throws ServiceError for another word, or for live when the firm or the
 * person has no live access
 */
export async function chooseEnvironment({ db }: ReadDeps, session: Session, environment: string): Promise<void> {
  if (environment !== "live" && environment !== "test") throw invalid("environment must be live or test.");
  const { principal } = session;
  if (environment === "live") {
    if (!principal?.liveEnabled) throw invalid("environment live is not enabled for this firm.");
    if (!mayUseLive(principal))
      throw invalid("environment live needs live access: connect with a live key, or ask an owner of the firm.");
  }
  await store.setEnvironment(db, session.id, environment);
}

const browsers: readonly [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const systems: readonly [RegExp, string][] = [
  [/iPhone|iPad/, "iOS"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

/**
 * Describes a device by its `User-Agent`, such as `Firefox on Windows`, so that people can recognize their own
 * sessions.
 */
function deviceOf(userAgent = ""): string {
  const named = (names: typeof browsers) => names.find(([pattern]) => pattern.test(userAgent))?.[1];
  const [browser = "A browser", system] = [named(browsers), named(systems)];
  return system === undefined ? browser : `${browser} on ${system}`;
}
