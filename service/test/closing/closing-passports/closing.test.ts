import assert from "node:assert/strict";
import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { readClosingCertificate } from "@signsealship/evidence/seal";
import { blobsOf } from "@signsealship/testing/blobs";
import { forTests } from "@signsealship/testing/for-tests";
import { changeFirm } from "@signsealship/testing/row-mac";
import { needs } from "@signsealship/testing/tools/tools";
import { closingRecord, createCertificateCheck } from "../../../src/closing/closing-passports/closing-passports.ts";
import { reportAltered, reportSealFailures } from "../../../src/closing/rooms/rooms.ts";
import { isSealed, type Statement, sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { inlineWorkers } from "../../../src/kernel/platform/workers/inline.ts";
import { keepTasks } from "../../../src/kernel/tasks/tasks.ts";
import { documentMembers, documentUse } from "../../../src/orders/order/order.ts";
import { openRoomsService } from "../rooms/rooms-service.ts";
import { detached, download, sealRoom, sha256, verify, withPdf } from "./seal-room.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk", "Acme Title");
const { db, rowMac, service } = running;
const records = { db, rowMac, log: openLog("silent"), blobs: await blobsOf(service.dataDir) };
/** The test checks certificates by its own cache, which has the same settings as the service's. */
const deps = { ...records, certificates: createCertificateCheck({ ...records, workers: inlineWorkers }) };

const unknown = '{"verdict":"unknown"}';

async function roomWithOrders(count: number, name?: string): Promise<{ room: string; orders: string[] }> {
  const room = await acme.room(name);
  const orders: string[] = [];
  for (let n = 0; n < count; n++) {
    const orderCode = await acme.order();
    orders.push(orderCode);
    await acme.ok("POST", `/api/rooms/${room}/orders`, n === 0 ? { orderCode } : { orderCode, label: `Deed ${n}` });
  }
  return { room, orders };
}

test("sealing returns the version, and the next version links to it", async () => {
  const { room } = await roomWithOrders(1);
  const first = await sealRoom(acme, room);
  assert.deepEqual(Object.keys(first).sort(), [
    "createdAt",
    "log",
    "manifestSha256",
    "prevManifestSha256",
    "sealedSha256",
    "verifyCode",
    "verifyUrl",
    "version",
  ]);
  assert.equal(first.version, 1);
  assert.match(first.verifyCode, /^[a-z2-7]{26}$/);
  assert.equal(first.verifyUrl, `/v/room/${first.verifyCode}`);
  assert.equal(first.prevManifestSha256, null);
  const second = await sealRoom(acme, room);
  assert.deepEqual([second.version, second.prevManifestSha256], [2, first.manifestSha256]);
  assert.notEqual(second.verifyCode, first.verifyCode);
});

test("the manifest contains the orders by their codes with the existing artifacts, and explains the status", async () => {
  const { room, orders } = await roomWithOrders(3, "  12 Elm Street ");
  const [sealedOrder = ""] = orders;
  for (const [kind, text] of [
    ["sealed", "a"],
    ["sealed", "b"],
    ["notarized", "c"],
    ["custody_certificate", "d"],
  ] as const) {
    const blobKey = await deps.blobs.put(Buffer.from(text), documentUse(sha256(text)));
    const owner = { orderCode: sealedOrder, partnerId: acme.partnerId, environment: "test" } as const;
    const document = { ...owner, kind, sha256: sha256(text), blobKey };
    const mac = running.rowMac.of("documents", documentMembers(document));
    await running.db.query(sql`
      INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at, row_mac)
      SELECT id, ${kind}, ${document.sha256}, 1, ${blobKey}, now(), ${mac} FROM orders WHERE ${isSealed(sql`code`, "order", sealedOrder)}`);
  }
  await running.setStatus(sealedOrder, "EsignComplete");
  const { verifyCode, createdAt } = await sealRoom(acme, room);
  const { manifest } = await verify(running.service.baseUrl, verifyCode);
  assert.deepEqual(
    manifest.documents.map(({ orderCode }) => orderCode),
    orders.toSorted(),
  );
  const [originals] = await running.db.query<{ sha256: string }>(sql`
    SELECT sha256 FROM documents JOIN orders o ON o.id = order_id WHERE ${isSealed(sql`o.code`, "order", sealedOrder)} AND kind = 'original'`);
  assert.deepEqual(
    manifest.documents.find(({ orderCode }) => orderCode === sealedOrder),
    {
      custodyCertSha256: sha256("d"),
      label: null,
      notarizedSha256: sha256("c"),
      orderCode: sealedOrder,
      originalSha256: originals?.sha256,
      sealedSha256: sha256("b"),
      statusAtSnapshot: {
        basis: "platform_attestation",
        note: "platform attestation by signsealship at snapshot time; not cryptographic evidence",
        value: "EsignComplete",
      },
    },
  );
  const other = manifest.documents.find(({ orderCode }) => orderCode === orders[1]);
  assert.deepEqual(Object.keys(other ?? {}), ["label", "orderCode", "originalSha256", "statusAtSnapshot"]);
  assert.deepEqual(manifest.passport, {
    generatedAtUtc: `${createdAt.slice(0, 19)}Z`,
    prevManifestSha256: null,
    reference: null,
    roomCode: room,
    roomName: "12 Elm Street",
    version: 1,
  });
});

