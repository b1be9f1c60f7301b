import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { readVersion } from "../kernel/version.ts";
import type { Command } from "./run-verb.ts";
import { defineVerb, type Verb } from "./verb.ts";

const example = () => readFile(fileURLToPath(new URL("../../../examples/lien-release.pdf", import.meta.url)));

const serve = defineVerb({
  name: "serve",
  args: [],
  options: {},
  summary: "Runs the service until SIGINT or SIGTERM.",
  async run() {
    const { serve: run } = await import("../main.ts");
    await run(process.env);
    return { text: "" };
  },
});

const completion = defineVerb({
  name: "completion",
  args: ["SHELL"],
  options: {},
  summary: "Prints what makes a shell (bash, zsh or fish) complete the words, flags and listed values of this command.",
  examples: ["completion bash > ~/.signsealship-completion && echo '. ~/.signsealship-completion' >> ~/.bashrc"],
  async run([shell = ""]) {
    const { completionScript } = await import("./completion.ts");
    const script = completionScript(shell, await verbsOf(undefined));
    return { text: script, json: { script } };
  },
});

/**
 * The verbs by their first word. Modules are loaded on demand, because a short command spends most of its time loading
 * code.
 */
const groups: ReadonlyMap<string, () => Promise<readonly Verb[]>> = new Map([
  ["serve", async () => [serve]],
  ["partner", async () => (await import("./verbs/partner.ts")).partnerVerbs],
  ["key", async () => (await import("./verbs/key.ts")).keyVerbs],
  ["member", async () => (await import("./verbs/member.ts")).memberVerbs],
  ["session", async () => (await import("./verbs/session.ts")).sessionVerbs],
  ["webhook", async () => (await import("./verbs/webhook.ts")).webhookVerbs],
  ["listen", async () => [(await import("./partner/listen.ts")).listen]],
  ["trigger", async () => [(await import("./partner/trigger.ts")).triggerVerb(example)]],
  ["request", async () => (await import("./verbs/request.ts")).requestVerbs],
  ["fill", async () => (await import("./verbs/fill.ts")).fillVerbs],
  ["catalog", async () => (await import("./verbs/catalog.ts")).catalogVerbs],
  ["playbook", async () => (await import("./verbs/playbook.ts")).playbookVerbs],
  ["order", async () => (await import("./verbs/order.ts")).orderVerbs],
  ["bulk", async () => (await import("./partner/bulk.ts")).partnerBulkVerbs],
  ["template", async () => (await import("./partner/template.ts")).partnerTemplateVerbs],
  ["task", async () => (await import("./verbs/task.ts")).taskVerbs],
  ["provider", async () => (await import("./verbs/provider.ts")).providerVerbs],
  ["envelope", async () => (await import("./verbs/envelope.ts")).envelopeVerbs],
  ["notary", async () => (await import("./verbs/notary.ts")).notaryVerbs],
  ["operator", async () => (await import("./verbs/operator.ts")).operatorVerbs],
  ["seal", async () => (await import("./verbs/seal.ts")).sealVerbs],
  ["secrets", async () => (await import("./verbs/secrets.ts")).secretsVerbs],
  ["audit", async () => (await import("./verbs/audit.ts")).auditVerbs],
  ["log", async () => (await import("./verbs/log.ts")).logVerbs],
  ["witness", async () => [(await import("./verbs/witness.ts")).witnessVerb]],
  ["backup", async () => (await import("./verbs/backup.ts")).backupVerbs],
  ["restore", async () => (await import("./verbs/backup.ts")).restoreVerbs],
  ["monitor", async () => [(await import("./verbs/monitor.ts")).monitor]],
  ["verify", async () => [(await import("./verbs/verify.ts")).verify]],
  ["completion", async () => [completion]],
  ["doctor", async () => [(await import("./verbs/doctor.ts")).doctor]],
]);

/** The verbs that begin with `word`; all verbs when none of them begins with it. */
async function verbsOf(word: string | undefined): Promise<readonly Verb[]> {
  const group = groups.get(word ?? "");
  if (group) return group();
  return (await Promise.all([...groups.values()].map((load) => load()))).flat();
}

export const command: Command = { program: "bin/signsealship", version: readVersion, verbsOf };
