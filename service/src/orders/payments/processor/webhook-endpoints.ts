/** The events that the processor sends to this service. The account's owner selects them at the processor. */
import type { Stripe } from "stripe";

/** The path at which this service receives the processor's events. */
export const webhookPath = "/api/payments/stripe/webhook";

/**
 * The event types that the service needs to track money and payment methods. The service also reads a few other types,
 * which only repeat the content of these.
 */
export const neededEvents: readonly string[] = [
  ...["completed", "expired", "async_payment_succeeded", "async_payment_failed"].map(
    (each) => `checkout.session.${each}`,
  ),
  ...["succeeded", "processing", "payment_failed", "canceled"].map((each) => `payment_intent.${each}`),
  "setup_intent.succeeded",
  "setup_intent.setup_failed",
  "mandate.updated",
  "payment_method.automatically_updated",
  "charge.refunded",
  ...["created", "updated", "closed"].map((each) => `charge.dispute.${each}`),
  "refund.created",
  "refund.updated",
  "refund.failed",
];

export type WebhookEndpoints = {
  /**
   * The needed event types that the processor doesn't send to this URL.
   * @returns null when the account has no enabled endpoint with the URL
   * @throws Error when the processor can't be asked, or the key may not read endpoints
   */
  missingEvents: (url: string) => Promise<string[] | null>;
};

/**
 * The name that selects all events, except those that must be selected by their own names. None of the needed events is
 * such an event.
 */
const everything = "*";

export const webhookEndpoints = (sdk: () => Promise<Stripe>): WebhookEndpoints => ({
  async missingEvents(url) {
    const sent = new Set<string>();
    let isRegistered = false;
    for await (const { url: to, status, enabled_events: types } of (await sdk()).webhookEndpoints.list({ limit: 100 }))
      if (status === "enabled" && isSame(to, url)) {
        isRegistered = true;
        for (const type of types) sent.add(type);
      }
    if (!isRegistered) return null;
    return sent.has(everything) ? [] : neededEvents.filter((type) => !sent.has(type));
  },
});

/** Compares two URLs without their queries, and without a slash at the end. */
function isSame(one: string, other: string): boolean {
  const [left, right] = [URL.parse(one), URL.parse(other)];
  const pathOf = (url: URL) => url.pathname.replace(/\/$/, "");
  return left !== null && right !== null && left.origin === right.origin && pathOf(left) === pathOf(right);
}