test("verification has exactly the contract's fields and the environment, with the firm's branding when it has one", async () => {
  const firm = await running.partner("trial");
  const room = await firm.room();
  const { verifyCode, manifestSha256, sealedSha256, createdAt } = await sealRoom(firm, room);
  const plain = await verify(running.service.baseUrl, verifyCode);
  const { manifest, text, ...rest } = plain;
  assert.deepEqual(rest, {
    manifestSha256,
    sealedSha256,
    version: 1,
    prevManifestSha256: null,
    chainOk: true,
    branding: null,
    createdAt,
    environment: "test",
    downloadUrl: `/api/verify/room/${verifyCode}/pdf`,
  });
  assert.deepEqual(manifest.documents, []);
  await changeFirm(running.db, firm.partnerId, sql`brand_name = ${"Ácme “Title”"}`);
  const { branding } = await verify(running.service.baseUrl, verifyCode);
  assert.deepEqual(branding, { brandName: "Ácme “Title”", accentColor: null, logoUrl: null });
});

test("verification reports a room that was sealed with a live key as live", async () => {
  const firm = await (await running.partner("trial")).withKey("live");
  const { verifyCode } = await sealRoom(firm, await firm.room());
  const { environment, chainOk } = await verify(running.service.baseUrl, verifyCode);
  assert.deepEqual({ environment, chainOk }, { environment: "live", chainOk: true });
});

test(
  "the certificate is sealed, downloads under its name, and contains the hashed manifest",
  needs("poppler", "qpdf", "mupdf"),
  async () => {
    const { room } = await roomWithOrders(2);
    await sealRoom(acme, room);
    const { verifyCode, manifestSha256, sealedSha256 } = await sealRoom(acme, room);
    const response = await fetch(`${running.service.baseUrl}/api/verify/room/${verifyCode}/pdf`);
    assert.equal(response.headers.get("content-type"), "application/pdf");
    assert.match(response.headers.get("content-disposition") ?? "", /filename="service-closing-passport-v2\.pdf"$/);
    const pdf = Buffer.from(await response.arrayBuffer());
    assert.equal(sha256(pdf), sealedSha256);
    assert.equal(sha256(detached(pdf)), manifestSha256);
    assert.deepEqual(readClosingCertificate(pdf).purpose, { kind: "closing", environment: "test" });
    withPdf(pdf, (run) => {
      const signatures = run("pdfsig", "certificate.pdf");
      assert.match(signatures, /Signature is Valid/);
      assert.match(signatures, /Total document signed/);
      run("qpdf", "--check", "certificate.pdf");
      assert.match(run("mutool", "info", "certificate.pdf"), /Pages: [12]/);
    });
  },
);

