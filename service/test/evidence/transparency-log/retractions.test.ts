import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readZip } from "@signsealship/evidence/zip";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { runCli, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { sealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openCeremonyService, signBy } from "../../signing/envelopes/ceremony/ceremony-service.ts";
import { fileForm, postSeal } from "../proof-passports/seal-document.ts";

const running = await forTests(openCeremonyService());
const { service, db, headers, client: firm } = running;
const folder = temporaryFolder();
await forTests(Promise.resolve({ close: async () => folder.remove() }));
const cli = (...args: string[]) => runCli({ DATA_DIR: service.dataDir }, ...args);

const get = (path: string) => fetch(`${service.baseUrl}${path}`);

/** A sealed PDF and its proof, as files. */
async function seal(name: string) {
  const document = makePdf({ bytes: 20_000, text: name });
  const answer = await postSeal({ baseUrl: service.baseUrl, headers }, fileForm(document));
  const { verifyCode, sealedSha256 } = (await answer.json()) as { verifyCode: string; sealedSha256: string };
  const api = `/api/passport/verify/${verifyCode}`;
  await until(async () => (await get(`${api}/tlog-proof`)).status === 200);
  const file = join(folder.path, `${name}.pdf`);
  writeFileSync(file, Buffer.from(await (await get(`${api}/document`)).arrayBuffer()));
  assert.equal(hash("sha256", readFileSync(file)), sealedSha256);
  return { api, file, sealedSha256, verifyCode, proof: () => get(`${api}/tlog-proof`).then((one) => one.text()) };
}

const keyOfLog = async () =>
  (await service.cli<{ log: string; key: string }[]>("log", "status")).find(({ log }) => log === "test")?.key ?? "";

test("a retraction is a line of the log, and appears in the proof, the zip, the record and the page of the seal", async () => {
  const [wrong, other] = [await seal("wrong"), await seal("other")];
  const before = await wrong.proof();
  assert.doesNotMatch(before, /\nextra /);
  const retracted = await cli("log", "retract", wrong.file, "--reason", "wrong-document", "--test");
  assert.equal(retracted.code, 0, retracted.stderr);
  await until(async () => (await wrong.proof()).includes("\nextra "));
  const proofFile = join(folder.path, "wrong.tlog-proof");
  writeFileSync(proofFile, await wrong.proof());
  const key = await keyOfLog();
  const verified = await cli("verify", wrong.file, "--with", proofFile, "--log", key);
  assert.match(
    verified.stdout,
    /was retracted, because the wrong document was sealed \(wrong-document\): entry \d+ of the log/,
  );
  assert.equal(verified.code, 1);
  writeFileSync(proofFile, before);
  assert.doesNotMatch((await cli("verify", wrong.file, "--with", proofFile, "--log", key)).stdout, /retracted/);
  const monitored = await cli("monitor", `${service.baseUrl}/log/test`, "--with", wrong.file, "--with", other.file);
  assert.match(monitored.stdout, /wrong\.pdf: entry \d+, retracted \(wrong-document\)/);
  assert.match(monitored.stdout, /other\.pdf: entry \d+\n/);
  const zip = readZip(Buffer.from(await (await get(`${wrong.api}/evidence`)).arrayBuffer()));
  assert.equal(Buffer.from(zip.get("sealed.pdf.tlog-proof") ?? []).toString(), await wrong.proof());
  assert.partialDeepStrictEqual(await (await get(wrong.api)).json(), { retraction: { reason: "wrong-document" } });
  assert.equal(((await (await get(other.api)).json()) as { retraction?: object }).retraction, undefined);
  assert.match(await (await get(`/verify/${wrong.verifyCode}`)).text(), /This seal was retracted/);
  assert.doesNotMatch(await other.proof(), /\nextra /);
  const [line] = await db.query<{ actor: string }>(sql`
    SELECT actor FROM audit_log WHERE action = 'seal.retracted' AND detail ->> 'sealedSha256' = ${wrong.sealedSha256}`);
  assert.equal(line?.actor, "operator");
});

test("refuses a retraction without a known reason, of a file that the log lacks, and a repeated one", async () => {
  const { file, sealedSha256 } = await seal("refused");
  const retract = (...args: string[]) => cli("log", "retract", ...args);
  for (const [args, code, why] of [
    [[file, "--test"], 2, /needs --reason/],
    [[file, "--test", "--reason", "regret"], 1, /reason must be one of superseded, wrong-document/],
    [[join(folder.path, "none.pdf"), "--test", "--reason", "withdrawn"], 2, /none\.pdf cannot be read/],
    [[file, "--reason", "withdrawn"], 1, /The live log has no sealed file with the SHA-256 [0-9a-f]{64}/],
    [["0".repeat(64), "--test", "--reason", "withdrawn"], 1, /The test log has no sealed file/],
  ] as const) {
    const refused = await retract(...args);
    assert.match(refused.stderr, why);
    assert.equal(refused.code, code, refused.stderr);
  }
  assert.equal((await retract(sealedSha256, "--test", "--reason", "withdrawn")).code, 0);
  const again = await retract(sealedSha256, "--test", "--reason", "withdrawn");
  assert.match(again.stderr, /was retracted as withdrawn before/);
  const line = `retract/v1 ${sealedSha256} withdrawn\n`;
  const lines = await db.query(sql`
    SELECT FROM log_entries WHERE line = ${line} UNION ALL SELECT FROM log_leaves WHERE line = ${line}`);
  assert.equal(lines.length, 1);
});

test("refuses a retraction of a closing certificate that only a forged leaf names", async () => {
  const sealedSha256 = "5c".repeat(32);
  const line = `closing/v1 ${sealedSha256} ${"5d".repeat(32)}\n`;
  await db.query(sql`INSERT INTO log_leaves (log, leaf, line, queued_at) VALUES ('test', 1000000, ${line}, now())`);
  const refused = await cli("log", "retract", sealedSha256, "--test", "--reason", "withdrawn");
  await db.query(sql`DELETE FROM log_leaves WHERE log = 'test' AND leaf = 1000000`);
  assert.match(refused.stderr, /The test log has no sealed file/);
  assert.equal(refused.code, 1);
});

test("the proof contains the first of several retractions", async () => {
  const { sealedSha256, proof } = await seal("twice");
  for (const reason of ["superseded", "court-order"]) {
    await service.cli("log", "retract", sealedSha256, "--test", "--reason", reason);
    await until(async () => (await proof()).includes("\nextra "));
  }
  const first = await proof();
  await until(async () => {
    const waits = await db.query(sql`SELECT FROM log_entries WHERE log = 'test'`);
    return waits.length === 0;
  });
  assert.equal(await proof(), first);
});

test("the pages of a signed document and of a closing say that it was retracted", async () => {
  const orderCode = await running.order([{ name: "Jane Doe", email: "jane@example.com" }]);
  await signBy(running.ceremony, await running.linkOf("jane@example.com"), "Jane Doe");
  const { envelope } = await firm.ok<{ envelope: { verifyCode: string } }>(
    "GET",
    `/api/partner/orders/${orderCode}/signers`,
  );
  const { roomCode } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  await firm.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
  const closing = await firm.ok<{ verifyCode: string; sealedSha256: string }>(
    "POST",
    `/api/rooms/${roomCode}/passport`,
  );
  const signed = await firm.ok<{ document: { sealedSha256: string } }>(
    "GET",
    `/api/verify/envelope/${envelope.verifyCode}`,
  );
  const page = async (path: string) => (await get(path)).text();
  for (const { path, sealedSha256 } of [
    { path: `/v/envelope/${envelope.verifyCode}`, sealedSha256: signed.document.sealedSha256 },
    { path: `/v/room/${closing.verifyCode}`, sealedSha256: closing.sealedSha256 },
  ]) {
    assert.doesNotMatch(await page(path), /This seal was retracted/);
    await service.cli("log", "retract", sealedSha256, "--test", "--reason", "court-order");
    await until(async () => (await page(path)).includes("This seal was retracted"));
    assert.match(await page(path), /because a court ordered it/);
  }
});

test("retracts the certificate of a closing's first version whose manifest can't be read", async () => {
  const { roomCode } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "14 Elm Street" });
  const orderCode = await running.order([{ name: "Jane Doe", email: "jane@elm.example" }]);
  await firm.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
  const { sealedSha256 } = await firm.ok<{ sealedSha256: string }>("POST", `/api/rooms/${roomCode}/passport`);
  await db.transaction(async (tx) => {
    await tx.script("ALTER TABLE closing_passports DISABLE TRIGGER USER");
    await tx.query(
      sql`UPDATE closing_passports SET manifest = ${sealed("manifest", "{}")} WHERE sealed_sha256 = ${sealedSha256}`,
    );
    await tx.script("ALTER TABLE closing_passports ENABLE TRIGGER USER");
  });
  const retracted = await cli("log", "retract", sealedSha256, "--test", "--reason", "withdrawn");
  assert.equal(retracted.code, 0, retracted.stderr);
  const live = await cli("log", "retract", sealedSha256, "--reason", "withdrawn");
  assert.match(live.stderr, /The live log has no sealed file/);
});
