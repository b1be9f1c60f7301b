import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { parseCheckpoint, sealEntry, verifyLogProof } from "@signsealship/evidence/log";
import { startCalendar } from "@signsealship/testing/doubles/calendar";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner } from "@signsealship/testing/service";
import { readByReference } from "@signsealship/testing/tools/reference-ots";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { makeReceipt } from "../../../src/delivery/receipts/make.ts";
import type { ReceiptKind } from "../../../src/delivery/receipts/receipts.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { accountsOf, openProviders } from "../../../src/providers/providers.ts";
import { anchorLogs, digestOfOts } from "../../evidence/transparency-log/anchor-logs.ts";
import { ordersToNotarize } from "../notaries/orders-to-notarize.ts";
import { openCeremonyService, signBy } from "./ceremony/ceremony-service.ts";

const running = await forTests(openCeremonyService());
const providers = openProviders({ ...running.deps, fetch }, accountsOf({ easypost: null, lob: null, telnyx: null }));
const other = await newPartner(running.service, { name: "Other Title" });

const pathOf = (code: string) => `/api/partner/orders/${code}/documents`;
const get = (path: string, headers: Record<string, string> = running.headers) =>
  fetch(running.service.baseUrl + path, { headers });

/** The API paths of an order's documents, by their kinds. */
async function documentsOf(code: string): Promise<Map<string, string>> {
  const list = await running.client.ok<{ documents: { documentId: string; kind: string }[] }>("GET", pathOf(code));
  return new Map(list.documents.map(({ kind, documentId }) => [kind, `${pathOf(code)}/${documentId}`]));
}

async function signedOrder(): Promise<string> {
  const email = `signer-${Math.random()}@example.com`;
  const code = await running.order([{ name: "Jane Doe", email }]);
  await signBy(running.ceremony, await running.linkOf(email), "Jane Doe");
  return code;
}

/** Downloads a document and its proof, and verifies the proof as a holder of both files does. */
async function assertProven(document: string): Promise<void> {
  const bytes = Buffer.from(await (await get(document)).arrayBuffer());
  const answer = await until(async () => {
    const response = await get(`${document}/tlog-proof`);
    if (response.status !== 200) assert.equal(response.status, 503, await response.text());
    return response.status === 200 ? response : null;
  });
  const proof = new Uint8Array(await answer.arrayBuffer());
  const verify = async (file: Buffer) => {
    const entry = sealEntry(createHash("sha256").update(file).digest("hex"));
    const claims = await verifyLogProof({ proof, entry, environment: "test", logs: [] });
    return claims.find(({ name }) => name === "log_inclusion")?.state;
  };
  assert.equal(await verify(bytes), "holds");
  assert.equal(await verify(Buffer.concat([bytes, Buffer.from("\n")])), "fails");
}

/** Firms without the document get the same response as for an unknown document. */
async function assertRefusedToOthers(document: string): Promise<void> {
  for (const form of ["tlog-proof", "ots"]) {
    assert.equal((await get(`${document}/${form}`, other.headers)).status, 404);
    assert.equal((await get(`${document}/${form}`, {})).status, 401);
    assert.equal((await get(`${document.slice(0, -1)}x/${form}`)).status, 404);
  }
}

test("the firm gets the proofs of the sealed document and of its custody certificate, and nobody else does", async () => {
  const documents = await documentsOf(await signedOrder());
  for (const kind of ["sealed", "custody_certificate"]) {
    const document = documents.get(kind) ?? assert.fail(`there is no ${kind}`);
    await assertProven(document);
    await assertRefusedToOthers(document);
  }
});

async function notarizedDocument(): Promise<string> {
  const code = await ordersToNotarize(running, running).place();
  return until(async () => {
    const found = (await documentsOf(code)).get("notarized");
    if (!found) await running.client.call("POST", `/api/partner/sandbox/orders/${code}/advance`);
    return found;
  });
}

test("the firm gets the proof of a notarized document, and nobody else does", async () => {
  const document = await notarizedDocument();
  await assertProven(document);
  await assertRefusedToOthers(document);
});

const receiptKinds = ["delivery_receipt", "mail_receipt", "fax_certificate"] satisfies ReceiptKind[];

async function receipt(kind: ReceiptKind): Promise<string> {
  const code = await running.order([{ name: "Jane Doe", email: "jane@example.com" }]);
  const [order] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const content = { title: "Delivery", sentence: "It was delivered.", rows: [], events: [] };
  const of = { orderId: order?.id ?? 0, kind, subject: 7 };
  await makeReceipt({ ...running.deps, providers }, async () => content, of);
  return (await documentsOf(code)).get(kind) ?? assert.fail(`there is no ${kind}`);
}

