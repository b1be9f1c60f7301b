import { type listSubscriptions, topics } from "../../../outgoing/webhooks/webhooks.ts";
import { card, emptyState, pageHead } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { checkbox, errorSummary, field } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";
import { askDeciders } from "./deciders.ts";
import { sentOnce, topicWords } from "./words.ts";

export type Webhook = Awaited<ReturnType<typeof listSubscriptions>>[number];

export type WebhooksView = FormSubmission & {
  webhooks: readonly Webhook[];
  /** The people who may create a webhook. Null if the signed-in person is one of them. */
  deciders: readonly string[] | null;
  error?: string;
  typed?: FormValues;
};

const path = "/dashboard/webhooks";

/** The firm's webhooks, and a form that creates one. */
export function webhooksBody(view: WebhooksView): Html {
  const test = view.environment === "test" ? " Webhooks for test orders are really sent." : "";
  const lead = `We notify your system of every step by sending signed messages to a URL of yours.${test}`;
  return html`${pageHead("Webhooks", lead)}
<div class="panels">
${card("webhooks", "Your webhooks", html`${list(view.webhooks)}<p class="quiet">${sentOnce} <a href="${path}/deliveries">All deliveries</a></p>`)}
${card("new-webhook", "Create a webhook", view.deciders ? askDeciders(view.deciders) : newWebhook(view))}
</div>`;
}

const list = (webhooks: readonly Webhook[]): Html =>
  webhooks.length === 0
    ? emptyState("No webhooks yet", "Once there is one, a test event can be sent from its page.")
    : records(
        "Your webhooks, newest first",
        [{ label: "URL" }, { label: "Topics" }, { label: "State" }, { label: "Created", utc: true }],
        webhooks.map(({ id, url, topics, active, createdAt }) => [
          html`<a href="${path}/${id}">${url}</a>`,
          topicList(topics),
          active ? "Active" : "Off",
          shortTime(new Date(createdAt)),
        ]),
      );

/** Topic names; no name breaks across lines. */
const topicList = (topics: readonly string[]): Html =>
  html`<span class="topics">${topics.map((topic) => html`<code>${topic}</code>`)}</span>`;

/** The name of a topic's checkbox. Each box has its own name, because the form parser keeps only one value per name. */
const boxName = (topic: string): string => `topic-${topic}`;

/** The topics whose boxes are ticked. */
export const chosenTopics = (form: FormValues): string[] => topics.filter((topic) => form[boxName(topic)] === "on");

function newWebhook(view: WebhooksView): Html {
  const { error, typed = {} } = view;
  return html`${errorSummary(error)}
<form class="form" method="post" action="${path}">
${submissionFields(view)}
${field({
  name: "url",
  label: "URL",
  type: "url",
  value: typed["url"] ?? "",
  required: true,
  maxLength: 2048,
  autocomplete: "off",
  hint: "It must start with https:// and be reachable from the internet. On a laptop no webhook is needed: bin/signsealship listen --forward-to http://localhost:3000/hook.",
})}
<fieldset class="topic-choice"><legend>Topics</legend>
${topics.map((topic) => checkbox({ name: boxName(topic), label: topic, hint: topicWords[topic], checked: typed[boxName(topic)] === "on" }))}
</fieldset>
<div class="form-actions"><button type="submit">Create webhook</button></div>
</form>`;
}
