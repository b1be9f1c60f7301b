import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { formatEntry, type LogProofInput, verifyLogProof } from "@signsealship/evidence/log";
import type { Service } from "@signsealship/testing/service";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { fsckProgram } from "@signsealship/testing/tools/tessera-fsck";
import { monitorAnswer } from "@signsealship/verifier";
import { logKeyOf, logProof } from "../../service/src/evidence/transparency-log/transparency-log.ts";
import type { Database } from "../../service/src/kernel/platform/database/database.ts";
import { atLeast, atMost, type Result } from "../result.ts";
import { checksInBrowser } from "./browser-check.ts";
import { entryOf, published, queueEntries } from "./filled-log.ts";

/** A measured service, its database, and the request headers that authenticate a partner. */
export type Measured = { service: Service; db: Database; headers: Record<string, string> };

/** Compares a value with its budget, both in the same unit. */
export const within = (name: string, value: number, max: number, unit: string): Result =>
  atMost(`${name}, against ${max} ${unit}`, [value], [max], unit, 1);

export function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

async function timed(work: () => unknown): Promise<number> {
  const from = performance.now();
  await work();
  return performance.now() - from;
}

const backlog = 50_000;

/** Entries that the running service numbers per second, with its pauses between batches. */
export async function numbering({ db }: Measured): Promise<Result> {
  for (let first = 0; first < backlog; first += 10_000) await queueEntries(db, first, 10_000);
  const spent = await timed(() => published(db));
  return atLeast("log entries numbered, against 5,000 a second", [backlog / (spent / 1_000)], [5_000], "entries/s", 1);
}

const trickle = { perSecond: 500, seconds: 10 };

/** The share of one core that the service and its database use while entries arrive steadily. */
export async function steadyLoad({ service, db }: Measured, firstEntry: number): Promise<Result> {
  const before = cpuSeconds(service);
  const from = performance.now();
  for (let second = 0; second < trickle.seconds; second++) {
    await queueEntries(db, firstEntry + second * trickle.perSecond, trickle.perSecond);
    await sleep(Math.max(0, from + (second + 1) * 1_000 - performance.now()));
  }
  const share = (cpuSeconds(service) - before) / ((performance.now() - from) / 1_000);
  return within("core for 500 log entries a second", share * 100, 30, "%");
}

