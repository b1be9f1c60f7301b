import { auditLine } from "../../kernel/audit/audit.ts";
import type { Role } from "../../kernel/identity/identity.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { isUuid, requireUuid } from "../../kernel/platform/text.ts";
import type { MemberDeps } from "./membership.ts";
import { mailFactorChange } from "./passkeys/mail.ts";
import * as passkeys from "./passkeys/store.ts";
import * as sessions from "./sessions/store.ts";
import * as store from "./store.ts";

type Changed = { userId: string; partnerId: string };
type Setting = { role?: Role; liveAccess?: boolean };

/**
 * Sets a member's role or live access on behalf of the operator. This change can leave the firm without an owner. Then
 * the next new member who links to the firm becomes its owner.
 * @throws ServiceError for a person without a firm, or a role other than owner and member
 */
export async function setMember(
  deps: MemberDeps,
  userId: string,
  { role, live }: { role?: string | undefined; live?: boolean | undefined },
): Promise<Changed & Setting> {
  const change: Setting = {
    ...(role !== undefined && { role: requireRole(role) }),
    ...(live !== undefined && { liveAccess: live }),
  };
  const changed = await asOperator(deps, userId, "member.changed", change, (tx, before) =>
    store.updateMember(
      tx,
      deps.rowMac,
      before,
      {
        ...(change.role && { role: change.role }),
        ...(live !== undefined && { live: { access: live, liveKeyId: null } }),
      },
      deps.clock(),
    ),
  );
  return { ...changed, ...change };
}
function requireRole(text: string): Role {
  if (text !== "owner" && text !== "member") throw invalid("ROLE must be owner or member.");
  return text;
}

/**
 * Removes a person from the firm on behalf of the operator, even its last owner.
 * @throws ServiceError for a person without a firm
 */
export const dropMember = (deps: MemberDeps, userId: string): Promise<Changed> =>
  asOperator(deps, userId, "member.removed", {}, (tx) => store.deleteMember(tx, userId, deps.clock()));

/**
 * Grants live access to everybody who is now an owner of the firm. The caller must have locked its members.
 * @returns the number of owners
 */
export async function giveOwnersLive(
  tx: Tx,
  rowMac: MemberDeps["rowMac"],
  partnerId: string,
  { at, actor }: { at: Date; actor: string },
): Promise<number> {
  const members = await store.selectMembers(tx, partnerId);
  let owners = 0;
  for (const { userId, role } of members) {
    const membership = role === "owner" ? await store.findMembership(tx, rowMac, userId, at) : undefined;
    if (membership?.partnerId !== partnerId || membership.role !== "owner") continue;
    owners++;
    if (membership.liveAccess) continue;
    await store.updateMember(tx, rowMac, membership, { live: { access: true, liveKeyId: null } }, at);
    const detail = { userId, liveAccess: true };
    await tx.query(auditLine({ at, action: "member.live_access_changed", actor, partnerId, detail }));
  }
  return owners;
}

async function asOperator(
  { db, clock, rowMac }: MemberDeps,
  userId: string,
  action: string,
  detail: object,
  change: (tx: Tx, before: store.MemberFacts) => Promise<unknown>,
): Promise<Changed> {
  const unknown = () => new ServiceError("not_found", "No such member.");
  return db.transaction(async (tx) => {
    const found = isUuid(userId) ? await store.findMembership(tx, rowMac, userId, clock()) : undefined;
    if (!found) throw unknown();
    const { partnerId } = found;
    await store.lockMembers(tx, partnerId);
    const locked = await store.findMembership(tx, rowMac, userId, clock());
    if (locked?.partnerId !== partnerId) throw unknown();
    await change(tx, locked);
    const line = { at: clock(), action, actor: "operator", partnerId, detail: { userId, ...detail } };
    await tx.query(auditLine(line));
    return { userId, partnerId };
  });
}

export type MemberOfKey = { userId: string; email: string; role: Role; linkedAt: Date; sessions: number };

/** The members whom a key linked to the firm or granted live access, and how many sessions each has. */
export const membersOfKey = ({ db, clock }: { db: Sql; clock: Clock }, keyId: string) =>
  db.query<MemberOfKey>(
    sql`SELECT m.user_id AS "userId", u.email, m.role, m.linked_at AS "linkedAt",
       (SELECT count(*) FROM sessions s WHERE s.user_id = m.user_id AND ${sessions.isOpen(clock())}) AS sessions
     FROM members m JOIN users u ON u.id = m.user_id
     WHERE m.key_id = ${keyId} OR m.live_key_id = ${keyId} ORDER BY m.linked_at, m.user_id`,
  );

