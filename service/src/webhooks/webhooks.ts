export { openWebhooks } from "./open-webhooks.ts";
export { webhooksSection } from "./payload-schemas.ts";
export { webhookRoutes } from "./routes.ts";
export { deleteLapsedSecrets } from "./subscriptions-store.ts";
