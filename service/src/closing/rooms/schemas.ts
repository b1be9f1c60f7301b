import { type Static, Type } from "typebox";
import {
  nextCursor,
  nullable,
  ok,
  oneOf,
  orderCodeExample,
  orderCodes,
  ref,
  requestId,
  roomCode,
  roomCodeExample,
  text,
  timestamp,
} from "../../kernel/http/schema-parts.ts";
import { payers } from "../../orders/order/order.ts";

const roomUrl = () => text("The room's page: a path on this service.", `/rooms/${roomCodeExample}`);

export const roomName = () => text("The room's name.", "12 Elm Street");
export const reference = () =>
  nullable(Type.String({ examples: ["FILE-2207"] }), "Your own reference; null when none was sent.");
const closesOn = () =>
  Type.String({
    format: "date",
    description: "The day on which the closing is due. Only your firm sees it, and nothing happens by it.",
    examples: ["2026-11-30"],
  });
const sealWhenDone = () =>
  Type.Boolean({
    description:
      "Whether the service seals a version of the closing certificate once every order of the room has ended, and at least one is completed. In lists it is absent where it is false.",
    examples: [true],
  });
export const status = () => text("`open` or `closed`.", "open");
export const createdAt = () => timestamp("When the room was created.");
export const updatedAt = () => timestamp("When an order was last attached or detached, or the code replaced.");
export const count = (description: string) => Type.Integer({ minimum: 0, description });

export const NewRoom = Type.Object(
  {
    name: Type.String({
      minLength: 1,
      maxLength: 200,
      description: "The room's name, trimmed: 1 to 200 characters.",
      examples: ["12 Elm Street"],
    }),
    reference: Type.Optional(
      nullable(Type.String({ maxLength: 200, examples: ["FILE-2207"] }), "Your own reference, at most 200 characters."),
    ),
    closesOn: Type.Optional(nullable(closesOn(), "The day on which the closing is due, in your own calendar.")),
  },
  { $id: "NewRoom", description: "A room to create." },
);

export const CreatedRoom = Type.Object(
  {
    roomCode: roomCode(),
    roomUrl: roomUrl(),
    name: roomName(),
    reference: reference(),
    closesOn: Type.Optional(closesOn()),
    status: status(),
    createdAt: createdAt(),
  },
  { $id: "CreatedRoom", description: "`roomCode` is the credential of everybody who may see the room." },
);
export type CreatedRoom = Static<typeof CreatedRoom>;

