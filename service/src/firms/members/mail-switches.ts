import { auditLine } from "../../kernel/audit/audit.ts";
import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { mailDelay } from "./mail-hours.ts";
import { type MemberDeps, requireBilling } from "./membership.ts";
import { findMembership, type MemberFacts } from "./store.ts";

/**
 * The kinds of mail that a member can switch off: mails about orders that need a person, the daily list of
 * closings, first downloads of delivered documents, and statements that are ready. Members who are not owners get
 * mails about statements only after they switched them on. A mail with `isNeeded` may be sent in spite of the switch.
 */
export const mailKinds = ["orders", "closings", "downloads", "statements"] as const;

export type MailKind = (typeof mailKinds)[number];

const isNotOff = (userId: Statement, kind: MailKind): Statement =>
  sql`NOT EXISTS (SELECT FROM mail_switches s WHERE s.user_id = ${userId} AND s.kind = ${kind})`;

/** SQL condition: true if the person is a member, not an owner, and never switched the mails about statements on. */
const neverAskedForStatements = (userId: Statement): Statement => sql`
  EXISTS (SELECT FROM members o WHERE o.user_id = ${userId} AND o.role = 'member')
  AND NOT EXISTS (SELECT FROM mail_link_series l WHERE l.user_id = ${userId} AND l.kind = 'statements')`;

const wants = (userId: Statement, kind: MailKind): Statement =>
  kind === "statements"
    ? sql`(${isNotOff(userId, kind)} AND NOT (${neverAskedForStatements(userId)}))`
    : isNotOff(userId, kind);

/** The kinds of mail that a person gets. */
export async function wantedMails(db: Sql, userId: string): Promise<MailKind[]> {
  const off = await db.query<{ kind: MailKind }>(sql`
    SELECT kind FROM mail_switches WHERE user_id = ${userId}
    UNION SELECT 'statements' WHERE ${neverAskedForStatements(sql`${userId}::uuid`)}`);
  return mailKinds.filter((kind) => !off.some((each) => each.kind === kind));
}

/**
 * Switches a kind of the caller's own mails on or off.
 * @throws ServiceError for an unknown kind, for a word other than on and off, and for a caller who is not a member.
 * Also when a member without the right to see billing switches mails about statements on
 */
export async function switchMails(
  { db, clock }: { db: Database; clock: MemberDeps["clock"] },
  principal: Principal,
  { kind, to }: { kind: string; to: string },
): Promise<void> {
  const named = mailKinds.find((each) => each === kind);
  if (!named) throw invalid(`kind must be one of ${mailKinds.join(", ")}.`);
  if (to !== "on" && to !== "off") throw invalid("mails must be on or off.");
  const { member } = principal;
  if (!member) throw new ServiceError("conflict", "Only a member of the firm gets mails about its orders.");
  if (named === "statements" && to === "on") requireBilling(principal);
  const { userId } = member;
  await db.transaction((tx) =>
    to === "off" ? switchOff(tx, { userId, kind: named, at: clock() }) : switchOn(tx, userId, named, clock()),
  );
}

/** Switches off a kind of mail for a person. @param by `link`: by the link in a mail, without signing in */
export async function switchOff(
  tx: Tx,
  { userId, kind, at, by = "member" }: { userId: string; kind: MailKind; at: Date; by?: "member" | "link" },
): Promise<void> {
  const off = await tx.query(sql`
    INSERT INTO mail_switches (user_id, kind, switched_off_at)
    SELECT id, ${kind}::text, ${at}::timestamptz FROM users WHERE id = ${userId} ON CONFLICT DO NOTHING RETURNING kind`);
  if (off.length > 0) await noteSwitch(tx, { userId, at, action: "mails.switched_off", detail: { kind, by } });
}

/**
 * Switches on a kind of mail for a person. Ends the unsubscribe links in earlier mails of this kind. The row of
 * `mail_link_series` also records that a member asked for the mails about statements.
 */
async function switchOn(tx: Tx, userId: string, kind: MailKind, at: Date): Promise<void> {
  const off = await tx.query(
    sql`DELETE FROM mail_switches WHERE user_id = ${userId} AND kind = ${kind} RETURNING kind`,
  );
  const wasOff = off.length > 0;
  const isFirst = kind === "statements" ? neverAskedForStatements(sql`${userId}::uuid`) : sql`false`;
  const on = await tx.query(sql`
    INSERT INTO mail_link_series (user_id, kind, n)
    SELECT ${userId}::uuid, ${kind}::text, 1 WHERE ${wasOff}::boolean OR (${isFirst})
    ON CONFLICT (user_id, kind) DO UPDATE SET n = mail_link_series.n + 1 WHERE ${wasOff}::boolean RETURNING n`);
  if (on.length === 0) return;
  await noteSwitch(tx, { userId, at, action: "mails.switched_on", detail: { kind, by: "member" } });
}

