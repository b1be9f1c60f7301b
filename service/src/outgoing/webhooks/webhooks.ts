export {
  type DeliveryDeps,
  deliveryFeed,
  deliveryPage,
  oneDelivery,
  replayDelivery,
  sendTest,
} from "./deliveries/deliveries.ts";
export { type ExchangeDeps, readExchange, type ShownExchange } from "./deliveries/exchange.ts";
export { replayFailed } from "./deliveries/replay-failed.ts";
export { pendingDeliveryGauges } from "./deliveries/store.ts";
export { dropOldExchanges, sweepDeliveries } from "./deliveries/sweep.ts";
export { deliveryHeaders } from "./delivery-headers.ts";
export { exchangeColumn } from "./exchange.ts";
export { type FailingWebhook, failingWebhooks } from "./failing.ts";
export { failingMailJobs } from "./failing-mail.ts";
export { openWebhooks, readCa, webhookSecretColumn } from "./open-webhooks.ts";
export { failureText, isUnsent } from "./outbound/failure-text.ts";
export { type FailureReason, failureReasons } from "./outbound/post.ts";
export { webhooksSection } from "./payload-schemas.ts";
export { makePublicKey, readPublicKey, webhookKeyColumn } from "./public-key.ts";
export { webhookRoutes } from "./routes.ts";
export { eventHeader, secretHash, secretKeys, signatureHeader, toleranceSeconds } from "./signing.ts";
export { standardSecret } from "./standard-signature.ts";
export {
  disableWebhook,
  type MadeWebhook,
  webhooksMadeByKey,
  webhooksOfPartner,
} from "./subscriptions/by-operator.ts";
export { topicsField, urlField } from "./subscriptions/fields.ts";
export { bringSecretEndsNearer, deleteExpiredSecrets, webhookRows } from "./subscriptions/store.ts";
export {
  listSubscriptions,
  mayChangeSubscriptions,
  oneSubscription,
  rotateSecret,
  type SubscriptionDeps,
  subscribe,
  unsubscribe,
} from "./subscriptions/subscriptions.ts";
export { isTopic, type Topic, testTopic, topics } from "./topics.ts";
