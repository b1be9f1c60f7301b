import { auditLine } from "../../audit/audit.ts";
import { actorOf, type Principal, type Role } from "../../identity/identity.ts";
import { type Clock, dayMs } from "../../platform/clock.ts";
import type { Database, Sql, Tx } from "../../platform/database/database.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { newUuid } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { requireProof } from "../../platform/recent-proof.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import type { SecretBytes } from "../../platform/secrets.ts";
import { isUuid } from "../../platform/text.ts";
import { liveAccessRequired, requireOwnerNow } from "../membership.ts";
import { invitationToken, tokenSha256 } from "../sessions/tokens.ts";
import { requireAddress } from "../sign-in/sign-in.ts";
import type { Membership } from "../store.ts";
import * as store from "./store.ts";

export type { Invitation } from "./store.ts";

export type InvitationDeps = { db: Database; clock: Clock; secrets: SecretBytes; rowMac: RowMac };

/** The queue of mails that carry an invitation; the payload is `{invitationId}`. */
export const invitationMailQueue = "invitation-mail";

const lastsMs = 7 * dayMs;
/** What a form that was sent twice asks for again. */
const sameMs = 60_000;
const maxADay = { ofFirm: 30, toAddress: 5 };

/** What an owner asks for, as it was typed. */
export type Wanted = { email: string; role: string; liveAccess: boolean };

type Offered = { email: string; role: Role; liveAccess: boolean };

export const listInvitations = ({ db }: { db: Sql }, principal: Principal): Promise<store.Invitation[]> =>
  principal.member?.role === "owner" ? store.selectPending(db, principal.partnerId) : Promise.resolve([]);

/**
 * Has an invitation mailed to an address. Who was invited before gets one in the place of that. Nothing says whether
 * somebody signs in with the address already.
 * @throws ServiceError for what is no address or role, a member of the firm, too many mails, and a caller who may not or has no recent proof.
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

/** Mails an invitation anew, for 7 days; the link of before ends. @throws ServiceError as `inviteMember` does, and for one that has ended. */
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
 * Ends an invitation: its link cannot be used any more. One that gives live access asks for what making it asked for.
 * @throws ServiceError for a caller who is no owner, or may not have made it, and one that has ended.
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

/** An owner gives no more than they have, and decides over nothing that another has given more. */
function requireMayGive({ own, principal, at }: Giver, liveAccess: boolean): void {
  if (liveAccess && !own.liveAccess) throw liveAccessRequired();
  requireProof(principal, at, liveAccess ? "live" : "test");
}

async function requireInvitation(tx: Tx, { partnerId }: Principal, invitationId: string): Promise<store.Invitation> {
  const found = isUuid(invitationId) ? await store.selectOwn(tx, partnerId, invitationId) : undefined;
  if (!found) throw new ServiceError("not_found", "This invitation was accepted or withdrawn.");
  return found;
}

/** Under the lock of the firm's members. */
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
