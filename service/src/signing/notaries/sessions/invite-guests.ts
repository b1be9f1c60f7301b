/** Invites the guests of an order to its session when the session opens. */
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { maxPrincipals } from "../acts/act.ts";
import type { Claimed } from "../claims/claims.ts";
import { withCurrentEmails } from "../claims/orders.ts";
import type { OnlineRules } from "../eligibility/rules.ts";
import type { IdentityDeps } from "../identity/checks.ts";
import type { SheetDeps } from "../presence/ipen.ts";
import { type Guest, guestsOf } from "../schedule/guests.ts";
import { type Coming, requirePlace, roleObstacle, signersComing } from "../schedule/third-roles.ts";
import { personName } from "./interruption.ts";
import { liveMail, roomTokenUnder } from "./mail.ts";
import { appendEvent, insertPerson, lockLive } from "./store.ts";

type Opened = Pick<Claimed, "order" | "notary"> & { id: string; by: string; at: Date };

/**
 * Invites the guests of the order to its session, unless the rules of the notary's state exclude them now.
 * @throws ServiceError `conflict` naming a guest who can't be invited, because the notary or an email address has
 * changed
 */
export async function inviteGuests(
  { sheets: { desk }, identity }: { sheets: Pick<SheetDeps, "desk">; identity: Pick<IdentityDeps, "secrets"> },
  tx: Tx,
  online: OnlineRules,
  { id, order, notary, by, at }: Opened,
): Promise<void> {
  const { orderId, partnerId } = order;
  // A signer's email address may have been corrected after the order had a signed document. The order then keeps the
  // earlier address, but the signer's link goes to the corrected one.
  const people = signersComing(await withCurrentEmails(tx, orderId, order.signers));
  const allowed = (await guestsOf(tx, orderId)).filter(({ role }) => roleObstacle(role, online) === null);
  for (const [index, guest] of allowed.entries()) {
    const { role, name, email, language, forSigner } = guest;
    requireStillPlace(guest, people, notary.commissionName);
    people.push(guest);
    const personId = newUuid();
    const n = maxPrincipals + index + 1;
    const token = roomTokenUnder(identity.secrets, personId);
    await insertPerson(tx, { id: personId, sessionId: id, n, name, token, role, email, language, forSigner });
    await liveMail.enqueue(tx, { personId, codeId: null });
    const session = await lockLive(tx, id);
    if (!session) throw new Error("the live session was not written");
    const detail = { role, ...(forSigner !== null && { forSigner }) };
    await appendEvent(tx, desk.rowMac, session, { at, name: "invited", by, person: personName(n), detail });
    const about = { session: id, ...detail };
    await tx.query(auditLine({ at, action: "notary.person_invited", actor: by, partnerId, orderId, detail: about }));
  }
}

/**
 * Requires that a guest of the order can still attend the session.
 * @throws ServiceError `conflict` naming the guest and the rule
 */
function requireStillPlace(guest: Guest, people: readonly Coming[], notary: string): void {
  try {
    requirePlace(guest, people, notary);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(
      "conflict",
      `${guest.name}, whom you expect, can’t come: ${error.message} Remove this person under “Appointment” first.`,
    );
  }
}
