import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newClient } from "@signsealship/testing/client";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, ownProcess } from "@signsealship/testing/service";
import { atMost, type Result } from "./result.ts";
import { p95 } from "./support/times.ts";

const openLinks = Number(process.env["CEREMONIES"] ?? 1_000);
/** Set `SECONDS=300` for the complete run. */
const seconds = Number(process.env["SECONDS"] ?? 60);
const actsPerSecond = Number(process.env["RATE"] ?? 20);
const readsPerSecond = 40;
/**
 * Acts before the measurement. They start the threads, load the fonts and compile the code, as the first minute of use
 * would.
 */
const warmUp = { rounds: 30, atOnce: 4 };
const signersEach = 10;
const documentBytes = 300_000;
const rangeBytes = 64 * 1024;
const maxOpenMs = 10 * 60_000;
/** Maximum number of tries of one act. An act is retried when another signer of the same document was faster. */
const tries = 10;

type Load = { running: Harness; open: string[][]; errors: string[]; acts: number[]; memory: number[] };

/**
 * The load of many open signing ceremonies: their readers' requests, signing acts at a steady rate, and the service's
 * memory during both.
 */
export async function run(): Promise<Result[]> {
  const running = await openHarness(ownProcess);
  try {
    // Enough documents for the acts, in addition to the ceremonies that stay open. One signer of each document does not
    // act here: the last act also seals the document, which is measured separately.
    const acts = actsPerSecond * seconds + warmUp.rounds * warmUp.atOnce;
    const orders = Math.ceil((openLinks + acts) / (signersEach - 1));
    const load: Load = { running, open: await openAll(running, orders), errors: [], acts: [], memory: [] };
    for (let round = 0; round < warmUp.rounds; round++)
      await Promise.all(Array.from({ length: warmUp.atOnce }, () => act(load)));
    load.acts = [];
    const pid = running.service.process().pid ?? 0;
    const cpuBefore = cpuMs(pid);
    await Promise.all([
      steadily(readsPerSecond, () => read(load)),
      steadily(actsPerSecond, () => act(load)),
      steadily(1, async () => {
        load.memory.push(rssMb(pid));
      }),
    ]);
    const cpu = (cpuMs(pid) - cpuBefore) / load.acts.length;
    const [first] = load.errors;
    if (first) console.error(`the first of ${load.errors.length} errors: ${first}`);
    return [
      atMost(`ceremonies: act, 95th percentile of ${load.acts.length}`, [p95(load.acts)], [400], "ms", 1),
      // CPU time of the service only, without PostgreSQL. It includes the readers' requests. Unlike elapsed time, it
      // does not depend on the machine's other load.
      atMost("ceremonies: CPU time for each act, of two cores", [cpu], [2000 / actsPerSecond], "ms", 1),
      difference("ceremonies: errors", load.errors.length, 0, "errors", 0),
      difference("ceremonies: memory at the end", ...ends(load.memory), "MB", 50),
    ];
  } finally {
    await running.close();
  }
}

const difference = (name: string, ours: number, other: number, unit: string, budget: number): Result => ({
  name,
  ours,
  other,
  unit,
  ratio: ours - other,
  budget,
  holds: ours - other <= budget,
});

/** Starts `work` at this rate, even while earlier runs of it are unfinished. Resolves when all runs have ended. */
async function steadily(perSecond: number, work: () => Promise<void>): Promise<void> {
  const started = performance.now();
  const all: Promise<void>[] = [];
  for (let n = 0; n < perSecond * seconds; n++) {
    await sleep(Math.max(0, started + (n * 1000) / perSecond - performance.now()));
    all.push(work());
  }
  await Promise.all(all);
}

/**
 * Median memory in the last fifth and in the second fifth of the run. The first fifth is left out, because caches and
 * threads fill then.
 */
function ends(samples: readonly number[]): [last: number, first: number] {
  const fifth = Math.max(1, Math.floor(samples.length / 5));
  const median = (some: readonly number[]) => [...some].sort((a, b) => a - b)[Math.floor(some.length / 2)] ?? 0;
  return [median(samples.slice(-fifth)), median(samples.slice(fifth, 2 * fifth))];
}

const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

