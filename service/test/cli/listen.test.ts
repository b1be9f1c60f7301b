import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { parseWebhook } from "@signsealship/sdk";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { examplePdf } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { listen } from "../../src/cli/partner/listen.ts";
import { triggerVerb } from "../../src/cli/partner/trigger.ts";
import type { Values } from "../../src/cli/verb.ts";

type Received = { headers: IncomingHttpHeaders; body: Buffer };

let harness: Harness;
let receiver: Server;
let key: string;
let url: string;
let listening: ChildProcess;
let printed = "";
const received: Received[] = [];

before(async () => {
  harness = await openHarness();
  ({ key } = await newPartner(harness.service));
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(received.length === 1 ? 500 : 204).end();
  }).listen(0, "127.0.0.1");
  await once(receiver, "listening");
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const program = join(import.meta.dirname, "../../src/cli/main.ts");
  const args = [program, "listen", "--key", key, "--base-url", harness.service.baseUrl, "--forward-to", url];
  listening = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  listening.stdout?.on("data", (text: Buffer) => {
    printed += text;
  });
  await until(() => /Signing secret/.test(printed));
});
after(async () => {
  listening.kill();
  receiver.close();
  await harness.close();
});

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const here = () => ({ key, "base-url": harness.service.baseUrl });
const trigger = triggerVerb(async () => examplePdf);
const triggered = (topic: string, values: Values = here()) => trigger.run([topic], values);
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => assert.fail("not refused"),
    (error: Error) => error.message,
  );

test("listen posts events to this machine as a webhook would, and prints the receiver's answers", async () => {
  const { text } = await triggered("signature.completed");
  const [, orderCode] = /^triggered: signature.completed\norderCode: ([0-9a-f]{40})$/.exec(text) ?? [];
  // The topics to compare. Events about single signers may arrive in between, and are left out.
  const topics = ["order.created", "payment.cleared", "signature.completed"];
  const ofOrder = () => received.filter(({ headers }) => topics.includes(String(headers["service-event"])));
  await until(() => ofOrder().length >= 3);
  const first = ofOrder().slice(0, 3);
  const [, secret = ""] = /Signing secret: (svc_whsec_[a-z2-7]{52}) /.exec(printed) ?? [];
  const events = await Promise.all(
    first.map(({ headers, body }) => parseWebhook(body, headers["service-signature"]?.toString(), secret)),
  );
  assert.deepEqual(
    events.map(({ id }) => id),
    topics.map((topic) => `${topic}:${orderCode}`),
  );
  assert.deepEqual(
    first.map(({ headers }) => headers["service-event"]),
    topics,
  );
  const chain = ofOrder()[2]?.headers["service-chain"]?.toString() ?? "";
  const [, n] = /^n=(\d+); head=[0-9a-f]{64}$/.exec(chain) ?? [];
  assert.ok(Number(n) >= 3, chain);
  await until(() => printed.includes(`n=${n}  `));
  assert.match(printed, new RegExp(`n=1  order.created  order.created:${orderCode}  -> answered 500 in \\d+ ms\n`));
  assert.match(
    printed,
    new RegExp(`n=${n}  signature.completed  signature.completed:${orderCode}  -> answered 204 in \\d+ ms\n`),
  );
});

test("trigger causes events of rooms, shipments and passports, only with test keys", async () => {
  for (const topic of ["room.passport_sealed", "shipment.delivered", "passport.sealed"]) {
    await triggered(topic);
    await until(() => received.some(({ headers }) => headers["service-event"] === topic));
  }
  assert.match(await refusal(triggered("webhook.test")), /this key has none/);
  const live = `svc_pk_${"a".repeat(52)}`;
  assert.match(await refusal(triggered("order.created", { ...here(), key: live })), /--key must be a test key/);
});

test("a wrong topic, key or address is named, with the existing topics", async () => {
  assert.match(
    await refusal(triggered("order.create")),
    /^TOPIC must be a topic, not order.create. Did you mean order.created\? Topics:\n {2}passport.sealed\n/,
  );
  const wrong: [Values, RegExp][] = [
    [{ topics: "x" }, /--topics must be a topic, not x/],
    [{ "forward-to": "ftp://x" }, /--forward-to must be an http\(s\) URL/],
    ...["https://example.com/x", "http://127.0.0.1.example.com", "http://[2001:db8::1]/", "10.0.0.1:80"].map(
      (url): [Values, RegExp] => [{ "forward-to": url }, /--forward-to must be a URL on this machine/],
    ),
    [{ since: "yesterday" }, /--since must be the number of an event/],
    [{ key: "svc_pk_test_x" }, /^--key: /],
    [{ "base-url": "http://127.0.0.1:9" }, /^--base-url: No answer from/],
  ];
  for (const [values, message] of wrong) assert.match(await refusal(listen.run([], { ...here(), ...values })), message);
});