test("a seal writes its audit line and its event with the deterministic id, and updates the room", async () => {
  const { room } = await roomWithOrders(1);
  const before = await running.view(room);
  assert.equal(before.passport, null);
  const { verifyCode, createdAt } = await sealRoom(acme, room);
  assert.deepEqual((await running.view(room)).passport, { version: 1, verifyCode, createdAt });
  assert.equal((await running.view(room)).updatedAt, before.updatedAt);
  const events = await running.db.query<Record<string, unknown>>(sql`
    SELECT topic, event_id AS "event_id@event", subject AS "subject@event", events.environment, r.code AS "code@room"
    FROM events JOIN rooms r ON r.id = room_id
    WHERE ${isSealed(sql`subject`, "event", verifyCode)}`);
  const expected = {
    topic: "room.passport_sealed",
    event_id: `room.passport_sealed:${room}:${verifyCode}`,
    subject: verifyCode,
    environment: "test",
    code: room,
  };
  assert.deepEqual(events, [expected]);
  const audits = await running.db.query<Record<string, unknown>>(sql`
    SELECT actor, detail FROM audit_log JOIN rooms r ON r.id = room_id
    WHERE ${isSealed(sql`r.code`, "room", room)} AND action = 'room.passport_sealed'`);
  assert.deepEqual(audits, [{ actor: `key:${acme.keyId}`, detail: { version: 1 } }]);
});

test("only the owner can seal, in the room's environment, by the present code; a closed room may still be sealed", async () => {
  const room = await acme.room();
  const stranger = await running.partner("ClosingDesk");
  const live = await acme.withKey("live");
  for (const client of [stranger, live]) {
    assert.equal(await client.refused(404, "POST", `/api/rooms/${room}/passport`), "Room not found.");
  }
  for (const code of ["x", "0".repeat(40), room.toUpperCase()]) {
    assert.equal(await acme.refused(404, "POST", `/api/rooms/${code}/passport`), "Room not found.");
  }
  const keyless = await fetch(`${running.service.baseUrl}/api/rooms/${room}/passport`, { method: "POST" });
  assert.deepEqual([keyless.status, await keyless.text()], [401, '{"error":"A valid partner API key is required."}']);
  const { roomCode } = await acme.ok<{ roomCode: string }>("POST", `/api/rooms/${room}/rotate`);
  await acme.refused(404, "POST", `/api/rooms/${room}/passport`);
  await acme.ok("POST", `/api/rooms/${roomCode}/close`);
  const { verifyCode } = await sealRoom(acme, roomCode);
  assert.equal((await verify(running.service.baseUrl, verifyCode)).manifest.passport.roomCode, roomCode);
  const [kept] = await running.db.query<{ count: number }>(sql`
    SELECT count(*) FROM closing_passports c JOIN rooms r ON r.id = c.room_id WHERE ${isSealed(sql`r.code`, "room", roomCode)}`);
  assert.equal(kept?.count, 1);
});

test("a body is ignored, whatever it is", async () => {
  const room = await acme.room();
  const { status, body } = await acme.call("POST", `/api/rooms/${room}/passport`, "{not json");
  assert.deepEqual([status, body["version"]], [200, 1]);
});

test("unknown and malformed verify codes get the same answer", async () => {
  const codes = [
    "a".repeat(26),
    "A".repeat(26),
    "x",
    "%00",
    "a".repeat(27),
    "a".repeat(500),
    "a/b/c",
    `${"a".repeat(26)}/pdf`,
  ];
  for (const code of codes) {
    const response = await fetch(`${running.service.baseUrl}/api/verify/room/${code}`);
    assert.deepEqual([code, response.status, await response.text()], [code, 404, unknown]);
  }
});

async function tampered(verifyCode: string, change: Statement): Promise<void> {
  await running.db.transaction(async (tx) => {
    await tx.script("ALTER TABLE closing_passports DISABLE TRIGGER USER");
    await tx.query(
      sql`UPDATE closing_passports SET ${change} WHERE ${isSealed(sql`verify_code`, "closing", verifyCode)}`,
    );
    await tx.script("ALTER TABLE closing_passports ENABLE TRIGGER USER");
  });
}

const withManifest = (text: string): Statement => sql`manifest = ${sealed("manifest", text)}`;

async function storedManifest(verifyCode: string): Promise<{ manifest: string }> {
  const [row] = await running.db.query<{ manifest: string }>(sql`
    SELECT manifest AS "manifest@manifest" FROM closing_passports WHERE ${isSealed(sql`verify_code`, "closing", verifyCode)}`);
  return row ?? assert.fail();
}

