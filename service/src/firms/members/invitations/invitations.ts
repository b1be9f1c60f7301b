import { auditLine } from "../../../kernel/audit/audit.ts";
import { actorOf, type Principal, type Role } from "../../../kernel/identity/identity.ts";
import { type Clock, dayMs, minuteMs } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { plainTitle } from "../../../kernel/platform/mail/plain-name.ts";
import { requireProof } from "../../../kernel/platform/recent-proof.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { type SecretBytes, tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { isUuid } from "../../../kernel/platform/text.ts";
import { liveAccessRequired, requireOwnerNow } from "../membership.ts";
import { invitationToken, invitationTokenOf } from "../sessions/tokens.ts";
import { requireAddress } from "../sign-in/sign-in.ts";
import type { Membership } from "../store.ts";
import * as store from "./store.ts";
import { selectToMail } from "./store.ts";

export type { Invitation } from "./store.ts";

export type InvitationDeps = { db: Database; clock: Clock; secrets: SecretBytes; rowMac: RowMac };

/** The queue of mails with an invitation; payload `{invitationId}`. */
const invitationMailQueue = "invitation-mail";

const lastsMs = 7 * dayMs;
/** If an owner sends the same request again within this time, it counts as a form that was sent twice. */
const sameMs = minuteMs;
const maxADay = { ofFirm: 30, toAddress: 5 };

/** An owner's input, as typed. */
export type Wanted = { email: string; role: string; liveAccess: boolean };

type Offered = { email: string; role: Role; liveAccess: boolean };

export const listInvitations = ({ db }: { db: Sql }, principal: Principal): Promise<store.Invitation[]> =>
  principal.member?.role === "owner" ? store.selectPending(db, principal.partnerId) : Promise.resolve([]);

/**
 * Mails an invitation to an email address. The invitation replaces an earlier one of the firm to the same address. The
 * same request within a minute changes nothing, if the earlier inviter may still grant the access. The caller learns
 * that an address belongs to a member of the firm, but not whether another address has an account.
 * @throws ServiceError for an invalid address or role, a member of the firm as recipient, and too many mails. Also for
 * a caller without the right or a recent proof
 */
export async function inviteMember(deps: InvitationDeps, principal: Principal, wanted: Wanted): Promise<void> {
  const email = requireAddress(wanted.email);
  const { role, liveAccess } = wanted;
  if (role !== "owner" && role !== "member") throw invalid("role must be owner or member.");
  const at = deps.clock();
  await deps.db.transaction(async (tx) => {
    const own = await requireOwnerNow(tx, deps, principal);
    await offer(tx, deps, { own, principal, at }, { email, role, liveAccess });
  });
}

/**
 * Mails a new link, valid for 7 days, and ends the old one. Changes nothing within a minute after the invitation was
 * made, if its inviter may still grant the access.
 * @throws ServiceError as `inviteMember`, and for an ended invitation
 */
export async function resendInvitation(
  deps: InvitationDeps,
  principal: Principal,
  invitationId: string,
): Promise<void> {
  const at = deps.clock();
  await deps.db.transaction(async (tx) => {
    const own = await requireOwnerNow(tx, deps, principal);
    const { email, role, liveAccess } = await requireInvitation(tx, principal, invitationId);
    await offer(tx, deps, { own, principal, at }, { email, role, liveAccess });
  });
}

/**
 * Ends an invitation, so that its link stops working. To end an invitation to live access, the owner needs the same
 * rights as to create it.
 * @throws ServiceError for a caller who is not an owner or may not create such an invitation, and for an ended
 * invitation
 */
export async function withdrawInvitation(
  deps: Pick<InvitationDeps, "db" | "clock" | "rowMac">,
  principal: Principal,
  invitationId: string,
): Promise<void> {
  const at = deps.clock();
  await deps.db.transaction(async (tx) => {
    const own = await requireOwnerNow(tx, deps, principal);
    const { liveAccess } = await requireInvitation(tx, principal, invitationId);
    if (liveAccess) requireMayGive({ own, principal, at }, liveAccess);
    await store.endInvitation(tx, invitationId, at, "withdrawn");
    await audit(tx, principal, at, "invitation.withdrawn", { invitationId });
  });
}

type Giver = { own: Membership; principal: Principal; at: Date };

/**
 * Requires a recent proof of the owner. Also requires the owner's live access if `liveAccess` is true. It is true if
 * the invitation, or the earlier invitation that it replaces, grants live access.
 */
