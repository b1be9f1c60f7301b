import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { blobsOf, readBlob } from "@signsealship/testing/blobs";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { newPartner, runCli } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { type StoredVersion, storedColumns, versionMembers } from "../../src/closing/closing-passports/versions.ts";
import { issueKey, revokeKey } from "../../src/firms/partners/partners.ts";
import { checkEvents } from "../../src/kernel/events/events.ts";
import { systemClock } from "../../src/kernel/platform/clock.ts";
import { isSealed, nothing, type Statement, sealed, sql } from "../../src/kernel/platform/database/sql.ts";
import { digestOf, verified, writeStateMacs } from "../../src/kernel/platform/database/state-mac.ts";
import { openTask, verifiedTask } from "../../src/kernel/tasks/tasks.ts";
import { earlierDocumentMembers } from "../../src/orders/order/documents.ts";
import {
  type DocumentFacts,
  documentMembers,
  documentOwnerColumns,
  documentUse,
  earlierOrderStates,
} from "../../src/orders/order/order.ts";
import { paymentState } from "../../src/orders/payments/payments.ts";
import { download, sealRoom, verify } from "../closing/closing-passports/seal-room.ts";
import { openRoomsService } from "../closing/rooms/rooms-service.ts";
import { seal } from "../evidence/proof-passports/seal-document.ts";

after(() => running.service.stop());
// The attacker can write to the database as its superuser, but has neither SECRETS_KEY nor the seal's key.
const running = await forTests(openRoomsService());
let acme = await running.partner("ClosingDesk", "Acme Title");

const attack = (statement: Statement) =>
  running.db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(statement);
  });

const get = (path: string) => fetch(running.service.baseUrl + path);
const textOf = async (path: string) => (await get(path)).text();
const unknown = '{"verdict":"unknown"}';

async function roomWithOrder(): Promise<{ room: string; orderCode: string }> {
  const room = await acme.room();
  const orderCode = await acme.order();
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  return { room, orderCode };
}

test("a closing passport that refers to an order's document does not have it decrypted for the public", async () => {
  const { room, orderCode } = await roomWithOrder();
  const { verifyCode } = await sealRoom(acme, room);
  const forged = "b".repeat(26);
  const { room: other } = await roomWithOrder();
  await attack(sql`
    INSERT INTO closing_passports (room_id, version, verify_code, manifest, manifest_sha256, prev_manifest_sha256,
      sealed_sha256, seal_chain, blob_key, created_at, row_mac)
    SELECT (SELECT id FROM rooms WHERE ${isSealed(sql`code`, "room", other)}), 1, ${sealed("closing", forged)}, manifest, manifest_sha256, prev_manifest_sha256,
      d.sha256, seal_chain, d.blob_key, c.created_at, c.row_mac
    FROM closing_passports c, documents d JOIN orders o ON o.id = d.order_id
    WHERE ${isSealed(sql`c.verify_code`, "closing", verifyCode)} AND ${isSealed(sql`o.code`, "order", orderCode)}`);
  const response = await get(`/api/verify/room/${forged}/pdf`);
  assert.deepEqual([response.status, await response.text()], [404, unknown]);
  assert.equal((await verify(running.service.baseUrl, forged)).chainOk, false);
  assert.equal((await get(`/api/verify/room/${verifyCode}/pdf`)).status, 200);
});

test("a closing passport whose manifest and hashes were replaced fails, and no seal links to it", async () => {
  const { room } = await roomWithOrder();
  const { verifyCode, verifyUrl } = await sealRoom(acme, room);
  assert.match(await textOf(verifyUrl), /matches its record|passed every check/);
  const [row] = await running.db.query<{ manifest: string }>(sql`
    SELECT manifest AS "manifest@manifest" FROM closing_passports
    WHERE ${isSealed(sql`verify_code`, "closing", verifyCode)}`);
  const forged = row?.manifest.replace("QuoteReady", "Completed") ?? assert.fail();
  await attack(sql`
    UPDATE closing_passports SET manifest = ${sealed("manifest", forged)},
      manifest_sha256 = ${createHash("sha256").update(forged).digest("hex")}
    WHERE ${isSealed(sql`verify_code`, "closing", verifyCode)}`);
  assert.equal((await verify(running.service.baseUrl, verifyCode)).chainOk, false);
  assert.match(await textOf(verifyUrl), /This closing certificate failed/);
  assert.equal((await acme.call("POST", `/api/rooms/${room}/passport`)).status, 409);
});

