import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createCipheriv, randomBytes, randomUUID } from "node:crypto";
import { copyFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { changeOrder } from "@signsealship/testing/row-mac";
import { runCli, type Service, startService } from "@signsealship/testing/service";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { checkEvents } from "../../../src/kernel/events/events.ts";
import { blobKeyId, decryptBlob } from "../../../src/kernel/platform/blobs/cipher.ts";
import { columnCipher } from "../../../src/kernel/platform/column-cipher.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openRowMac } from "../../../src/kernel/platform/row-mac.ts";
import { openSealedTexts } from "../../../src/kernel/platform/sealed-text.ts";
import { deriveSalted, keyIdText, openSecretsKey, type SecretBytes } from "../../../src/kernel/platform/secrets.ts";
import { sealRoom, verify } from "../../closing/closing-passports/seal-room.ts";
import { openRoomsService } from "../../closing/rooms/rooms-service.ts";
import { seal } from "../../evidence/proof-passports/seal-document.ts";

const cli = fileURLToPath(new URL("../../../src/cli/main.ts", import.meta.url));

let second: Service;

type Left = { keyId: string; state: string; rows: number; values: number; blobs: number };
type Rotated = {
  keyId: string;
  rotated: { rows: number; values: number; blobs: number };
  left: Left[];
  mayGo: string[];
};

after(async () => {
  await second?.stop();
  await running.service.stop();
});
const running = await forTests(openRoomsService());
let acme = await running.partner("ClosingDesk", "Acme Title");
const { key } = await issueKey({ ...running, clock: () => new Date() }, acme.partnerId, "test");
const headers = { Authorization: `Bearer ${key}` };
const { dataDir } = running.service;
const paths = { old: join(dataDir, "keys/secrets"), next: join(dataDir, "keys/secrets-2") };
writeFileSync(paths.next, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
const keys = { old: await openSecretsKey(`file:${paths.old}`), next: await openSecretsKey(`file:${paths.next}`) };

const oldOnly = () => ({ SECRETS_KEY: `file:${paths.old}`, SECRETS_KEYS_OLD: "" });
const oldReadingNext = () => ({ SECRETS_KEY: `file:${paths.old}`, SECRETS_KEYS_OLD: `file:${paths.next}` });
const nextReadingOld = () => ({ SECRETS_KEY: `file:${paths.next}`, SECRETS_KEYS_OLD: `file:${paths.old}` });
const nextOnly = () => ({ SECRETS_KEY: `file:${paths.next}`, SECRETS_KEYS_OLD: "" });

async function restart(env: Record<string, string>): Promise<void> {
  await running.service.stop();
  running.service = await running.service.restart(env);
  acme = acme.at(running.service);
}

const startSecond = async (env: Record<string, string>) =>
  startService({ DATA_DIR: dataDir, RATE_LIMITS: "off", ...env, PORT: String(await freePort()) });

const command = (env: Record<string, string>, ...args: string[]) =>
  runCli({ DATA_DIR: dataDir, ...env }, ...args, "--json");

async function secretsFinding(env: Record<string, string>): Promise<{ result: string; detail: string }> {
  const { stdout } = await command(env, "doctor");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  return checks.find(({ name }) => name === "secrets key") ?? { result: "", detail: "" };
}

const blobFiles = (): string[] =>
  readdirSync(join(dataDir, "blobs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith(".tmp"))
    .map((entry) => join(entry.parentPath, entry.name));

/** Requests a document, evidence, a closing certificate and a room, which the service reads with its secrets key. */
async function allReads(service: Service, made: Awaited<ReturnType<typeof makeEverything>>): Promise<void> {
  const get = async (path: string) => {
    const response = await fetch(service.baseUrl + path);
    assert.equal(response.status, 200, `${path}: ${await response.clone().text()}`);
    return Buffer.from(await response.arrayBuffer());
  };
  const proof = `/api/passport/verify/${made.proof}`;
  assert.match((await get(`${proof}/document`)).subarray(0, 5).toString(), /%PDF-/);
  await get(`${proof}/evidence`);
  assert.match((await get(`/api/verify/room/${made.closing}/pdf`)).subarray(0, 5).toString(), /%PDF-/);
  assert.equal((await verify(service.baseUrl, made.closing)).chainOk, true);
  assert.equal(JSON.parse((await get(`/api/rooms/${made.room}`)).toString()).roomCode, made.room);
}

async function makeEverything() {
  const { verifyCode: proof } = await seal({ baseUrl: running.service.baseUrl, headers }, makePdf());
  const room = await acme.room();
  const orderCode = await acme.order();
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode });
  const { verifyCode: closing } = await sealRoom(acme, room);
  const url = `https://hooks.example.com/${proof}`;
  const { id: webhookId } = await acme.ok<{ id: string }>("POST", "/api/partner/webhooks", {
    url,
    topics: ["order.created"],
  });
  const noteId = randomUUID();
  await running.db.query(sql`
    INSERT INTO firm_notes (id, order_id, author, text, created_at)
    SELECT ${noteId}, id, 'member:x', ${columnCipher(keys.old, "firm_note").encrypt(Buffer.from("Call first"), noteId)}, now()
    FROM orders WHERE ${isSealed(sql`code`, "order", orderCode)}`);
  const notices = columnCipher(keys.old, "document_name").encrypt(Buffer.from("[]"), `${orderCode}/notices`);
  await changeOrder(running.db, orderCode, sql`document_notices = ${notices}`);
  return { proof, closing, webhookId, orderCode, room, noteId };
}

/** Converts an order's document and a webhook's secret to the forms of releases without key ids. */
async function asBefore({ orderCode, webhookId }: Awaited<ReturnType<typeof makeEverything>>): Promise<void> {
  const [document] = await running.db.query<{ key: string; sha256: string }>(sql`
SELECT d.blob_key AS key, d.sha256 FROM documents d JOIN orders o ON o.id = d.order_id
WHERE ${isSealed(sql`o.code`, "order", orderCode)} AND d.kind = 'original'`);
  assert.ok(document);
  const path = join(dataDir, "blobs", document.key);
  const use = { kind: "document", owner: "", sha256: document.sha256 } as const;
  const plain = Buffer.from(await decryptBlob(keys.old, readFileSync(path), use));
  assert.ok(plain.length < 65_536);
  const salt = randomBytes(32);
  const nonce = Buffer.from("000000000000000000000001", "hex");
  const cipher = createCipheriv("aes-256-gcm", deriveSalted(keys.old, "blob", salt), nonce);
  cipher.setAAD(Buffer.from(JSON.stringify(["document", "", document.sha256])));
  const body = [cipher.update(plain), cipher.final(), cipher.getAuthTag()];
  writeFileSync(path, Buffer.concat([Buffer.from("SSSB\x02"), salt, ...body]));
  const [secret] = await running.db.query<{ hash: Buffer }>(sql`
SELECT hash FROM webhook_secrets WHERE webhook_id = ${webhookId}`);
  assert.equal(secret?.hash.subarray(0, 5).toString("latin1"), "SSSC\x02");
  await running.db.query(
    sql`UPDATE webhook_secrets SET hash = ${secret.hash.subarray(9)} WHERE webhook_id = ${webhookId}`,
  );
}

let made: Awaited<ReturnType<typeof makeEverything>>;

test("a start without a key that data may depend on is refused, and the message names the key", async () => {
  made = await makeEverything();
  await asBefore(made);
  const missing = await command(nextOnly(), "partner", "list");
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, new RegExp(`SECRETS_KEYS_OLD: .*key ${keyIdText(keys.old)}`));
  const gone = await command({ SECRETS_KEY: `file:${join(dataDir, "keys/nothing")}` }, "partner", "list");
  assert.match(gone.stderr, /SECRETS_KEY: .*nothing is missing/);
  const same = await command({ SECRETS_KEYS_OLD: `file:${paths.old}` }, "partner", "list");
  assert.match(same.stderr, /SECRETS_KEYS_OLD must name other keys/);
  const unread = await command({ SECRETS_KEYS_OLD: `file:${join(dataDir, "keys/nothing")}` }, "partner", "list");
  assert.match(unread.stderr, /SECRETS_KEYS_OLD: .*cannot be read/);
});

test("two nodes change to another key one after the other: each reads the other's data", async () => {
  second = await startSecond(oldReadingNext());
  await restart(oldReadingNext());
  await restart(nextReadingOld());
  const { verifyCode } = await seal({ baseUrl: running.service.baseUrl, headers }, makePdf());
  await allReads(second, { ...made, proof: verifyCode });
  const older = await seal({ baseUrl: second.baseUrl, headers }, makePdf());
  await allReads(running.service, { ...made, proof: older.verifyCode });
  await second.stop();
  second = await startSecond(nextReadingOld());
  await allReads(second, made);
  const { result, detail } = await secretsFinding(nextReadingOld());
  assert.equal(result, "warning", detail);
  assert.match(detail, new RegExp(`key ${keyIdText(keys.old)} \\(old\\): \\d+ rows, \\d+ secrets, \\d+ documents`));
  assert.match(detail, /without a key id: 0 rows, 1 secrets, 1 documents/);
});

test("data under the old key are moved to the new one, even with a kill -9 in between", async () => {
  const [some = ""] = blobFiles().filter((path) => blobKeyId(readFileSync(path)) === keyIdText(keys.old));
  const day = join(some, "..");
  for (let index = 0; index < 400; index++) copyFileSync(some, join(day, randomBytes(20).toString("hex")));
  const under = (key: SecretBytes) =>
    blobFiles().filter((path) => blobKeyId(readFileSync(path)) === keyIdText(key)).length;
  const before = under(keys.next);
  const child = spawn(process.execPath, [cli, "secrets", "rotate"], {
    env: { ...process.env, DATA_DIR: dataDir, ...nextReadingOld() },
    stdio: "ignore",
  });
  while (under(keys.next) < before + 20 && child.exitCode === null) await wait(5);
  assert.equal(child.exitCode, null, "it was cut off before its end");
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  assert.ok(under(keys.old) > 0);
  await allReads(second, made);

  const { code, stdout, stderr } = await command(nextReadingOld(), "secrets", "rotate");
  assert.equal(code, 0, stderr + stdout);
  const done = JSON.parse(stdout) as Rotated;
  assert.deepEqual([done.left, done.mayGo, done.keyId], [[], [keyIdText(keys.old)], keyIdText(keys.next)]);
  assert.equal(under(keys.old), 0);
  await allReads(running.service, made);
  const again = JSON.parse((await command(nextReadingOld(), "secrets", "rotate")).stdout) as Rotated;
  assert.deepEqual(again.rotated, { rows: 0, values: 0, blobs: 0 });
  running.db.useSealedTexts(openSealedTexts(keys.next));
  const { events, forged } = await checkEvents({ db: running.db, rowMac: openRowMac(keys.next) });
  assert.ok(events > 0);
  assert.deepEqual(forged, []);
  assert.match((await secretsFinding(nextReadingOld())).detail, /may go from SECRETS_KEYS_OLD/);
});

test("the old key is then not needed any more: everything is read without it, and nothing with it", async () => {
  await second.stop();
  renameSync(paths.old, `${paths.old}.gone`);
  await restart(nextOnly());
  await allReads(running.service, made);
  const [secret] = await running.db.query<{ hash: Buffer }>(sql`
SELECT hash FROM webhook_secrets WHERE webhook_id = ${made.webhookId}`);
  const cipherOf = (key: SecretBytes) => columnCipher(key, "webhook_secrets.hash");
  assert.equal(cipherOf(keys.next).decrypt(secret?.hash ?? Buffer.alloc(0), made.webhookId).length, 32);
  assert.throws(() => cipherOf(keys.old).decrypt(secret?.hash ?? Buffer.alloc(0), made.webhookId), {
    code: "unavailable",
    message: new RegExp(keyIdText(keys.next)),
  });
  const [note] = await running.db.query<{ text: Buffer }>(sql`SELECT text FROM firm_notes WHERE id = ${made.noteId}`);
  const text = columnCipher(keys.next, "firm_note").decrypt(note?.text ?? Buffer.alloc(0), made.noteId);
  assert.equal(text.toString(), "Call first");
  const [order] = await running.db.query<{ notices: Buffer }>(
    sql`SELECT document_notices AS notices FROM orders WHERE ${isSealed(sql`code`, "order", made.orderCode)}`,
  );
  const holder = `${made.orderCode}/notices`;
  const notices = columnCipher(keys.next, "document_name").decrypt(order?.notices ?? Buffer.alloc(0), holder);
  assert.equal(notices.toString(), "[]");
  renameSync(`${paths.old}.gone`, paths.old);
  assert.equal((await command(oldOnly(), "partner", "list")).code, 1);
});

test("data that no key decrypts are counted under their key, stay unchanged, and are named", async () => {
  const stranger = join(dataDir, "keys/stranger");
  writeFileSync(stranger, `${randomBytes(32).toString("hex")}\n`);
  const lost = keyIdText(await openSecretsKey(`file:${stranger}`));
  const [passport] = await running.db.query<{ key: string }>(
    sql`SELECT blob_key AS key FROM passports WHERE blob_key IS NOT NULL ORDER BY created_at LIMIT 1`,
  );
  const path = join(dataDir, "blobs", passport?.key ?? "");
  const bytes = readFileSync(path);
  Buffer.from(lost, "hex").copy(bytes, 5);
  writeFileSync(path, bytes);
  const response = await fetch(`${running.service.baseUrl}/api/passport/verify/${made.proof}/document`);
  assert.equal(response.status, 503);
  assert.match(await response.text(), new RegExp(`key ${lost}`));
  const { code, stdout } = await command(nextOnly(), "secrets", "rotate");
  assert.equal(code, 1);
  assert.deepEqual((JSON.parse(stdout) as Rotated).left, [
    { keyId: lost, state: "missing", rows: 0, values: 0, blobs: 1 },
  ]);
  assert.deepEqual(readFileSync(path), bytes);
  const { result, detail } = await secretsFinding({ ...nextReadingOld() });
  assert.equal(result, "failed");
  assert.match(detail, new RegExp(`key ${lost}`));
});
