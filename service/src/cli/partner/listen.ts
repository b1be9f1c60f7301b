import { createHmac } from "node:crypto";
import { type FeedEvent, standardSecret } from "@signsealship/sdk";
import { base32 } from "../../kernel/platform/ids.ts";
import { isThisMachine } from "../../kernel/platform/network.ts";
import { deliveryHeaders, keysOfSecret } from "../../outgoing/webhooks/delivery-headers.ts";
import { defineVerb, UsageError } from "../verb.ts";
import { ask, partnerOf, partnerOptions } from "./api.ts";
import { allTopics, requireTopic } from "./topics.ts";

const timeoutMs = 10_000;

/**
 * The secret that signs events on this machine. It is derived from the partner key, so that a receiver needs to be
 * configured only once.
 */
export const listenSecret = (key: string): string =>
  `svc_whsec_${base32(createHmac("sha256", key).update("listen").digest())}`;

function forwardTo(text: string | undefined): string | null {
  if (text === undefined) return null;
  const url = URL.parse(/^\w+:\/\//.test(text) ? text : `http://${text}`);
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError("--forward-to must be an http(s) URL, as http://localhost:3000/hook");
  // Events contain clients' data, so they are forwarded only to this machine. Other hosts need a webhook, whose address
  // the service checks.
  const host = url.hostname;
  if (!isThisMachine(host))
    throw new UsageError(`--forward-to must be a URL on this machine, as http://localhost:3000/hook, not ${host}`);
  return url.href;
}

/** Posts an event in the same form as the service. @returns a sentence about the outcome */
async function forward(url: string, event: FeedEvent, secret: string): Promise<string> {
  const body = Buffer.from(JSON.stringify(event.payload));
  const place = { position: event.position, head: Buffer.from(event.head, "hex") };
  const delivered = { eventId: event.id, topic: event.type, place, keys: keysOfSecret(secret), checkpoint: null };
  const headers = deliveryHeaders(delivered, Math.floor(Date.now() / 1000), body);
  const started = performance.now();
  const took = () => `in ${Math.round(performance.now() - started)} ms`;
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    await answer.body?.cancel();
    return `answered ${answer.status} ${took()}`;
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } };
    return name === "TimeoutError" ? `no answer in ${timeoutMs / 1000} s` : `no answer (${cause?.code ?? name})`;
  }
}

async function show(event: FeedEvent, url: string | null, { secret, asJson }: { secret: string; asJson: boolean }) {
  const isGone = event.payload === null;
  const outcome = isGone ? "not sent: its record is gone" : url && (await forward(url, event, secret));
  if (asJson) return console.log(JSON.stringify({ ...event, ...(outcome && { outcome }) }));
  console.log(
    [event.occurredAtUtc, `n=${event.position}`, event.type, event.id, outcome && `-> ${outcome}`]
      .filter(Boolean)
      .join("  "),
  );
}

export const listen = defineVerb({
  name: "listen",
  args: [],
  options: {
    ...partnerOptions,
    "forward-to": {
      type: "string",
      value: "URL",
      help: "URL on this machine that each event is posted to, as http://localhost:3000/hook.",
    },
    topics: {
      type: "string",
      value: "TOPIC[,TOPIC]",
      help: "Only these topics, separated by commas. Default: all.",
      values: allTopics,
    },
    since: {
      type: "string",
      value: "N",
      help: "N: goes on after the event with this number; 0 for all there are. Default: from now.",
    },
  },
  summary:
    "Prints each event as it comes, and posts it to a URL on this machine, signed like a webhook; it needs no webhook and no tunnel. Ends with Ctrl-C.",
  examples: [
    "listen --key svc_pk_test_... --forward-to http://localhost:3000/hook",
    "listen --base-url https://sign.example.com --topics order.created,payment.cleared --since 0",
  ],
  async run(_args, values) {
    const partner = partnerOf(values);
    const url = forwardTo(values["forward-to"]);
    const topics = values.topics?.split(",").map((topic) => requireTopic("--topics", topic.trim()));
    const since = values.since ?? "latest";
    if (!/^(\d{1,15}|latest)$/.test(since)) throw new UsageError("--since must be the number of an event, or 0");
    const secret = listenSecret(partner.key);
    const asJson = values.json ?? false;
    // Without --since, the first request must succeed, so that an invalid key or URL ends the verb. Later, an
    // unreachable service is retried.
    const { cursor } = await ask(partner, ({ events }) =>
      since === "latest" ? events.list({ cursor: since, topics }) : Promise.resolve({ cursor: since }),
    );
    if (!asJson) console.log(await greeting(partner.baseUrl, url, secret));
    await ask(partner, async ({ events }) => {
      for await (const event of events.follow({ cursor, topics })) await show(event, url, { secret, asJson });
    });
    return { text: "" };
  },
});

const greeting = async (baseUrl: string, url: string | null, secret: string): Promise<string> =>
  [
    `Listening to ${baseUrl}. Ctrl-C ends it.`,
    ...(url === null
      ? []
      : [
          `Events are posted to ${url}`,
          `Signing secret: ${secret} (the same each time with this key)`,
          `For libraries of Standard Webhooks: ${await standardSecret(secret)}`,
        ]),
    "",
  ].join("\n");