test("an attacker who also has SECRETS_KEY can make no manifest that a sealed certificate contains", async () => {
  const { room } = await roomWithOrder();
  const { verifyCode, verifyUrl } = await sealRoom(acme, room);
  const { verifyCode: whole } = await sealRoom(acme, (await roomWithOrder()).room);
  const [row] = await running.db.query<StoredVersion>(sql`
    SELECT ${storedColumns} FROM closing_passports c JOIN rooms r ON r.id = c.room_id WHERE ${isSealed(sql`c.verify_code`, "closing", verifyCode)}`);
  assert.ok(row);
  const manifest = row.manifest.replace("QuoteReady", "Completed");
  const forged = { ...row, manifestSha256: createHash("sha256").update(manifest).digest("hex") };
  await attack(sql`
    UPDATE closing_passports SET manifest = ${sealed("manifest", manifest)}, manifest_sha256 = ${forged.manifestSha256},
      row_mac = ${running.rowMac.of("closing_passports", versionMembers(forged))}
    WHERE ${isSealed(sql`verify_code`, "closing", verifyCode)}`);
  const chainOk = async (code: string) => (await verify(running.service.baseUrl, code)).chainOk;
  assert.deepEqual([await chainOk(verifyCode), await chainOk(whole)], [false, true]);
  // Restarts the service to discard its cached results about certificates.
  await restarted(sql`SELECT`);
  assert.deepEqual([await chainOk(verifyCode), await chainOk(whole)], [false, true]);
  const page = await textOf(verifyUrl);
  assert.match(page, /This closing certificate failed/);
  assert.match(page, /The archived certificate is gone, bears another manifest, or its seal failed/);
  assert.equal((await acme.call("POST", `/api/rooms/${room}/passport`)).status, 409);
});

test("a version whose certificate is missing, or was sealed for another purpose, fails", async () => {
  const versions = [await roomWithOrder(), await roomWithOrder()].map(({ room }) => sealRoom(acme, room));
  const [gone, other] = await Promise.all(versions);
  const owner = { ...(await newPartner(running.service)), baseUrl: running.service.baseUrl };
  const blobs = await blobsOf(running.service.dataDir);
  // A closing certificate with its manifest. An attacker had this service seal it again as an ordinary document.
  const drawn = await download(running.service.baseUrl, other?.verifyCode ?? "");
  const { passportId, sealedSha256 } = await seal(owner, drawn);
  const [passport] = await running.db.query<{ blobKey: string }>(
    sql`SELECT blob_key AS "blobKey" FROM passports WHERE id = ${passportId}`,
  );
  const sealed = await readBlob(blobs, passport?.blobKey ?? "", {
    kind: "proof passport",
    owner: passportId,
    sha256: sealedSha256,
  });
  assert.ok(sealed && gone && other);
  const use = { kind: "closing passport", owner: other.verifyCode, sha256: sealedSha256 } as const;
  const resealed = { sealedSha256, blobKey: await blobs.put(sealed, use) };
  for (const [verifyCode, change] of [
    [gone.verifyCode, { blobKey: "2026-01-01/gone" }],
    [other.verifyCode, resealed],
  ] as const) {
    const [row] = await running.db.query<StoredVersion>(sql`
      SELECT ${storedColumns} FROM closing_passports c JOIN rooms r ON r.id = c.room_id WHERE ${isSealed(sql`c.verify_code`, "closing", verifyCode)}`);
    assert.ok(row);
    const forged = { ...row, ...change };
    await attack(sql`
      UPDATE closing_passports SET blob_key = ${forged.blobKey}, sealed_sha256 = ${forged.sealedSha256},
        row_mac = ${running.rowMac.of("closing_passports", versionMembers(forged))}
      WHERE ${isSealed(sql`verify_code`, "closing", verifyCode)}`);
  }
  await restarted(sql`SELECT`);
  for (const { verifyCode } of [gone, other])
    assert.equal((await verify(running.service.baseUrl, verifyCode)).chainOk, false);
});

