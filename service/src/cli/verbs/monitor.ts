import { type MonitorOptions, monitorAnswer, UsageError as VerifierUsageError } from "@signsealship/verifier";
import { wholeNumberIn } from "../../kernel/platform/text.ts";
import { defineVerb, UsageError } from "../verb.ts";

async function monitorOwn(log: string, options: MonitorOptions) {
  const { withResources } = await import("../with-resources.ts");
  const { openOwnLog } = await import("../../upkeep/own-log/own-log.ts");
  return withResources((resources) =>
    monitorAnswer(log, { ...options, own: (origin) => openOwnLog(resources, origin) }),
  );
}

function secondsOf(text: string): number {
  const seconds = wholeNumberIn(text, 0, 3600);
  if (seconds === undefined) throw new UsageError("--quorum-wait is a whole number of seconds up to 3600");
  return seconds;
}

/** Without --own, the verb needs no database and no running service. So anybody can monitor any log. */
export const monitor = defineVerb({
  name: "monitor",
  args: ["LOG"],
  options: {
    key: { type: "string", help: "The log's key (NAME+ID+BASE64), in place of the one that it publishes." },
    state: { type: "string", value: "FOLDER", help: "The folder that keeps what was seen, for the next run." },
    with: {
      type: "string",
      value: "FILE",
      multiple: true,
      help: "A proof, evidence zip or checkpoint to compare with, or a sealed PDF to look for; may be repeated.",
    },
    policy: {
      type: "string",
      value: "FILE",
      help: "A policy of witnesses (C2SP tlog-policy), such as /log/live/policy: the newest state must have its quorum.",
    },
    "quorum-wait": {
      type: "string",
      value: "SECONDS",
      help: "How long the newest state may be without the quorum, in seconds, up to 3600; 120 without this.",
    },
    full: { type: "boolean", help: "Reads all entries and tiles again." },
    own: { type: "boolean", help: "For the log's operator: also compares it with the rows of this installation." },
  },
  summary:
    "Watches a transparency log (URL, folder of a copy) from outside: nothing that it had changes, and nothing that it promises is missing. Exit 1 when so, for a change with a proof.",
  examples: [
    "monitor https://sign.example.com/log/live --state ~/.signsealship-monitor",
    "monitor https://sign.example.com/log/live --state ~/.signsealship-monitor --policy my-witnesses.txt",
    "monitor https://sign.example.com/log/live --with sealed.pdf --with sealed.pdf.tlog-proof",
  ],
  async run([log = ""], values) {
    const options = {
      key: values.key ?? null,
      state: values.state ?? null,
      with: values.with ?? [],
      isFull: values.full ?? false,
      fetch: globalThis.fetch,
      now: () => new Date(),
      policy: values.policy ?? null,
      quorumWait: { seconds: secondsOf(values["quorum-wait"] ?? "120") },
    };
    try {
      return values.own ? await monitorOwn(log, options) : await monitorAnswer(log, options);
    } catch (error) {
      throw error instanceof VerifierUsageError ? new UsageError(error.message) : error;
    }
  },
});