test("chainOk is computed from the stored bytes, so an altered or missing manifest shows", async () => {
  const { room } = await roomWithOrders(1);
  const first = await sealRoom(acme, room);
  const second = await sealRoom(acme, room);
  const chainOk = async (code: string) => (await verify(running.service.baseUrl, code)).chainOk;
  assert.deepEqual([await chainOk(first.verifyCode), await chainOk(second.verifyCode)], [true, true]);
  const { manifest } = await storedManifest(first.verifyCode);
  await tampered(first.verifyCode, withManifest(manifest.replace("QuoteReady", "Completed")));
  assert.deepEqual([await chainOk(first.verifyCode), await chainOk(second.verifyCode)], [false, true]);
  const view = await closingRecord(deps, second.verifyCode);
  assert.deepEqual(
    view?.versions.map(({ hashHolds, linkHolds }) => [hashHolds, linkHolds]),
    [
      [false, true],
      [true, true],
    ],
  );
  await tampered(first.verifyCode, withManifest("no JSON"));
  const broken = await verify(running.service.baseUrl, first.verifyCode);
  assert.deepEqual([broken.chainOk, broken.manifest], [false, null]);
  // The service refuses to link a new version to an altered one.
  await tampered(second.verifyCode, withManifest("{}"));
  const refused = await acme.call("POST", `/api/rooms/${room}/passport`);
  const shown =
    "Version 2 is not what was sealed, so no version can follow it. The operator of this service has to look at it.";
  assert.deepEqual([refused.status, refused.body.error], [409, shown]);
  // The service's sweep closes a `closing_seal` task once its closing can be sealed. It must not close the task about
  // this altered closing.
  await reportSealFailures({ db: running.db, clock: () => new Date() });
  const tasks = () =>
    running.db.query<{ reason: string; state: string }>(sql`
      SELECT t.reason, t.state FROM tasks t JOIN rooms r ON t.subject = r.id || ':altered'
      WHERE t.kind = 'closing_seal' AND ${isSealed(sql`r.code`, "room", room)}`);
  const problem =
    "version 2 is not what was sealed. Compare it with a backup and restore it; members can seal again then.";
  assert.deepEqual(await tasks(), [{ reason: `12 Elm Street of Acme Title: ${problem}`, state: "open" }]);
});

test("a task about an altered version stays open when it is reported during the sweep", async () => {
  const { room } = await roomWithOrders(1);
  const { db } = running;
  const [found] = await db.query<{ id: string }>(sql`SELECT id FROM rooms WHERE ${isSealed(sql`code`, "room", room)}`);
  const [roomId, clock] = [found?.id ?? "", () => new Date()];
  let report: Promise<void> | undefined;
  await db.transaction((tx) =>
    keepTasks(tx, clock(), "closing_seal", async () => {
      report = reportAltered({ db, clock }, { roomId, environment: "test", fault: "version 1 is not what was sealed" });
      await Promise.race([report, setTimeout(300)]);
      return [];
    }),
  );
  await report;
  const tasks = await db.query(sql`SELECT state FROM tasks WHERE subject = ${`${roomId}:altered`}`);
  assert.deepEqual(tasks, [{ state: "open" }]);
});

test("a document that the store lacks causes a 503 that names it, and the room is sealed once it is back", async () => {
  const { room } = await roomWithOrders(1);
  const blobs = join(running.service.dataDir, "blobs");
  renameSync(blobs, `${blobs}.away`);
  const { status, headers, body } = await acme.call("POST", `/api/rooms/${room}/passport`);
  rmSync(blobs, { recursive: true, force: true });
  renameSync(`${blobs}.away`, blobs);
  assert.deepEqual([status, headers.has("retry-after")], [503, true]);
  assert.match(String(body["error"]), /^The \w+ document of order \w{6}… is missing in the store/);
  assert.equal((await sealRoom(acme, room)).version, 1);
});

test("the page of a version whose stored manifest is unreadable says that verification failed", async () => {
  const { room } = await roomWithOrders(1);
  const first = await sealRoom(acme, room);
  const second = await sealRoom(acme, room);
  const pageOf = async ({ verifyUrl }: { verifyUrl: string }) => {
    const response = await fetch(running.service.baseUrl + verifyUrl);
    return { status: response.status, text: await response.text() };
  };
  assert.doesNotMatch((await pageOf(first)).text, /passport failed/);
  const alterations = ["no JSON", "{}", "[]", "null", "1", '"text"', '{"passport":{}}', "[".repeat(50_000)];
  for (const altered of alterations) {
    await tampered(first.verifyCode, withManifest(altered));
    const { status, text } = await pageOf(first);
    assert.equal(status, 200, altered);
    assert.match(text, /This closing certificate failed/, altered);
    assert.match(text, /The manifest can be read/);
    assert.equal(text.includes(first.manifestSha256), true);
    assert.equal((await verify(running.service.baseUrl, first.verifyCode)).chainOk, false, altered.slice(0, 20));
  }
  // The second version's link is still the hash of the first version as it was sealed. So its page reports that the
  // first version was altered.
  assert.match((await pageOf(second)).text, /This closing certificate failed/);
});

