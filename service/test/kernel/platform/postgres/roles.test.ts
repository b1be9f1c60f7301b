import assert from "node:assert/strict";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { forTests } from "@signsealship/testing/for-tests";
import { runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import pg from "pg";
import { openDatabase } from "../../../../src/kernel/platform/database/database.ts";
import { readRights, serviceRole } from "../../../../src/kernel/platform/database/service-role.ts";
import { Statement, sql } from "../../../../src/kernel/platform/database/sql.ts";
import type { Connection } from "../../../../src/kernel/platform/postgres/access.ts";
import { openEmbeddedPostgres } from "../../../../src/kernel/platform/postgres/embedded.ts";

const migrations = join(import.meta.dirname, "../../../../migrations");
const folder = temporaryFolder();

await prepareDatabase(folder.path);
const server = await openEmbeddedPostgres(folder.path);
/** Connects as the service. */
const db = await forTests(openDatabase(server.connection, () => {}, { poolSize: 1 }));
const { appendOnly } = await readRights(migrations);
after(() => server.release());

const denied = { code: "42501" };
const run = (text: string, as = db) => as.query(new Statement([text], []));

const connects = async (connection: Partial<Connection>): Promise<boolean> => {
  const client = new pg.Client({ ...connection });
  client.on("error", () => {});
  try {
    await client.connect();
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
};

test("the service's own connection can't change, remove or truncate rows of the append-only tables", async () => {
  assert.ok(["audit_log", "events", "passports", "closing_passports"].every((table) => table in appendOnly));
  for (const table of Object.keys(appendOnly)) {
    const columns = await db.query<{ name: string }>(sql`
      SELECT attname AS name FROM pg_attribute WHERE attrelid = to_regclass(${table}) AND attnum > 0 AND NOT attisdropped`);
    for (const { name } of columns) {
      if (appendOnly[table]?.includes(name)) continue;
      await assert.rejects(run(`UPDATE ${table} SET ${name} = DEFAULT`), denied, `${table}.${name}`);
    }
    await assert.rejects(run(`DELETE FROM ${table}`), denied, table);
    await assert.rejects(run(`TRUNCATE ${table} CASCADE`), denied, table);
  }
});

test("it can change what it must", async () => {
  await db.query(sql`UPDATE passport_anchors SET looks = looks + 1`);
  await db.query(sql`DELETE FROM sessions`);
});

test("it can't change the list of migrations, or the record that rows got their MACs", async () => {
  for (const table of ["schema_migrations", "row_mac_backfill", "service_rights"])
    for (const statement of [`INSERT INTO ${table} DEFAULT VALUES`, `DELETE FROM ${table}`, `TRUNCATE ${table}`])
      await assert.rejects(run(statement), denied, statement);
});

test("it can't create objects, disable triggers, become another role, or access files and programs of the machine", async () => {
  for (const statement of [
    "CREATE TABLE mine ()",
    "CREATE TEMPORARY TABLE audit_log ()",
    "CREATE SCHEMA mine",
    "CREATE ROLE mine",
    "ALTER TABLE audit_log DISABLE TRIGGER USER",
    "DROP TRIGGER audit_log_append_only ON audit_log",
    "SET session_replication_role = replica",
    "SET ROLE signsealship",
    "SELECT * FROM pg_authid",
    "SELECT pg_read_file('/etc/passwd')",
    "COPY (SELECT 1) TO PROGRAM 'true'",
    "ALTER SYSTEM SET fsync = off",
  ])
    await assert.rejects(run(statement), denied, statement);
});

test("over the socket everybody needs a password, and the service's differs from the owner's", async () => {
  const { connection, owner } = server;
  assert.ok(await connects(connection));
  assert.ok(await connects(owner));
  for (const stranger of [
    { ...owner, password: "" },
    { ...owner, password: "none" },
    { ...owner, password: connection.password },
    { ...connection, password: owner.password },
    { ...owner, user: "postgres" },
    { ...connection, database: "template1" },
  ])
    assert.equal(await connects(stranger), false, `${stranger.user} of ${stranger.database}`);
});

test("only the owner can read the file with the passwords", () => {
  assert.equal(statSync(join(folder.path, "postgres/pgpass")).mode & 0o777, 0o600);
});

/** A data folder as an earlier release left it: PostgreSQL has only the superuser's role, and no passwords. */
async function olderFolder() {
  const older = temporaryFolder();
  await prepareDatabase(older.path);
  const first = await openEmbeddedPostgres(older.path);
  const owner = openDatabase(first.owner, () => {}, { poolSize: 1 });
  await owner.transaction(async (tx) => {
    await tx.script(`DROP OWNED BY ${serviceRole}; DROP ROLE ${serviceRole};
      DELETE FROM service_rights;
      ALTER ROLE signsealship PASSWORD NULL; GRANT TEMPORARY ON DATABASE postgres TO PUBLIC`);
  });
  await owner.close();
  await first.release();
  rmSync(join(older.path, "postgres/pgpass"));
  writeFileSync(join(older.path, "postgres/cluster/pg_hba.conf"), "local all all trust\n");
  return older;
}

async function isClosed(dataDir: string): Promise<void> {
  const opened = await openEmbeddedPostgres(dataDir);
  try {
    assert.equal(await connects({ ...opened.owner, password: "none" }), false);
    const own = openDatabase(opened.connection, () => {}, { poolSize: 1 });
    await assert.rejects(own.query(sql`DELETE FROM audit_log`), denied);
    await own.close();
  } finally {
    await opened.release();
  }
}

test("a data folder of a release without passwords has them after its next start", async () => {
  const older = await olderFolder();
  try {
    const service = await startService({ DATA_DIR: older.path });
    assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200);
    await isClosed(older.path);
    await service.stop();
  } finally {
    older.remove();
  }
});

test("a data folder of a release without passwords gets them while its server is still running", async () => {
  const older = await olderFolder();
  try {
    // The start of this server sets passwords. So the test removes them while the server runs.
    const running = await openEmbeddedPostgres(older.path);
    const owner = openDatabase(running.owner, () => {}, { poolSize: 1 });
    writeFileSync(join(older.path, "postgres/cluster/pg_hba.conf"), "local all all trust\n");
    await owner.query(sql`SELECT pg_reload_conf()`);
    rmSync(join(older.path, "postgres/pgpass"));
    while (!(await connects({ ...running.owner, password: "none" }))) await new Promise((done) => setTimeout(done, 5));
    const service = await startService({ DATA_DIR: older.path });
    assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200);
    await isClosed(older.path);
    await service.stop();
    await owner.close();
    await running.release();
  } finally {
    older.remove();
  }
});

