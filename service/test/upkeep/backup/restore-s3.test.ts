import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { newClient } from "@signsealship/testing/client";
import { makeAuthority, startCatcher } from "@signsealship/testing/doubles/webhook-catcher";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import { type S3Store, startS3 } from "@signsealship/testing/tools/ceph";
import { type PostgresPair, startPostgresPair } from "@signsealship/testing/tools/postgresql";
import { awsProgram, testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { openDatabase } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { enqueue } from "../../../src/kernel/platform/jobs/jobs.ts";
import { paste, printed } from "../../faults/night.ts";
import { endHalts, hasEveryCode, sealAll } from "./restored.ts";

const { test, before, after } = testsNeeding("ceph", "awscli", "postgresql");
const folder = temporaryFolder();
const at = (...names: string[]) => join(folder.path, ...names);
let store: S3Store;
let pair: PostgresPair;
let catcher: Awaited<ReturnType<typeof startCatcher>>;
/** Settings that both services share. */
let shared: Record<string, string>;

before(async () => {
  // PostgreSQL runs as another user, who needs access to the folder.
  chmodSync(folder.path, 0o755);
  for (const name of ["s3", "backup", "elsewhere", "restored"]) mkdirSync(at(name));
  store = await startS3(at("s3"));
  pair = await startPostgresPair(at("servers"));
  const authority = makeAuthority(folder.path);
  catcher = await startCatcher(authority);
  shared = {
    ...store.env,
    ...ownProcess,
    RATE_LIMITS: "off",
    WEBHOOK_CA: authority.caFile,
    WEBHOOK_ALLOW: "127.0.0.0/8",
  };
  for (const bucket of ["bucket", "restored"])
    execFileSync(awsProgram, ["--endpoint-url", store.endpoint, "s3", "mb", `s3://${bucket}`], {
      env: { ...process.env, ...store.env },
    });
});
after(async () => {
  await catcher.close();
  await pair.stop();
  await store.stop();
  folder.remove();
});

/** The settings for a service's database, blobs and keys. */
const placed = (dataDir: string, database: string, bucket: string) => ({
  DATA_DIR: at(dataDir),
  DATABASE_URL: `postgres://signsealship_owner@127.0.0.1:${pair.primary.port}/${database}`,
  BLOB_URL: `s3://${bucket}/prefix?endpoint=${encodeURIComponent(store.endpoint)}`,
});

/** Runs the code block of docs/running.md that is under this heading and contains this text. */
function type(heading: string, part: string, more: Record<string, string>): Promise<string> {
  // The printed commands call `aws` without `--endpoint-url`, which this test's store needs.
  const aws = `aws() { ${awsProgram} --endpoint-url ${store.endpoint} "$@"; }`;
  const commands = `${aws}\n${printed(heading, part).replaceAll("/elsewhere/", at("elsewhere/"))}`;
  const server = { PGHOST: "127.0.0.1", PGPORT: String(pair.primary.port), PGUSER: "postgres" };
  const env = { ...shared, ...server, TSA_URLS: "off", OTS_CALENDARS: "off", ...more };
  return paste(commands, env, { path: pair.path, cwd: at("backup") });
}

const outbox = (dataDir: string): string[] =>
  existsSync(at(dataDir, "outbox")) ? readdirSync(at(dataDir, "outbox")) : [];

test("blobs in S3 and an operator's own database are restored by the printed commands, with every code and nothing sent twice", async () => {
  const lostPlaces = placed("lost", "signsealship", "bucket");
  const original = await startService({ ...shared, ...lostPlaces });
  const { partnerId = "" } = await original.cli("partner", "create", "Acme", "--tier", "ClosingDesk");
  const key = (await original.cli("key", "issue", partnerId, "--test"))["key"] ?? "";
  const firm = newClient(original.baseUrl, key, (status) => status < 300);
  const order = async () =>
    (await firm.ok<{ orderCode: string }>("POST", "/api/partner/orders", orderForm(minimal, makePdf()))).orderCode;
  const first = await order();
  const codes = await sealAll(firm, first);

  // Work that is in progress during the backup: an unanswered delivery, and a mail that is due within minutes.
  let answer = () => {};
  catcher.answer("/slow", (_request, response) => {
    answer = () => response.end("ok");
  });
  await firm.ok("POST", "/api/partner/webhooks", { url: `${catcher.url}/slow`, topics: ["order.created"] });
  const late = await order();
  await catcher.wait("/slow");
  const db = openDatabase({ connectionString: lostPlaces.DATABASE_URL }, () => {}, { poolSize: 2 });
  db.useRowMac(await rowMacOf(lostPlaces.DATA_DIR));
  const [row] = await db.query<{ id: number }>(sql`SELECT id FROM orders ORDER BY id DESC LIMIT 1`);
  const due = new Date(Date.now() + 600_000);
  await enqueue(db, "order-mail", { orderId: row?.id, moment: "payment_received", at: due, isAlone: true }, due);

  // Waits until a checkpoint covers every line of the logs. Otherwise a line could enter a log's tree between the
  // copies of the database and of the keys. Only a mirror could restore such a line.
  const unpublished = sql`SELECT FROM log_trees t WHERE size > coalesce((SELECT max(size) FROM log_checkpoints c
    WHERE c.log = t.log), 0) OR EXISTS (SELECT FROM log_entries e WHERE e.log = t.log)`;
  await until(async () => (await db.query(unpublished)).length === 0);

  await type("## Backups", "aws s3 sync", { ...lostPlaces, OWNER_DATABASE_URL: lostPlaces.DATABASE_URL });
  const lost = await order();
  // The original service finishes its work in progress.
  answer();
  await db.query(sql`UPDATE jobs SET due_at = now() WHERE queue = 'order-mail'`);
  await until(async () => {
    answer();
    const pending = sql`SELECT FROM webhook_deliveries WHERE state = 'pending'`;
    const waiting = sql`SELECT FROM jobs WHERE queue = 'order-mail' AND failed_at IS NULL`;
    return (await db.query(pending)).length === 0 && (await db.query(waiting)).length === 0;
  });
  await db.close();
  await original.stop();

  const places = placed("restored", "restored", "restored");
  await type("## Restore", "createdb -O signsealship_owner restored", places);
  cpSync(at("elsewhere/keys"), at("restored/keys"), { recursive: true });
  await type("## Restore", "aws s3 sync", places);
  await type("## Restore", "UPDATE webhook_deliveries SET leased_until", places);
  const caught = catcher.caught.length;
  const service = await startService({ ...shared, ...places });
  try {
    await hasEveryCode(service.baseUrl, key, codes, { orders: [first, late], lost });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    assert.deepEqual([catcher.caught.length, outbox("restored")], [caught, []]);
    await endHalts(service);
    const { checks } = await service.cli<{ checks: { name: string; result: string; detail: string }[] }>("doctor");
    assert.deepEqual(
      checks.filter(({ result }) => result === "failed"),
      [],
    );
    await service.cli("restore", "release");
    await until(() => catcher.caught.length > caught);
    await until(() => outbox("restored").length > 0);
  } finally {
    await service.stop();
  }
});