test("chainOk reports a broken link even if every hash is right", async () => {
  const { room } = await roomWithOrders(1);
  await sealRoom(acme, room);
  const second = await sealRoom(acme, room);
  const forged = (await verify(running.service.baseUrl, second.verifyCode)).text
    .slice('{"manifest":'.length)
    .split(',"manifestSha256"')[0]
    ?.replace(second.prevManifestSha256 ?? "", "e".repeat(64));
  assert.ok(forged);
  await tampered(second.verifyCode, sql`${withManifest(forged)}, manifest_sha256 = ${sha256(forged)}`);
  const { chainOk } = await verify(running.service.baseUrl, second.verifyCode);
  assert.equal(chainOk, false);
});

test("the database itself refuses to change a version, to skip one and to break the chain", async () => {
  const { room } = await roomWithOrders(1);
  const { verifyCode } = await sealRoom(acme, room);
  const ofCode = isSealed(sql`verify_code`, "closing", verifyCode);
  const refused = (statement: Statement, why: RegExp) => assert.rejects(running.db.query(statement), why);
  await refused(sql`UPDATE closing_passports SET version = 2 WHERE ${ofCode}`, /append-only/);
  await refused(sql`DELETE FROM closing_passports WHERE ${ofCode}`, /append-only/);
  await refused(sql`TRUNCATE closing_passports`, /append-only/);
  const next = (version: number, previous: Statement) => sql`
    INSERT INTO closing_passports (room_id, version, verify_code,
      manifest, manifest_sha256, prev_manifest_sha256, sealed_sha256, seal_chain, blob_key, created_at)
    SELECT room_id, ${version}::int, ${sealed("closing", "b".repeat(26))}, manifest, manifest_sha256, ${previous}, sealed_sha256,
      seal_chain, blob_key, created_at FROM closing_passports WHERE ${ofCode}`;
  await refused(next(3, sql`manifest_sha256`), /closing_passports_chain/);
  await refused(next(2, sql`${"0".repeat(64)}`), /closing_passports_chain/);
  await refused(next(2, sql`NULL`), /check constraint/);
  await refused(next(1, sql`NULL`), /closing_passports_pkey/);
  await refused(next(21, sql`manifest_sha256`), /check constraint/);
});

test("a missing or altered certificate is not found; verification reports an altered row", async () => {
  const room = await acme.room();
  const { verifyCode } = await sealRoom(acme, room);
  await download(running.service.baseUrl, verifyCode);
  await tampered(verifyCode, sql`blob_key = '2026-01-01/gone'`);
  const gone = await fetch(`${running.service.baseUrl}/api/verify/room/${verifyCode}/pdf`);
  assert.deepEqual([gone.status, await gone.text()], [404, unknown]);
  const { verifyCode: other } = await sealRoom(acme, await acme.room());
  await tampered(other, sql`sealed_sha256 = ${"0".repeat(64)}`);
  assert.equal((await fetch(`${running.service.baseUrl}/api/verify/room/${other}/pdf`)).status, 404);
  assert.equal((await verify(running.service.baseUrl, other)).chainOk, false);
});

test("the view for people has the chain up to its version, and discloses no other manifest", async () => {
  const { room } = await roomWithOrders(1);
  const versions = [await sealRoom(acme, room), await sealRoom(acme, room), await sealRoom(acme, room)];
  const view = await closingRecord(deps, versions[1]?.verifyCode ?? "");
  assert.deepEqual(
    view?.versions.map(({ version, manifestSha256, prevManifestSha256, createdAt, manifestText }) => [
      version,
      manifestSha256,
      prevManifestSha256,
      createdAt.toISOString(),
      manifestText === null,
    ]),
    versions
      .slice(0, 2)
      .map((one) => [one.version, one.manifestSha256, one.prevManifestSha256, one.createdAt, one.version === 1]),
  );
  assert.equal(await closingRecord(deps, "a".repeat(26)), null);
  assert.equal(await closingRecord(deps, "x"), null);
});
