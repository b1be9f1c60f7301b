import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { startSeverableProxy } from "@signsealship/testing/doubles/severable-proxy";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { ownProcess, runCli, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { createPartner, issueKey } from "../../src/firms/partners/partners.ts";
import { systemClock } from "../../src/kernel/platform/clock.ts";
import { openDatabase } from "../../src/kernel/platform/database/database.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { openEmbeddedPostgres } from "../../src/kernel/platform/postgres/embedded.ts";

/** Set KILLS=200 for a long run. */
const kills = Number(process.env["KILLS"] ?? repeats(2, 2, 4));
const folder = temporaryFolder();
const dataDir = join(folder.path, "var");
const blobs = join(dataDir, "blobs");
const document = makePdf();

await prepareDatabase(join(folder.path, "db"));
const server = await openEmbeddedPostgres(join(folder.path, "db"));
const { host, port, user, password, database } = server.owner;
const proxy = await startSeverableProxy(join(host, `.s.PGSQL.${port}`));
const url = `postgresql://${user}:${password}@127.0.0.1:${proxy.port}/${database}`;
const env = { DATA_DIR: dataDir, DATABASE_URL: url, RATE_LIMITS: "off", ...ownProcess };
const nodes: [Service, Service] = [await startService(env), await startService(env)];
const db = openDatabase(server.owner, () => {}, { poolSize: 2 });
const deps = { db, clock: systemClock, rowMac: await rowMacOf(dataDir) };
db.useRowMac(deps.rowMac);
const { partnerId } = await createPartner(deps, { name: "Acme", tier: "ClosingDesk", live: false });
const { key } = await issueKey(deps, partnerId, "test");
after(async () => {
  for (const node of nodes ?? []) await node.stop();
  await proxy?.sever();
  await db?.close();
  await server?.release();
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const upTo = (limit: number) => Math.floor(Math.random() * limit);

type Answer = { status: number; body: Record<string, unknown> };

/** Sends a request to one of the two nodes. Undefined when the connection broke and the outcome is unknown. */
async function call(path: string, init: RequestInit = {}): Promise<Answer | undefined> {
  const headers = { Authorization: `Bearer ${key}`, ...init.headers };
  const { baseUrl } = nodes[upTo(2)] ?? nodes[0];
  try {
    const response = await fetch(baseUrl + path, { ...init, headers, signal: AbortSignal.timeout(60_000) });
    const text = await response.text();
    return { status: response.status, body: text.startsWith("{") ? JSON.parse(text) : {} };
  } catch {
    return undefined;
  }
}

const json = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** Everything that the nodes have acknowledged. */
const orders = new Map<string, string>();
const passports: { verifyCode: string; sealedSha256: string }[] = [];
const attached = new Set<string>();
const closings: { verifyCode: string; version: number }[] = [];
const statuses = new Map<string, number>();
let isOver = false;
let room = "";

const count = (what: string, answer: Answer | undefined) => {
  const name = `${what} ${answer?.status ?? "cut"}`;
  statuses.set(name, (statuses.get(name) ?? 0) + 1);
};

/**
 * Places orders until the test ends. Repeats each request, with the same Idempotency-Key, until the order is placed.
 */
async function placing(client: number): Promise<void> {
  for (let n = 0; !isOver; n++) {
    const reference = `chaos-${client}-${n}`;
    for (let answer: Answer | undefined; answer?.status !== 201; ) {
      const body = orderForm({ ...minimal, external_reference: reference }, document);
      answer = await call("/api/partner/orders", { method: "POST", headers: { "Idempotency-Key": reference }, body });
      count("order", answer);
      if (answer?.status === 201) orders.set(reference, String(answer.body["orderCode"]));
      else if (isOver) return;
      else await pause(50);
    }
  }
}

async function sealing(client: number): Promise<void> {
  for (let n = 0; !isOver; n++) {
    const form = new FormData();
    form.append("file", new Blob([Uint8Array.from(makePdf({ text: `Document ${client} ${n}` }))]), "a.pdf");
    const answer = await call("/api/passport/seal", { method: "POST", body: form });
    count("seal", answer);
    const { verifyCode, sealedSha256 } = answer?.body ?? {};
    if (answer?.status === 200) passports.push({ verifyCode: String(verifyCode), sealedSha256: String(sealedSha256) });
    else await pause(50);
  }
}

async function closing(): Promise<void> {
  while (!isOver) {
    const code = [...orders.values()].find((each) => !attached.has(each));
    if (code !== undefined && attached.size < 45) {
      const answer = await call(`/api/rooms/${room}/orders`, json({ orderCode: code }));
      count("attach", answer);
      if (answer?.status === 200) attached.add(code);
    }
    const answer = await call(`/api/rooms/${room}/passport`, json({}));
    count("close", answer);
    const { verifyCode, version } = answer?.body ?? {};
    if (answer?.status === 200) closings.push({ verifyCode: String(verifyCode), version: Number(version) });
    await pause(100);
  }
}

/**
 * Kills one of the nodes and restarts it, at random moments. Sometimes the database or the blob store is also
 * unavailable.
 */
async function disturb(): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    await pause(200 + upTo(1500));
    const fault = existsSync(blobs) ? upTo(4) : 3;
    if (fault === 0) await proxy.sever();
    if (fault === 1) proxy.cut();
    if (fault === 2) {
      renameSync(blobs, `${blobs}.away`);
      writeFileSync(blobs, "");
    }
    if (fault < 3) await pause(upTo(600));
    const index = upTo(2) === 0 ? 0 : 1;
    await nodes[index].kill();
    if (fault === 0) await proxy.restore();
    if (fault === 2) {
      rmSync(blobs);
      renameSync(`${blobs}.away`, blobs);
    }
    nodes[index] = await nodes[index].restart();
  }
}

test(`kill -9 of two nodes ${kills} times in mixed work, with outages of database and blob store: no acknowledged work is lost or repeated, every chain is complete`, async () => {
  const made = await call("/api/rooms", json({ name: "12 Elm Street" }));
  room = String(made?.body["roomCode"]);
  const work = [placing(0), placing(1), sealing(0), sealing(1), closing()];
  await disturb().finally(() => {
    isOver = true;
  });
  await Promise.all(work);
  const said = JSON.stringify(Object.fromEntries([...statuses].sort()));
  assert.deepEqual(
    [...statuses.keys()].filter((name) => / 5\d\d$/.test(name) && !name.endsWith(" 503")),
    [],
    said,
  );
  assert.ok(orders.size > kills && passports.length > kills && closings.length > 0, said);

  for (const [reference, code] of orders) {
    const answer = await call(`/api/partner/orders/${code}`);
    assert.deepEqual([answer?.status, answer?.body["externalReference"]], [200, reference]);
  }
  const doubled = await db.query(sql`
    SELECT external_reference FROM orders GROUP BY external_reference HAVING count(*) > 1`);
  assert.deepEqual(doubled, []);
  for (const { verifyCode, sealedSha256 } of passports) {
    const path = `/api/passport/verify/${verifyCode}`;
    assert.equal((await call(path))?.body["verdict"], "verified_test");
    const sealed = await (await fetch(`${nodes[0].baseUrl}${path}/document`)).arrayBuffer();
    assert.equal(createHash("sha256").update(Buffer.from(sealed)).digest("hex"), sealedSha256);
  }
  for (const { verifyCode } of closings) {
    const answer = await call(`/api/verify/room/${verifyCode}`);
    assert.deepEqual([answer?.status, answer?.body["chainOk"]], [200, true]);
  }
  const versions = await db.query<{ version: number }>(sql`SELECT version FROM closing_passports ORDER BY version`);
  assert.deepEqual(
    versions.map(({ version }) => version),
    versions.map((_, index) => index + 1),
  );
  assert.equal(new Set(closings.map(({ version }) => version)).size, closings.length);
  const view = await call(`/api/rooms/${room}`);
  const cards = JSON.stringify(view?.body["orders"]);
  for (const code of attached) assert.ok(cards.includes(code), code);
  const doctor = await runCli(env, "doctor", "--json");
  const checks = JSON.parse(doctor.stdout) as { checks?: { name: string; state?: string; status?: string }[] };
  assert.match(JSON.stringify(checks.checks?.find(({ name }) => name === "audit log")), /"ok"/);
});
