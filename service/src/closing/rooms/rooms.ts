export { attachOrder, detachOrder } from "./attachments/attachments.ts";
export { closingsOf, type RoomOfOrder, roomsOfOrder } from "./attachments/store.ts";
export { type RoomDeps, roomNotFound } from "./begin-change.ts";
export { clientCheckout, letRoomsClientsPay, roomCharge, roomCheckout, sandboxRoomCheckout } from "./checkout.ts";
export { correctInRoom } from "./correct-address.ts";
export { dueOfRoom, payableOfClient, sumDue } from "./due.ts";
export { attachFields, closesOnField, newRoomFields, participantFields } from "./fields.ts";
export { closeRoom, createRoom, reopenRoom, setClosesOn } from "./lifecycle.ts";
export { lastChanges, roomPage } from "./list.ts";
export { closingsMail, sendClosings } from "./morning.ts";
export {
  type ClientClosing,
  type ClientOrder,
  clientClosing,
  type OpenClosing,
  openClosings,
} from "./overview.ts";
export { roomMail } from "./participants/invite.ts";
export {
  addParticipant,
  inviteParticipant,
  moveParticipant,
  removeParticipant,
  replaceParticipant,
} from "./participants/participants.ts";

export { lockRoomsOf, roomIdsOf, roomsLeftBy } from "./participants/store.ts";
export { type NewClosing, placeClosing, type Receiver } from "./place-closing.ts";
export { rotateRoom } from "./rotate-code.ts";
export { roomRoutes } from "./routes.ts";
export {
  certificateStates,
  type DueSeal,
  endSealWish,
  hasEnded,
  isStuckStatus,
  noteSealProblem,
  openRound,
  queueSeals,
  reportAltered,
  reportSealFailures,
  roomToSeal,
  type SealWish,
  sealQueue,
  switchSeal,
} from "./seal-wish.ts";
export {
  attachmentsTable,
  countOpenRooms,
  firstRoom,
  fromAttachments,
  fromParticipants,
  fromRooms,
  isOpenRoom,
  joinAttachments,
  joinRoom,
  latestOpenRooms,
  leftJoinRoom,
  type OpenRoom,
  openRoomsOf,
  protectedTables,
  roomEnvironment,
  roomState,
  verifiedRoom,
} from "./store.ts";
export { type OwnRoom, ownRoom, roomDocuments, roomView } from "./view/read-view.ts";
export type { ActivityItem, OrderCard, RoomView } from "./view/schemas.ts";
export type { RoomDocuments } from "./view/store.ts";
export { closesToday, dayWords, failedFaxesIn, isBetweenServices } from "./who-acts.ts";
