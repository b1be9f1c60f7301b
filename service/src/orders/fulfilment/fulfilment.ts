export {
  type ClientMail,
  clientMails,
  mailsToSendAgain,
  type SentAgain,
  sendAgain,
  type TakesPayment,
} from "./client-mails.ts";
export { dispatchJobs, type Taker } from "./dispatch.ts";
export { orderMailJobs } from "./mails.ts";
export { isDoneByHand, type MoveDeps, moveOrder } from "./move-order.ts";
export { nextSegmentJobs } from "./next-segment.ts";
export { type OrderHistory, orderHistory } from "./order-history.ts";
export { perform } from "./perform.ts";
export { sandboxRoutes } from "./sandbox/routes.ts";
export {
  milestones,
  outcomes,
  type SandboxDeps,
  type SandboxRequest,
  type SimulationResult,
  sandboxAdvance,
  sandboxCheckout,
  sandboxComplete,
  sandboxMoves,
} from "./sandbox/sandbox.ts";
export { sealAndStore, storeSealed } from "./seal-and-store.ts";
export { furthestDocument, insertDocument, type SealedDocument } from "./store.ts";
