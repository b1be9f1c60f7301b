import type { Delivery, Topic, Webhook } from "@signsealship/sdk";
import { topics } from "@signsealship/sdk";
import { defineVerb, lines, type Options, UsageError, type Verb } from "../verb.ts";
import { ask, partnerOf, partnerOptions } from "./api.ts";
import { requireTopic } from "./topics.ts";

const states = ["pending", "delivered", "failed"] as const;

const deliveryOptions = {
  ...partnerOptions,
  status: { type: "string", help: "Only those that are pending, delivered or failed.", values: states },
  topic: { type: "string", help: "Only of this topic.", values: topics },
  webhook: { type: "string", value: "ID", help: "Only of the webhook with this ID." },
  after: { type: "string", value: "CURSOR", help: "CURSOR of the page before." },
} as const satisfies Options;

const webhookLine = ({ id, url, topics: chosen }: Webhook): string => [id, url, chosen.join(",")].join("  ");

const deliveryLine = ({ deliveryId, createdAt, eventName, state, lastStatusCode, reason, destinationUrl }: Delivery) =>
  [deliveryId, createdAt, eventName, state, lastStatusCode ?? reason ?? "-", destinationUrl].join("  ");

const chosenTopics = (text: string | undefined): Topic[] =>
  (text?.split(",") ?? [...topics]).map((topic) => {
    const name = requireTopic("--topics", topic.trim());
    const found = topics.find((each) => each === name);
    if (!found) throw new UsageError(`--topics must not be ${name}: it is sent by webhook test alone`);
    return found;
  });

/** The verbs for partners about webhooks, over HTTP. */
export const partnerWebhookVerbs: readonly Verb[] = [
  defineVerb({
    name: "webhook list",
    args: [],
    options: partnerOptions,
    summary: "Lists your webhooks, newest first.",
    async run(_args, values) {
      const webhooks = await ask(partnerOf(values), (client) => client.webhooks.list());
      return { json: { webhooks }, text: webhooks.map(webhookLine).join("\n") };
    },
  }),
  defineVerb({
    name: "webhook create",
    args: ["URL"],
    options: {
      ...partnerOptions,
      topics: {
        type: "string",
        value: "TOPIC[,TOPIC]",
        help: "Only these topics, separated by commas. Default: all.",
        values: topics,
      },
    },
    summary: "Makes a webhook, and prints its secret this once.",
    examples: ["webhook create https://hooks.example.com/signing --topics order.created,payment.cleared"],
    async run([url = ""], values) {
      const chosen = chosenTopics(values.topics);
      const created = await ask(partnerOf(values), ({ webhooks }) => webhooks.create({ url, topics: chosen }));
      return { json: created, text: lines({ ...created, topics: created.topics.join(",") }) };
    },
  }),
  defineVerb({
    name: "webhook delete",
    args: ["WEBHOOK_ID"],
    options: partnerOptions,
    summary: "Ends a webhook for good.",
    async run([id = ""], values) {
      const json = await ask(partnerOf(values), ({ webhooks }) => webhooks.remove(id));
      return { json, text: `${id} is deleted.` };
    },
  }),
  defineVerb({
    name: "webhook test",
    args: ["WEBHOOK_ID"],
    options: partnerOptions,
    summary: "Sends a webhook.test event to a webhook.",
    async run([id = ""], values) {
      const json = await ask(partnerOf(values), ({ webhooks }) => webhooks.test(id));
      return { json, text: lines(json) };
    },
  }),
  defineVerb({
    name: "webhook deliveries",
    args: [],
    options: deliveryOptions,
    summary: "Lists what was sent to your webhooks, newest first, a hundred at a time.",
    examples: ["webhook deliveries --status failed"],
    async run(_args, values) {
      const text = values.status;
      const status = states.find((each) => each === text);
      if (text !== undefined && !status) throw new UsageError(`--status must be one of ${states.join(", ")}`);
      const { topic, webhook, after: cursor } = values;
      const page = await ask(partnerOf(values), ({ webhooks }) =>
        webhooks.deliveries({ status, topic, webhook, cursor, limit: 100 }),
      );
      const more = page.nextCursor === null ? [] : [`More: --after ${page.nextCursor}`];
      return { json: page, text: [...page.deliveries.map(deliveryLine), ...more].join("\n") };
    },
  }),
  defineVerb({
    name: "webhook replay",
    args: ["DELIVERY_ID"],
    options: partnerOptions,
    summary: "Sends the event of a delivery again, with a body of today's records.",
    async run([id = ""], values) {
      const json = await ask(partnerOf(values), ({ webhooks }) => webhooks.replay(id));
      return { json, text: lines(json) };
    },
  }),
];
