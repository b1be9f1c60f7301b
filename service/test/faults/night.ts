import assert from "node:assert/strict";
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type SeverableProxy, startSeverableProxy } from "@signsealship/testing/doubles/severable-proxy";
import { freePort } from "@signsealship/testing/free-port";
import { endWithTests } from "@signsealship/testing/reaper";
import { ownProcess, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { type PostgresPair, type PostgresServer, startPostgresPair } from "@signsealship/testing/tools/postgresql";
import { until } from "@signsealship/testing/until";
import { openSealedTexts } from "../../src/kernel/platform/sealed-text.ts";
import { openSecretsKey } from "../../src/kernel/platform/secrets.ts";
import { lostAndDoubled, startWriters, type Writers } from "./order-writers.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const page = readFileSync(join(root, "docs/running.md"), "utf8");

/** The commands under a heading of docs/running.md: one text for each code block, in order. */
function printedUnder(heading: string): string[] {
  const from = page.indexOf(`\n${heading}\n`);
  assert.ok(from >= 0, heading);
  const level = heading.indexOf(" ");
  const rest = page.slice(from + heading.length + 2);
  const end = rest.search(new RegExp(`^#{1,${level}} `, "m"));
  const blocks = rest.slice(0, end < 0 ? undefined : end).matchAll(/^```sh\n([\s\S]*?)^```$/gm);
  return [...blocks].map(([, text = ""]) => text);
}

/** The code block that is under the heading and contains this text. */
export function printed(heading: string, part: string): string {
  const found = printedUnder(heading).filter((text) => text.includes(part));
  assert.equal(found.length, 1, `${part} of ${heading}`);
  return found[0] ?? "";
}

/**
 * Runs commands in a shell, as an operator would paste them. @param path the PATH, which includes PostgreSQL's programs
 */
export async function paste(
  commands: string,
  env: Record<string, string>,
  { path, cwd }: { path: string; cwd: string },
): Promise<string> {
  const { stdout } = await promisify(execFile)("bash", ["-c", `set -euo pipefail\n${commands}`], {
    cwd,
    timeout: 60_000,
    env: { HOME: "/root", ...env, PATH: [join(root, "bin"), path, process.env["PATH"]].join(delimiter) },
  });
  return stdout;
}

export const readiness = async ({ baseUrl }: Service) => {
  const answer = await fetch(`${baseUrl}/readyz`);
  const { status = "", checks = {} } = (await answer.json()) as { status?: string; checks?: Record<string, string> };
  return { code: answer.status, status, checks };
};

/**
 * Two nodes, their database with a standby, and Redis. `writers` are programs of a firm, which place orders except
 * while they are paused.
 */
export type Night = {
  readonly at: (...names: string[]) => string;
  readonly env: Record<string, string> & { DATA_DIR: string };
  readonly pair: PostgresPair;
  /** Simulates the virtual IP address of the database. */
  readonly address: SeverableProxy;
  /** The API keys of a firm. */
  readonly keys: readonly string[];
  readonly writers: Writers;
  /** If a test replaces the primary or the nodes, it assigns the new ones here. */
  primary: PostgresServer;
  nodes: [Service, Service];
  /**
   * Runs a code block of docs/running.md with the settings of the nodes. @param heading the heading above the block
   * @param part text that the block contains
   */
  readonly type: (heading: string, part: string, more?: Record<string, string>, cwd?: string) => Promise<string>;
  readonly storedCodes: (database?: string) => string[];
  readonly allReady: () => Promise<unknown>;
  /**
   * Asserts that nothing acknowledged so far is lost or duplicated, and that every error only asked the caller to retry
   * later.
   */
  readonly nothingIsLost: () => Promise<void>;
  /** The folder of documents. */
  readonly blobs: string;
  /** The present Redis process. */
  redis: ChildProcess;
  readonly startRedis: () => void;
  readonly close: () => Promise<void>;
};

/** Mounts a separate file system at a folder. @returns the function that unmounts it */
function mountVolume(image: string, folder: string): () => void {
  execFileSync("truncate", ["-s", "64M", image]);
  execFileSync("mkfs.ext4", ["-q", image]);
  mkdirSync(folder, { recursive: true });
  execFileSync("mount", ["-o", "loop", image, folder]);
  rmSync(join(folder, "lost+found"), { recursive: true });
  return () => void execFileSync("umount", [folder]);
}

function startRedis(port: string): ChildProcess {
  const child = spawn("redis-server", ["--port", port, "--save", "", "--appendonly", "no"], { stdio: "ignore" });
  endWithTests(child);
  return child;
}

async function firmKeys(node: Service): Promise<string[]> {
  const { partnerId = "" } = await node.cli("partner", "create", "Acme", "--tier", "ClosingDesk");
  const keys: string[] = [];
  // Issues twelve keys, because each key may write only 60 times a minute.
  for (let n = 0; n < 12; n++) keys.push((await node.cli("key", "issue", partnerId, "--test"))["key"] ?? "");
  return keys;
}

/** @param hasVolume true to store the documents on a separate file system, which requires root */
export async function openNight({ hasVolume = false } = {}): Promise<Night> {
  const folder = temporaryFolder();
  const at = (...names: string[]) => join(folder.path, ...names);
  // PostgreSQL runs as another user, who needs access to the folder.
  execFileSync("chmod", ["755", folder.path]);
  const pair = await startPostgresPair(at("servers"));
  const address = await startSeverableProxy(pair.primary.port);
  const redisPort = String(await freePort());
  const blobs = at("var/blobs");
  const unmount = hasVolume ? mountVolume(at("volume"), blobs) : null;
  const redis = startRedis(redisPort);
  const env = {
    DATA_DIR: at("var"),
    DATABASE_URL: `postgres://signsealship_owner@127.0.0.1:${address.port}/signsealship`,
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    ...ownProcess,
  };
  const first = await startService(env);
  const nodes: [Service, Service] = [first, await startService(env)];
  const keys = await firmKeys(first);
  const texts = openSealedTexts(await openSecretsKey(`file:${at("var/keys/secrets")}`));
  const writers = startWriters(() => night.nodes.map(({ baseUrl }) => baseUrl), keys);
  const night: Night = {
    at,
    env,
    pair,
    address,
    keys,
    writers,
    primary: pair.primary,
    nodes,
    blobs,
    redis,
    startRedis() {
      night.redis = startRedis(redisPort);
    },
    type(heading, part, more = {}, cwd = folder.path) {
      const settings = {
        ...env,
        TSA_URLS: "off",
        OTS_CALENDARS: "off",
        NODE: night.nodes[0].baseUrl,
        OWNER_DATABASE_URL: env.DATABASE_URL,
        PRIMARY_URL: pair.primary.url,
        STANDBY_URL: pair.standby.url,
        ...more,
      };
      const commands = printed(heading, part).replaceAll("/elsewhere/", at("elsewhere/"));
      return paste(commands, settings, { path: pair.path, cwd });
    },
    storedCodes(database = "signsealship") {
      const url = night.primary.url.replace(/postgres$/, database);
      const args = ["-qAt", url, "-c", "SELECT code FROM orders"];
      const stored = execFileSync(join(pair.path, "psql"), args, { encoding: "utf8" }).split("\n").filter(Boolean);
      return stored.map((form) => texts.open("order", form));
    },
    allReady: () =>
      until(async () => {
        const all = await Promise.all(night.nodes.map(readiness));
        return all.every(({ code, status }) => code === 200 && status === "ok");
      }),
    async nothingIsLost() {
      await writers.pause();
      assert.deepEqual(lostAndDoubled(writers.acknowledged, night.storedCodes()), { lost: [], doubled: [] });
      const worse = [...writers.statuses.keys()].filter((status) => ![0, 201, 409, 429, 503].includes(status));
      assert.deepEqual(worse, []);
      writers.resume();
    },
    async close() {
      await writers.end();
      for (const node of night.nodes) await node.stop();
      night.redis.kill("SIGKILL");
      await address.sever();
      await pair.stop();
      unmount?.();
      folder.remove();
    },
  };
  writers.resume();
  await writers.more(4);
  return night;
}
