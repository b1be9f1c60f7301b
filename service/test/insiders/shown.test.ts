import assert from "node:assert/strict";
import { test } from "node:test";
import { newClient } from "@signsealship/testing/client";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { openInsider } from "./insider.ts";

const running = await forTests(openHarness());
const insider = await forTests(openInsider(running.service.dataDir));
const { baseUrl } = running.service;
const [victim, attacker] = [await newPartner(running.service), await newPartner(running.service)];
const firm = newClient(baseUrl, victim.key, (status) => status < 300);
const stranger = newClient(baseUrl, attacker.key);

const statusOf = async (path: string): Promise<number> => (await fetch(baseUrl + path)).status;
const hasCode = (code: string): Statement => isSealed(sql`code`, "order", code);

async function order(): Promise<string> {
  const signers = JSON.stringify([{ name: "Jane Doe", email: "jane@example.com" }]);
  const form = orderForm({ ...minimal, svc_sign: "true", signers });
  return (await firm.ok<{ orderCode: string }>("POST", "/api/partner/orders", form)).orderCode;
}

test("shows no signers that somebody wrote into an order before its envelope opened", async () => {
  const code = await order();
  const { roomCode } = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  await firm.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode: code });
  const paths = [`/orders/${code}`, `/api/rooms/${roomCode}`, `/rooms/${roomCode}`];
  for (const path of paths) assert.equal(await statusOf(path), 200, path);
  const mallory = { name: "Mallory", email: "m@example.com", routing: 1, auth: "link", language: "en", phone: null };
  for (const signers of [[mallory], ["odd"], "odd", null]) {
    await insider.run(sql`UPDATE orders SET signers = ${JSON.stringify(signers)}::jsonb WHERE ${hasCode(code)}`);
    for (const path of paths) assert.equal(await statusOf(path), 503, `${path} ${JSON.stringify(signers)}`);
    assert.equal((await firm.call("GET", `/api/partner/orders/${code}/signers`)).status, 503);
  }
});

test("lists no document that was moved to another order, or given another kind", async () => {
  const changes = [
    (id: number) => sql`UPDATE documents SET kind = 'sealed' WHERE order_id = ${id}`,
    (id: number) => sql`UPDATE documents SET blob_key = blob_key || '0' WHERE order_id = ${id}`,
    (id: number) => sql`
      INSERT INTO documents (order_id, kind, sha256, bytes, blob_key, created_at, row_mac)
      SELECT ${id}, kind, sha256, bytes, blob_key, created_at, row_mac FROM documents WHERE order_id <> ${id} LIMIT 1`,
  ];
  for (const change of changes) {
    const code = await order();
    const path = `/api/partner/orders/${code}/documents`;
    const { documents } = await firm.ok<{ documents: { documentId: string }[] }>("GET", path);
    const [row] = await insider.run<{ id: number }>(sql`SELECT id FROM orders WHERE ${hasCode(code)}`);
    await insider.run(change(row?.id ?? 0));
    assert.equal((await firm.call("GET", path)).status, 503);
    const opened = await firm.call("GET", `${path}/${documents[0]?.documentId}`).catch(() => ({ status: 200 }));
    assert.notEqual(opened.status, 500);
  }
});

test("shows a firm no template that was moved to it, and states the reason", async () => {
  const form = new FormData();
  form.set("name", "Lien release");
  form.set("order", await order());
  const { templateId } = await firm.ok<{ templateId: string }>("POST", "/api/partner/templates", form);
  await insider.run(sql`UPDATE templates SET partner_id = ${attacker.partnerId} WHERE id = ${templateId}`);
  for (const path of ["/api/partner/templates", `/api/partner/templates/${templateId}`])
    assert.match(await stranger.refused(503, "GET", path), /not what the service wrote/, path);
});
