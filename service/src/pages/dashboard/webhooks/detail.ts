import { isTopic } from "../../../outgoing/webhooks/webhooks.ts";
import { card, codeText, facts, pageHead } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, select } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { askDeciders } from "./deciders.ts";
import { type FeedView, feed, webhookPath } from "./feed.ts";
import { periodChoices } from "./outcome.ts";
import { sentOnce, topicWords } from "./words.ts";

/** The period of the failed deliveries that a replay left out. A further replay can send them. */
export type Rest = { since: string; until: string };

export type WebhookView = FeedView & {
  /**
   * The people who may rotate the webhook's secret and delete the webhook. Null if the signed-in person is one of them.
   */
  deciders: readonly string[] | null;
  /** The public key that verifies the signatures of the firm's deliveries; null until it is created. */
  publicKey: string | null;
  /** The period whose failed deliveries the last replay left out; null if it left out none, or there was no replay. */
  rest: Rest | null;
  /** The reason why the form was rejected. */
  error?: string;
};

/** One webhook: its events, its actions, and its latest deliveries. */
export function webhookBody(view: WebhookView): Html {
  const { webhook, submission } = view;
  const { id, url, topics, active, createdAt } = webhook;
  const path = webhookPath(webhook);
  const feedPath = `${path}/deliveries${view.showAll ? "?all=1" : ""}`;
  return html`<p><a href="/dashboard/webhooks">All webhooks</a></p>
${pageHead("Webhook", html`<span class="breakable">${url}</span>`, buttonForm(`${path}/test`, "Send a test", { fields: { submission } }))}
<div class="panels">
${card(
  "about",
  "Events",
  facts([
    ["Topics", topicFacts(topics)],
    ["State", active ? "Active" : "Off"],
    ["Created", plainTime(new Date(createdAt))],
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
${card("failed", "Replay what failed", html`${errorSummary(view.error)}${view.rest ? restForm(path, submission, view.rest) : replayForm(path, submission)}`)}
${card("public-key", "Public key", publicKey(view, path))}
${card(
  "secret",
  "Signing secret",
  view.deciders
    ? askDeciders(view.deciders)
    : html`<p>Rotate the secret when someone may have seen it, and from time to time.</p>${askFirst(rotation(path, submission))}`,
)}
${!view.deciders && card("end", "Delete webhook", askFirst(deletion(path)))}
</div>`;
}

/** A list of topics, each with its meaning and its name. */
const topicFacts = (names: readonly string[]): Html =>
  html`<ul class="topic-facts">${names.map((name) => html`<li>${isTopic(name) && html`${topicWords[name]} `}<code>${name}</code></li>`)}</ul>`;

const publicKey = ({ publicKey: key, deciders }: WebhookView, path: string): Html => {
  const standard = html`Deliveries also carry the headers of <a href="https://www.standardwebhooks.com">Standard Webhooks</a>.`;
  if (key !== null)
    return html`<p>${standard} This public key checks their <code>v1a</code> signatures:</p>
<p>${codeText(key, "public key")}</p>`;
  return html`<p>${standard} With a public key of your firm they also have a <code>v1a</code> signature, which others can check without the secret.</p>
${!deciders && buttonForm(`${path}/public-key`, "Make a public key", { kind: "quiet-button" })}`;
};

const replayForm = (path: string, submission: string): Html =>
  html`<form class="form" method="post" action="${path}/replay-failed">
${hiddenFields({ submission })}${select({ name: "period", label: "Everything that failed in", required: "sometimes", value: "day", options: periodChoices })}
<div class="form-actions"><button type="submit" class="quiet-button">Send again</button></div>
</form>
<p class="quiet">Each event that was first sent in that time and did not arrive is sent again once, oldest first, at most 200 at a time.</p>`;

const restForm = (path: string, submission: string, { since, until }: Rest): Html =>
  html`<p>More failed between ${plainTime(new Date(since))} and ${plainTime(new Date(until))}. Send the next 200 when these have ended.</p>
${buttonForm(`${path}/replay-failed`, "Send the rest again", { fields: { since, until, submission }, kind: "quiet-button" })}
<p class="quiet">What was sent again is not sent a third time. <a href="${path}#failed">Choose another time</a></p>`;

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
