/**
 * Guests: people whom the notary expects at an appointment besides the signers, such as witnesses, interpreters and
 * observers. Each gets a separate link and the calendar entry, and is invited to the session when it opens.
 */
import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { SecretBytes } from "../../../kernel/platform/secrets.ts";
import { claimedOrder, type DeskDeps, lockClaimed } from "../claims/claims.ts";
import { withCurrentEmails } from "../claims/orders.ts";
import type { Typed } from "../form-reader.ts";
import { countGuests, type Guest, guestsOf, insertGuest, removeGuest } from "../schedule/guests.ts";
import { readInvited, requirePlace, signersComing } from "../schedule/third-roles.ts";
import { openLiveOf } from "../sessions/store.ts";
import { scheduledFor } from "./book.ts";
import { guestMail } from "./mail.ts";

type GuestDeps = { desk: DeskDeps; secrets: SecretBytes };

/**
 * The most guests that an order ever has, including removed ones. The limit prevents spam, because each guest is
 * mailed.
 */
const maxGuests = 20;

/**
 * Adds a guest to the order that the notary has claimed. Mails the guest the appointment, if there is one.
 * @throws ServiceError naming every wrong field, the rule of the notary's state, or the limit; `conflict` while a
 * session is open
 */
export async function addGuest(
  { desk, secrets }: GuestDeps,
  operator: Operator,
  code: string,
  typed: Typed,
): Promise<void> {
  const claimed = await claimedOrder(desk, operator, code);
  const invited = readInvited(typed, claimed.order.signers.length, claimed.eligibility.rules.online);
  await desk.db.transaction(async (tx) => {
    const { notary, order, at } = await lockClaimed(tx, desk, operator, claimed);
    const { orderId, partnerId } = order;
    await requireNoSession(tx, order.taskId);
    const signers = signersComing(await withCurrentEmails(tx, orderId, order.signers));
    requirePlace(invited, [...signers, ...(await guestsOf(tx, orderId))], notary.commissionName);
    if ((await countGuests(tx, orderId)) >= maxGuests)
      throw new ServiceError("conflict", `An order has at most ${maxGuests} guests, with removed ones.`);
    const id = newUuid();
    await insertGuest(tx, secrets, { ...invited, id, orderId, addedAt: at });
    await mailGuest(tx, { id, orderId }, "booked");
    const { role, forSigner } = invited;
    const detail = { guest: id, role, ...(forSigner !== null && { forSigner }) };
    await tx.query(auditLine({ at, action: "notary.guest_added", actor: operator.actor, partnerId, orderId, detail }));
  });
}

/**
 * Removes a guest. The guest's link stops working. A booked appointment is canceled in the guest's calendar.
 * @throws ServiceError `conflict` while a session is open
 */
export async function dropGuest({ desk }: GuestDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const claimed = await claimedOrder(desk, operator, code);
  await desk.db.transaction(async (tx) => {
    const { order, at } = await lockClaimed(tx, desk, operator, claimed);
    const { orderId, partnerId } = order;
    await requireNoSession(tx, order.taskId);
    const guest = (await guestsOf(tx, orderId)).find(({ id }) => id === typed["guest"]);
    if (!guest) throw invalid("guest must be one of the people who are expected.");
    await removeGuest(tx, guest.id, at);
    await mailGuest(tx, guest, "canceled");
    const detail = { guest: guest.id };
    await tx.query(
      auditLine({ at, action: "notary.guest_removed", actor: operator.actor, partnerId, orderId, detail }),
    );
  });
}

/**
 * Requires that no session is open. When a session opens, the list of its people is made. From then on, people are
 * invited and withdrawn on the session's page.
 */
async function requireNoSession(tx: Tx, taskId: number): Promise<void> {
  if (await openLiveOf(tx, taskId))
    throw new ServiceError(
      "conflict",
      "A session of this order is open, or is being closed. Before it begins, its page invites people and withdraws them.",
    );
}

async function mailGuest(tx: Tx, { id, orderId }: Pick<Guest, "id" | "orderId">, moment: "booked" | "canceled") {
  const appointment = await scheduledFor(tx, orderId);
  if (appointment)
    await guestMail.enqueue(tx, {
      sessionId: appointment.id,
      sequence: appointment.sequence,
      moment,
      person: null,
      guest: id,
    });
}
