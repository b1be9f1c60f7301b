import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { runCli, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { type PgBouncer, startPgBouncer } from "@signsealship/testing/tools/pgbouncer";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { createPartner, issueKey } from "../../../../src/firms/partners/partners.ts";
import { readConfig } from "../../../../src/kernel/config/config.ts";
import { systemClock } from "../../../../src/kernel/platform/clock.ts";
import { openDatabase } from "../../../../src/kernel/platform/database/database.ts";
import { nodeName } from "../../../../src/kernel/platform/database/schema-fence.ts";
import { keepRoleTimeouts, missingTimeouts } from "../../../../src/kernel/platform/database/service-role.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openEmbeddedPostgres } from "../../../../src/kernel/platform/postgres/embedded.ts";

const pooled = testsNeeding("pgbouncer");
const folder = temporaryFolder();
const document = makePdf();
// Older web pages recommend that poolers ignore these settings.
const ignored = "statement_timeout,lock_timeout,idle_in_transaction_session_timeout";
let headers: Record<string, string>;

await prepareDatabase(join(folder.path, "db"));
const server = await openEmbeddedPostgres(join(folder.path, "db"));
const urlOf = ({ host, user, password, database }: typeof server.owner) =>
  `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host)}`;
const direct = urlOf(server.connection);
// Runs once as the owner, as the documentation demands.
await runCli({ DATA_DIR: join(folder.path, "var"), DATABASE_URL: urlOf(server.owner) }, "doctor");
const db = await forTests(openDatabase(server.owner, () => {}, { poolSize: 2 }));
after(() => server.release());

/** Starts a pooler and a service behind it. The first call also creates the firm of the key in `headers`. */
async function behind(settings: Record<string, string>, env: Record<string, string>) {
  const pooler = await startPgBouncer(server.connection, settings);
  const own = { DATA_DIR: join(folder.path, "var"), DATABASE_URL: pooler.url, RATE_LIMITS: "off", ...env };
  const service = await startService(own);
  if (!headers) {
    const deps = { db, clock: systemClock, rowMac: await rowMacOf(own.DATA_DIR) };
    db.useRowMac(deps.rowMac);
    const { partnerId } = await createPartner(deps, { name: "Acme", tier: "trial", live: false });
    headers = { Authorization: `Bearer ${(await issueKey(deps, partnerId, "test")).key}` };
  }
  return { pooler, service, own };
}

async function end({ service, pooler }: { service: Service; pooler: PgBouncer }): Promise<void> {
  await service.stop();
  await pooler.stop();
}

const place = async ({ baseUrl }: Service): Promise<number> => {
  const body = orderForm(minimal, document);
  return (await fetch(`${baseUrl}/api/partner/orders`, { method: "POST", headers, body })).status;
};

const readyz = async ({ baseUrl }: Service) => {
  const answer = await fetch(`${baseUrl}/readyz`);
  const { status, checks } = (await answer.json()) as { status: string; checks: Record<string, string> };
  return { code: answer.status, status, checks };
};

async function doctor(env: Record<string, string>): Promise<{ result: string; detail: string } | undefined> {
  const { stdout } = await runCli(env, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  // If the pooler mixes up the first statements of `doctor`, its report has only the finding about the data.
  return checks.find(({ name }) => name === "database sessions") ?? checks.find(({ name }) => name === "data");
}

pooled.test("takes orders behind PgBouncer in transaction mode, with timeouts and notifications", async () => {
  const settings = { max_prepared_statements: "200", default_pool_size: "5" };
  const { pooler, service, own } = await behind(settings, { DATABASE_LISTEN_URL: direct, DATABASE_POOL_SIZE: "12" });
  const callers = Array.from({ length: 6 }, async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 10; n++) statuses.push(await place(service));
    return statuses;
  });
  assert.deepEqual([...new Set((await Promise.all(callers)).flat())], [201]);
  const [node] = await db.query<{ names: string[] }>(sql`
    SELECT array_agg(DISTINCT application_name) AS names FROM pg_stat_activity WHERE usename = 'signsealship_service'`);
  assert.ok(
    node?.names.every((name) => /^signsealship schema \d{4}$/.test(name)),
    String(node?.names),
  );
  assert.deepEqual(await readyz(service), {
    code: 200,
    status: "ok",
    checks: { database: "ok", blobs: "ok", "seal key": "ok", "signer authority": "ok", log: "ok", notifications: "ok" },
  });
  const { result, detail } = (await doctor({ ...own, DATABASE_LISTEN_URL: direct })) ?? {};
  assert.deepEqual([result, detail], ["ok", "prepared statements, timeouts and notifications work"]);
  await end({ pooler, service });
});

