/**
 * Orders: the form, the record, and the allowed transitions. Transitions by the payment processor are exported only
 * from by-processor.ts.
 */
import { correctionRows } from "./corrections.ts";
import { documentRows } from "./documents.ts";
import { fillRows } from "./fill.ts";
import { noteRows } from "./firm-notes.ts";
import { orderRows } from "./order-mac.ts";
import { signingRows } from "./signing-row.ts";
import { templateUseRows } from "./template-use.ts";

export {
  type CorrectedPeople,
  type EmailMove,
  hasEmailOf,
  type MovedInRooms,
  type MovedPeople,
  moveEmail,
  readCorrectable,
  readOriginal,
  replaceOriginal,
  setFaxTo,
  setPayer,
  setShipTo,
} from "./correct-order.ts";
export {
  type Correction,
  correctionsOf,
  currentEmail,
  emailChanges,
  findToCorrect,
  recordCorrection,
  replacementsOf,
} from "./corrections.ts";
export type { OrderDeps } from "./deps.ts";
export {
  type NoticesOf,
  noticeMessage,
  noticeReader,
  numberedNames,
  sealNotices,
  storedNotices,
  type Titled,
  type TitleOf,
  titleReader,
} from "./document-texts.ts";
export {
  clientClosingPath,
  clientLinks,
  type DocumentFacts,
  type DocumentOwner,
  documentBlobs,
  documentMembers,
  documentOwnerColumns,
  documentRows,
  documentsPath,
  documentUse,
  earlierDocumentHolds,
  fromDocuments,
  hasDocument,
  insertDocument,
  insertSealedDocument,
  joinDocuments,
  loggedDocuments,
  type NewDocument,
  ordersWithDocument,
  storedDocuments,
} from "./documents.ts";
export { createOrder, draftOrder, writeOrder } from "./draft.ts";
export {
  addFill,
  fillStates,
  findFill,
  insertFilled,
  storedFills,
  sweepFills,
} from "./fill.ts";
export { type FirmNote, type FirmNotes, openFirmNotes } from "./firm-notes.ts";
export { countryOfNumber } from "./form/fax-number.ts";
export {
  applyRules,
  type Calculated,
  idsReadBy,
  type RuledField,
  type Rules,
  type ShowWhen,
  settledFormulas,
  textsIn,
} from "./form/field-rules.ts";
export {
  dateFormats,
  dateText,
  type FieldFormat,
  readFieldValue,
  textFormats,
  type ValueFault,
} from "./form/field-values.ts";
export { fieldsOf } from "./form/fields.ts";
export { address, faxNumber, type OrderForm, type Payer, payers, readWhole } from "./form/form.ts";
export { jsonList, membersOf } from "./form/json-list.ts";
export { acceptsValue, aKind, requireOrder } from "./form/requested-content.ts";
export type { RequestedField } from "./form/requested-field.ts";
export { maxSize, minSize, parseOwnFields, parseRequestedFields } from "./form/requested-fields.ts";
export { type SenderTextName, senderTextNames, senderTexts } from "./form/sender-texts.ts";
export {
  accessCodeHashOf,
  type OrderSigner,
  parseReplacement,
  parseSigners,
  type SignerAuth,
  signersOf,
} from "./form/signers.ts";
export {
  maxFields,
  maxSigners,
  replacementSchema,
  requestedFieldSchema,
  requestedKinds,
  signerAuths,
  signerLanguages,
  signerSchema,
} from "./form/signing-schemas.ts";
export type { NewOrder } from "./insert.ts";
export { type SameClient, sameClient } from "./list.ts";
export { type NotarizationSale, type NotarySupply, notaryGapOfQuote, wasPricedByPerson } from "./notary-supply.ts";
export {
  earlierOrderStates,
  isHandedIn,
  isSigningSimulated,
  latestFirst,
  markedSigners,
  orderRows,
  orderState,
  shipmentState,
  signerState,
  verifiedOrder,
  verifiedShipmentsOf,
  verifiedSigner,
  verifiedSignersOf,
} from "./order-mac.ts";
export { looksLikePdf, openOriginals, pagesOf } from "./original.ts";
export { isOrderOf, orderNotFound } from "./own-order.ts";
export { type Answering, type PlacementResult, placeOrder } from "./place.ts";
export {
  clientEmailOf,
  firstOrders,
  fromOrders,
  hasOrderCode,
  isFailureOfFirm,
  isOfFirm,
  isOfSameClient,
  joinOrder,
  leftJoinOrder,
  lockOrderById,
  lockOwnOrder,
  type OrderHead,
  orderCodes,
  orderIdOf,
  orderIdsOf,
  ordersTable,
  readOrderHead,
} from "./reads.ts";
export { documentSource, type Payable } from "./retention.ts";
export { orderRoutes } from "./routes.ts";
export { orderFormSchema } from "./schemas.ts";
export type { Expanded, PricedOrder, SentDocument, SentOrder, WithTemplate } from "./sent-order.ts";
export { serviceFlags } from "./services.ts";
export {
  type CopiedParts,
  readCopiedParts,
  readSigning,
  replaceSigner,
  requireSigners,
  type SigningFacts,
  signersHold,
  signingColumns,
} from "./signing-row.ts";
export {
  addAdjustment,
  documentsDeletedAt,
  findOrder,
  findOrderOfEnvironment,
  findOwnOrder,
  forgetDocumentNames,
  fromMilestones,
  fromNotedStatuses,
  joinMilestones,
  markHandedIn,
  orderPayer,
  setEnvelopeStatus,
  whenDocumentsWereDeleted,
} from "./store.ts";
export { isOrdered, readTemplateUse, type TemplateUse } from "./template-use.ts";
export {
  closeCheckoutQueue,
  dispatchQueue,
  envelopeQueue,
  faxQueue,
  firmChargeQueue,
  firmWaitQueue,
  isTrouble,
  type MailedStatus,
  type MailMoment,
  type Milestone,
  mailClient,
  mailedStatuses,
  type Noted,
  nextSegmentQueue,
  notarizedQueue,
  notaryAgainQueue,
  type OrderMail,
  orderMailQueue,
  parcelQueue,
  recallQueue,
  refundQueue,
  removeNotedStatuses,
} from "./transitions/effects.ts";
export { type StatusGroup, statusGroupOf, statusGroups, wasPaid } from "./transitions/status-groups.ts";
export {
  type EnvelopeStatus,
  type OrderStatus,
  orderStatuses,
  statusLabel,
  statusLabels,
} from "./transitions/statuses.ts";
export {
  eventsTo,
  faxesAhead,
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
  lockOrders,
  lockUnalteredOrders,
  noteStatus,
  type TransitionResult,
  transition,
} from "./transitions/transitions.ts";
export type { ToSign, TriedDocument, TrySigning } from "./try-signing.ts";
export {
  endOfUploads,
  keepUpload,
  maxUploads,
  maxUploadsByMember,
  openUpload,
  releaseUnnamed,
  releaseUploads,
  usableUploads,
} from "./uploads.ts";
export type { Notarization, OrderCharge, PublicOrderRow } from "./views.ts";

export const protectedTables = [
  documentRows,
  fillRows,
  signingRows,
  orderRows,
  noteRows,
  templateUseRows,
  correctionRows,
];