const postmasterOf = (dataDir: string): number => {
  const name = readdirSync(join(dataDir, "postgres"), { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith("postmaster.pid"),
  );
  return Number(readFileSync(join(dataDir, "postgres", name ?? ""), "utf8").split("\n")[0]);
};

/**
 * The CPU time of a service, its database and their direct child processes, in seconds. In proc(5), a tick is a
 * hundredth of a second.
 */
function cpuSeconds(service: Service): number {
  const pids = [service.process().pid ?? 0, postmasterOf(service.dataDir)];
  const ticks = readdirSync("/proc").flatMap((name) => {
    const path = `/proc/${name}/stat`;
    if (!/^\d+$/.test(name) || !existsSync(path)) return [];
    const [, parent, ...rest] = readFileSync(path, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    if (!pids.includes(Number(name)) && !pids.includes(Number(parent))) return [];
    // Fields 14 to 17 of proc(5): utime, stime, and the same two times summed over children that ended.
    return rest.slice(9, 13).map(Number);
  });
  return ticks.reduce((sum, one) => sum + one, 0) / 100;
}

export type Sealed = { verifyCode: string; sealedSha256: string; provableMs: number; pdfBytes: number };

/**
 * Seals documents, each with its own bytes and at a different time within the sequencer's interval. Waits after each
 * seal until its proof contains the wanted text.
 * @param wanted a text that each proof must contain
 * @returns for each seal, the milliseconds until its proof contained the text, and the bytes of the checkpoint in its
 * PDF
 */
export async function provableSeals(
  { service: { baseUrl }, headers }: Measured,
  documents: readonly Buffer[],
  wanted: string,
): Promise<Sealed[]> {
  const sealed: Sealed[] = [];
  const rest = [...documents];
  const caller = async () => {
    for (let pdf = rest.pop(); pdf; pdf = rest.pop()) {
      await sleep((rest.length * 379) % 1_000);
      const body = new FormData();
      body.append("file", new Blob([new Uint8Array(pdf)]), "deed.pdf");
      const answer = await fetch(`${baseUrl}/api/passport/seal`, { method: "POST", headers, body });
      if (answer.status !== 200) throw new Error(`a seal was refused: ${await answer.text()}`);
      const passport = (await answer.json()) as { verifyCode: string; sealedSha256: string };
      const from = performance.now();
      while (!(await proofText(baseUrl, passport.verifyCode)).includes(wanted)) await sleep(20);
      const provableMs = performance.now() - from;
      const file = await fetch(`${baseUrl}/api/passport/verify/${passport.verifyCode}/document`);
      const bytes = Buffer.from(await file.arrayBuffer()).toString("latin1");
      const [carried = ""] = /\/SSSLogCheckpoint *\((?:\\.|[^\\)])*\)|\/SSSLogCheckpoint *<[^>]*>/s.exec(bytes) ?? [];
      sealed.push({ ...passport, provableMs, pdfBytes: carried.length });
    }
  };
  await Promise.all(Array.from({ length: 4 }, caller));
  return sealed;
}

/** The size in bytes of the largest checkpoint that one of the PDFs carries. The budget fails if a PDF carries none. */
export function carried(sealed: readonly Pick<Sealed, "pdfBytes">[]): Result {
  const sizes = sealed.map(({ pdfBytes }) => pdfBytes);
  const largest = sizes.includes(0) ? Number.NaN : Math.max(...sizes);
  return within("checkpoint carried in a PDF", largest, 400, "bytes");
}

const proofText = async (baseUrl: string, code: string): Promise<string> =>
  (await fetch(`${baseUrl}/api/passport/verify/${code}/tlog-proof`)).text();

const proofs = 500;

/**
 * Measures proofs from the filled log: the latency over the API and without HTTP, the size, and the time of a check.
 */
export async function proving(
  { service: { baseUrl }, db }: Measured,
  filled: { first: number; leaf: number },
  size: number,
  sealed: readonly Sealed[],
): Promise<Result[]> {
  const [byApi, plain, direct, offline]: [number[], number[], number[], number[]] = [[], [], [], []];
  const checked: LogProofInput[] = [];
  const key = (await logKeyOf(db, "test")) ?? "";
  let bytes = 0;
  for (let n = 0; n < proofs; n++) {
    const { verifyCode } = sealed[n % sealed.length] as Sealed;
    byApi.push(await timed(() => proofText(baseUrl, verifyCode)));
    plain.push(await timed(async () => (await fetch(`${baseUrl}/healthz`)).text()));
    const entry = entryOf(filled.first + ((n * 999_983) % (size - filled.leaf)));
    const from = performance.now();
    const logged = await logProof(db, "test", entry);
    direct.push(performance.now() - from);
    if (logged.state !== "logged") throw new Error("an entry is not logged");
    const proof = Buffer.from(logged.proof);
    bytes = Math.max(bytes, proof.length);
    const logs = [{ environment: "test", key } as const];
    const given: LogProofInput = { proof, entry: formatEntry(entry), environment: "test", logs };
    checked.push(given);
    const check = async () => {
      const claims = await verifyLogProof(given);
      if (claims.some(({ state }) => state !== "holds")) throw new Error("a proof does not hold");
    };
    offline.push(await timed(check));
  }
  const inBrowser = await checksInBrowser(baseUrl, checked);
  return [
    within(`log proof by API among ${size} entries, median`, quantile(byApi, 0.5), 5, "ms"),
    within("the same, p99", quantile(byApi, 0.99), 5, "ms"),
    atMost("the same against an answer without work, p99", [quantile(byApi, 0.99)], [quantile(plain, 0.99)], "ms", 3),
    within("log proof of a random entry without HTTP, p99", quantile(direct, 0.99), 5, "ms"),
    within("size of such a proof", bytes, 1_638, "bytes"),
    within("check of such a proof by Web Crypto, median", quantile(offline, 0.5), 2, "ms"),
    within("the same in Chromium, median", quantile(inBrowser, 0.5), 10, "ms"),
    within("the same in Chromium, p99", quantile(inBrowser, 0.99), 10, "ms"),
  ];
}

/**
 * Times `fsck`, a program of the log library tessera that checks a whole log. The budget fails if the program is not
 * built.
 * @param program the path of the program; a test passes a path where no file exists
 */
export async function fsck(
  { service: { baseUrl }, db }: Measured,
  size: number,
  program = fsckProgram,
): Promise<Result> {
  const name = `tessera's fsck of ${size} entries`;
  if (!existsSync(program)) {
    console.error("tessera's fsck is not built: npm test -- service/test/evidence/transparency-log/fsck.test.ts");
    return within(name, Number.NaN, 2, "s");
  }
  const folder = temporaryFolder();
  const key = (await logKeyOf(db, "test")) ?? "";
  writeFileSync(join(folder.path, "vkey"), key);
  const args = ["--storage_url", `${baseUrl}/log/test/`, "--public_key", join(folder.path, "vkey")];
  const from = performance.now();
  const { stderr } = spawnSync(program, [...args, "--origin", key.split("+")[0] ?? "", "--ui=false", "-N=16"], {
    encoding: "utf8",
  });
  const seconds = (performance.now() - from) / 1_000;
  folder.remove();
  if (!stderr.includes(`Successfully fsck'd log with size ${size} `))
    throw new Error(`fsck refuses the log: ${stderr}`);
  return within(name, seconds, 2, "s");
}

/** Times a monitor's first run, and its next run after the log has grown a little. */
export async function monitoring({ service: { baseUrl }, db }: Measured, firstEntry: number): Promise<Result[]> {
  const folder = temporaryFolder();
  const run = () =>
    timed(async () => {
      const seen = { key: null, state: folder.path, with: [], isFull: false, policy: null };
      const options = { ...seen, fetch: globalThis.fetch, now: () => new Date(), quorumWait: { seconds: 0 } };
      const { exitCode, text } = await monitorAnswer(`${baseUrl}/log/test`, options);
      if (exitCode !== 0) throw new Error(`the monitor refuses the log: ${text}`);
    });
  const first = await run();
  await queueEntries(db, firstEntry, 500);
  const size = await published(db);
  const next = await run();
  folder.remove();
  return [
    within(`monitor of ${size} entries, first run`, first / 1_000, 20, "s"),
    within("monitor, next run after 500 more entries", next / 1_000, 1, "s"),
  ];
}
