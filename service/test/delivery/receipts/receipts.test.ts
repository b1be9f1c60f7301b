import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { readSealPurpose, verifyAttachedRecord } from "@signsealship/evidence/seal";
import { forTests } from "@signsealship/testing/for-tests";
import { printedScripts } from "@signsealship/testing/inputs/printed-commands";
import { needs } from "@signsealship/testing/tools/tools";
import { brokenRules } from "@signsealship/testing/tools/verapdf";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { makeReceipt } from "../../../src/delivery/receipts/make.ts";
import type { ReceiptContent, ReceiptKind } from "../../../src/delivery/receipts/receipts.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { accountsOf, openProviders, type ProviderName } from "../../../src/providers/providers.ts";
import { openCeremonyService } from "../../signing/envelopes/ceremony/ceremony-service.ts";

const telnyxKeys = generateKeyPairSync("ed25519");
const publicKey = telnyxKeys.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("base64");
const secret = "secret of the account";

after(() => rmSync(folder, { recursive: true, force: true }));
const running = await forTests(openCeremonyService());
const account = { apiKey: "key", apiBase: null };
const accounts = accountsOf({
  easypost: null,
  lob: { ...account, webhookSecret: secret },
  telnyx: { ...account, publicKey },
});
const providers = openProviders({ ...running.deps, fetch }, accounts);
const folder = mkdtempSync(join(tmpdir(), "receipt-"));

/** Delivers a signed event to the service. @returns the id of its row */
async function take(provider: ProviderName, raw: string, headers: Record<string, string>): Promise<number> {
  const taken = await providers.acceptEvent(provider, Buffer.from(raw), headers);
  assert.equal(taken.outcome, "stored");
  const [row] = await running.db.query<{ id: number }>(sql`SELECT max(id) AS id FROM provider_events`);
  return row?.id ?? 0;
}

const faxEvent = (id: string): string =>
  `{"data": {"event_type": "fax.delivered", "id": "${id}", "occurred_at": "2026-06-01T12:00:00.000000Z",\n "record_type": "event", "payload": {"fax_id": "fax_${id}", "status": "delivered", "page_count": 3}}}\n`;

function signedByTelnyx(raw: string): Record<string, string> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = sign(null, Buffer.from(`${timestamp}|${raw}`), telnyxKeys.privateKey).toString("base64");
  return { "telnyx-timestamp": timestamp, "telnyx-signature-ed25519": signature };
}

const contentOf = (events: number[]): ReceiptContent => ({
  title: "Fax to +1 212 555 0123",
  sentence: "Telnyx says that all pages were confirmed by the machine at the other end.",
  rows: [
    ["Pages", "3"],
    ["Sent for", "Jürgen 売主"],
  ],
  events,
});

/**
 * Creates an order, and makes its receipt `times` times in sequence and then twice concurrently.
 * @returns the order's code, the path where the firm gets the order's documents, and the receipts of this kind among
 * these documents
 */
async function receiptOf(kind: ReceiptKind, content: ReceiptContent | null, times = 1) {
  const code = await running.order([{ name: "Jane Doe", email: "jane@example.com" }]);
  const [order] = await running.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const of = { orderId: order?.id ?? 0, kind, subject: 7 };
  for (let n = 0; n < times; n++) await makeReceipt({ ...running.deps, providers }, async () => content, of);
  await Promise.all([1, 2].map(() => makeReceipt({ ...running.deps, providers }, async () => content, of)));
  const path = `/api/partner/orders/${code}/documents`;
  const { documents } = await running.client.ok<{ documents: { documentId: string; kind: string; sha256: string }[] }>(
    "GET",
    path,
  );
  return { code, path, documents: documents.filter((each) => each.kind === kind) };
}

const shell = (command: string, env: Record<string, string> = {}) =>
  execFileSync("sh", ["-c", command], { cwd: folder, encoding: "utf8", env: { ...process.env, ...env } });