test("a certificate that was inserted among those of the seal is not trusted", async () => {
  await sealRoom(acme, (await roomWithOrder()).room);
  const foreign = "-----BEGIN CERTIFICATE-----\nFOREIGN\n-----END CERTIFICATE-----\n";
  await attack(sql`
    INSERT INTO seal_chains (sha256, pem, first_used_at, row_mac)
    SELECT encode(sha256(${foreign}::text::bytea), 'hex'), ${foreign}, first_used_at, row_mac FROM seal_chains LIMIT 1`);
  assert.ok(!(await textOf("/verify")).includes("FOREIGN"));
});

test("a proof passport whose time stamp, anchor or certificates were altered is not accepted", async () => {
  const owner = { ...(await newPartner(running.service)), baseUrl: running.service.baseUrl };
  const changes = (id: string) => [
    sql`UPDATE passports SET rfc3161_at = '2019-01-02', rfc3161_authority = 'https://tsa', rfc3161_token = 'x' WHERE id = ${id}`,
    sql`
      INSERT INTO passport_anchors (passport_id, proof, calendar, submitted_at, status, block_height, row_mac)
      VALUES (${id}, 'x', 'https://calendar', '2019-01-02', 'confirmed', 500000, decode(repeat('00', 36), 'hex'))`,
    sql`UPDATE passports SET blob_key = (SELECT blob_key FROM documents LIMIT 1) WHERE id = ${id}`,
    sql`UPDATE passports SET row_mac = (SELECT row_mac FROM passports WHERE id <> ${id} LIMIT 1) WHERE id = ${id}`,
  ];
  await seal(owner, makePdf({ text: "another" }));
  for (const n of changes("").keys()) {
    const { passportId, verifyCode } = await seal(owner, makePdf());
    const path = `/api/passport/verify/${verifyCode}`;
    assert.equal((await get(path)).status, 200);
    const change = changes(passportId)[n];
    assert.ok(change);
    await attack(change);
    for (const more of ["", "/document", "/evidence"]) assert.equal(await textOf(path + more), unknown, change.text);
  }
});

test("the certificates of a passport's seal can't be replaced in its evidence", async () => {
  const owner = { ...(await newPartner(running.service)), baseUrl: running.service.baseUrl };
  const { verifyCode } = await seal(owner, makePdf({ text: "chain" }));
  const path = `/api/passport/verify/${verifyCode}/evidence`;
  assert.equal((await get(path)).status, 200);
  await attack(sql`UPDATE seal_chains SET pem = pem || 'more'`);
  assert.equal(await textOf(path), unknown);
  await attack(sql`UPDATE seal_chains SET pem = left(pem, -4) WHERE pem LIKE '%more'`);
  assert.equal((await get(path)).status, 200);
});

/** Asserts that the room is not sealed. The answer and a task of the operators must name the order and its document. */
async function refusesToSeal(room: string, orderCode: string): Promise<void> {
  const { status, body } = await acme.call("POST", `/api/rooms/${room}/passport`);
  const fault = `original document of order ${orderCode.slice(0, 6)}… is not what was written`;
  assert.deepEqual([status, String(body["error"]).includes(fault)], [409, true], JSON.stringify(body));
  const tasks = await running.db.query(sql`
    SELECT FROM tasks t JOIN rooms r ON t.subject = r.id || ':altered'
    WHERE t.kind = 'closing_seal' AND t.reason LIKE ${`%${fault}%`} AND ${isSealed(sql`r.code`, "room", room)}`);
  assert.equal(tasks.length, 1);
}

