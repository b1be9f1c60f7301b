import { type Static, Type } from "typebox";
import {
  nullable,
  oneOf,
  orderCode,
  ref,
  roomCode,
  text,
  timestamp,
  verifyCode,
} from "../../../kernel/http/schema-parts.ts";
import { statusGroups } from "../../../orders/order/order.ts";
import { count, createdAt, reference, roomName, status, updatedAt } from "../schemas.ts";

const Signer = Type.Object({
  name: nullable(Type.String({ examples: ["Dana Reyes"] }), "The signer's name; null when none was sent."),
  email: text("The signer's email address, masked.", "d***@example.com"),
  routingOrder: Type.Integer({ description: "Those of the lowest number sign first.", examples: [1] }),
  signed: Type.Boolean({ description: "Whether this person has signed here.", examples: [false] }),
});
export type Signer = Static<typeof Signer>;

export const OrderCard = Type.Object(
  {
    orderCode: orderCode(),
    label: nullable(Type.String({ examples: ["Deed of trust"] }), "What the room calls the document."),
    status: text("The order's status. The list may grow: decide by `statusGroup`.", "EsignPending"),
    statusGroup: oneOf(
      statusGroups,
      "The status in one of a few groups that do not grow. `attention` says that somebody has to act.",
      ["signing"],
    ),
    services: Type.Object(
      {
        sign: Type.Boolean({ description: "Whether it is signed online.", examples: [true] }),
        notarize: Type.Boolean({ description: "Whether it is notarized.", examples: [true] }),
        ship: Type.Boolean({ description: "Whether it is shipped.", examples: [false] }),
        fax: Type.Boolean({ description: "Whether it is faxed.", examples: [false] }),
      },
      { description: "What was ordered." },
    ),
    signers: Type.Array(Signer, { description: "Who signs it." }),
    evidenceBadge: oneOf(
      ["sealed", "recorded", "none"],
      "`sealed`: a sealed document is on record. `recorded`: only our statement of the status is. `none`: neither.",
      ["recorded"],
    ),
    takenIn: Type.Optional(
      Type.Literal(true, {
        description:
          "A document that was signed or notarized elsewhere is on record: an operator took it in. Left out otherwise.",
      }),
    ),
    simulated: Type.Optional(
      Type.Literal(true, {
        description:
          "The sandbox completed the signing of this test order: nobody's signature is in the document. Left out otherwise.",
      }),
    ),
    verifyCode: nullable(Type.String(), "The code of the public page of how it was signed; null before that."),
    trackingNumber: nullable(
      Type.String(),
      "The carrier's number of the shipment; null before it is shipped, and for mail without one.",
    ),
    carrier: nullable(Type.String(), "Who carries it; null before it is shipped."),
    attachedAt: timestamp("When the order was attached."),
  },
  { $id: "OrderCard", description: "An order, as the room shows it." },
);
/** Contract, "Order card fields". */
export type OrderCard = Static<typeof OrderCard>;

export const ActivityItem = Type.Object(
  {
    orderCode: orderCode(),
    action: text("What happened.", "order.transition"),
    fromStatus: nullable(Type.String({ examples: ["Paid"] }), "The status before; null where it did not change."),
    toStatus: nullable(Type.String({ examples: ["EsignPending"] }), "The status after; null where it did not change."),
    occurredAt: timestamp("When it happened."),
  },
  { $id: "ActivityItem", description: "One line of the room's timeline." },
);
/** One line of the timeline. */
export type ActivityItem = Static<typeof ActivityItem>;

const Branding = Type.Object({
  brandName: nullable(Type.String({ examples: ["Harbor Title"] }), "The name that the firm shows."),
  accentColor: nullable(Type.String({ examples: ["#1a2b3c"] }), "The firm's color, as `#rrggbb`."),
  logoUrl: nullable(Type.String({ format: "uri" }), "The firm's logo, a public https address."),
});

const PassportPointer = Type.Object(
  {
    version: Type.Integer({ description: "Its version, from 1.", examples: [1] }),
    verifyCode: verifyCode(),
    createdAt: timestamp("When it was sealed."),
  },
  { description: "The latest closing passport, null before the first. Verify it by its code." },
);
export type PassportPointer = Static<typeof PassportPointer>;

export const RoomView = Type.Object(
  {
    roomCode: roomCode(),
    name: roomName(),
    reference: reference(),
    status: status(),
    partnerName: text("The firm whose room it is.", "Harbor Title Co."),
    branding: nullable(Branding, "How the firm shows itself; null where it set nothing."),
    progress: Type.Object(
      {
        total: count("How many orders there are."),
        signed: count("Orders whose signers have all signed; those without signers are not counted."),
        sealed: count("Orders with the evidence badge `sealed`."),
        delivered: count("Orders of the status groups `delivered` and `complete`."),
      },
      { description: "How far the orders are, counted from the cards." },
    ),
    orders: Type.Array(ref(OrderCard), {
      description: "The attached orders, in the order in which they were attached.",
    }),
    activity: Type.Array(ref(ActivityItem), { maxItems: 100, description: "What happened, newest first." }),
    passport: nullable(PassportPointer),
    participants: Type.Array(
      Type.Object({
        name: text("The person's name.", "Maria Silva"),
        email: text("The person's email address, masked.", "m***@example.com"),
        role: text("What the person does here.", "buyer"),
      }),
      { description: "The people named in the room." },
    ),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  { $id: "RoomView", description: "A room, as everyone with its code sees it." },
);
/** Contract, "Public view" of a closing room. Emails are masked. */
export type RoomView = Static<typeof RoomView>;