for (const kind of receiptKinds)
  test(`the firm gets the proof of a ${kind.replace("_", " ")}, and nobody else does`, async () => {
    const document = await receipt(kind);
    await assertProven(document);
    await assertRefusedToOthers(document);
  });

test("an uploaded document has no proof, because it was not sealed here", async () => {
  const document = (await documentsOf(await signedOrder())).get("original") ?? assert.fail("there is no original");
  for (const form of ["tlog-proof", "ots"]) {
    const answer = await get(`${document}/${form}`);
    assert.equal(answer.status, 404);
    assert.match(await answer.text(), /was not sealed here/);
  }
});

test("the .ots of each sealed document is about that document, once calendars have a root of the log", async () => {
  const calendar = await startCalendar();
  try {
    const anchor = () => anchorLogs(running, calendar.url);
    const documents = await documentsOf(await signedOrder());
    for (const kind of ["sealed", "custody_certificate"]) {
      const document = documents.get(kind) ?? assert.fail(`there is no ${kind}`);
      const { digest, headers } = await digestOfOts(() => get(`${document}/ots`), anchor);
      assert.equal(digest, document.slice(-64));
      assert.equal(headers.get("content-type"), "application/octet-stream");
      assert.match(headers.get("content-disposition") ?? "", /^attachment; filename="[a-z-]+\.pdf\.ots"/);
      assert.equal((await get(`${document}/ots`, other.headers)).status, 404);
    }
  } finally {
    await calendar.close();
  }
});

/** The calendars' messages for each anchored root of the test log, according to the reference library. */
async function anchoredMessages(): Promise<Map<string, string[]>> {
  const { roots } = (await (await get("/log/test/anchors")).json()) as {
    roots: { size: number; isAnchored: boolean }[];
  };
  const messages = new Map<string, string[]>();
  for (const { size } of roots.filter(({ isAnchored }) => isAnchored)) {
    const { checkpoint, anchors } = (await (await get(`/log/test/anchors/${size}`)).json()) as {
      checkpoint: string;
      anchors: { source: string; proof: string }[];
    };
    const { proof } =
      anchors.find(({ source }) => source === "opentimestamps") ?? assert.fail("no calendar stamped it");
    const { digest, found } = readByReference(Buffer.from(proof, "base64"));
    assert.equal(digest, Buffer.from(parseCheckpoint(checkpoint).root).toString("hex"));
    messages.set(digest, found.map(([, message]) => message).sort());
  }
  return messages;
}

test(
  "the reference library reads the .ots of a notarized document and of each receipt, up to an anchored root",
  needs("opentimestamps"),
  async () => {
    const calendar = await startCalendar();
    try {
      const documents = [await notarizedDocument()];
      for (const kind of receiptKinds) documents.push(await receipt(kind));
      for (const document of documents) {
        const bytes = Buffer.from(await (await get(document)).arrayBuffer());
        await digestOfOts(
          () => get(`${document}/ots`),
          () => anchorLogs(running, calendar.url),
        );
        const proof = Buffer.from(await (await get(`${document}/ots`)).arrayBuffer());
        const { digest, found } = readByReference(proof);
        assert.equal(digest, createHash("sha256").update(bytes).digest("hex"), document);
        const reached = found.map(([, message]) => message).sort();
        assert.ok(reached.length > 0);
        const roots = [...(await anchoredMessages()).values()];
        assert.ok(
          roots.some((messages) => messages.join() === reached.join()),
          document,
        );
        const changed = Buffer.from(proof);
        changed.writeUInt8(changed.readUInt8(60) ^ 1, 60);
        assert.ok(!isOfRoot(changed, digest, reached), "a changed proof leads elsewhere");
      }
    } finally {
      await calendar.close();
    }
  },
);

/** True if the reference library reads a proof of this digest with these messages. */
function isOfRoot(proof: Buffer, digest: string, messages: readonly string[]): boolean {
  try {
    const read = readByReference(proof);
    return (
      read.digest === digest &&
      read.found
        .map(([, message]) => message)
        .sort()
        .join() === messages.join()
    );
  } catch {
    return false;
  }
}

test("refuses the .ots with 409 until the calendars have a root that covers the document", async () => {
  const document = (await documentsOf(await signedOrder())).get("sealed") ?? assert.fail("nothing is sealed");
  await assertProven(document);
  assert.equal((await get(`${document}/ots`)).status, 409);
});
