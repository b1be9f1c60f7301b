export { type Client, createClient, type Me } from "./client.ts";
export { ServiceRefusal } from "./errors.ts";
export type {
  CreatedOrder,
  OrderDetail,
  OrderFields,
  OrderLine,
  OrderList,
  OrderSummary,
  Pdf,
  SandboxOutcome,
  SandboxStep,
  SignatureField,
  Signer,
  SignerAuth,
} from "./orders.ts";
export type { Passport, PassportVerification, PassportWebhook, SealedPassport } from "./passports.ts";
export type {
  ClosingManifest,
  ClosingPassport,
  ClosingVerification,
  CreatedRoom,
  OrderCard,
  Participant,
  RoomSummary,
  RoomView,
  StatusGroup,
} from "./rooms.ts";
export type {
  EnvelopeVerification,
  OrderDocument,
  OrderDocuments,
  OrderSignerState,
  OrderSigners,
  SignerReplacement,
} from "./signing.ts";
export type { ClientOptions } from "./transport.ts";
export { verifyWebhook } from "./verify-webhook.ts";
export type { OrderEventData, WebhookEvent } from "./webhook-events.ts";
export type {
  CreatedWebhook,
  Delivery,
  DeliveryQuery,
  RotatedSecret,
  SignatureExample,
  Topic,
  Webhook,
} from "./webhooks.ts";
