import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { LastLine } from "../../kernel/audit/audit.ts";
import { type Config, readConfig } from "../../kernel/config/config.ts";
import { systemClock } from "../../kernel/platform/clock.ts";
import { latestSchema } from "../../kernel/platform/database/migrations.ts";
import { nodeName } from "../../kernel/platform/database/schema-fence.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { readVersion } from "../../kernel/version.ts";
import {
  type BackupReport,
  type Held,
  makeBackup,
  type RestoreReport,
  readHeld,
  readLastLine,
  recordBackup,
  release,
  restoreBackup,
} from "../../upkeep/backup/backup.ts";
import { migrations, root } from "../../upkeep/resources.ts";
import { defineVerb, type Options, type ValuesOf, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const keysOption = {
  keys: {
    type: "string",
    value: "OTHER_FOLDER",
    help: "A folder for the keys alone, to be kept apart from the backup.",
  },
} as const satisfies Options;

const folderOf = (text: string): string => resolve(process.cwd(), text);

const keysOf = ({ keys }: ValuesOf<typeof keysOption>): string | null => (keys === undefined ? null : folderOf(keys));

function requireEmbedded({ databaseUrl }: Config, verb: string): void {
  if (databaseUrl !== null)
    throw new StartupError(
      `${verb} is for the embedded database, and DATABASE_URL is set: use pg_dump and pg_restore, as docs/running.md says`,
    );
}

const blobFolderOf = ({ blobUrl }: Config): string | null =>
  blobUrl.startsWith("file:") ? blobUrl.slice("file:".length) : null;

/**
 * The keys that are not in the data folder's `keys/`. A backup does not include them. Leaves out the query part of a
 * PKCS #11 URI, which may contain the PIN.
 */
const keysElsewhere = (config: Config): string[] =>
  [config.secretsKey, ...config.secretsKeysOld, config.sealKey, config.signerCaKey, config.logKey, config.witnessKey]
    .filter((uri) => !uri.startsWith(`file:${join(config.dataDir, "keys")}/`))
    .map((uri) => (uri.startsWith("pkcs11:") ? uri.replace(/\?.*/s, "") : uri));

function backupText({ folder, keys, facts, files, bytes }: BackupReport, config: Config): string {
  const elsewhere = keysElsewhere(config);
  return [
    `Backed up to ${folder}: ${files} files, ${Math.ceil(bytes / 1_000_000)} MB, of ${facts.endedAt}.`,
    facts.blobs === null ? `Not in it: the blobs, which are in ${config.blobUrl}.` : `It has ${facts.blobs} blobs.`,
    keys === null
      ? `Not in it: the keys of ${join(config.dataDir, "keys")}, without which it can't be read (${facts.secretsKeys.join(", ")}).`
      : `Keys are in ${keys}: keep them apart from the backup.`,
    ...(elsewhere.length > 0 ? [`Keys that are elsewhere are in neither: ${elsewhere.join(", ")}.`] : []),
    "Not in it: mails in the outbox, and the log.",
  ].join("\n");
}

const heldText = ({ jobs, deliveries }: Held): string => {
  const queues = Object.entries(jobs).map(([queue, count]) => `${count} of ${queue}`);
  return `jobs: ${queues.join(", ") || "none"}; webhook deliveries: ${deliveries}`;
};

const lineText = (line: LastLine | null): string => (line === null ? "none" : `${line.id} of ${line.at}`);

function restoreText({ dataDir, facts, lastAuditLine, held, sessionsEnded, missingBlobs }: RestoreReport): string {
  const hasKeys = existsSync(join(dataDir, "keys"));
  return [
    `Restored to ${dataDir}. It lacks what was written after ${facts.startedAt}, and certainly after ${facts.endedAt}; the last line of its audit log is ${lineText(lastAuditLine)}.`,
    `Held, since they may have been done after the backup - ${heldText(held)}.`,
    "  Jobs send mails, refund, print and ship. restore release has them done; restore release --discard drops them, and",
    "  firms can replay the deliveries, which then count as failed. What is new is not held.",
    `Ended: ${sessionsEnded} sessions, and all sign-in links and codes that were mailed. Signers' links work, as do those of orders and rooms.`,
    "  Those that were made after the backup don't. Members and webhooks that were removed after it are back: remove them again.",
    "  Keys and seals that were revoked after it stay so where keys/revocations is the lost service's latest file.",
    "  Numbers of events (Service-Chain) that were given after the backup are given again: tell the firms that read the feed.",
    "  What fell due since by time alone, as reminders and expiries, is done, also where the lost data had it done already.",
    ...(missingBlobs.length > 0 ? [`MISSING: ${missingBlobs.length} documents, first ${missingBlobs[0]}.`] : []),
    hasKeys
      ? "Next: doctor, then start the service."
      : `Next: put the keys (${facts.secretsKeys.join(", ")}) into ${join(dataDir, "keys")}, run doctor, then start the service.`,
  ].join("\n");
}

export const backupVerbs: Verb[] = [
  defineVerb({
    name: "backup record",
    args: [],
    options: {},
    summary: "Tells the service that a backup by another program succeeded, for those who watch when the last one did.",
    run: () =>
      withResources(async (resources) => {
        const at = await recordBackup(resources, "recorded");
        return { json: { at }, text: `Recorded a backup at ${at.toISOString()}.` };
      }),
  }),
  defineVerb({
    name: "backup",
    args: ["FOLDER"],
    options: keysOption,
    summary:
      "Backs up the embedded database and the blobs while the service runs, to a new folder that appears when it is whole.",
    examples: ["backup /backups/$(date +%F) --keys /elsewhere/$(date +%F)"],
    run: async ([folder = ""], values) => {
      requireEmbedded(readConfig(process.env, process.cwd(), root), "backup");
      return withResources(async (resources) => {
        const { config } = resources;
        const deps = {
          ...resources,
          dataDir: config.dataDir,
          blobFolder: blobFolderOf(config),
          version: readVersion(),
        };
        const report = await makeBackup(deps, folderOf(folder), keysOf(values));
        return { json: report, text: backupText(report, config) };
      });
    },
  }),
];

export const restoreVerbs: Verb[] = [
  defineVerb({
    name: "restore release",
    args: [],
    options: {
      discard: { type: "boolean", help: "Drops them: jobs are forgotten, deliveries count as failed." },
    },
    summary:
      "Has jobs and webhook deliveries done that a restore holds, since they may have been done after the backup.",
    run: (_args, values) =>
      withResources(async (resources) => {
        const discard = values.discard ?? false;
        const held = await release(resources, discard);
        return {
          json: { ...held, discarded: discard },
          text: `${discard ? "Discarded" : "Released"} - ${heldText(held)}.`,
        };
      }),
  }),
  defineVerb({
    name: "restore status",
    args: [],
    options: {},
    summary: "Counts the jobs and webhook deliveries that a restore holds, and says where the audit log ends.",
    run: () =>
      withResources(async ({ db }) => {
        const [held, lastAuditLine] = await Promise.all([readHeld(db), readLastLine(db)]);
        const text = `Held - ${heldText(held)}.\nThe last line of the audit log is ${lineText(lastAuditLine)}; right after a restore, what was written later is lacking.`;
        return { json: { ...held, lastAuditLine }, text };
      }),
  }),
  defineVerb({
    name: "restore",
    args: ["FOLDER"],
    options: keysOption,
    summary:
      "Makes the data folder (DATA_DIR, empty but for keys) of a backup, checks every file, and holds what may have been done since.",
    examples: ["restore /backups/2026-11-25 --keys /elsewhere/2026-11-25"],
    async run([folder = ""], values) {
      const config = readConfig(process.env, process.cwd(), root);
      requireEmbedded(config, "restore");
      const schema = await latestSchema(migrations);
      const deps = {
        clock: systemClock,
        dataDir: config.dataDir,
        blobFolder: blobFolderOf(config),
        migrations,
        schema,
        nodeName: nodeName(schema),
      };
      const report = await restoreBackup(deps, folderOf(folder), keysOf(values));
      return { json: report, text: restoreText(report), exitCode: report.missingBlobs.length === 0 ? 0 : 1 };
    },
  }),
];