/** User and system time of a process, in milliseconds. /proc counts hundredths of a second. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/**
 * Places orders, and waits until each signer was mailed a signing link.
 * @returns for each order, the tokens of all links except the first signer's
 */
async function openAll({ service }: Harness, orders: number): Promise<string[][]> {
  const { key } = await newPartner(service);
  const client = newClient(service.baseUrl, key, (status) => status < 300);
  const document = makePdf({ pages: 10, bytes: documentBytes });
  const emails = Array.from({ length: signersEach }, (_, n) => (order: number) => `bench-${order}-${n}@example.com`);
  for (let order = 0; order < orders; order++) {
    const signers = emails.map((of, n) => ({ name: `Signer ${n + 1}`, email: of(order) }));
    const form = orderForm({ ...minimal, svc_sign: "true", signers: JSON.stringify(signers) }, document);
    const { orderCode } = await client.ok<{ orderCode: string }>("POST", "/api/partner/orders", form);
    await client.ok("POST", `/api/partner/sandbox/orders/${orderCode}/checkout`);
  }
  const outbox = join(service.dataDir, "outbox");
  const late = performance.now() + maxOpenMs;
  let tokens = tokensIn(outbox);
  for (; tokens.size < orders * signersEach; tokens = tokensIn(outbox)) {
    if (performance.now() > late) throw new Error("the links were not mailed in time");
    await sleep(2000);
  }
  return Array.from({ length: orders }, (_, order) => emails.slice(1).flatMap((of) => tokens.get(of(order)) ?? []));
}

/** The token of the signing link in each mail, by the recipient's email address. */
function tokensIn(outbox: string): Map<string, string> {
  const tokens = new Map<string, string>();
  for (const file of readdirSync(outbox)) {
    const mail = readFileSync(join(outbox, file), "utf8").replaceAll("=\r\n", "");
    const [, email] = /^To: (\S+)/m.exec(mail) ?? [];
    const [, token] = /\/sign\/([0-9a-f]{40})/.exec(mail) ?? [];
    if (email && token) tokens.set(email, token);
  }
  return tokens;
}

const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(Math.random() * all.length)];

async function read(load: Load): Promise<void> {
  const token = pick(pick(load.open) ?? []);
  if (!token) return;
  const first = Math.floor((Math.random() * documentBytes) / 2);
  const headers = { range: `bytes=${first}-${first + rangeBytes - 1}` };
  await attempt(load, `/sign/${token}/document.pdf`, { headers }, [206]);
}

/** One signer opens the link, consents and signs; only the signing is timed. */
async function act(load: Load): Promise<void> {
  const order = pick(load.open.filter((tokens) => tokens.length > 0));
  const token = order?.pop();
  if (!token) return;
  const post = (what: string, fields: Record<string, string>, expected: number[]) => {
    const headers = { origin: load.running.service.baseUrl };
    const body = new URLSearchParams(fields);
    return attempt(load, `/sign/${token}/${what}`, { method: "POST", redirect: "manual", headers, body }, expected);
  };
  await post("consent", { version: "4", language: "en", can_read: "on" }, [303]);
  const started = performance.now();
  for (let tried = 0; tried < tries; tried++) {
    const page = await attempt(load, `/sign/${token}`, { headers: { accept: "text/html" } }, [200]);
    const revision = /name="revision" value="(\d+)"/.exec(page?.text ?? "")?.[1] ?? "";
    const begun = performance.now();
    const answer = await post("sign", { revision, name: "Signer" }, [303, 409]);
    if (answer?.status === 303) load.acts.push(performance.now() - begun);
    if (answer?.status !== 409) return;
  }
  load.errors.push(`an act was begun ${tries} times within ${performance.now() - started} ms`);
}

async function attempt(load: Load, path: string, init: RequestInit, expected: readonly number[]) {
  try {
    const answer = await fetch(load.running.service.baseUrl + path, init);
    const text = await answer.text();
    if (!expected.includes(answer.status)) load.errors.push(`${path}: ${answer.status} ${text.slice(0, 200)}`);
    return { status: answer.status, text };
  } catch (error) {
    load.errors.push(`${path}: ${error}`);
    return null;
  }
}