function requireMayGive({ own, principal, at }: Giver, liveAccess: boolean): void {
  if (liveAccess && !own.liveAccess) throw liveAccessRequired();
  requireProof(principal, at, liveAccess ? "live" : "test");
}

async function requireInvitation(tx: Tx, { partnerId }: Principal, invitationId: string): Promise<store.Invitation> {
  const found = isUuid(invitationId) ? await store.selectOwn(tx, partnerId, invitationId) : undefined;
  if (!found) throw new ServiceError("not_found", "This invitation was accepted or withdrawn.");
  return found;
}

/**
 * Creates an invitation in place of an earlier one to the same email address, and queues its mail. The caller must have
 * locked the firm's members.
 */
async function offer(tx: Tx, { secrets, rowMac }: InvitationDeps, giver: Giver, offered: Offered): Promise<void> {
  const { principal, at } = giver;
  const { partnerId, member } = principal;
  const { email, role, liveAccess } = offered;
  const before = await store.selectOfAddress(tx, partnerId, email);
  requireMayGive(giver, liveAccess || before?.liveAccess === true);
  if (before && isSame(before, offered, at)) return;
  await requireMayMail(tx, partnerId, email, at);
  if (before) await store.endInvitation(tx, before.invitationId, at, "replaced");
  const id = newUuid();
  const expiresAt = new Date(at.getTime() + lastsMs);
  const invitedBy = member?.userId ?? "";
  const token = tokenSha256(invitationToken(secrets, id));
  await store.insertInvitation(tx, rowMac, { id, partnerId, ...offered, tokenSha256: token, invitedBy, at, expiresAt });
  await enqueue(tx, invitationMailQueue, { invitationId: id });
  const replaces = before && { replaces: before.invitationId };
  await audit(tx, principal, at, "invitation.sent", { invitationId: id, role, liveAccess, ...replaces });
}

const isSame = (before: store.Invitation, { role, liveAccess }: Offered, at: Date): boolean =>
  before.stands &&
  before.role === role &&
  before.liveAccess === liveAccess &&
  at.getTime() - before.createdAt.getTime() < sameMs;

async function requireMayMail(tx: Tx, partnerId: string, email: string, at: Date): Promise<void> {
  if (await store.isMember(tx, partnerId, email))
    throw new ServiceError("conflict", "This person is a member of your firm already.");
  const mailed = await store.countMailed(tx, partnerId, email, new Date(at.getTime() - dayMs));
  if (mailed.all >= maxADay.ofFirm)
    throw new ServiceError("conflict", `A firm sends at most ${maxADay.ofFirm} invitations a day. Try again tomorrow.`);
  if (mailed.toAddress >= maxADay.toAddress)
    throw new ServiceError(
      "conflict",
      `At most ${maxADay.toAddress} invitations a day are sent to one address. Try again tomorrow.`,
    );
}

const audit = (tx: Tx, principal: Principal, at: Date, action: string, detail: object) =>
  tx.query(auditLine({ at, action, actor: actorOf(principal), partnerId: principal.partnerId, detail }));

/** The path of an invitation's page. The token in it is a credential. */
const invitationPath = (token: string): string => `/invitation/${token}`;

/** The mails with invitations. Not sent for an invitation that has ended. */
export const invitationMail = defineMail({
  queue: invitationMailQueue,
  load: ({ invitationId }: { invitationId: string }, { db, rowMac, clock }: MailDeps) =>
    selectToMail(db, rowMac, invitationId, clock()),
  write({ email, firmName, role, inviter, tokenSha256 }, { invitationId }, { secrets, baseUrl }) {
    // Tries all secret keys of the service. The link may have been made by a node that already has a newer key than
    // this node.
    const token = invitationTokenOf(secrets, invitationId, tokenSha256);
    if (token === null)
      throw new Error("the invitation was made with a key that is not in SECRETS_KEY or SECRETS_KEYS_OLD");
    return {
      id: `invitation:${invitationId}`,
      to: email,
      subject: "You are invited to join a firm on SignSealShip",
      greeting: "Hello,",
      lines: [
        `${inviter} invites you to join ${plainTitle(firmName, "their firm")} as ${role === "owner" ? "an owner" : "a member"}.`,
        "The link works once, within 7 days, and only for this email address: you sign in with it first.",
      ],
      link: { label: "See the invitation", url: baseUrl + invitationPath(token) },
      caution: "If you do not know this firm, you can ignore this email: nothing happens without you.",
    };
  },
});
