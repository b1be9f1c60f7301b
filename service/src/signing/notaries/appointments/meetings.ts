import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import {
  correctionsOf,
  currentEmail,
  fromOrders,
  hasOrderCode,
  lockOrder,
  type Titled,
  type TitleOf,
} from "../../../orders/order/order.ts";
import { ordersOfIds, type WaitingOrder, withCurrentEmails } from "../claims/orders.ts";
import { scheduledFor } from "./book.ts";
import { ensureLink, type InviteDeps, linkPathOf } from "./links.ts";
import { whenText } from "./mail.ts";

/** A person who signs documents of a closing. `orderCode` names any one of the orders that the person signs. */
export type ClosingSigner = { orderCode: string; name: string; email: string };

/** A document of the closing that waits for a notary and that the person signs, with the time of the meeting. */
export type Meeting = {
  orderCode: string;
  title: string | null;
  /** The time of the meeting in words; null while no time was chosen. */
  when: string | null;
};

type MeetingDeps = InviteDeps & {
  titleOf: TitleOf;
  /** Finds the closing rooms of the order's firm that contain the order. The module `closing/rooms` implements it. */
  closingsOf: (db: Sql, orderId: number) => Promise<readonly { orders: readonly number[] }[]>;
};

/**
 * The documents that this person signs and that wait for a notary. Includes all closings that contain the person's
 * order; within a closing, its sequence applies. Empty if there are none.
 */
async function meetingsOf(deps: MeetingDeps, who: ClosingSigner, language: Language): Promise<Meeting[]> {
  const { db } = deps.desk;
  const found = await waitingFor(deps, who);
  if (found.length === 0) return [];
  const ids = found.map(({ order }) => order.orderId);
  const titles = await db.query<Titled & { id: number }>(sql`
    SELECT o.id, o.code AS "code@order", o.document_name AS "documentName", o.doc_slug AS "docSlug"
    ${fromOrders} WHERE o.id = ANY (${ids}::bigint[])`);
  return Promise.all(
    found.map(async ({ order: { orderId, code } }) => {
      const appointment = await scheduledFor(db, orderId);
      const titled = titles.find(({ id }) => id === orderId);
      const when = appointment && whenText(appointment.startsAt, appointment.zone, language);
      return { orderCode: code, title: titled ? deps.titleOf(titled) : null, when };
    }),
  );
}

/**
 * Returns the path of the person's own appointment page for one of the documents that `meetingsOf` lists. Creates the
 * link if the person has none.
 * @param n the number of the meeting in that list, counted from 1
 * @throws ServiceError `not_found` when that meeting no longer exists
 */
async function openMeeting(deps: MeetingDeps, who: ClosingSigner, n: number): Promise<string> {
  const { desk, secrets } = deps;
  const found = (await waitingFor(deps, who))[n - 1];
  const none = () => new ServiceError("not_found", "This document does not wait for a notary any more.");
  if (!found) throw none();
  const { order, person } = found;
  return desk.db.transaction(async (tx) => {
    const locked = await lockOrder(tx, order.code);
    if (locked?.status !== "NotarizationPending") throw none();
    // The person opens the page now, so a mail that asks them to choose a time would come too late.
    await ensureLink(tx, secrets, { orderId: order.orderId, person, at: desk.clock(), isMailed: true });
    return (await linkPathOf(tx, secrets, order.orderId, person)) ?? "";
  });
}

/** The functions about meetings for the pages of a closing's signer. */
export const openMeetings = (deps: MeetingDeps) => ({
  of: (who: ClosingSigner, language: Language) => meetingsOf(deps, who, language),
  open: (who: ClosingSigner, n: number) => openMeeting(deps, who, n),
});

async function waitingFor(
  { desk, closingsOf }: MeetingDeps,
  { orderCode, name, email }: ClosingSigner,
): Promise<{ order: WaitingOrder; person: number }[]> {
  const [own] = await desk.db.query<{ id: number }>(sql`
    SELECT o.id ${fromOrders} WHERE ${hasOrderCode(orderCode)}`);
  const closings = own ? await closingsOf(desk.db, own.id) : [];
  const ids = [...new Set(closings.flatMap(({ orders }) => orders))];
  if (ids.length === 0) return [];
  const orders = await ordersOfIds(desk, ids);
  // A person who signed under an earlier email address is still the same person in the other documents. An altered
  // record of a correction must not prevent the person from signing this document.
  const corrections = (own && (await correctionsOf(desk.db, own.id).catch(nullIfAltered))) ?? [];
  const current = currentEmail(corrections, { name, email });
  const found: { order: WaitingOrder; person: number }[] = [];
  for (const order of ids.flatMap((id) => orders.get(id) ?? [])) {
    const people = await withCurrentEmails(desk.db, order.orderId, order.signers).catch(nullIfAltered);
    const isSame = (signer: { name: string; email: string }) =>
      signer.name === name && signer.email.toLowerCase() === current.toLowerCase();
    const person = (people?.findIndex(isSame) ?? -1) + 1;
    if (person > 0) found.push({ order, person });
  }
  return found;
}
