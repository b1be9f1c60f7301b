// The command line for partners, published as its own package. It works only over HTTP with a partner key.
import { readFile } from "node:fs/promises";
import { runCommand } from "../run-verb.ts";
import { defineVerb, lines, UsageError } from "../verb.ts";
import { ask, partnerOf, partnerOptions } from "./api.ts";
import { partnerBulkVerbs } from "./bulk.ts";
import { listen } from "./listen.ts";
import { partnerOrderVerbs } from "./order.ts";
import { partnerTemplateVerbs } from "./template.ts";
import { allTopics, requireTopic } from "./topics.ts";
import { triggerVerb } from "./trigger.ts";
import { partnerWebhookVerbs } from "./webhook.ts";

/** The build inserts the version, and copies the example document next to the bundle. */
declare const VERSION: string;
const example = () => readFile(new URL("./lien-release.pdf", import.meta.url));

const me = defineVerb({
  name: "me",
  args: [],
  options: partnerOptions,
  summary: "Shows the firm, the key and what it may do.",
  async run(_args, values) {
    const json = await ask(partnerOf(values), (client) => client.me());
    const { key, quotas, ...facts } = json;
    return { json, text: lines({ ...facts, ...key, scopes: key?.scopes?.join(",") ?? "all", ...quotas }) };
  },
});

const events = defineVerb({
  name: "events",
  args: [],
  options: {
    ...partnerOptions,
    since: { type: "string", value: "N", help: "N: those after the event with this number. Default: from the first." },
    topics: {
      type: "string",
      value: "TOPIC[,TOPIC]",
      help: "Only these topics, separated by commas. Default: all.",
      values: allTopics,
    },
  },
  summary: "Prints a page of your events, oldest first, and the number to go on after; listen follows them.",
  examples: ["events --since 120 --topics payment.cleared --json"],
  async run(_args, values) {
    const cursor = values.since;
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
      throw new UsageError("--since must be the number of an event");
    const topics = values.topics?.split(",").map((topic) => requireTopic("--topics", topic.trim()));
    const page = await ask(partnerOf(values), (client) => client.events.list({ cursor, topics, limit: 100 }));
    const shown = page.events.map(({ position, occurredAtUtc, type, id }) =>
      [occurredAtUtc, `n=${position}`, type, id].join("  "),
    );
    return { json: page, text: [...shown, `Next: --since ${page.cursor}`].join("\n") };
  },
});

const verbs = [
  listen,
  triggerVerb(example),
  ...partnerOrderVerbs,
  ...partnerTemplateVerbs,
  ...partnerBulkVerbs,
  ...partnerWebhookVerbs,
  events,
  me,
];
const command = {
  program: "signsealship",
  version: () => VERSION,
  verbsOf: async (word: string | undefined) => {
    const group = verbs.filter(({ name }) => name.split(" ")[0] === word);
    return group.length > 0 ? group : verbs;
  },
};

const { code, stdout, stderr } = await runCommand(command, process.argv.slice(2));
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = code;
