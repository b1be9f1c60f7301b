import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { logEndReasons, retractionReasons } from "@signsealship/evidence/log";
import {
  currentTree,
  exportLog,
  isLogName,
  LogHalt,
  type LogStatus,
  logStatuses,
  openLogs,
  recoverLog,
  retireAndBegin,
  retractSeal,
} from "../../evidence/transparency-log/transparency-log.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { defineVerb, type Options, UsageError, type ValuesOf, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const testOption = {
  test: { type: "boolean", help: "The log of test seals, in place of the live one." },
} as const satisfies Options;

const logOf = ({ test }: ValuesOf<typeof testOption>): Environment => (test ? "test" : "live");

const statusText = ({ log, origin, key, size, waiting, halted, ended, witnesses }: LogStatus): string =>
  [
    `${log}: ${origin}, ${size} entries, ${waiting} waiting`,
    `  key: ${key}`,
    ...(ended ? [`  ended at ${ended.at.toISOString()} (${ended.reason})`] : []),
    ...(halted !== null ? [`  HALTS: ${halted}`] : ended ? [] : ["  goes on"]),
    ...witnesses.map(witnessText),
  ].join("\n");

function witnessText({ witness, size, failingSince, alarm }: LogStatus["witnesses"][number]): string {
  const fails = failingSince && ` does not cosign since ${failingSince.toISOString()},`;
  const state = alarm === null ? (fails ?? "") : ` CONTRADICTS: ${alarm},`;
  return `  witness ${witness}:${state} saw ${size} entries`;
}

/** The SHA-256 of a sealed file. A text that is already a hash is returned unchanged. */
async function sealedSha256Of(fileOrHash: string): Promise<string> {
  if (/^[0-9a-f]{64}$/.test(fileOrHash)) return fileOrHash;
  const path = resolve(process.cwd(), fileOrHash);
  const bytes = await readFile(path).catch(() => {
    throw new UsageError(`${path} cannot be read: name a sealed PDF, or its SHA-256 in lowercase hex`);
  });
  return hash("sha256", bytes);
}

export const logVerbs: Verb[] = [
  defineVerb({
    name: "log status",
    args: [],
    options: {},
    summary: "Lists each transparency log: its entries, the entries that wait, its key, and whether it halts and why.",
    run: () =>
      withResources(async (resources) => {
        const statuses = await logStatuses(resources);
        const text = statuses.map(statusText).join("\n") || "No log yet: the first start of the service begins both.";
        return { json: statuses, text, exitCode: statuses.some(({ halted }) => halted !== null) ? 1 : 0 };
      }),
  }),
  defineVerb({
    name: "log export",
    args: ["FOLDER"],
    options: {
      ...testOption,
      log: { type: "string", value: "NAME", help: "A log that has ended, as live; by default the one that goes on." },
    },
    summary:
      "Writes a transparency log as static files (C2SP tlog-tiles), for a mirror, a web server or a recovery; adds to an earlier export.",
    examples: ["log export /mirror/log/live"],
    run: ([folder = ""], values) =>
      withResources(async ({ db }) => {
        const named = values.log;
        if (named !== undefined && !isLogName(named))
          throw new UsageError("--log is the name of a log, as live or live-2");
        const log = named ?? (await currentTree(db, logOf(values)))?.log ?? logOf(values);
        const exported = await exportLog(db, log, resolve(process.cwd(), folder));
        const { origin, size, files } = exported;
        return { json: exported, text: `Exported ${origin} with ${size} entries: ${files} files written.` };
      }),
  }),
  defineVerb({
    name: "log retract",
    args: ["FILE_OR_SHA256"],
    options: {
      ...testOption,
      reason: { type: "string", required: true, help: retractionReasons.join(", "), values: retractionReasons },
    },
    summary:
      "Retracts a sealed file for good, in the transparency log: proofs of it carry the retraction from then on, and verifiers show it.",
    examples: ["log retract sealed.pdf --reason wrong-document"],
    run([file = ""], values) {
      const reason = values.reason;
      if (reason === undefined) throw new UsageError("log retract needs --reason");
      const log = logOf(values);
      return withResources(async (resources) => {
        const sealedSha256 = await sealedSha256Of(file);
        await retractSeal(resources, log, { sealedSha256, reason });
        const text = `${sealedSha256} is retracted (${reason}). The ${log} log has it within seconds.`;
        return { json: { log, sealedSha256, reason }, text };
      });
    },
  }),
  defineVerb({
    name: "log retire",
    args: ["ORIGIN"],
    options: { reason: { type: "string", required: true, help: logEndReasons.join(", "), values: logEndReasons } },
    summary:
      "Ends a transparency log for good, and begins the next one with a new key and origin. The service still serves the ended log and its proofs, unchanged.",
    examples: [
      "log retire app.example.com/log/live --reason rotation",
      "log retire app.example.com/log/live --reason key-compromise",
    ],
    run([origin = ""], values) {
      const reason = logEndReasons.find((one) => one === values.reason);
      if (reason === undefined) throw new UsageError(`log retire needs --reason: ${logEndReasons.join(", ")}`);
      return withResources(async (resources) => {
        const retired = await retireAndBegin(resources, origin, reason);
        const { isNew, size, successor, key, keyPath } = retired;
        const text = [
          `${origin} ${isNew ? "has ended" : "had ended before"}, with ${size} entries. It is followed by ${successor}.`,
          `  key: ${key}`,
          `Back up ${keyPath}, and copy it to every node. Tell the operators of your witnesses the new key.`,
        ];
        return { json: retired, text: text.join("\n") };
      });
    },
  }),
  defineVerb({
    name: "log recover",
    args: [],
    options: {
      ...testOption,
      from: {
        type: "string",
        value: "FOLDER_FILE_OR_URL",
        required: true,
        help: "An export, a file with the newest checkpoint, or the address of a copy.",
      },
    },
    summary:
      "Ends the halt of a transparency log after a restore: adds the entries that a copy has, if they lead to its signed root.",
    examples: ["log recover --from /mirror/log/live", "log recover --from https://mirror.example.com/log/live"],
    run(_args, values) {
      const from = values.from;
      if (from === undefined) throw new UsageError("log recover needs --from");
      const log = logOf(values);
      return withResources(async (resources) => {
        const keys = await openLogs(resources.db, resources.config);
        const recovered = await recoverLog({ ...resources, fetch, keys }, log, from).catch((error) => {
          throw error instanceof LogHalt ? new StartupError(error.message) : error;
        });
        const { origin, size, added } = recovered;
        return { json: recovered, text: `${origin} goes on at ${size} entries; ${added} came from ${from}.` };
      });
    },
  }),
];