test("a document whose row was altered is neither named by a manifest nor sealed again", async () => {
  for (const change of [
    sql`sha256 = ${"e".repeat(64)}`,
    sql`blob_key = (SELECT max(blob_key) FROM closing_passports)`,
    sql`row_mac = NULL`,
  ]) {
    const { room, orderCode } = await roomWithOrder();
    await attack(sql`
      UPDATE documents SET ${change} WHERE order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", orderCode)})`);
    await refusesToSeal(room, orderCode);
  }
});

test("a document that is missing, or differs from its row, is named by no manifest", async () => {
  const blobs = await blobsOf(running.service.dataDir);
  for (const [name, status, blobKey] of [
    // A missing document gets 503, because a store that is not mounted gives the same error.
    ["gone", 503, async () => "2026-01-01/gone"],
    ["another", 409, async (sha256: string) => blobs.put(Buffer.from("another"), documentUse(sha256))],
  ] as const) {
    const { room, orderCode } = await roomWithOrder();
    const [row] = await running.db.query<{ id: number; kind: string; sha256: string }>(sql`
      SELECT d.id, kind, sha256 FROM documents d JOIN orders o ON o.id = order_id WHERE ${isSealed(sql`code`, "order", orderCode)}`);
    assert.ok(row);
    // An attacker who also has SECRETS_KEY can create rows and blobs that are each valid by themselves.
    const { partnerId } = acme;
    const forged = {
      orderCode,
      partnerId,
      environment: "test",
      kind: row.kind,
      sha256: row.sha256,
      blobKey: await blobKey(row.sha256),
    } as const;
    await attack(sql`
      UPDATE documents SET blob_key = ${forged.blobKey}, row_mac = ${running.rowMac.of("documents", documentMembers(forged))}
      WHERE id = ${row.id}`);
    assert.equal((await acme.call("POST", `/api/rooms/${room}/passport`)).status, status, name);
  }
});

test("a waiting document can't be ordered by its token once its row was altered, or has no MAC", async () => {
  const file = join(running.service.dataDir, "waiting.pdf");
  writeFileSync(file, makePdf({ text: "waiting" }));
  const order = (fillToken: string) =>
    acme.call("POST", "/api/partner/orders", orderForm({ ...minimal, fill_token: fillToken }, null));
  for (const change of [
    sql`sha256 = ${"e".repeat(64)}`,
    sql`blob_key = (SELECT max(blob_key) FROM documents)`,
    sql`expires_at = expires_at + interval '1 day'`,
    sql`pages = 1000`,
    sql`row_mac = NULL`,
  ]) {
    const { fillToken = "" } = await running.service.cli("fill", "add", file);
    await attack(sql`UPDATE fill_documents SET ${change} WHERE used_at IS NULL`);
    assert.equal((await order(fillToken)).status, 400, change.text);
  }
  const { fillToken = "" } = await running.service.cli("fill", "add", file);
  assert.equal((await order(fillToken)).status, 201);
});

