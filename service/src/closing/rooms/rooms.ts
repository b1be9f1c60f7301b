export { attachOrder, detachOrder } from "./attachments/attachments.ts";
export { closingsOf, type RoomOfOrder, roomsOfOrder } from "./attachments/store.ts";
export { type RoomDeps, roomNotFound } from "./change.ts";
export { clientCheckout, type Payable, payableOfClient, payableOfRoom, roomCheckout } from "./checkout.ts";
export { attachFields, newRoomFields, participantFields } from "./fields.ts";
export {
  closeRoom,
  createRoom,
  type NewClosing,
  placeClosing,
  type Receiver,
  reopenRoom,
  rotateRoom,
} from "./lifecycle.ts";
export { roomPage } from "./list.ts";
export { closingsMail, sendClosings } from "./morning.ts";
export { roomMail } from "./participants/invite.ts";
export { addParticipant, inviteParticipant, removeParticipant } from "./participants/participants.ts";
export type { Participant } from "./participants/schemas.ts";
export { roomRoutes } from "./routes.ts";
export { latestOpenRooms, type OpenRoom, protectedTables, roomEnvironment, roomState, verifiedRoom } from "./store.ts";
export { type OwnRoom, ownRoom, roomView } from "./view/read-view.ts";
export type { ActivityItem, OrderCard, PassportPointer, RoomView, Signer } from "./view/schemas.ts";
