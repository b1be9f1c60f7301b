import { emptyState } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html, render } from "../../ui/render.ts";
import type { Webhook } from "./list.ts";
import { breakable, type Delivery, outcome } from "./outcome.ts";

export type FeedView = {
  submission: string;
  webhook: Webhook;
  deliveries: readonly Delivery[];
  /** True if the list shows all of `deliveries`; false if it shows only the first few. */
  showAll: boolean;
};

const fewDeliveries = 25;

export const webhookPath = ({ id }: Webhook): string => `/dashboard/webhooks/${id}`;

/** The part of the webhook's page that is refreshed regularly, as HTML. */
export const feedFragment = (view: FeedView): string => render(feed(view));

/** The latest deliveries of a webhook. */
export function feed(view: FeedView): Html {
  const { submission, webhook, deliveries, showAll } = view;
  if (deliveries.length === 0) return emptyState("No deliveries yet", "Send a test to see one arrive.");
  const shown = showAll ? deliveries : deliveries.slice(0, fewDeliveries);
  const left = deliveries.length - shown.length;
  return html`${table(webhook, shown, submission)}${
    left > 0 &&
    html`<nav class="pager" aria-label="More deliveries"><a href="${webhookPath(webhook)}?all=1#deliveries">Show ${String(left)} more</a></nav>`
  }`;
}

const table = (webhook: Webhook, deliveries: readonly Delivery[], submission: string): Html =>
  records(
    "Latest deliveries, newest first",
    [
      { label: "Event" },
      { label: "State" },
      { label: "Attempts", number: true },
      { label: "Status", number: true },
      { label: "Duration", number: true },
      { label: "When", utc: true },
      { label: "Replay" },
    ],
    deliveries.map((delivery) => {
      const { eventName, attempts, lastStatusCode, durationMs, createdAt, replayedFrom } = delivery;
      const at = new Date(createdAt);
      return [
        html`<a href="/dashboard/webhooks/deliveries/${delivery.deliveryId}">${breakable(eventName)}</a>${replayedFrom && html` <span class="quiet-text">(replay)</span>`}`,
        outcome(delivery),
        String(attempts),
        lastStatusCode === null ? "–" : String(lastStatusCode),
        durationMs === null ? "–" : `${durationMs} ms`,
        shortTime(at),
        buttonForm(`${webhookPath(webhook)}/deliveries/${delivery.deliveryId}/replay`, "Replay", {
          fields: { submission },
          kind: "quiet-button",
          about: `${eventName} of ${createdAt}`,
        }),
      ];
    }),
  );
