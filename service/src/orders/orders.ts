/** Orders: the form, the record, and the transitions that each may take. What the processor causes has its own way in (by-processor.ts). */
export { addAdjustment } from "./adjust.ts";
export {
  type DocumentFacts,
  type DocumentOwner,
  documentMembers,
  documentOwnerColumns,
  documentUse,
  earlierDocumentMembers,
} from "./document-row.ts";
export { documentsPath, isDocumentsToken } from "./documents-link.ts";
export { addFill, type FillFacts, fillColumns, fillMembers, keepUpload, sweepFills } from "./fill.ts";
export { type FirmNote, type FirmNotes, firmNoteColumn, openFirmNotes } from "./firm-notes.ts";
export { countryOfNumber } from "./form/fax-number.ts";
export { readWhole } from "./form/refusals.ts";
export { aKind, mostSize, type RequestedField } from "./form/requested-fields.ts";
export { type OrderSigner, parseReplacement, type SignerAuth, signersOf } from "./form/signers.ts";
export { mostFields, replacementSchema, signerAuths, signerLanguages } from "./form/signing-schemas.ts";
export { orderPage } from "./list.ts";
export { type NoticesOf, noticeMessage, noticeReader } from "./notices.ts";
export { orderState, verifiedOrder, verifiedOrders } from "./order-mac.ts";
export { looksLikePdf, pagesOf } from "./original.ts";
export { type OrderDeps, type PlaceRequest, placeOrder } from "./place.ts";
export { orderRoutes } from "./routes.ts";
export { type SameClient, sameClient } from "./same-client.ts";
export { serviceFlags } from "./services.ts";
export { type SigningFacts, signingColumns, signingMembers } from "./signing-row.ts";
export { documentsDeletedAt, findOrder, findOwnOrder, type StoredDocument, whenDocumentsWereDeleted } from "./store.ts";
export { type Titled, type TitleOf, titleReader } from "./title.ts";
export {
  closeCheckoutQueue,
  dispatchQueue,
  envelopeQueue,
  faxQueue,
  type MailMoment,
  type Milestone,
  mailClient,
  nextSegmentQueue,
  type OrderMail,
  orderMailQueue,
  parcelQueue,
  recallQueue,
  refundQueue,
} from "./transitions/effects.ts";
export { type StatusGroup, statusGroupOf, statusGroups, wasPaid } from "./transitions/status-groups.ts";
export { statusLabel, statusLabels } from "./transitions/status-labels.ts";
export { type OrderStatus, orderStatuses } from "./transitions/statuses.ts";
export {
  eventsTo,
  isPayable,
  nextSegment,
  type OrderState,
  type PeopleEvent,
  processorEvents,
  type Transition,
  targetOf,
  transitionTable,
  wordsOf,
} from "./transitions/table.ts";
export {
  type Actor,
  type LockedOrder,
  lockOrder,
  type TransitionResult,
  transition,
} from "./transitions/transitions.ts";
export type { ToSign, TriedDocument, TrySigning } from "./try-signing.ts";
export type { OrderRow, PublicOrderRow } from "./views.ts";
