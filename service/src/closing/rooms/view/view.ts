import { shownBranding } from "../../../firms/partners/partners.ts";
import { maskEmail } from "../../../kernel/platform/mail/mask-email.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { requireSigners, type SigningFacts, statusGroupOf, wasPaid } from "../../../orders/order/order.ts";
import type { OrderCard, RoomView, Signer } from "./schemas.ts";
import type { CardRow, RoomRow } from "./store.ts";

/**
 * The signers of an order that is signed online; the client, if the order names none. Empty for other orders. If the
 * sandbox completed the signing of a test order, all of them are shown as signed.
 */
function signersOf(row: CardRow, rowMac: RowMac): Signer[] {
  if (!row.sign) return [];
  requireWritten(row, rowMac);
  const signers = row.signers ?? [{ name: row.customerName, email: row.customerEmail, routing: 1 }];
  return signers.map(({ name, email, routing, ...signer }) => ({
    name,
    email: maskEmail(email),
    routingOrder: routing,
    signed: row.isSimulated || ("signed" in signer && signer.signed === true),
  }));
}

/**
 * Verifies the MAC of the signers that the order names. Does nothing when the card shows an envelope's signers.
 * @throws ServiceError `unavailable` when the MAC is invalid
 */
function requireWritten(
  { code: orderCode, signers, customerName, customerEmail, named }: CardRow,
  rowMac: RowMac,
): void {
  if (named === null) return;
  const facts = {
    orderCode,
    signers: signers as SigningFacts["signers"],
    customerName,
    customerEmail,
    fields: named.fields,
  };
  requireSigners(rowMac, { ...facts, mac: named.mac === null ? null : Buffer.from(named.mac, "hex") });
}

/**
 * The evidence badge of an order. `sealed`: a sealed or notarized document is on record. `recorded`: only this
 * service's own record shows that the order was paid.
 */
function badgeOf(row: CardRow): OrderCard["evidenceBadge"] {
  if (row.hasSealed) return "sealed";
  return wasPaid(row.status, row.statusBeforeHold) ? "recorded" : "none";
}

const cardOf = (row: CardRow, rowMac: RowMac): OrderCard => ({
  orderCode: row.code,
  label: row.label,
  status: row.status,
  statusGroup: statusGroupOf(row.status),
  services: { sign: row.sign, notarize: row.notarize, ship: row.ship, fax: row.fax },
  signers: signersOf(row, rowMac),
  evidenceBadge: badgeOf(row),
  ...(row.takenIn && { takenIn: true as const }),
  ...(row.isSimulated && { simulated: true as const }),
  verifyCode: null,
  trackingNumber: row.trackingNumber,
  carrier: row.carrier,
  attachedAt: row.attachedAt,
});

/** Counts the orders that have reached each stage. An order without signers is not counted as signed. */
function progressOf(cards: readonly OrderCard[]): RoomView["progress"] {
  const count = (test: (card: OrderCard) => boolean) => cards.filter(test).length;
  return {
    total: cards.length,
    signed: count(({ signers }) => signers.length > 0 && signers.every(({ signed }) => signed)),
    sealed: count(({ evidenceBadge }) => evidenceBadge === "sealed"),
    delivered: count(({ statusGroup }) => statusGroup === "delivered" || statusGroup === "complete"),
  };
}

/**
 * Makes the public view from a room's record. The statements in store.ts have already selected the activity and the
 * passport to show.
 */
export function viewOf(row: RoomRow, rowMac: RowMac): RoomView {
  const orders = row.cards.map((card) => cardOf(card, rowMac));
  return {
    roomCode: row.code,
    name: row.name,
    reference: row.reference,
    status: row.status,
    partnerName: row.partnerName,
    branding: shownBranding(row),
    progress: progressOf(orders),
    orders,
    activity: row.activity,
    passport: row.passport,
    participants: row.participants.map(({ name, email, role }) => ({ name, email: maskEmail(email), role })),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