pooled.test("has its timeouts in each transaction, and in single statements by its role", async () => {
  const pooler = await startPgBouncer(server.connection, { max_prepared_statements: "200" });
  const own = openDatabase({ connectionString: pooler.url, application_name: nodeName(7) }, () => {}, {
    direct: server.connection,
  });
  assert.deepEqual(await missingTimeouts(own), []);
  // The service recognizes the releases of connected nodes by this name, so the pooler must keep it.
  const [named] = await own.query<{ name: string }>(sql`SELECT current_setting('application_name') AS name`);
  assert.equal(named?.name, nodeName(7));
  const shown = await own.transaction((tx) =>
    tx.query<{ name: string; setting: string }>(sql`
      SELECT name, setting FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout') ORDER BY name`),
  );
  assert.deepEqual(
    shown.map(({ setting }) => setting),
    ["5000", "30000"],
  );
  await db.query(sql`ALTER ROLE signsealship_service RESET ALL`);
  await own.close();
  await pooler.stop();
});

pooled.test("leaves no session without timeouts when it gives them to its role", async () => {
  const pooler = await startPgBouncer(server.connection, { max_prepared_statements: "200", default_pool_size: "3" });
  const own = openDatabase({ connectionString: pooler.url }, () => {}, { direct: server.connection });
  const atOnce = <T>(work: () => Promise<T>): Promise<T[]> => Promise.all([work(), work(), work()]);
  // Opens three sessions while the role has no time limits. The limits that are set next must also apply to these
  // sessions.
  await db.query(sql`ALTER ROLE signsealship_service IN DATABASE postgres RESET ALL`);
  await atOnce(() => own.query(sql`SELECT pg_sleep(0.2)::text`));
  await keepRoleTimeouts(own);
  const held = await atOnce(() =>
    own.query<{ missing: string }>(sql`SELECT pg_sleep(0.2)::text, current_setting('lock_timeout') AS missing`),
  );
  assert.deepEqual(
    held.map(([row]) => row?.missing),
    ["5s", "5s", "5s"],
  );
  await own.close();
  await pooler.stop();
});

pooled.test("is not ready, and answers 503, where a pooler mixes prepared statements up", async () => {
  const settings = { max_prepared_statements: "0", default_pool_size: "5" };
  const { pooler, service, own } = await behind(settings, { DATABASE_LISTEN_URL: direct, LOG_LEVEL: "silent" });
  const statuses = await Promise.all(Array.from({ length: 20 }, () => place(service)));
  assert.ok(statuses.includes(503), "the pooler breaks statements");
  assert.deepEqual(
    statuses.filter((status) => status !== 201 && status !== 503),
    [],
  );
  const { code, status, checks } = await readyz(service);
  assert.deepEqual([code, status, checks["database"]], [503, "failed", "failed"]);
  const found = await doctor({ ...own, DATABASE_LISTEN_URL: direct });
  assert.equal(found?.result, "failed");
  assert.match(found?.detail ?? "", /prepared statement.*see 'Behind PgBouncer'/);
  await end({ pooler, service });
});

pooled.test(
  "finds out each time that statements are mixed up, whatever else the pooler does and with one session",
  async () => {
    for (const [size, mixes] of [
      ["5", true],
      ["1", true],
      ["5", false],
      ["1", false],
    ] as const) {
      const settings = { max_prepared_statements: mixes ? "0" : "200", default_pool_size: size };
      const pooler = await startPgBouncer(server.connection, settings);
      const open = () => openDatabase({ connectionString: pooler.url }, () => {}, { direct: server.connection });
      const [checked, others] = [open(), open()];
      let isOn = true;
      const other = async () => {
        while (isOn) await others.transaction((tx) => tx.script("SELECT 1"));
      };
      const busy = [other(), other()];
      for (let n = 0; n < 8; n++) {
        if (mixes) await assert.rejects(checked.checkStatements(), { code: "unavailable" }, size);
        else await checked.checkStatements();
      }
      isOn = false;
      await Promise.all(busy);
      await checked.close();
      await others.close();
      await pooler.stop();
    }
  },
);