async function noteSwitch(
  tx: Tx,
  { userId, ...line }: { userId: string; at: Date; action: string; detail: object },
): Promise<void> {
  const [member] = await tx.query<{ partnerId: string }>(
    sql`SELECT partner_id AS "partnerId" FROM members WHERE user_id = ${userId}`,
  );
  await tx.query(auditLine({ ...line, actor: `member:${userId}`, partnerId: member?.partnerId }));
}

type Reader = { db: Sql; rowMac: MemberDeps["rowMac"]; clock: MemberDeps["clock"] };

type Occasion = {
  /** The actor, as in the audit log, of the event that the mail reports. */
  actor: string;
  kind: MailKind;
  /** True if a person of the firm must get the mail, even if all of them switched this kind off. */
  isNeeded?: boolean;
};

const isActor = (actor: Statement): Statement => sql`'member:' || m.user_id = ${actor}`;

/**
 * The SQL condition and sort order that select the possible recipients of a mail. The first of them with access to the
 * environment is the recipient.
 */
function candidates(partnerId: Statement, actor: Statement, neededKind: MailKind | null): Statement {
  const among = sql`m.partner_id = ${partnerId} AND (${isActor(actor)} OR m.role = 'owner')`;
  if (neededKind === null) return sql`${among} ORDER BY ${isActor(actor)} DESC, m.linked_at, m.user_id`;
  const isOn = wants(sql`m.user_id`, neededKind);
  return sql`${among}
    ORDER BY ${isOn} DESC, (${isOn} AND ${isActor(actor)}) DESC, m.role = 'owner' DESC, m.linked_at, m.user_id`;
}

/**
 * The recipient of a mail of this kind about a member's action. Usually this is the member. If the member has left the
 * firm or has no access to the environment, it is the owner who joined first. Undefined when the recipient switched
 * this kind of mail off. Also undefined when the actor is not a member but, for example, a key.
 *
 * A mail with `isNeeded` goes to the member if they get this kind of mail. Otherwise it goes to the first owner who
 * gets this kind. If all owners switched it off, it goes to the first owner.
 */
export async function recipientFor(
  { db, rowMac, clock }: Reader,
  { partnerId, environment }: Owner,
  { actor, kind, isNeeded = false }: Occasion,
): Promise<{ userId: string; email: string } | undefined> {
  if (!isNeeded && !actor.startsWith("member:")) return undefined;
  const found = await db.query<{ id: string; wants: boolean }>(sql`
    SELECT m.user_id AS id, ${wants(sql`m.user_id`, kind)} AS wants FROM members m
    WHERE ${candidates(sql`${partnerId}::uuid`, sql`${actor}::text`, isNeeded ? kind : null)} LIMIT 20`);
  for (const { id, wants: isOn } of found) {
    const person = await findMembership(db, rowMac, id, clock());
    if (person?.partnerId !== partnerId || (environment === "live" && !person.liveAccess)) continue;
    if (actor !== `member:${id}` && person.role !== "owner") continue;
    return isOn || isNeeded ? { userId: id, email: person.email } : undefined;
  }
  return undefined;
}

/**
 * SQL for the id, as text, of the person whom `recipientFor` chooses for a live mail; null for nobody. Verifies no MAC,
 * so it may only determine when a mail is sent. Doesn't check that the actor is a member. Without `neededKind`, ignores
 * whether the person switched such mails off.
 * @param neededKind the kind of a mail with `isNeeded`; null for any other mail
 */
export const recipientIdOf = (
  partnerId: Statement,
  actor: Statement,
  neededKind: MailKind | null = null,
): Statement => sql`(
  SELECT m.user_id::text FROM members m
  WHERE m.live_access AND ${candidates(partnerId, actor, neededKind)} LIMIT 1)`;

/**
 * Queues a mail of the kind to each member with live access who gets such mails. Each mail is queued for the hours in
 * which its member gets mails.
 * @param hasWork returns the SQL condition under which a firm's members get the mail; `partnerId` is the SQL of the
 * firm's id
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

/**
 * The ids of the people to whom a firm's new live statement is mailed: owners, and members who may see billing.
 * Verifies no MAC, so the mail has to check the person's rights again.
 */
export async function statementReaders(tx: Tx, partnerId: string): Promise<string[]> {
  const found = await tx.query<{ id: string }>(sql`
    SELECT m.user_id AS id FROM members m
    WHERE m.partner_id = ${partnerId} AND m.live_access AND (m.role = 'owner' OR m.sees_billing)
      AND ${wants(sql`m.user_id`, "statements")}
    ORDER BY m.role DESC, m.linked_at LIMIT 100`);
  return found.map(({ id }) => id);
}

/** The firm, email address and rights of a member with live access who gets mails of the kind; undefined for others. */
export async function liveMember(
  { db, rowMac, clock }: Reader,
  userId: string,
  kind: MailKind,
): Promise<Pick<MemberFacts, "partnerId" | "email" | "role" | "seesBilling"> | undefined> {
  const found = await findMembership(db, rowMac, userId, clock());
  return found?.liveAccess && (await wantedMails(db, userId)).includes(kind) ? found : undefined;
}
