import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { databaseOf } from "@signsealship/testing/database";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import type { Database } from "../../src/kernel/platform/database/database.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { type MacRow, type MacTable, macColumn } from "../../src/kernel/platform/protected-data.ts";
import type { RowMac } from "../../src/kernel/platform/row-mac.ts";
import { macTables } from "../../src/upkeep/protected-data.ts";
import { type Version, verify } from "../closing/closing-passports/seal-room.ts";
import { type Acknowledged, lostAndDoubled, orderOf, startWriters } from "../faults/order-writers.ts";
import { linkPackages, releaseOf, root } from "./releases.ts";

/** The last release without the schema fence: the triggers that refuse writes of nodes with an older schema. */
const before = "0f72647906dd5cb105f8341acdee0eafd0d3a282";
const folder = temporaryFolder();

/** The next release, with a migration that only adds to the schema. */
function nextRelease(): string {
  const release = join(folder.path, "next");
  for (const name of ["package.json", "service", "packages", "docs"])
    cpSync(join(root, name), join(release, name), {
      recursive: true,
      filter: (path) => !["node_modules", "test"].includes(basename(path)),
    });
  writeFileSync(
    join(release, "service/migrations/9000_next.sql"),
    "-- Older nodes: go on.\nALTER TABLE orders ADD COLUMN of_next_release text;\n",
  );
  linkPackages(release);
  return release;
}

const env = { DATA_DIR: join(folder.path, "data"), RATE_LIMITS: "off" };
const document = () => {
  const form = new FormData();
  form.set("file", new Blob([new Uint8Array(makePdf())]), "deed.pdf");
  return form;
};

/** Writes a proof passport and a closing passport through a service of some release. */
async function write({ baseUrl }: Service, key: string, room: string) {
  const client = newClient(baseUrl, key, (status) => status < 300);
  const passport = await client.ok<{ verifyCode: string }>("POST", "/api/passport/seal", document());
  const version = await client.ok<Version>("POST", `/api/rooms/${room}/passport`);
  return { passport: passport.verifyCode, version: version.verifyCode };
}

/** The keys of rows whose MAC is invalid. */
async function unvouched(db: Database, rowMac: RowMac, { table, rows, members }: MacTable): Promise<string[]> {
  const found = await db.query<MacRow<object> & { key: string }>(rows);
  return found.flatMap((row) => {
    const facts = members(row);
    return facts === null || rowMac.holds(table.text, facts, row.mac) ? [] : [`${table.text} ${row.key}`];
  });
}

const everyRowHasOne = [
  "seal_chains row_mac",
  "documents row_mac",
  "orders state_mac",
  "partner_keys row_mac",
  "passports row_mac",
  "closing_passports row_mac",
];

async function withoutMac(db: Database): Promise<string[]> {
  const rowMac = await rowMacOf(env.DATA_DIR);
  const nameOf = (each: MacTable) => `${each.table.text} ${macColumn(each).text}`;
  const people = macTables.filter(({ backfill }) => backfill?.set === "people");
  const tables = [...macTables.filter((each) => everyRowHasOne.includes(nameOf(each))), ...people];
  assert.equal(tables.length, everyRowHasOne.length + people.length);
  return (await Promise.all(tables.map((each) => unvouched(db, rowMac, each)))).flat();
}

/** Requests orders and rooms from a node. @returns the distinct statuses of the responses */
async function statusesOf({ baseUrl }: Service, key: string): Promise<Set<number>> {
  const client = newClient(baseUrl, key);
  const answers = Array.from({ length: 20 }, (_, n) =>
    n % 2 === 0
      ? client.call("POST", "/api/rooms", { name: "Late" })
      : client.call("POST", "/api/partner/orders", orderForm(minimal)),
  );
  return new Set((await Promise.all(answers)).map(({ status }) => status));
}

let running: Service[] = [];
const stop = async (service: Service) => {
  running = running.filter((other) => other !== service);
  return service.stop();
};
const start = async (release: string): Promise<Service> => {
  const service = await startService(env, { firstStart: true, program: join(release, "service/src/cli/main.ts") });
  running.push(service);
  return service;
};