test("orders, documents, rooms and payments of an earlier release stay valid: their rows get MACs at the first start", async () => {
  const { room, orderCode } = await roomWithOrder();
  await acme.ok("POST", `/api/partner/sandbox/orders/${orderCode}/checkout`, { outcome: "success" });
  const document = async () => {
    const path = `/api/partner/orders/${orderCode}`;
    const { documents } = await acme.ok<{ documents: { documentId: string }[] }>("GET", `${path}/documents`);
    const { key } = await issueKey({ ...running, clock: systemClock }, acme.partnerId, "test");
    const headers = { Authorization: `Bearer ${key}` };
    return (await fetch(`${running.service.baseUrl}${path}/documents/${documents[0]?.documentId}`, { headers })).status;
  };
  assert.equal(await document(), 200);
  const earlier = await running.db.query<DocumentFacts & { id: number }>(sql`
    SELECT d.id, ${documentOwnerColumns}, d.kind, d.sha256, d.blob_key AS "blobKey"
    FROM documents d JOIN orders o ON o.id = d.order_id WHERE ${isSealed(sql`o.code`, "order", orderCode)}`);
  for (const row of earlier)
    await attack(sql`
      UPDATE documents SET row_mac = ${running.rowMac.of("documents", earlierDocumentMembers(row))} WHERE id = ${row.id}`);
  const [lesser, least, altered, payerless] = [
    await acme.order(),
    await acme.order(),
    await acme.order(),
    await acme.order(),
  ];
  await attack(sql`UPDATE orders SET envelope_status = 'Completed' WHERE ${isSealed(sql`code`, "order", altered)}`);
  const hasCode = (code: string) => isSealed(sql`code`, "order", code);
  for (const [n, code] of [lesser, least, altered].entries()) {
    const earlier = earlierOrderStates(sql`${code}::text`).filter(({ opened }) => !opened)[n];
    const digest = earlier ? digestOf(earlier, sql`orders`) : sql`repeat('x', 32)::bytea`;
    const [row] = await running.db.query<{ digest: Buffer }>(
      sql`SELECT ${digest} AS digest FROM orders WHERE ${hasCode(code)}`,
    );
    const state = row?.digest.toString("hex") ?? "";
    await attack(sql`UPDATE orders SET state_mac = ${running.rowMac.of("orders", { state })} WHERE ${hasCode(code)}`);
  }
  const task = { kind: "job_dead", at: new Date(), environment: "live", subject: "x" } as const;
  await running.db.transaction((tx) => openTask(tx, task));
  await attack(sql`UPDATE orders SET pay_by = 'firm' WHERE ${hasCode(payerless)}`);
  const [latest] = earlierOrderStates(nothing);
  assert.ok(latest?.opened);
  await writeStateMacs(running.db, latest, hasCode(payerless));
  assert.equal((await acme.call("GET", `/api/partner/orders/${payerless}`)).status, 503);
  const keys = join(running.service.dataDir, "keys");
  for (const name of readdirSync(keys)) if (name.startsWith("row-macs-filled")) rmSync(join(keys, name));
  await attack(sql`DELETE FROM row_mac_backfill`);
  await restarted(sql`
    WITH rooms AS (UPDATE rooms SET row_mac = NULL), payments AS (UPDATE payments SET row_mac = NULL),
      events AS (UPDATE events SET row_mac = NULL), tasks AS (UPDATE tasks SET row_mac = NULL)
    UPDATE orders SET state_mac = NULL
    WHERE NOT (${hasCode(lesser)} OR ${hasCode(least)} OR ${hasCode(altered)} OR ${hasCode(payerless)})`);
  assert.equal(await document(), 200);
  const orderStatus = async (code: string) => (await acme.call("GET", `/api/partner/orders/${code}`)).status;
  assert.deepEqual(await Promise.all([lesser, least, altered, payerless].map(orderStatus)), [200, 200, 503, 200]);
  assert.equal((await running.db.query(sql`SELECT ${verifiedTask} FROM tasks WHERE kind = 'job_dead'`)).length, 1);
  const { events } = await acme.ok<{ events: { id: string }[] }>("GET", "/api/partner/events");
  assert.ok(events.some(({ id }) => id === `order.created:${orderCode}`));
  assert.deepEqual((await checkEvents(running)).forged, []);
  assert.equal((await get(`/api/rooms/${room}`)).status, 200);
  const { orderCode: another } = await roomWithOrder();
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: another });
  const held = await running.db.query<{ mac: Buffer | null }>(sql`
    SELECT p.row_mac AS mac, ${verified(paymentState, sql`p`)} FROM payments p JOIN orders o ON o.id = p.order_id WHERE ${isSealed(sql`o.code`, "order", orderCode)}`);
  assert.equal(held.length, 1);
});

