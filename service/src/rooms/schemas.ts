import { type Static, Type } from "typebox";
import { hexCode, nextCursor, nullable, ref, requestId, timestamp } from "../http/schema-parts.ts";

const roomUrl = () => Type.String({ examples: ["/rooms/9a1e5c02d7b84f63a0c1e2f3b4d5968778695a4b"] });

export const roomCode = () => hexCode("9a1e5c02d7b84f63a0c1e2f3b4d5968778695a4b");
export const status = () => Type.String({ examples: ["open"], description: "`open` or `closed`." });
export const count = (description: string) => Type.Integer({ minimum: 0, description });

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
export type CreatedRoom = Static<typeof CreatedRoom>;

export const RoomSummary = Type.Object(
  {
    roomCode: roomCode(),
    name: Type.String(),
    reference: nullable(Type.String()),
    status: status(),
    orderCount: count("Orders attached now."),
    createdAt: timestamp(),
    updatedAt: timestamp("Time of the last attach, detach or rotation."),
  },
  { $id: "RoomSummary" },
);
export type RoomSummary = Static<typeof RoomSummary>;

export const RoomList = Type.Object(
  { rooms: Type.Array(ref(RoomSummary)), nextCursor: nextCursor(), requestId: requestId() },
  { $id: "RoomList" },
);
export type RoomList = Static<typeof RoomList>;

export const RotatedRoom = Type.Object({ roomCode: roomCode(), roomUrl: roomUrl() }, { $id: "RotatedRoom" });
export type RotatedRoom = Static<typeof RotatedRoom>;

export const RoomStatus = Type.Object({ ok: Type.Literal(true), status: status() }, { $id: "RoomStatus" });
export type RoomStatus = Static<typeof RoomStatus>;

export const RoomChanged = Type.Object({ ok: Type.Literal(true) }, { $id: "RoomChanged" });
export type RoomChanged = Static<typeof RoomChanged>;