/**
 * Asserts that every acknowledged order is stored once, is found by its code and its idempotency key, and has a valid
 * MAC.
 */
async function checkAll(node: Service, key: string, acknowledged: readonly Acknowledged[], db: Database) {
  const rows = await db.query<{ code: string }>(sql`SELECT code AS "code@order" FROM orders`);
  const codes = rows.map(({ code }) => code);
  assert.deepEqual(lostAndDoubled(acknowledged, codes), { lost: [], doubled: [] });
  // No writer placed the order in the room. So there is one code more than there are acknowledged orders.
  assert.equal(codes.length, acknowledged.length + 1);
  const headers = { Authorization: `Bearer ${key}` };
  for (const { reference, code } of acknowledged) {
    const found = await fetch(`${node.baseUrl}/api/partner/orders/${code}`, { headers });
    assert.equal(found.status, 200);
    const replayed = await fetch(`${node.baseUrl}/api/partner/orders`, {
      method: "POST",
      headers: { ...headers, "Idempotency-Key": reference },
      body: orderOf(reference),
    });
    assert.equal(((await replayed.json()) as { orderCode: string }).orderCode, code);
  }
  assert.deepEqual(await withoutMac(db), []);
  const { checks } = await node.cli<{ checks: { name: string; result: string }[] }>("doctor");
  assert.deepEqual(
    checks.filter(({ result }) => result === "failed"),
    [],
  );
}

async function upgradeTwice(db: Database, earlier: Service): Promise<void> {
  const { partnerId = "" } = await earlier.cli("partner", "create", "Upgraded", "--tier", "ClosingDesk");
  const { key = "" } = await earlier.cli("key", "issue", partnerId, "--test");
  const firm = newClient(earlier.baseUrl, key, (status) => status < 300);
  const { roomCode: room } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  const { orderCode } = await firm.ok<{ orderCode: string }>("POST", "/api/partner/orders", orderForm(minimal));
  await firm.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  const written = [await write(earlier, key, room)];
  let nodes = [earlier];
  const writers = startWriters(() => nodes.map(({ baseUrl }) => baseUrl), [key], 4);
  try {
    writers.resume();
    await writers.more(20);

    // The first upgrade: the migrations of this release stop the older node.
    const present = await start(root);
    nodes = [earlier, present];
    const statuses = await statusesOf(earlier, key);
    // A release without the fence responds with 500 after a migration has renamed a column.
    assert.deepEqual(
      [...statuses].filter((status) => status < 500),
      [],
    );
    await assert.rejects(earlier.cli("key", "issue", partnerId, "--test"), /newer release/);
    await writers.more(20);
    written.push(await write(present, key, room));
    nodes = [present];
    await stop(earlier);
    await writers.more(20);

    // The second upgrade: this release and the next one run at the same time.
    await writers.pause();
    writers.statuses.clear();
    writers.resume();
    const next = await start(nextRelease());
    const { key: later = "" } = await present.cli("key", "issue", partnerId, "--test");
    await writers.more(20);
    written.push(await write(present, later, room));
    nodes = [present, next];
    await writers.more(20);
    assert.deepEqual([...writers.statuses.keys()], [201]);
    assert.equal(await stop(present), 0);
    await writers.more(20);
    written.push(await write(next, later, room));
    await writers.end();

    await checkAll(next, key, writers.acknowledged, db);
    for (const { passport, version } of written) {
      const answer = await fetch(`${next.baseUrl}/api/passport/verify/${passport}`);
      assert.equal(((await answer.json()) as { verdict: string }).verdict, "verified_test");
      assert.equal((await verify(next.baseUrl, version)).chainOk, true);
    }
  } finally {
    await writers.end();
  }
}

test("two upgrades in a row, the second of them rolling, lose nothing that was acknowledged", async () => {
  try {
    const earlier = await start(releaseOf(before, join(folder.path, "earlier")));
    const db = await databaseOf(env.DATA_DIR);
    await upgradeTwice(db, earlier).finally(db.close);
  } finally {
    await Promise.all(running.map(stop));
    folder.remove();
  }
});