test("lost passwords are created again at the next start of the server, and reported while it runs", async () => {
  const lost = temporaryFolder();
  try {
    await prepareDatabase(lost.path);
    const running = await openEmbeddedPostgres(lost.path);
    const before = readFileSync(join(lost.path, "postgres/pgpass"), "utf8");
    rmSync(join(lost.path, "postgres/pgpass"));
    await assert.rejects(openEmbeddedPostgres(lost.path), /does not know the passwords of .*pgpass: stop/);
    await running.release();
    const service = await startService({ DATA_DIR: lost.path });
    assert.notEqual(readFileSync(join(lost.path, "postgres/pgpass"), "utf8"), before);
    await isClosed(lost.path);
    await service.stop();
  } finally {
    lost.remove();
  }
});

const urlOf = ({ user, password, host }: Connection, database: string) =>
  `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host)}`;

test("the service's own connection can't create large objects", async () => {
  for (const call of [
    "lo_creat(-1)",
    "lo_create(0)",
    "lo_from_bytea(0, 'x')",
    "lo_import('/etc/hostname')",
    "lo_import('/etc/hostname', 0)",
    "lo_put(1, 0, 'x')",
  ])
    await assert.rejects(run(`SELECT ${call}`), denied, call);
});

/** The statement in docs/operating.md that a superuser must run on an operator's own server. */
function revokeInDocs(): string {
  const docs = readFileSync(join(import.meta.dirname, "../../../../../docs/operating.md"), "utf8");
  const [statement] = /^REVOKE EXECUTE ON FUNCTION [^;]+;/m.exec(docs) ?? [];
  assert.ok(statement);
  return statement;
}

test("on an operator's server the service uses the restricted role once a command ran as the owner", async () => {
  const data = temporaryFolder();
  const owner = openDatabase(server.owner, () => {}, { poolSize: 1 });
  const hba = join(folder.path, "postgres/cluster/pg_hba.conf");
  const closed = readFileSync(hba, "utf8");
  try {
    await run(`CREATE ROLE their_owner LOGIN PASSWORD 'theirs'`, owner);
    await run("CREATE DATABASE theirs OWNER their_owner", owner);
    writeFileSync(hba, `${closed}local theirs all scram-sha-256\n`);
    await owner.query(sql`SELECT pg_reload_conf()`);
    while (!(await connects({ ...server.owner, database: "theirs" }))) await new Promise((done) => setTimeout(done, 5));
    const settings = { DATA_DIR: data.path, PORT: "18080" };
    const asService = { ...settings, DATABASE_URL: urlOf(server.connection, "theirs") };
    const theirOwner = { ...server.owner, user: "their_owner", password: "theirs" };
    const asOwner = { ...settings, DATABASE_URL: urlOf(theirOwner, "theirs") };
    const asSuperuser = { ...settings, DATABASE_URL: urlOf(server.owner, "theirs") };
    const findings = async (env: typeof asOwner) => {
      const { stdout } = await runCli(env, "doctor", "--json");
      return (JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] }).checks;
    };
    const early = (await findings(asService)).find(({ name }) => name === "data");
    assert.match(
      early?.detail ?? "",
      /its role may not change that .*: run a command, such as doctor, once with the owner's/,
    );
    const rightsOf = async (env: typeof asOwner) =>
      (await findings(env)).find(({ name }) => name === "database rights");
    const loose = await rightsOf(asOwner);
    assert.equal(loose?.result, "warning");
    assert.match(loose?.detail ?? "", /their_owner may change or remove rows of audit_log, events, /);
    assert.match((await rightsOf(asSuperuser))?.detail ?? "", /signsealship is a superuser/);
    const objects = await rightsOf(asService);
    assert.equal(objects?.result, "warning");
    assert.match(objects?.detail ?? "", new RegExp(`^${serviceRole} may make large objects: `));
    const theirs = openDatabase({ ...server.owner, database: "theirs" }, () => {}, { poolSize: 1 });
    await run(revokeInDocs(), theirs).finally(() => theirs.close());
    const tight = await rightsOf(asService);
    assert.deepEqual([tight?.result, tight?.detail], ["ok", `${serviceRole} can only add to append-only tables`]);
    const service = await startService(asService);
    assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200);
    await service.stop();
  } finally {
    writeFileSync(hba, closed);
    await owner.close();
    data.remove();
  }
});
