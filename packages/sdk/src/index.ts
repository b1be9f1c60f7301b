export type {
  BillingStatement,
  BillingStatementDetail,
  BillingStatements,
  OrderReceipt,
  OrderReceipts,
  ReceivedPayment,
  StatementLine,
} from "./billing.ts";
export type { BulkAnswer, BulkFields, BulkProgress, BulkRow, BulkRows } from "./bulk.ts";
export { type Client, createClient, type Me } from "./client.ts";
export type { NamedPdf, Pdf } from "./documents.ts";
export { ConnectionError, ServiceRefusal, type WebhookReason, WebhookRefusal } from "./errors.ts";
export {
  type ChainedEvent,
  type ChainFault,
  chainHead,
  chainStart,
  checkChain,
  type Place,
  parseChain,
} from "./event-chain.ts";
export type { EventFeed, EventQuery, FeedEvent } from "./events.ts";
export type { Fill, FillList, FillQuestions, FillSummary, NewFill } from "./fills.ts";
export type { AccessAnswer, AccessRequest, Analytics, Launchpad, Playbook } from "./firm.ts";
export { type EmbedEvent, type MountedSigning, type MountOptions, mountSigning } from "./mount-signing.ts";
export type {
  CreatedOrder,
  DocumentNotice,
  Notarization,
  OrderCharge,
  OrderDetail,
  OrderFields,
  OrderLine,
  OrderList,
  OrderSummary,
} from "./order-types.ts";
export type { Correction, OrderCorrections, OrderQuery, PriceEstimate, PriceQuestion } from "./orders.ts";
export type { LogNote, Passport, PassportVerification, PassportWebhook, SealedPassport } from "./passports.ts";
export type {
  ClosingManifest,
  ClosingPassport,
  ClosingVerification,
  CreatedRoom,
  OrderCard,
  Participant,
  RoomCharge,
  RoomCheckout,
  RoomCorrection,
  RoomList,
  RoomSummary,
  RoomView,
  StatusGroup,
} from "./rooms.ts";
export type {
  SandboxOutcome,
  SandboxRoomCheckout,
  SandboxStep,
  TestClock,
  TestMethod,
  TestPaymentMethod,
} from "./sandbox.ts";
export type {
  FieldOption,
  Language,
  NumberFormat,
  RolePerson,
  ShowWhen,
  SignatureField,
  Signer,
  SignerAuth,
} from "./signer-fields.ts";
export type {
  CopyLink,
  CopyLinks,
  EmbeddedSigner,
  EmbedOrigin,
  EmbedOrigins,
  EnvelopeVerification,
  InPersonAnswer,
  OrderDocument,
  OrderDocuments,
  OrderInPerson,
  OrderSignerState,
  OrderSigners,
  SignerReplacement,
} from "./signing.ts";
export type {
  NewTemplateRole,
  ProposedField,
  ProposedFields,
  ProposedOption,
  SavedTemplate,
  Template,
  TemplateFields,
  TemplateList,
  TemplateMatches,
  TemplateRole,
  TemplateSummary,
  TemplateVersionFields,
} from "./templates.ts";
export type { ClientOptions, SentRequest, SentResponse, WriteOptions } from "./transport.ts";
export type { OrderEventData, RecordingEventData, SignerEventData, WebhookEvent } from "./webhook-events.ts";
export { parseWebhook, signatureHeader, signWebhook, standardSecret, verifyWebhook } from "./webhook-signatures.ts";
export {
  type CreatedWebhook,
  type Delivery,
  type DeliveryExchange,
  type DeliveryList,
  type DeliveryQuery,
  type ReplayedFailures,
  type RotatedSecret,
  type SignatureExample,
  type Topic,
  topics,
  type Webhook,
  type WebhookPublicKey,
} from "./webhooks.ts";
