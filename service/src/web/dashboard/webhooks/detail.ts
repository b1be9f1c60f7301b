import type { deliveryFeed } from "../../../webhooks/webhooks.ts";
import { card, codeText, emptyState, facts, pageHead } from "../../ui/components.ts";
import { shortTime, time } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { select } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html, render } from "../../ui/render.ts";
import type { FormSubmission } from "../submit-once.ts";
import { askDeciders } from "./deciders.ts";
import { topicList, type Webhook } from "./list.ts";
import { breakable, outcome, periodChoices } from "./outcome.ts";
import { sentOnce } from "./words.ts";

export type Delivery = Awaited<ReturnType<typeof deliveryFeed>>["deliveries"][number];

export type WebhookView = {
  webhook: Webhook;
  deliveries: readonly Delivery[];
  /** Who may rotate its secret and delete it; null when the caller may. */
  deciders: readonly string[] | null;
  /** Checks the signatures of the firm's deliveries. */
  publicKey: string;
  /** Whether all of them are shown, or the first few. */
  showAll: boolean;
};

const fewDeliveries = 25;

const pathOf = ({ id }: Webhook): string => `/dashboard/webhooks/${id}`;

/** One webhook: its events, its actions, and its latest deliveries. */
export function webhookBody(view: WebhookView & FormSubmission): Html {
  const { webhook, submission } = view;
  const { id, url, topics, active, createdAt } = webhook;
  const path = pathOf(webhook);
  const feedPath = `${path}/deliveries${view.showAll ? "?all=1" : ""}`;
  return html`<p><a href="/dashboard/webhooks">All webhooks</a></p>
${pageHead("Webhook", html`<span class="breakable">${url}</span>`, buttonForm(`${path}/test`, "Send a test"))}
<div class="panels">
${card(
  "about",
  "Events",
  facts([
    ["Topics", topicList(topics)],
    ["State", active ? "Active" : "Off"],
    ["Created", time(new Date(createdAt))],
    ["ID", codeText(id, "webhook ID")],
  ]),
)}
${card(
  "deliveries",
  "Latest deliveries",
  html`<div id="feed" hx-get="${feedPath}" hx-trigger="every 5s" hx-swap="innerMorph">
${feed(view)}
</div>
<p class="quiet"><span class="with-script">This list updates automatically.</span><span class="without-script">Reload this page for the latest.</span> ${sentOnce} A replay is built from today’s records, with the same event ID.</p>
<p><a href="/dashboard/webhooks/deliveries?webhook=${id}">All deliveries, with filters</a></p>`,
)}
${card("failed", "Replay what failed", replayForm(path))}
${card(
  "secret",
  "Signing secret",
  html`${publicKey(view)}${
    view.deciders
      ? askDeciders(view.deciders)
      : html`<p>Rotate the secret when someone may have seen it, and from time to time.</p>${askFirst(rotation(path, submission))}`
  }`,
)}
${!view.deciders && card("end", "Delete webhook", askFirst(deletion(path)))}
</div>`;
}

const publicKey = ({ publicKey: key }: WebhookView): Html =>
  html`<p>Deliveries also carry the headers of <a href="https://www.standardwebhooks.com">Standard Webhooks</a>. This public key checks their <code>v1a</code> signatures:</p>
<p>${codeText(key, "public key")}</p>`;

const replayForm = (path: string): Html =>
  html`<form class="form" method="post" action="${path}/replay-failed">
${select({ name: "period", label: "Everything that failed in", required: "sometimes", value: "day", options: periodChoices })}
<div class="form-actions"><button type="submit" class="quiet-button">Send again</button></div>
</form>
<p class="quiet">Each event that did not arrive is sent again once, oldest first, at most 200 at a time.</p>`;

const rotation = (path: string, submission: string) => ({
  label: "Rotate the secret",
  about: "of this webhook",
  text: "You get a new secret, which is shown once. For 24 hours we sign with both the old and the new one, so your system can switch without a gap.",
  confirm: "Rotate now",
  action: `${path}/rotate`,
  fields: { submission },
});

const deletion = (path: string) => ({
  label: "Delete",
  about: "this webhook",
  text: "We stop sending to this URL and erase its secrets. This cannot be undone.",
  confirm: "Delete now",
  action: `${path}/delete`,
});

/** The part that refreshes itself. */
export const feedFragment = (view: WebhookView): string => render(feed(view));

function feed(view: WebhookView): Html {
  const { webhook, deliveries, showAll } = view;
  if (deliveries.length === 0) return emptyState("No deliveries yet", "Send a test to see one arrive.");
  const shown = showAll ? deliveries : deliveries.slice(0, fewDeliveries);
  const left = deliveries.length - shown.length;
  return html`${table(webhook, shown)}${
    left > 0 &&
    html`<nav class="pager" aria-label="More deliveries"><a href="${pathOf(webhook)}?all=1#deliveries">Show ${String(left)} more</a></nav>`
  }`;
}

const table = (webhook: Webhook, deliveries: readonly Delivery[]): Html =>
  records(
    "Latest deliveries, newest first",
    [
      { label: "Event" },
      { label: "State" },
      { label: "Attempts", number: true },
      { label: "Status", number: true },
      { label: "Duration", number: true },
      { label: "When (UTC)" },
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
        buttonForm(`${pathOf(webhook)}/deliveries/${delivery.deliveryId}/replay`, "Replay", {
          kind: "quiet-button",
          about: `${eventName} of ${createdAt}`,
        }),
      ];
    }),
  );