async function download(path: string, documentId: string | undefined): Promise<Buffer> {
  const answer = await fetch(`${running.service.baseUrl}${path}/${documentId}`, { headers: running.headers });
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

/** A verifier's result for the attachment of a test receipt. */
async function attachedStates(bytes: Uint8Array): Promise<string[]> {
  const context = { trust: { sealAnchors: [], tsaAnchors: [] }, at: Date.now(), crypto: createNodeCrypto() };
  const purpose = { kind: "receipt", environment: "test" } as const;
  const { claims } = await verifyAttachedRecord(bytes, purpose, null, context);
  return claims.map(({ name, state }) => `${name}: ${state}`);
}
const attachedWell = ["record_attached: holds", "receipt_events: holds", "receipt_signatures: unchecked"];

test(
  "a fax's certificate is one sealed document, which a stranger verifies down to Telnyx's signature",
  needs("poppler", "openssl", "jq"),
  async () => {
    const raw = faxEvent("1");
    const event = await take("telnyx", raw, signedByTelnyx(raw));
    const { documents, path } = await receiptOf("fax_certificate", contentOf([event]));
    assert.equal(documents.length, 1, "made once, though it was asked for three times");
    const bytes = await download(path, documents[0]?.documentId);
    assert.deepEqual(await readSealPurpose(bytes), { kind: "receipt", environment: "test" });
    assert.deepEqual(await attachedStates(bytes), attachedWell);
    writeFileSync(join(folder, "receipt.pdf"), bytes);
    assert.match(shell("pdfsig -nocert receipt.pdf"), /Signature is Valid/);
    writeFileSync(join(folder, "key.pem"), telnyxKeys.publicKey.export({ format: "pem", type: "spki" }));
    const [printed = ""] = printedScripts("21.2");
    const shown = shell(printed);
    assert.match(shown, /^([0-9a-f]{64}) {2}event-01\.json\n\1 event-01\.json$/m);
    assert.match(shown, /Verified Successfully/);
    assert.equal(readFileSync(join(folder, "event-01.json"), "utf8"), raw, "byte by byte as it came");
    assert.throws(() => shell(printed.replace("pdfdetach -saveall receipt.pdf", "printf x >> event-01.json")));
    const said = JSON.parse(readFileSync(join(folder, "receipt.json"), "utf8"));
    assert.deepEqual(said.rows[1], { label: "Sent for", value: "Jürgen 売主" });
    assert.equal(said.events[0].file, "event-01.json");
  },
);

test(
  "a letter's receipt has all of its events, each verified with the account's secret",
  needs("poppler", "openssl"),
  async () => {
    const events: number[] = [];
    for (const id of ["evt_1", "evt_2"]) {
      const date = new Date().toISOString();
      const raw = `{"id": "${id}", "reference_id": "ltr_1", "event_type": {"id": "letter.delivered", "resource": "letters"}, "date_created": "${date}", "body": {"id": "ltr_1"}, "object": "event"}`;
      const timestamp = String(Date.now());
      const signature = createHmac("sha256", secret).update(`${timestamp}.${raw}`).digest("hex");
      events.push(await take("lob", raw, { "lob-signature": signature, "lob-signature-timestamp": timestamp }));
    }
    const { documents, path } = await receiptOf("mail_receipt", { ...contentOf(events), title: "Letter to Jane Roe" });
    const bytes = await download(path, documents[0]?.documentId);
    assert.deepEqual(await attachedStates(bytes), attachedWell);
    writeFileSync(join(folder, "receipt.pdf"), bytes);
    shell("pdfdetach -saveall receipt.pdf");
    for (const n of ["01", "02"]) {
      const headers = JSON.parse(readFileSync(join(folder, `event-${n}.headers.json`), "utf8"));
      const mac = shell(`(printf '%s.' "$TIMESTAMP"; cat event-${n}.json) | openssl dgst -sha256 -hmac "$SECRET"`, {
        TIMESTAMP: headers["lob-signature-timestamp"],
        SECRET: secret,
      });
      assert.ok(mac.includes(headers["lob-signature"]));
    }
  },
);

test("a delivery that no event reported has a receipt, too, which says so", async () => {
  const { documents, code, path } = await receiptOf("delivery_receipt", contentOf([]));
  assert.equal(documents.length, 1);
  const states = await attachedStates(await download(path, documents[0]?.documentId));
  assert.deepEqual(states, ["record_attached: holds", "receipt_events: unchecked"]);
  const lines = await running.db.query(sql`
    SELECT FROM audit_log a JOIN orders o ON o.id = a.order_id WHERE ${isSealed(sql`o.code`, "order", code)} AND action = 'document.added'`);
  assert.equal(lines.length, 1);
});

test("a receipt is PDF/A-3a and PDF/UA-1, also when sealed", needs("verapdf"), async () => {
  const { documents, path } = await receiptOf("delivery_receipt", contentOf([]));
  const receipt = await download(path, documents[0]?.documentId);
  assert.deepEqual(brokenRules({ receipt }), []);
});

test("no receipt is made of deleted records", async () => {
  const { documents } = await receiptOf("delivery_receipt", null);
  assert.deepEqual(documents, []);
});
