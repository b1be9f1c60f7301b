import type { Client, OrderFields } from "@signsealship/sdk";
import { StartupError } from "../../kernel/platform/errors.ts";
import { defineVerb, lines, UsageError, type Verb } from "../verb.ts";
import { ask, partnerOf, partnerOptions } from "./api.ts";
import { allTopics, requireTopic } from "./topics.ts";

/** The ids of the sandbox objects that were created to cause an event. */
type Created = Record<string, string>;

/** Reads the example document. */
type Example = () => Promise<Buffer>;

const plain: OrderFields = { email: "client@example.com", byodConfirmed: true, svcSign: true };
const shipped: OrderFields = {
  ...plain,
  svcShip: true,
  shipName: "Jane Roe",
  shipLine1: "350 Fifth Avenue",
  shipCity: "New York",
  shipState: "NY",
  shipPostal: "10118",
};

async function order({ orders }: Client, example: Example, fields = plain): Promise<{ orderCode: string }> {
  const { orderCode } = await orders.create(fields, { pdf: await example(), fileName: "lien-release.pdf" });
  return { orderCode };
}

async function room(client: Client, example: Example): Promise<{ orderCode: string; roomCode: string }> {
  const { orderCode } = await order(client, example);
  const { roomCode } = await client.rooms.create({ name: "Made by signsealship trigger" });
  await client.rooms.attach(roomCode, { orderCode });
  return { orderCode, roomCode };
}

type Milestone = "signature.completed" | "shipment.delivered";

async function advanced(client: Client, example: Example, fields: OrderFields, event: Milestone) {
  const created = await order(client, example, fields);
  await client.sandbox.advance(created.orderCode, event);
  return created;
}

async function testEvent({ webhooks }: Client): Promise<Created> {
  const [newest] = await webhooks.list();
  if (!newest)
    throw new StartupError(
      "webhook.test is sent to a webhook, and this key has none; listen receives every other topic",
    );
  const { deliveryId } = await webhooks.test(newest.id);
  return { webhookId: newest.id, deliveryId };
}

/**
 * For each topic that can be triggered, a function that creates sandbox objects, which then cause a real event of that
 * topic.
 */
const makers: Readonly<Record<string, (client: Client, example: Example) => Promise<Created>>> = {
  "order.created": order,
  "payment.cleared": async (client, example) => {
    const created = await order(client, example);
    await client.sandbox.checkout(created.orderCode);
    return created;
  },
  "signature.completed": (client, example) => advanced(client, example, plain, "signature.completed"),
  "shipment.delivered": (client, example) => advanced(client, example, shipped, "shipment.delivered"),
  "passport.sealed": async ({ passports }, example) => {
    const { passportId, verifyCode } = await passports.seal(await example());
    return { passportId, verifyCode };
  },
  "room.order_attached": room,
  "room.passport_sealed": async (client, example) => {
    const { roomCode } = await room(client, example);
    const { verifyCode } = await client.rooms.seal(roomCode);
    return { roomCode, verifyCode };
  },
  "webhook.test": testEvent,
};

export const triggerVerb = (example: Example): Verb =>
  defineVerb({
    name: "trigger",
    args: ["TOPIC"],
    values: allTopics,
    options: partnerOptions,
    summary: `Makes a test event happen: places an order in the sandbox and walks it as far as it takes, seals the example document, or opens a room. What comes on the way is sent, too. For test keys. Topics: ${allTopics.join(", ")}.`,
    examples: [
      "trigger payment.cleared --key svc_pk_test_...",
      "trigger shipment.delivered --base-url https://sign.example.com",
    ],
    async run([topic = ""], values) {
      const make = makers[requireTopic("TOPIC", topic)];
      const partner = partnerOf(values);
      if (!partner.key.startsWith("svc_pk_test_"))
        throw new UsageError("--key must be a test key, svc_pk_test_...: trigger makes orders that nobody placed");
      const created = make ? await ask(partner, (client) => make(client, example)) : {};
      return { json: { topic, ...created }, text: lines({ triggered: topic, ...created }) };
    },
  });
