import { type MonitorOptions, monitorAnswer, UsageError as VerifierUsageError } from "@signsealship/verifier";
import { textOption, UsageError, type Verb } from "../verb.ts";

async function monitorOwn(log: string, options: MonitorOptions) {
  const { withResources } = await import("../with-resources.ts");
  const { openOwnLog } = await import("../../upkeep/own-log/own-log.ts");
  return withResources((resources) =>
    monitorAnswer(log, { ...options, own: (origin) => openOwnLog(resources, origin) }),
  );
}

/** Without --own, the verb needs no database and no running service, so anybody can monitor any log. */
export const monitor: Verb = {
  name: "monitor",
  args: ["LOG"],
  flags: "[--key KEY] [--state FOLDER] [--with FILE]... [--full] [--own]",
  options: {
    key: { type: "string", help: "The log's key (NAME+ID+BASE64), in place of the one that it publishes." },
    state: { type: "string", help: "The folder that keeps what was seen, for the next run." },
    with: {
      type: "string",
      multiple: true,
      help: "A proof, evidence zip or checkpoint to compare with, or a sealed PDF to look for; may be repeated.",
    },
    full: { type: "boolean", help: "Reads all entries and tiles again." },
    own: { type: "boolean", help: "For the log's operator: also compares it with the rows of this installation." },
  },
  summary:
    "Watches a transparency log (URL, folder of a copy) from outside: nothing that it had changes. Exit 1 when it did, with a proof.",
  examples: [
    "monitor https://sign.example.com/log/live --state ~/.signsealship-monitor",
    "monitor https://sign.example.com/log/live --with sealed.pdf --with sealed.pdf.tlog-proof",
  ],
  async run([log = ""], values) {
    const more = values["with"];
    const options = {
      key: textOption(values, "key") ?? null,
      state: textOption(values, "state") ?? null,
      with: Array.isArray(more) ? more.map(String) : [],
      isFull: values["full"] === true,
      fetch: globalThis.fetch,
    };
    try {
      return values["own"] === true ? await monitorOwn(log, options) : await monitorAnswer(log, options);
    } catch (error) {
      throw error instanceof VerifierUsageError ? new UsageError(error.message) : error;
    }
  },
};
