import { timingSafeEqual } from "node:crypto";
import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { derivedToken, deriveKey, keysOf, type SecretBytes } from "../../kernel/platform/secrets.ts";
import { isCode, isUuid } from "../../kernel/platform/text.ts";
import { mailDelay } from "./mail-hours.ts";
import type { MemberDeps } from "./membership.ts";
import { findMembership } from "./store.ts";

/**
 * The kinds of mail that a member can switch off: mails about orders that need a person, the daily list of
 * closings, and statements that are ready.
 */
export const mailKinds = ["orders", "closings", "statements"] as const;

export type MailKind = (typeof mailKinds)[number];

const wants = (userId: Statement, kind: MailKind): Statement =>
  sql`NOT EXISTS (SELECT FROM mail_switches s WHERE s.user_id = ${userId} AND s.kind = ${kind})`;

/** The kinds of mail that a member has not switched off. */
export async function wantedMails(db: Sql, userId: string): Promise<MailKind[]> {
  const off = await db.query<{ kind: MailKind }>(sql`SELECT kind FROM mail_switches WHERE user_id = ${userId}`);
  return mailKinds.filter((kind) => !off.some((each) => each.kind === kind));
}

/**
 * Switches a kind of the caller's own mails on or off.
 * @throws ServiceError for another kind or word, and for a caller who is not a member
 */
export async function switchMails(
  { db, clock }: Pick<MemberDeps, "db" | "clock">,
  { member }: Principal,
  { kind, to }: { kind: string; to: string },
): Promise<void> {
  const named = mailKinds.find((each) => each === kind);
  if (!named) throw invalid(`kind must be one of ${mailKinds.join(", ")}.`);
  if (to !== "on" && to !== "off") throw invalid("mails must be on or off.");
  if (!member) throw new ServiceError("conflict", "Only a member of the firm gets mails about its orders.");
  if (to === "off") await switchOff(db, member.userId, named, clock());
  else await db.query(sql`DELETE FROM mail_switches WHERE user_id = ${member.userId} AND kind = ${named}`);
}

/** Switches a kind of mail to a person off. */
export const switchOff = (db: Sql, userId: string, kind: MailKind, at: Date) =>
  db.query(sql`
    INSERT INTO mail_switches (user_id, kind, switched_off_at)
    SELECT id, ${kind}::text, ${at}::timestamptz FROM users WHERE id = ${userId} ON CONFLICT DO NOTHING`);

type Reader = { db: Sql; rowMac: MemberDeps["rowMac"]; clock: MemberDeps["clock"] };

/**
 * The person for a mail of this kind about something that a member did. The mail goes to the member. If the member has
 * left the firm or has no access to the environment, the mail goes to the owner who joined first. Undefined when the
 * recipient switched this kind of mail off, and when the actor is not a member but, for example, a key.
 */
export async function recipientFor(
  { db, rowMac, clock }: Reader,
  { partnerId, environment }: Owner,
  { actor, kind }: { actor: string; kind: MailKind },
): Promise<{ userId: string; email: string } | undefined> {
  const userId = actor.slice("member:".length);
  if (!actor.startsWith("member:") || !isUuid(userId)) return undefined;
  const candidates = await db.query<{ id: string; wants: boolean }>(sql`
    SELECT m.user_id AS id, ${wants(sql`m.user_id`, kind)} AS wants FROM members m
    WHERE m.partner_id = ${partnerId} AND (m.user_id = ${userId} OR m.role = 'owner')
    ORDER BY m.user_id = ${userId} DESC, m.linked_at, m.user_id LIMIT 20`);
  for (const { id, wants: isOn } of candidates) {
    const found = await findMembership(db, rowMac, id, clock());
    if (found?.partnerId !== partnerId || (environment === "live" && !found.liveAccess)) continue;
    if (id !== userId && found.role !== "owner") continue;
    return isOn ? { userId: id, email: found.email } : undefined;
  }
  return undefined;
}

/**
 * The SQL of the id, as text, of the person whom `recipientFor` chooses for a live mail; null for nobody. It trusts the
 * members' rows, so it may only decide when a mail is sent.
 */
export const recipientIdOf = (partnerId: Statement, actor: Statement): Statement => sql`(
  SELECT m.user_id::text FROM members m
  WHERE m.partner_id = ${partnerId} AND m.live_access AND ('member:' || m.user_id = ${actor} OR m.role = 'owner')
  ORDER BY 'member:' || m.user_id = ${actor} DESC, m.linked_at, m.user_id LIMIT 1)`;

/**
 * Queues a mail to each member with live access who gets mails of the kind, for the hours in which that member gets
 * mails.
 * @param hasWork gives the SQL condition on a member's firm; `partnerId` is the SQL of the firm's id
 */
export async function queueForMembers(
  tx: Tx,
  { queue, kind, at, now }: { queue: string; kind: MailKind; at: string; now: Date },
  hasWork: (partnerId: Statement) => Statement,
): Promise<number> {
  const queued = await tx.query(sql`
    SELECT enqueue_job(${queue}, jsonb_build_object('userId', m.user_id, 'at', ${at}::text),
      now() + ${mailDelay(sql`m.user_id::text`, now)}) FROM members m
    WHERE m.live_access AND ${wants(sql`m.user_id`, kind)} AND ${hasWork(sql`m.partner_id`)}`);
  return queued.length;
}

/** The firm and address of a member with live access who gets mails of the kind; undefined for others. */
export async function liveMember(
  { db, rowMac, clock }: Reader,
  userId: string,
  kind: MailKind,
): Promise<{ partnerId: string; email: string } | undefined> {
  const found = await findMembership(db, rowMac, userId, clock());
  return found?.liveAccess && (await wantedMails(db, userId)).includes(kind) ? found : undefined;
}

// Links that switch off a kind of mail without a session (RFC 8058). A link belongs to one person and one kind, and does
// nothing else, so it needs neither an end nor a row in the database.

// The key is a parameter, so that links mailed before a key rotation work as long as the earlier key is configured.
const tokenUnder = (key: SecretBytes, userId: string, kind: MailKind): string =>
  derivedToken(deriveKey(key, "unsubscribe"), `${userId}/${kind}`);

/** The address that switches off a kind of mail to a person. Only mails of that kind to that person contain it. */
export const unsubscribeUrl = (
  { baseUrl, secrets }: { baseUrl: string; secrets: SecretBytes },
  userId: string,
  kind: MailKind,
): string => `${baseUrl}/unsubscribe/${kind}/${userId}/${tokenUnder(secrets, userId, kind)}`;

export type UnsubscribeLink = { kind: string; userId: string; token: string };

/** The kind of mail that the link switches off; null for an address that no mail has contained. */
export function kindOfLink(secrets: SecretBytes, { kind: named, userId, token }: UnsubscribeLink): MailKind | null {
  const kind = mailKinds.find((each) => each === named);
  if (!kind || !isUuid(userId) || !isCode(token)) return null;
  const isOwn = keysOf(secrets).some((key) =>
    timingSafeEqual(Buffer.from(tokenUnder(key, userId, kind)), Buffer.from(token)),
  );
  return isOwn ? kind : null;
}

/** Switches the kind of mail off. Using the link again changes nothing. @returns as `kindOfLink` */
export async function unsubscribe(
  { db, clock, secrets }: { db: Sql; clock: MemberDeps["clock"]; secrets: SecretBytes },
  link: UnsubscribeLink,
): Promise<MailKind | null> {
  const kind = kindOfLink(secrets, link);
  if (kind) await switchOff(db, link.userId, kind, clock());
  return kind;
}
