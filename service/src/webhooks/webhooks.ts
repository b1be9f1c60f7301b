export { type DeliveryDeps, deliveryFeed, oneDelivery, replayDelivery, sendTest } from "./deliveries/deliveries.ts";
export { sweepDeliveries } from "./deliveries/sweep.ts";
export { openWebhooks, readCa, webhookSecretColumn } from "./open-webhooks.ts";
export { type FailureReason, failureReasons } from "./outbound/post.ts";
export { webhooksSection } from "./payload-schemas.ts";
export { webhookRoutes } from "./routes.ts";
export { eventHeader, signatureHeader, toleranceSeconds } from "./signing.ts";
export {
  disableWebhook,
  type MadeWebhook,
  webhooksMadeByKey,
  webhooksOfPartner,
} from "./subscriptions/by-operator.ts";
export { topicsField, urlField } from "./subscriptions/fields.ts";
export { deleteExpiredSecrets } from "./subscriptions/store.ts";
export {
  listSubscriptions,
  mayChangeSubscriptions,
  oneSubscription,
  rotateSecret,
  type SubscriptionDeps,
  subscribe,
  unsubscribe,
} from "./subscriptions/subscriptions.ts";
export { type Topic, topics } from "./topics.ts";