/**
 * Removes the members of a key from the firm, as `membersOfKey` lists them, and signs them out everywhere. The caller
 * must have locked the firm.
 */
export async function endMembersOfKey(
  { db: tx, clock }: { db: Tx; clock: Clock },
  partnerId: string,
  members: readonly MemberOfKey[],
): Promise<void> {
  for (const { userId, email } of members) {
    const at = clock();
    await sessions.endAnySessions(tx, { email }, at);
    await store.deleteMember(tx, userId, at);
    await tx.query(auditLine({ at, action: "member.removed", actor: "operator", partnerId, detail: { userId } }));
  }
}

/**
 * Lists the passkeys of any person.
 * @throws ServiceError for an unknown person
 */
export async function listPasskeysOf({ db }: { db: Database }, userId: string): Promise<passkeys.Passkey[]> {
  await addressOf(db, userId);
  return passkeys.selectPasskeys(db, userId);
}

/**
 * Removes all passkeys and recovery codes of a person who has lost them, and ends the person's sessions. The next
 * sign-in needs only the mailed link.
 * @param actor for the audit log
 * @param also further work for the same transaction
 * @returns how many passkeys there were
 * @throws ServiceError for an unknown person
 */
export async function dropPasskeys(
  { db, clock, rowMac }: { db: Database; clock: Clock; rowMac: RowMac },
  userId: string,
  actor = "operator",
  also: (tx: Tx, at: Date) => Promise<unknown> = async () => {},
) {
  const email = await addressOf(db, userId);
  return db.transaction(async (tx) => {
    const at = clock();
    await passkeys.lockUser(tx, userId);
    const removed = await passkeys.deletePasskeys(tx, userId, at);
    await passkeys.replaceCodes(tx, rowMac, { userId, at, hashes: [] });
    const ended = await sessions.endAnySessions(tx, { email }, at, actor);
    const partnerId = (await store.findMembership(tx, rowMac, userId, at))?.partnerId;
    const line = { at, action: "passkeys.removed", actor, partnerId, detail: { userId, removed } };
    await tx.query(auditLine(line));
    if (removed > 0) await mailFactorChange(tx, userId, "removed-by-operator", at);
    await also(tx, at);
    return { userId, removed, endedSessions: ended.length };
  });
}

async function addressOf(db: Database, userId: string): Promise<string> {
  const person = await passkeys.findAddress(db, requireUuid("USER_ID", userId));
  if (!person) throw new ServiceError("not_found", "No such person.");
  return person.email;
}

type ReadDeps = { db: Sql; clock: Clock };
type EndDeps = { db: Database; clock: Clock };

/** The word that selects the sessions of all operators, in place of an email address or a firm's id. */
const operatorWord = "operator";

function sessionsOf(owner: string): sessions.SessionFilter {
  if (owner === operatorWord) return "operator";
  return isUuid(owner) ? { partnerId: owner } : { email: owner.trim().toLowerCase() };
}

/**
 * Lists sessions: all of them, or those of one owner. The owner is an email address, the id of a firm, or the word
 * `operator` for all operators.
 */
export const listAnySessions = ({ db, clock }: ReadDeps, owner?: string) =>
  sessions.selectAnySessions(db, owner === undefined ? "all" : sessionsOf(owner), clock());

/**
 * Ends one session of any member or operator.
 * @param actor for the audit log
 * @throws ServiceError when no session has this id
 */
export async function endAnySession({ db, clock }: EndDeps, sessionId: string, actor?: string): Promise<string[]> {
  const filter = { sessionId: requireUuid("SESSION_ID", sessionId) };
  const ended = await db.transaction((tx) => sessions.endAnySessions(tx, filter, clock(), actor));
  if (ended.length === 0) throw new ServiceError("not_found", "No such session.");
  return ended;
}

/** Ends sessions like `endAllSessions`, in a transaction of its own. */
export const endSessionsOf = ({ db, clock }: EndDeps, owner: string): Promise<string[]> =>
  db.transaction((tx) => endAllSessions({ db: tx, clock }, owner));

/**
 * Ends all sessions of an email address, of a firm or, for the word `operator`, of all operators.
 * @param actor for the audit log
 * @returns the ids of the ended sessions
 */
export const endAllSessions = (
  { db: tx, clock }: { db: Tx; clock: Clock },
  owner: string,
  actor?: string,
): Promise<string[]> => sessions.endAnySessions(tx, sessionsOf(owner), clock(), actor);
