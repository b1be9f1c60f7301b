import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeAuthority } from "@signsealship/testing/doubles/webhook-catcher";
import { freePort } from "@signsealship/testing/free-port";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { rowMacOf, writeEvents } from "@signsealship/testing/row-mac";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { Agent, request } from "undici";
import type { EventRow } from "../service/src/kernel/events/events.ts";
import { type Database, openDatabase } from "../service/src/kernel/platform/database/database.ts";
import { sql } from "../service/src/kernel/platform/database/sql.ts";
import { openEmbeddedPostgres } from "../service/src/kernel/platform/postgres/embedded.ts";
import { atLeast, type Result } from "./result.ts";

type Partner = Awaited<ReturnType<typeof newPartner>>;

async function startReceiver(folder: string) {
  const port = await freePort();
  const script = join(import.meta.dirname, "support/webhook-receiver.ts");
  const args = [script, String(port), join(folder, "hooks.pem"), join(folder, "hooks.key")];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return {
    url: `https://127.0.0.1:${port}`,
    async stop() {
      child.kill();
      await once(child, "exit");
    },
  };
}

/**
 * Queues this many events at once, each for `each` subscriptions.
 * @returns deliveries per second, from the commit of the events until no delivery is pending
 */
async function deliver(
  db: Database,
  { partnerId }: Partner,
  orderCode: string,
  events: number,
  each: number,
): Promise<number> {
  const cleared = { at: new Date(), topic: "payment.cleared", eventId: `payment.cleared:${orderCode}` };
  const event: EventRow = { ...cleared, partnerId, environment: "test", subject: orderCode };
  await db.transaction((tx) => writeEvents(tx, Array<EventRow>(events).fill(event)));
  const started = performance.now();
  const pending = sql`SELECT EXISTS (SELECT FROM webhook_deliveries WHERE state = 'pending') AS left`;
  while ((await db.query<{ left: boolean }>(pending))[0]?.left) await new Promise((resolve) => setTimeout(resolve, 10));
  const rate = (events * each) / ((performance.now() - started) / 1000);
  const [failed] = await db.query<{ reason: string }>(sql`
    SELECT reason FROM webhook_deliveries WHERE state = 'failed' LIMIT 1`);
  if (failed) throw new Error(`not every delivery arrived: ${failed.reason}`);
  return rate;
}

/** The rival: a bare loop that sends the same bytes to the same receiver and stores nothing. */
async function postAll(dispatcher: Agent, url: string, count: number, lanes: number): Promise<number> {
  const body = Buffer.alloc(236, "x");
  const headers = {
    "content-type": "application/json",
    "service-signature": "x".repeat(79),
    "service-event": "payment.cleared",
  };
  const started = performance.now();
  let left = count;
  const lane = async () => {
    while (left-- > 0) await (await request(url, { method: "POST", body, headers, dispatcher })).body.dump();
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return count / ((performance.now() - started) / 1000);
}

/**
 * Webhook deliveries per second, until each has its outcome in the database. Compared with a bare loop of POSTs with as
 * many connections.
 */
export async function run(): Promise<Result[]> {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, "var");
  const authority = makeAuthority(folder.path);
  const shipped = readFileSync(join(import.meta.dirname, "../service/data/limits.yaml"), "utf8");
  const limits = join(folder.path, "limits.yaml");
  writeFileSync(limits, shipped.replaceAll(/(deliveriesPer\w+PerMinute): \d+/g, "$1: none"));
  const env = {
    DATA_DIR: dataDir,
    WEBHOOK_CA: authority.caFile,
    WEBHOOK_ALLOW: "127.0.0.0/8",
    RATE_LIMITS: "off",
    LIMITS: limits,
  };
  const service = await startService(env);
  const receiver = await startReceiver(folder.path);
  const server = await openEmbeddedPostgres(dataDir);
  const db = openDatabase(server.owner, () => {}, { poolSize: 2 });
  db.useRowMac(await rowMacOf(dataDir));
  const agent = new Agent({ connect: { ca: readFileSync(authority.caFile) } });
  const subscribed = async (hooks: number) => {
    const partner = await newPartner(service, { tier: "ClosingDesk" });
    const headers = { ...partner.headers, "Content-Type": "application/json" };
    for (let n = 0; n < hooks; n++) {
      const body = JSON.stringify({ url: `${receiver.url}/${n}`, topics: ["payment.cleared"] });
      await fetch(`${service.baseUrl}/api/partner/webhooks`, { method: "POST", headers, body });
    }
    const placed = await fetch(`${service.baseUrl}/api/partner/orders`, {
      method: "POST",
      headers: partner.headers,
      body: orderForm(minimal),
    });
    return { partner, orderCode: ((await placed.json()) as { orderCode: string }).orderCode };
  };
  const measured = async (name: string, hooks: number, events: number, lanes: number, rounds: number) => {
    const { partner, orderCode } = await subscribed(hooks);
    const rates = { ours: [] as number[], other: [] as number[] };
    for (let round = 0; round <= rounds; round++) {
      const ours = await deliver(db, partner, orderCode, events, hooks);
      const other = await postAll(agent, receiver.url, events * hooks, lanes);
      // The first round warms up both sides.
      if (round > 0) rates.ours.push(ours);
      if (round > 0) rates.other.push(other);
    }
    return atLeast(name, rates.ours, rates.other, "deliveries/s", 0.6);
  };
  try {
    return [
      await measured("webhook deliveries, one subscription", 1, 5_000, 32, 5),
      await measured("webhook deliveries, 100 subscriptions", 100, 50, 64, 5),
      await measured("webhook deliveries, 10,000 queued", 1, 10_000, 32, 3),
    ];
  } finally {
    await agent.close();
    await db.close();
    await service.stop();
    await server.release();
    await receiver.stop();
    folder.remove();
  }
}
