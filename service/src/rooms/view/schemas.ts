import { type Static, Type } from "typebox";
import { hexCode, nullable, oneOf, ref, timestamp } from "../../http/schema-parts.ts";
import { statusGroups } from "../../orders/orders.ts";
import { count, roomCode, status } from "../schemas.ts";

const orderCode = () => hexCode("3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d");

const Signer = Type.Object({
  name: nullable(Type.String()),
  email: Type.String({ examples: ["d***@example.com"], description: "Masked." }),
  routingOrder: Type.Integer(),
  signed: Type.Boolean(),
});
export type Signer = Static<typeof Signer>;

export const OrderCard = Type.Object(
  {
    orderCode: orderCode(),
    label: nullable(Type.String()),
    status: Type.String({ examples: ["EsignPending"], description: "Raw; drive logic from statusGroup." }),
    statusGroup: oneOf(statusGroups),
    services: Type.Object({
      sign: Type.Boolean(),
      notarize: Type.Boolean(),
      ship: Type.Boolean(),
      fax: Type.Boolean(),
    }),
    signers: Type.Array(Signer),
    evidenceBadge: oneOf(["sealed", "recorded", "none"]),
    verifyCode: nullable(Type.String()),
    trackingNumber: nullable(Type.String()),
    carrier: nullable(Type.String()),
    attachedAt: timestamp(),
  },
  { $id: "OrderCard" },
);
/** Contract, "Order card fields". */
export type OrderCard = Static<typeof OrderCard>;

export const ActivityItem = Type.Object(
  {
    orderCode: orderCode(),
    action: Type.String({ examples: ["order.transition"] }),
    fromStatus: nullable(Type.String()),
    toStatus: nullable(Type.String()),
    occurredAt: timestamp(),
  },
  { $id: "ActivityItem" },
);
/** One line of the timeline. */
export type ActivityItem = Static<typeof ActivityItem>;

const Branding = Type.Object({
  brandName: nullable(Type.String()),
  accentColor: nullable(Type.String({ examples: ["#1a2b3c"] })),
  logoUrl: nullable(Type.String({ format: "uri" })),
});

const PassportPointer = Type.Object(
  { version: Type.Integer(), verifyCode: Type.String(), createdAt: timestamp() },
  { description: "The latest closing passport; verify it through its own route." },
);
export type PassportPointer = Static<typeof PassportPointer>;

export const RoomView = Type.Object(
  {
    roomCode: roomCode(),
    name: Type.String(),
    reference: nullable(Type.String()),
    status: status(),
    partnerName: Type.String(),
    branding: nullable(Branding),
    progress: Type.Object({
      total: count("Cards."),
      signed: count("Cards whose signers have all signed; those without signers are not counted."),
      sealed: count("Cards with the evidence badge `sealed`."),
      delivered: count("Cards of the status groups `delivered` and `complete`."),
    }),
    orders: Type.Array(ref(OrderCard), { description: "In attach order." }),
    activity: Type.Array(ref(ActivityItem), { maxItems: 100, description: "Newest first." }),
    passport: nullable(PassportPointer),
    participants: Type.Array(
      Type.Object({ name: Type.String(), email: Type.String({ description: "Masked." }), role: Type.String() }),
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { $id: "RoomView" },
);
/** Contract, "Public view" of a closing room. Emails are masked. */
export type RoomView = Static<typeof RoomView>;