export const RoomSummary = Type.Object(
  {
    roomCode: roomCode(),
    name: roomName(),
    reference: reference(),
    closesOn: Type.Optional(closesOn()),
    status: status(),
    orderCount: count("How many orders are attached."),
    sealWhenDone: Type.Optional(sealWhenDone()),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  { $id: "RoomSummary", description: "A room, as lists show it." },
);
export type RoomSummary = Static<typeof RoomSummary>;

export const RoomList = Type.Object(
  {
    rooms: Type.Array(ref(RoomSummary), { description: "Newest first." }),
    nextCursor: nextCursor(),
    requestId: requestId(),
  },
  { $id: "RoomList", description: "A page of rooms." },
);
export type RoomList = Static<typeof RoomList>;

export const RoomCheckout = Type.Object(
  {
    checkoutUrl: text(
      "The hosted payment page; the same one while it is open and the orders to pay are the same.",
      "https://checkout.stripe.com/c/pay/cs_test_a1b2",
    ),
    orders: Type.Array(
      Type.Object({
        orderCode: text("An order that it pays.", orderCodeExample),
        totalCents: Type.Integer({ minimum: 0, description: "The order's total in US cents.", examples: [9500] }),
      }),
      {
        description:
          "The orders that it pays, as the room lists them: every payable order of your firm and this payer.",
      },
    ),
    totalCents: Type.Integer({ minimum: 0, description: "Their sum in US cents.", examples: [18_240] }),
    payBy: oneOf(payers, "Whose orders it pays: the client's, or your firm's.", ["client"]),
    requestId: requestId(),
  },
  { $id: "RoomCheckout", description: "Where the orders of a room are paid together." },
);

export const RoomCharge = Type.Object(
  {
    paymentId: text(
      "The id of the one payment for all of them. In the payment processor's account, its metadata names it as `charge`.",
      "1c4fd2f3-4a0e-4ad0-9c4e-2ad8f31d1c55",
    ),
    orders: Type.Array(
      Type.Object({
        orderCode: text("An order that is charged.", orderCodeExample),
        chargeId: text(
          "The id of its charge, which is its part of the payment; the order's answer has the state.",
          "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
        ),
        totalCents: Type.Integer({ minimum: 0, description: "The order's total in US cents.", examples: [9500] }),
      }),
      { description: "The orders that are charged, as the room lists them: every payable one that your firm pays." },
    ),
    totalCents: Type.Integer({ minimum: 0, description: "Their sum in US cents.", examples: [18_240] }),
    requestId: requestId(),
  },
  { $id: "RoomCharge", description: "The payment of a room's orders by your firm's card or bank account." },
);

export const RotatedRoom = Type.Object(
  { roomCode: roomCode(), roomUrl: roomUrl() },
  { $id: "RotatedRoom", description: "The room's new code." },
);
export type RotatedRoom = Static<typeof RotatedRoom>;

export const RoomStatus = Type.Object(
  { ok: ok(), status: status() },
  { $id: "RoomStatus", description: "The room's status now." },
);
export type RoomStatus = Static<typeof RoomStatus>;

export const NewRoomDay = Type.Object(
  { closesOn: nullable(closesOn(), "The day on which the closing is due; null removes it.") },
  { $id: "NewRoomDay", description: "The day on which a room's closing is due." },
);

export const RoomDay = Type.Object(
  { ok: ok(), closesOn: nullable(closesOn(), "The day on which the closing is due; null for none.") },
  { $id: "RoomDay", description: "The day on which the room's closing is due now." },
);
export type RoomDay = Static<typeof RoomDay>;

export const NewRoomSeal = Type.Object(
  { sealWhenDone: sealWhenDone() },
  { $id: "NewRoomSeal", description: "Whether the service seals a room's closing certificate by itself." },
);

export const RoomSeal = Type.Object(
  { ok: ok(), sealWhenDone: sealWhenDone() },
  { $id: "RoomSeal", description: "Whether the service seals the room's closing certificate by itself now." },
);
export type RoomSeal = Static<typeof RoomSeal>;

export const RoomChanged = Type.Object({ ok: ok() }, { $id: "RoomChanged", description: "It was done." });
export type RoomChanged = Static<typeof RoomChanged>;

export const NewRoomCorrection = Type.Object(
  {
    from: text("The address to correct.", "maria@gmial.com"),
    to: text("The right address.", "maria@gmail.com"),
    name: Type.Optional(
      nullable(
        text("The person's name.", "Maria Silva"),
        "The person whose address it is, where several people share it. Default: everybody who has it.",
      ),
    ),
  },
  { $id: "NewRoomCorrection", description: "An email address to correct in all documents of a room." },
);

export const RoomCorrection = Type.Object(
  {
    roomCode: roomCode(),
    corrected: orderCodes(
      "Your firm's orders in which the address was replaced. Empty if only a participant, or somebody who is sent documents, had it.",
    ),
    notCorrected: orderCodes(
      "Your firm's orders that were left out, because their record was altered outside the service: contact its operator.",
    ),
    linksNotMailed: Type.Boolean({
      description:
        "True if some new links were not mailed, because a room mails at most 25 a day. The links of the earlier address have ended.",
    }),
    requestId: requestId(),
  },
  { $id: "RoomCorrection", description: "Where an email address was corrected." },
);
export type RoomCorrection = Static<typeof RoomCorrection>;
