import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { parseCheckpoint, parseNoteKey, verifyNote } from "@signsealship/evidence/log";
import { forTests } from "@signsealship/testing/for-tests";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { logKeyOf } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { download, sealRoom, textOf } from "../../closing/closing-passports/seal-room.ts";
import { openRoomsService } from "../../closing/rooms/rooms-service.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner("ClosingDesk");

/** Places a test order to notarize a document, and completes it. */
async function completedOrder(email: string): Promise<void> {
  const code = await acme.order({ svc_notary: "true", email });
  for (let status = ""; status !== "Completed"; )
    ({ status } = await acme.ok<{ status: string }>("POST", `/api/partner/sandbox/orders/${code}/advance`));
}

async function newest() {
  const answer = await fetch(`${running.service.baseUrl}/log/test/checkpoint`);
  return answer.ok ? parseCheckpoint(await answer.text()) : null;
}

before(async () => {
  await completedOrder("first@example.com");
  // Waits for a checkpoint with an entry, because the log signs its first checkpoint while it is empty.
  await until(async () => ((await newest())?.size ?? 0) > 0);
});

/** The mail with the links to the documents, once it is in the outbox. */
function mailOfDocuments(email: string): Promise<string> {
  const outbox = join(running.service.dataDir, "outbox");
  const mails = () =>
    (existsSync(outbox) ? readdirSync(outbox) : [])
      .filter((name) => name.endsWith(".eml"))
      .map((name) => readFileSync(join(outbox, name), "utf8"));
  return until(() => mails().find((mail) => mail.includes(`To: ${email}`) && mail.includes("/documents/")));
}

test("the mail of finished documents carries the log's newest checkpoint, in its header and its text", async () => {
  await completedOrder("second@example.com");
  const mail = await mailOfDocuments("second@example.com");
  const [, folded = ""] = /^Service-Log-Checkpoint:((?:.|\r\n )*)\r\n/m.exec(mail) ?? [];
  const note = Buffer.from(folded.replace(/\s/g, ""), "base64").toString();
  const { size, root } = parseCheckpoint(note);
  assert.ok(size > 0);
  assert.equal(
    await verifyNote(parseCheckpoint(note).note, await parseNoteKey((await logKeyOf(running.db, "test")) ?? "")),
    "signed",
  );
  const text = mail.replaceAll("=\r\n", "").replaceAll("=3D", "=");
  assert.ok(text.includes(Buffer.from(root).toString("base64")), text);
});

test("a closing certificate states the log's newest checkpoint", needs("poppler"), async () => {
  const room = await acme.room();
  await acme.ok("POST", `/api/rooms/${room}/orders`, { orderCode: await acme.order() });
  const { origin, size, root } = (await newest()) ?? assert.fail("the log has no checkpoint");
  const { verifyCode } = await sealRoom(acme, room);
  const text = textOf(await download(running.service.baseUrl, verifyCode)).replace(/\s+/g, " ");
  const [, statedOrigin, statedSize = "", statedRoot = ""] =
    /Transparency log (\S+), (\d+) entries, root (\S+) \(state before this seal\)/.exec(text) ?? assert.fail(text);
  assert.equal(statedOrigin, origin);
  assert.ok(Number(statedSize) >= size);
  if (Number(statedSize) === size) assert.equal(statedRoot, Buffer.from(root).toString("base64"));
});
