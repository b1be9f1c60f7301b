import { isUnsent, type ShownExchange, testTopic, topics } from "../../../outgoing/webhooks/webhooks.ts";
import { card, codeText, emptyState, facts, pageHead } from "../../ui/components.ts";
import { plainTime, shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { select } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import type { Webhook } from "./list.ts";
import { breakable, type Delivery, outcome, periodChoices, stateChoices } from "./outcome.ts";
import { sentOnce } from "./words.ts";

export type DeliveriesQuery = { webhook: string; topic: string; status: string; period: string; cursor: string };

export type DeliveriesView = {
  query: DeliveriesQuery;
  webhooks: readonly Webhook[];
  page: { items: readonly Delivery[]; nextCursor: string | null };
};

const path = "/dashboard/webhooks/deliveries";

/** All deliveries, with filters, one page at a time. */
export function deliveriesBody({ query, webhooks, page: { items, nextCursor } }: DeliveriesView): Html {
  return html`<p><a href="/dashboard/webhooks">All webhooks</a></p>
${pageHead("Deliveries", sentOnce)}
${filters(query, webhooks)}
${items.length === 0 ? emptyState("No deliveries", "None match these filters.") : table(items)}
${pager(query, nextCursor)}`;
}

const any = { value: "", label: "All" };

const filters = ({ webhook, topic, status, period }: DeliveriesQuery, webhooks: readonly Webhook[]): Html =>
  html`<form class="form filters" method="get" action="${path}" aria-label="Filter">
${select({ name: "webhook", label: "Webhook", required: "sometimes", value: webhook, options: [any, ...webhooks.map(({ id, url }) => ({ value: id, label: url }))] })}
${select({ name: "topic", label: "Topic", required: "sometimes", value: topic, options: [any, ...[...topics, testTopic].map((name) => ({ value: name, label: name }))] })}
${select({ name: "status", label: "Outcome", required: "sometimes", value: status, options: [any, ...stateChoices] })}
${select({ name: "period", label: "Period", required: "sometimes", value: period, options: [any, ...periodChoices] })}
<div class="form-actions"><button type="submit" class="quiet-button">Apply</button><a href="${path}">Clear filters</a></div>
</form>`;

const table = (deliveries: readonly Delivery[]): Html =>
  html`<div id="deliveries">${records(
    "Deliveries, newest first",
    [
      { label: "Event" },
      { label: "Outcome" },
      { label: "URL" },
      { label: "Duration", number: true },
      { label: "When", utc: true },
    ],
    deliveries.map((delivery) => [
      html`<a href="${path}/${delivery.deliveryId}">${breakable(delivery.eventName)}</a>${delivery.replayedFrom && html` <span class="quiet-text">(replay)</span>`}`,
      outcome(delivery),
      html`<span class="breakable">${delivery.destinationUrl}</span>`,
      delivery.durationMs === null ? "–" : `${delivery.durationMs} ms`,
      shortTime(new Date(delivery.createdAt)),
    ]),
  )}</div>`;

function pager(query: DeliveriesQuery, nextCursor: string | null): Html | "" {
  if (query.cursor === "" && nextCursor === null) return "";
  const link = (cursor: string) => {
    const asked = Object.entries({ ...query, cursor }).filter(([, value]) => value !== "");
    return `${path}?${new URLSearchParams(asked)}`;
  };
  return html`<nav class="pager" aria-label="Pages">${query.cursor !== "" && html`<a href="${link("")}">Newest</a>`}${nextCursor !== null && html`<a rel="next" href="${link(nextCursor)}">Next page</a>`}</nav>`;
}

/** One delivery: its outcome, the request that was sent, and the response. */
export function deliveryBody(delivery: Delivery, exchange: ShownExchange, submission: string): Html {
  const { deliveryId, webhookId, eventId, eventName, attempts, durationMs, createdAt, completedAt, replayedFrom } =
    delivery;
  const replay = buttonForm(`/dashboard/webhooks/${webhookId}/deliveries/${deliveryId}/replay`, "Replay", {
    fields: { submission },
  });
  return html`<p><a href="/dashboard/webhooks/${webhookId}">The webhook</a> · <a href="${path}">All deliveries</a></p>
${pageHead("Delivery", breakable(eventName), replay)}
<div class="panels">
${card(
  "outcome",
  "Outcome",
  html`${facts([
    ["Outcome", outcome(delivery)],
    ["URL", html`<span class="breakable">${delivery.destinationUrl}</span>`],
    ["Event ID", codeText(eventId, "event ID")],
    ["Delivery ID", codeText(deliveryId, "delivery ID")],
    ["Replay of", replayedFrom && html`<a href="${path}/${replayedFrom}">an earlier delivery</a>`],
    ["Attempts", String(attempts)],
    ["Time taken", durationMs === null ? null : `${durationMs} ms`],
    ["Created", plainTime(new Date(createdAt))],
    ["Ended", completedAt && plainTime(new Date(completedAt))],
  ])}<p class="quiet">${sentOnce}</p>`,
)}
${wireCards(delivery, exchange)}
</div>`;
}

function wireCards({ state, reason }: Delivery, { request: { payload, headers }, response }: ShownExchange): Html {
  if (state === "pending")
    return card("request", "What we will send", payloadPart(payload, "Not sent yet: this is what would be."));
  if (reason !== null && isUnsent(reason))
    return card("request", "Nothing was sent", payloadPart(payload, "This is what a replay would send."));
  return html`${card("answer", "What your system answered", answerPart(response))}
${card("request", "What we sent", html`${payloadPart(payload, noteOf(payload))}${headerList(headers)}`)}`;
}

function answerPart(response: ShownExchange["response"]): Html {
  if (!response) return html`<p>No answer is on record.</p>`;
  const { statusCode, headers, body, isCut } = response;
  return html`<p>Status ${String(statusCode)}</p>
${body === "" ? html`<p>The answer had no body.</p>` : html`<pre class="wire" tabindex="0">${body}</pre>`}
${isCut && html`<p class="quiet">Only the first 4 KiB are kept.</p>`}${headerList(headers)}`;
}

type Payload = ShownExchange["request"]["payload"];

function noteOf(payload: Payload): string {
  if (payload?.isAsSent === true)
    return "Rebuilt from the records, byte for byte what was sent: its SHA-256 is the one we kept.";
  if (payload?.isAsSent === false) return "The records have changed since: this is what a replay would send.";
  return "The sent body is no longer kept: this is what a replay would send.";
}

function payloadPart(payload: Payload, note: string): Html {
  if (!payload) return html`<p>The record that this event was about no longer exists.</p>`;
  return html`<pre class="wire" tabindex="0">${payload.text}</pre><p class="quiet">${note}</p>`;
}

const headerList = (headers: Readonly<Record<string, string>>): Html =>
  html`${
    Object.keys(headers).length > 0 &&
    html`<h3>Headers</h3><pre class="wire" tabindex="0">${Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}`)
      .join("\n")}</pre>`
  }`;
