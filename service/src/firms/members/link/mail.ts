import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { plainTitle } from "../../../kernel/platform/mail/plain-name.ts";
import { joinFirm, verifiedFirm } from "../../partners/partners.ts";

type LinkEvent = { userId: string; ownerId: string; at: string; invited?: boolean };

/** Mails the other owners after a person linked with a key, accepted an invitation, or got live access by a key. */
export async function mailOwners(
  tx: Tx,
  { partnerId, userId, at, invited = false }: { partnerId: string; userId: string; at: Date; invited?: boolean },
): Promise<void> {
  for (const ownerId of await selectOtherOwners(tx, partnerId, userId))
    await memberMail.enqueue(tx, { userId, ownerId, at: at.toISOString(), invited });
}

/** The mail to one owner about a person who was linked. Not sent if the person or the owner has left the firm. */
export const memberMail = defineMail({
  queue: "member-mail",
  load: ({ userId, ownerId }: LinkEvent, { db }: MailDeps) => selectMailFacts(db, userId, ownerId),
  write: ({ email, ownerEmail, firmName, liveAccess }, { userId, ownerId, at, invited = false }, { baseUrl }) => ({
    id: `member:${ownerId}:${userId}:${at}`,
    to: ownerEmail,
    subject: subjectOf(invited, liveAccess),
    greeting: "Hello,",
    lines: [
      `${email} ${howJoined(plainTitle(firmName, "your firm"), invited, liveAccess)}`,
      "If you do not know this person, remove them on the team’s page, and revoke the firm’s keys that they may know.",
    ],
    link: { label: "See the members", url: `${baseUrl}/dashboard/team` },
    caution: "You receive this email because you are an owner of the firm.",
  }),
});

function subjectOf(invited: boolean, liveAccess: boolean): string {
  if (invited) return "Your invitation was accepted";
  return liveAccess ? "A member connected with a live key" : "A new member connected";
}

function howJoined(firmName: string, invited: boolean, liveAccess: boolean): string {
  const what = liveAccess
    ? "this member sees and changes live orders."
    : "this member works only in test, unless an owner gives live access.";
  if (invited) return `accepted an invitation to ${firmName}: ${what}`;
  return `connected to ${firmName} with a ${liveAccess ? "live" : "test"} key: ${what}`;
}

async function selectOtherOwners(tx: Tx, partnerId: string, userId: string): Promise<string[]> {
  const owners = await tx.query<{ id: string }>(
    sql`SELECT user_id AS id FROM members
     WHERE partner_id = ${partnerId} AND role = 'owner' AND user_id <> ${userId} ORDER BY linked_at LIMIT 100`,
  );
  return owners.map(({ id }) => id);
}

/**
 * The facts for the mail to an owner about a member. Undefined if the member has left the firm, or the recipient is no
 * longer an owner of the same firm.
 */
async function selectMailFacts(db: Sql, userId: string, ownerId: string) {
  const [found] = await db.query<{ email: string; ownerEmail: string; firmName: string; liveAccess: boolean }>(
    sql`SELECT u.email, ou.email AS "ownerEmail", p.name AS "firmName", m.live_access AS "liveAccess", ${verifiedFirm}
     FROM members m JOIN users u ON u.id = m.user_id ${joinFirm(sql`m.partner_id`)}
       JOIN members o ON o.partner_id = m.partner_id AND o.role = 'owner' JOIN users ou ON ou.id = o.user_id
     WHERE m.user_id = ${userId} AND o.user_id = ${ownerId}`,
  );
  return found;
}
