export {
  deliveryFeed,
  deliveryPage,
  oneDelivery,
  replayDelivery,
  sendTest,
} from "./deliveries/deliveries.ts";
export { readExchange, type ShownExchange } from "./deliveries/exchange.ts";
export {
  countHeldDeliveries,
  discardHeldDeliveries,
  dropOldExchanges,
  holdDeliveries,
  releaseHeldDeliveries,
  sweepDeliveries,
} from "./deliveries/maintenance.ts";
export { replayFailed } from "./deliveries/replay-failed.ts";
export { pendingDeliveryGauges } from "./deliveries/store.ts";

export { type FailingWebhook, failingMail, failingWebhooks } from "./failing-mail.ts";
export { openWebhooks, protectedTables, readCa } from "./open-webhooks.ts";
export { failureText, isUnsent } from "./outbound/failure-text.ts";

export { webhooksSection } from "./payload-schemas.ts";
export { makePublicKey, readPublicKey } from "./public-key.ts";
export { type WebhooksDeps, webhookRoutes } from "./routes.ts";
export { secretHash, signatureHeader, toleranceSeconds } from "./signing.ts";
export { standardSecret } from "./standard-signature.ts";
export { topicsField, urlField } from "./subscriptions/fields.ts";
export { bringSecretEndsNearer, deleteExpiredSecrets, firstWebhook, webhookHealth } from "./subscriptions/store.ts";
export {
  disableWebhook,
  listSubscriptions,
  mayChangeSubscriptions,
  oneSubscription,
  rotateSecret,
  type SubscriptionRecord,
  subscribe,
  unsubscribe,
  webhooksCreatedByKey,
  webhooksOfPartner,
} from "./subscriptions/subscriptions.ts";
export { isTopic, type Topic, testTopic, topics } from "./topics.ts";
