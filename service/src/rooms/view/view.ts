import { type StatusGroup, statusGroupOf, wasPaid } from "../../orders/orders.ts";
import { maskEmail } from "../../platform/mask-email.ts";
import type { BoughtServices } from "../../pricing/pricing.ts";
import type { ActivityItem, CardRow, PassportPointer, RoomRow } from "./store.ts";

export type Signer = { name: string | null; email: string; routingOrder: number; signed: boolean };

/** Contract, "Order card fields". Emails are masked. */
export type OrderCard = {
  orderCode: string;
  label: string | null;
  status: string;
  statusGroup: StatusGroup;
  services: BoughtServices;
  signers: Signer[];
  evidenceBadge: "sealed" | "recorded" | "none";
  verifyCode: string | null;
  trackingNumber: string | null;
  carrier: string | null;
  attachedAt: string;
};

export type Branding = { brandName: string | null; accentColor: string | null; logoUrl: string | null };

/** Contract, "Public view" of a closing room. */
export type RoomView = {
  roomCode: string;
  name: string;
  reference: string | null;
  status: string;
  partnerName: string;
  branding: Branding | null;
  progress: { total: number; signed: number; sealed: number; delivered: number };
  orders: OrderCard[];
  activity: ActivityItem[];
  passport: PassportPointer | null;
  participants: { name: string; email: string; role: string }[];
  createdAt: string;
  updatedAt: string;
};

/** The one signer is the order's client. */
function signersOf(row: CardRow): Signer[] {
  if (!row.sign) return [];
  const signed = row.envelopeStatus === "Completed";
  return [{ name: row.customerName, email: maskEmail(row.customerEmail), routingOrder: 1, signed }];
}

/** A hash of what was sealed or notarized is evidence; that money came is a platform's record only. */
function badgeOf(row: CardRow): OrderCard["evidenceBadge"] {
  if (row.hasSealed) return "sealed";
  return wasPaid(row.status, row.statusBeforeHold) ? "recorded" : "none";
}

const cardOf = (row: CardRow): OrderCard => ({
  orderCode: row.code,
  label: row.label,
  status: row.status,
  statusGroup: statusGroupOf(row.status),
  services: { sign: row.sign, notarize: row.notarize, ship: row.ship, fax: row.fax },
  signers: signersOf(row),
  evidenceBadge: badgeOf(row),
  verifyCode: null,
  trackingNumber: row.trackingNumber,
  carrier: row.carrier,
  attachedAt: row.attachedAt,
});

/** Counted from what the cards show. Orders without signers are not counted as signed. */
export function progressOf(cards: readonly OrderCard[]): RoomView["progress"] {
  const count = (test: (card: OrderCard) => boolean) => cards.filter(test).length;
  return {
    total: cards.length,
    signed: count(({ signers }) => signers.length > 0 && signers.every(({ signed }) => signed)),
    sealed: count(({ evidenceBadge }) => evidenceBadge === "sealed"),
    delivered: count(({ statusGroup }) => statusGroup === "delivered" || statusGroup === "complete"),
  };
}

/** What a firm shows of itself; null when that is nothing. */
export const brandingOf = ({ brandName, accentColor, logoUrl }: Branding): Branding | null =>
  brandName || accentColor || logoUrl ? { brandName, accentColor, logoUrl } : null;

export function viewOf(row: RoomRow): RoomView {
  const orders = row.cards.map(cardOf);
  return {
    roomCode: row.code,
    name: row.name,
    reference: row.reference,
    status: row.status,
    partnerName: row.partnerName,
    branding: brandingOf(row),
    progress: progressOf(orders),
    orders,
    activity: row.activity,
    passport: row.passport,
    participants: row.participants.map(({ name, email, role }) => ({ name, email: maskEmail(email), role })),
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}
