export {
  type ClientMail,
  clientMails,
  keepClientMail,
  mailDocuments,
  mailsToSendAgain,
  type SentAgain,
  sendAgain,
  type UntilMorning,
  untilMorning,
} from "./client-mails.ts";
export { aheadMoves, failedAhead, faxAhead, faxStatusOf, recordFaxAhead } from "./fax-ahead.ts";
export { type OrderMailDeps, orderMail } from "./mails.ts";
export { finishedTarget, isDoneByHand, type MoveDeps, moveOrder } from "./move-order.ts";
export { type OrderHistory, orderHistory } from "./order-history.ts";
export { dispatchJobs, nextSegmentJobs, type Taker } from "./order-jobs.ts";
export { mailOrderUpdates, type OrderUpdateMailDeps, orderUpdateMail } from "./order-updates.ts";
export { perform } from "./perform.ts";
export { outcomeIn, sandboxRoutes } from "./sandbox/routes.ts";
export {
  milestones,
  outcomes,
  type SandboxDeps,
  type SandboxOutcome,
  type SimulationResult,
  sandboxAdvance,
  sandboxCheckout,
  sandboxComplete,
  sandboxGroupCheckout,
  sandboxMoves,
} from "./sandbox/sandbox.ts";
export { sealAndStore, storeSealed } from "./seal-and-store.ts";
export {
  furthestDocument,
  hasFax,
  hasShipment,
  lastFax,
  lastShipment,
  ordersFaxedTo,
  ordersTrackedBy,
  protectedTables,
  type SealedDocument,
} from "./store.ts";
export { claimMentionedPayments, type MentionedPayments } from "./together.ts";
