import { type TSchema, Type } from "typebox";
import { statusGroups } from "../orders/orders.ts";

const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const refTo = (id: string) => Type.Unsafe<object>({ $ref: `${id}#` });
const timestamp = () => Type.String({ format: "date-time", examples: ["2026-03-04T05:06:07.089Z"] });
const hexCode = (example: string) => Type.String({ pattern: "^[0-9a-f]{40}$", examples: [example] });
const roomCode = () => hexCode("9a1e5c02d7b84f63a0c1e2f3b4d5968778695a4b");
const orderCode = () => hexCode("3f1c0d5a9be24c7786a1f0e2d4b6c8900a1b2c3d");
const roomUrl = () => Type.String({ examples: ["/rooms/9a1e5c02d7b84f63a0c1e2f3b4d5968778695a4b"] });
const status = () => Type.String({ examples: ["open"], description: "`open` or `closed`." });
const count = (description: string) => Type.Integer({ minimum: 0, description });

export const NewRoom = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, description: "Trimmed.", examples: ["12 Elm Street"] }),
    reference: Type.Optional(nullable(Type.String({ maxLength: 200, examples: ["FILE-2207"] }))),
  },
  { $id: "NewRoom" },
);

export const CreatedRoom = Type.Object(
  {
    roomCode: roomCode(),
    roomUrl: roomUrl(),
    name: Type.String(),
    reference: nullable(Type.String()),
    status: status(),
    createdAt: timestamp(),
  },
  { $id: "CreatedRoom", description: "`roomCode` is the credential of everybody who may see the room." },
);

export const RoomSummary = Type.Object(
  {
    roomCode: roomCode(),
    name: Type.String(),
    reference: nullable(Type.String()),
    status: status(),
    orderCount: count("Orders attached now."),
    createdAt: timestamp(),
    updatedAt: Type.String({ format: "date-time", description: "Time of the last attach, detach or rotation." }),
  },
  { $id: "RoomSummary" },
);

export const RoomList = Type.Object(
  {
    rooms: Type.Array(refTo("RoomSummary")),
    nextCursor: nullable(Type.String({ description: "Send it as `cursor` for the next page; null on the last." })),
    requestId: Type.String({ format: "uuid" }),
  },
  { $id: "RoomList" },
);

export const RotatedRoom = Type.Object({ roomCode: roomCode(), roomUrl: roomUrl() }, { $id: "RotatedRoom" });
export const RoomStatus = Type.Object({ ok: Type.Literal(true), status: status() }, { $id: "RoomStatus" });
export const RoomChanged = Type.Object({ ok: Type.Literal(true) }, { $id: "RoomChanged" });

export const Attachment = Type.Object(
  {
    orderCode: Type.String({ minLength: 24, maxLength: 64, description: "Having it is the authorization." }),
    label: Type.Optional(nullable(Type.String({ maxLength: 200, examples: ["Deed of trust"] }))),
  },
  { $id: "Attachment" },
);

export const Attached = Type.Object(
  { ok: Type.Literal(true), alreadyAttached: Type.Boolean() },
  { $id: "Attached", description: "Attaching again changes nothing." },
);

export const NewParticipant = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200 }),
    email: Type.String({ maxLength: 320, description: "Kept in lowercase; one email is in a room once." }),
    role: Type.Optional(nullable(Type.String({ maxLength: 40, default: "client" }))),
  },
  { $id: "NewParticipant" },
);

export const ParticipantAdded = Type.Object(
  { ok: Type.Literal(true), alreadyPresent: Type.Boolean() },
  { $id: "ParticipantAdded" },
);

export const ParticipantList = Type.Object(
  {
    participants: Type.Array(
      Type.Object({
        participantId: Type.String({ format: "uuid" }),
        name: Type.String(),
        email: Type.String(),
        role: Type.String(),
        createdAt: timestamp(),
      }),
    ),
    requestId: Type.String({ format: "uuid" }),
  },
  { $id: "ParticipantList", description: "Those present, in the order in which they came." },
);

const Signer = Type.Object({
  name: nullable(Type.String()),
  email: Type.String({ examples: ["d***@example.com"], description: "Masked." }),
  routingOrder: Type.Integer(),
  signed: Type.Boolean(),
});

export const OrderCard = Type.Object(
  {
    orderCode: orderCode(),
    label: nullable(Type.String()),
    status: Type.String({ examples: ["EsignPending"], description: "Raw; drive logic from statusGroup." }),
    statusGroup: Type.Union(statusGroups.map((group) => Type.Literal(group))),
    services: Type.Object({
      sign: Type.Boolean(),
      notarize: Type.Boolean(),
      ship: Type.Boolean(),
      fax: Type.Boolean(),
    }),
    signers: Type.Array(Signer),
    evidenceBadge: Type.Union([Type.Literal("sealed"), Type.Literal("recorded"), Type.Literal("none")]),
    verifyCode: nullable(Type.String()),
    trackingNumber: nullable(Type.String()),
    carrier: nullable(Type.String()),
    attachedAt: timestamp(),
  },
  { $id: "OrderCard" },
);

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

const Branding = Type.Object({
  brandName: nullable(Type.String()),
  accentColor: nullable(Type.String({ examples: ["#1a2b3c"] })),
  logoUrl: nullable(Type.String({ format: "uri" })),
});

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
    orders: Type.Array(refTo("OrderCard"), { description: "In attach order." }),
    activity: Type.Array(refTo("ActivityItem"), { maxItems: 100, description: "Newest first." }),
    passport: nullable(
      Type.Object(
        { version: Type.Integer(), verifyCode: Type.String(), createdAt: timestamp() },
        {
          description: "The latest closing passport; verify it through its own route.",
        },
      ),
    ),
    participants: Type.Array(
      Type.Object({ name: Type.String(), email: Type.String({ description: "Masked." }), role: Type.String() }),
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { $id: "RoomView" },
);

/** Every schema that has a name of its own. */
export const roomSchemas: readonly TSchema[] = [
  NewRoom,
  CreatedRoom,
  RoomSummary,
  RoomList,
  RotatedRoom,
  RoomStatus,
  RoomChanged,
  Attachment,
  Attached,
  NewParticipant,
  ParticipantAdded,
  ParticipantList,
  OrderCard,
  ActivityItem,
  RoomView,
];
