import { requirePartner } from "../../firms/partners/partners.ts";
import { disableWebhook, type SubscriptionRecord, webhooksOfPartner } from "../../outgoing/webhooks/webhooks.ts";
import { defineVerb, lines, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

export const webhookLine = ({ webhookId, environment, url, topics, createdBy }: SubscriptionRecord): string =>
  `${webhookId}  ${environment}  ${url}  ${topics.join(",")}  by ${createdBy}`;

export const webhookVerbs: Verb[] = [
  defineVerb({
    name: "webhook list",
    args: ["PARTNER_ID"],
    options: {},
    summary: "Lists a partner's webhooks, live and test, each with the key or member that made it.",
    run: ([partnerId = ""]) =>
      withResources(async (resources) => {
        await requirePartner(resources, partnerId);
        const webhooks = await webhooksOfPartner(resources, partnerId);
        return { json: { webhooks }, text: webhooks.map(webhookLine).join("\n") };
      }),
  }),
  defineVerb({
    name: "webhook disable",
    args: ["WEBHOOK_ID"],
    options: {},
    summary: "Ends a webhook for good, effective with the next delivery. What was sent stays on record.",
    run: ([webhookId = ""]) =>
      withResources(async (resources) => {
        const answer = await disableWebhook(resources, webhookId);
        return { json: answer, text: lines(answer) };
      }),
  }),
];