test("a key whose row was altered, or whose revocation was removed in the database, gives no access", async () => {
  const deps = { ...running, clock: systemClock };
  const issue = () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    return issueKey(deps, acme.partnerId, "test", { actor: "operator", scopes: ["read"], expiresAt });
  };
  for (const change of [
    sql`scopes = '{read,orders,rooms,seal,webhooks}'`,
    sql`scopes = NULL`,
    sql`expires_at = NULL`,
    sql`expires_at = expires_at + interval '1 day'`,
    sql`environment = 'live'`,
    sql`partner_id = (SELECT id FROM partners WHERE id <> ${acme.partnerId} LIMIT 1)`,
    sql`row_mac = NULL`,
    sql`row_mac = (SELECT row_mac FROM partner_keys WHERE id = ${acme.keyId})`,
  ]) {
    const { keyId, key } = await issue();
    assert.equal((await listOrders(key)).status, 200);
    await attack(sql`UPDATE partner_keys SET ${change} WHERE id = ${keyId}`);
    assert.equal((await listOrders(key)).status, 401, change.text);
  }
  const [replaced, revoked] = [await issue(), await issue()];
  const known = `svc_pk_test_${"a".repeat(52)}`;
  await attack(sql`UPDATE partner_keys SET key_sha256 = sha256(${known}::text::bytea) WHERE id = ${replaced.keyId}`);
  await revokeKey(deps, revoked.keyId);
  await attack(sql`UPDATE partner_keys SET revoked_at = NULL WHERE id = ${revoked.keyId}`);
  for (const key of [replaced.key, known, revoked.key]) assert.equal((await listOrders(key)).status, 401);
});

const listOrders = (key: string) =>
  fetch(`${running.service.baseUrl}/api/partner/orders`, { headers: { Authorization: `Bearer ${key}` } });

test("the running service chains the audit log, and doctor finds a removed line", async () => {
  await roomWithOrder();
  const unchained = sql`SELECT FROM audit_log WHERE chain_position IS NULL`;
  await until(async () => (await running.db.query(unchained)).length === 0);
  const auditLog = async () => {
    const { stdout } = await runCli({ DATA_DIR: running.service.dataDir }, "doctor", "--json");
    const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
    return checks.find(({ name }) => name === "audit log");
  };
  assert.match(JSON.stringify(await auditLog()), /"result":"ok","detail":"[0-9]+ lines in one chain"/);
  await attack(sql`DELETE FROM audit_log WHERE chain_position = 2`);
  assert.deepEqual(await auditLog(), { name: "audit log", result: "failed", detail: "line 2 is missing" });
});

async function restarted(change: Statement): Promise<void> {
  await running.service.stop();
  await attack(change);
  running.service = await running.service.restart({});
  acme = acme.at(running.service);
}

test("rows of an earlier release get their MACs at the first start, and none later", async () => {
  const { room } = await roomWithOrder();
  const opens = async () => (await get(`/api/rooms/${room}`)).status === 200;
  const forget = sql`UPDATE rooms SET row_mac = NULL WHERE ${isSealed(sql`code`, "room", room)}`;
  await restarted(forget);
  assert.equal(await opens(), false);
  // The service would fill in missing MACs only if the file next to the keys and the record in the database were both
  // gone. Here the file alone is removed.
  rmSync(join(running.service.dataDir, "keys/row-macs-filled-rooms"));
  await restarted(forget);
  assert.equal(await opens(), false);
  await attack(sql`DELETE FROM row_mac_backfill WHERE filled = 'rooms'`);
  const refused = await runCli({ DATA_DIR: running.service.dataDir }, "notary", "list");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /no record that its rows got their MACs, but \S+keys\/row-macs-filled-rooms says so/);
  // Now both the file and the record are gone, as in a database of an earlier release.
  rmSync(join(running.service.dataDir, "keys/row-macs-filled-rooms"));
  await restarted(forget);
  assert.equal(await opens(), true);
  const [record] = await running.db.query<{ doneAt: Date; mac: Buffer }>(sql`
    SELECT done_at AS "doneAt", row_mac AS mac FROM row_mac_backfill WHERE filled = 'rooms'`);
  assert.ok(record);
  const rowMac = await rowMacOf(running.service.dataDir);
  assert.ok(rowMac.holds("row_mac_backfill", { filled: "rooms", doneAt: record.doneAt }, record.mac));
});