pooled.test("finds mixed-up statements although another process left its own in the pooler's sessions", async () => {
  const pooler = await startPgBouncer(server.connection, { max_prepared_statements: "0", default_pool_size: "2" });
  const open = () => openDatabase({ connectionString: pooler.url }, () => {}, { direct: server.connection });
  const [freedLast, other, checked] = [open(), open(), open()];
  await freedLast.transaction(async (tx) => {
    await tx.script("SELECT 1");
    await other.transaction((inOther) => inOther.script("PREPARE check_1 AS SELECT pg_backend_pid() AS pid"));
  });
  await assert.rejects(checked.checkStatements(), { code: "unavailable" });
  await Promise.all([freedLast, other, checked].map((db) => db.close()));
  await pooler.stop();
});

pooled.test("is degraded where notifications go nowhere", async () => {
  const settings = { max_prepared_statements: "200", ignore_startup_parameters: ignored };
  const { pooler, service, own } = await behind(settings, { LOG_LEVEL: "silent" });
  const { code, status, checks } = await readyz(service);
  assert.deepEqual([code, status, checks["notifications"]], [200, "degraded", "failed"]);
  const found = await doctor(own);
  assert.equal(found?.result, "failed");
  assert.match(found?.detail ?? "", /DATABASE_LISTEN_URL must lead to the server itself/);
  await end({ pooler, service });
});

pooled.test("names the setting where a pooler refuses timeouts at the start", async () => {
  const pooler = await startPgBouncer(server.connection, { max_prepared_statements: "200" });
  const env = { DATA_DIR: join(folder.path, "var"), DATABASE_URL: pooler.url, PORT: String(await freePort()) };
  const { code, stderr } = await runCli(env, "serve");
  assert.equal(code, 1);
  assert.match(stderr, /^[^\n]*DATABASE_URL does not answer: it is a pooler .*set DATABASE_LISTEN_URL[^\n]*\n$/);
  await pooler.stop();
});

test("refuses too small a pool, and a listening URL without a database", () => {
  const config = (env: Record<string, string>) => () => readConfig(env, "/", "/");
  for (const size of ["7", "1001", "many", "20.5"])
    assert.throws(config({ DATABASE_POOL_SIZE: size }), /DATABASE_POOL_SIZE must be a whole number from 8 to 1000/);
  assert.equal(config({ DATABASE_POOL_SIZE: "8" })().databasePoolSize, 8);
  assert.throws(config({ DATABASE_LISTEN_URL: "mysql://user:open-sesame@x" }), (error: Error) => {
    assert.match(error.message, /DATABASE_LISTEN_URL must be a postgres:\/\/ URL/);
    return !error.message.includes("sesame");
  });
  assert.throws(config({ DATABASE_LISTEN_URL: "postgres://a/b" }), /DATABASE_URL must be set when/);
});

test("opens no more connections than DATABASE_POOL_SIZE", async () => {
  const small = openDatabase(server.connection, () => {}, { poolSize: 8 });
  const slow = Array.from({ length: 20 }, () => small.query(sql`SELECT pg_sleep(0.05)::text`));
  const { max, waiting } = small.connections();
  assert.deepEqual([max, waiting], [8, 12]);
  await Promise.all(slow);
  assert.deepEqual(small.connections(), { inUse: 0, idle: 8, waiting: 0, max: 8 });
  await small.close();
});

test("no statement leaves its settings, locks or tables in the session", () => {
  const root = fileURLToPath(new URL("../../../../src", import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  assert.ok(files.length > 500);
  const leaves =
    /\bpg_(?:try_)?advisory_lock\b|\bSET SESSION\b|\bDISCARD (?:ALL|TEMP|PLANS)\b|\bCREATE TEMP|\bWITH HOLD\b|["`]\s*SET (?!LOCAL |TRANSACTION )[a-z_]+ (?:=|TO) |set_config\([^)]*false\)/;
  const found = files.filter((name) => leaves.test(readFileSync(join(root, name), "utf8")));
  assert.deepEqual(found, []);
});
