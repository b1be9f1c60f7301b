import { isBetweenServices, type RoomView } from "../../../closing/rooms/rooms.ts";
import { type Html, html } from "../render.ts";
import { en, type Words } from "../words/en/en.ts";

type Card = RoomView["orders"][number];

const endings: ReadonlySet<string> = new Set(["Cancelled", "RefundPending", "Refunded"]);

/** True if the order was canceled, or is being or was refunded. A completed order is not over in this sense. */
const isOver = ({ status }: Card): boolean => endings.has(status);

/** The number of orders in the room, and how many of them were canceled or refunded. */
export const inThisRoom = ({ orders }: Pick<RoomView, "orders">, { room }: Pick<Words, "room"> = en): string =>
  room.inThisRoom(orders.length, orders.filter(isOver).length);

const inList = new Intl.ListFormat("en");

/**
 * Tells the firm how many documents of its room wait, and for what. Documents with the same reason are counted
 * together. Empty when no document waits.
 */
export function waitingIn({ orders }: Pick<RoomView, "orders">): string {
  const reasons = orders.filter((card) => !isOver(card)).flatMap((card) => reasonOf(card) ?? []);
  const counted = [...Map.groupBy(reasons, (reason) => reason)].sort(([, a], [, b]) => b.length - a.length);
  return counted
    .map(([reason, { length }]) => `${length === 1 ? "1 document" : `${length} documents`} ${say(reason, length)}.`)
    .join(" ");
}

/** Makes the verb of a reason singular if the reason applies to one document. */
const say = (reason: string, count: number): string =>
  count === 1
    ? reason
        .replace(/^(wait|need)\b/, "$1s")
        .replace(/^are\b/, "is")
        .replace(" their next", " its next")
    : reason;

/** True if the order has no service after the one that this status completes. */
const isLast = (status: string, { notarize, ship, fax }: Card["services"]): boolean =>
  !ship && !fax && (status === "NotarizationComplete" || !notarize);

/**
 * The reason why a document waits. Null for a status without a reason, such as `Paid`, and once everybody has signed.
 */
function reasonOf({ status, statusGroup, signers, services }: Card): string | null {
  if (status === "QuoteReady" || status === "AwaitingPayment") return "wait for payment";
  if (status === "PaymentFailed") return "wait for a payment that failed";
  if (status === "ManualQuoteRequired") return "wait for a price";
  if (statusGroup === "attention") return "need somebody to act: see their orders";
  if (statusGroup === "signing") {
    const open = signers.filter(({ signed }) => !signed);
    const turn = Math.min(...open.map(({ routingOrder }) => routingOrder));
    const names = open.filter(({ routingOrder }) => routingOrder === turn).map(({ name, email }) => name ?? email);
    return names.length === 0 ? null : `wait for ${inList.format(names)} to sign`;
  }
  if (isBetweenServices({ status }))
    return isLast(status, services) ? "wait to be completed" : "wait for their next service to begin";
  if (statusGroup === "notarizing") return "wait for the notary";
  if (statusGroup === "shipping") return "wait to be sent";
  return status === "Shipped" ? "are on the way to the recipient" : null;
}

function meter(id: string, label: string, count: number, of: number, words: Words["room"]["meters"]): Html {
  const text = of === 0 ? words.none : words.of(count, of);
  return html`<li><span class="meter-label" id="${id}">${label}</span><span class="meter-count">${text}</span>${
    of > 0 && html`<progress value="${count}" max="${of}" aria-labelledby="${id}">${text}</progress>`
  }</li>`;
}

/**
 * Meters that show how many of a room's orders have passed each step. A canceled or refunded order counts only in the
 * steps that it passed before.
 */
export function progressMeters(
  { progress, orders }: Pick<RoomView, "progress" | "orders">,
  { room: { meters } }: Pick<Words, "room"> = en,
): Html {
  if (progress.total === 0) return html``;
  const going = orders.filter((card) => !isOver(card));
  const toCome = {
    signed: going.filter(({ signers }) => signers.some(({ signed }) => !signed)).length,
    sealed: going.filter(({ evidenceBadge }) => evidenceBadge !== "sealed").length,
    delivered: going.length - progress.delivered,
  };
  const names = ["signed", "sealed", "delivered"] as const;
  return html`<ul class="meters">
${names.map((name) => meter(`meter-${name}`, meters[name], progress[name], progress[name] + toCome[name], meters))}
</ul>`;
}
