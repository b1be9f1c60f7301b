import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { makeReceipt } from "../../../src/delivery/receipts/make.ts";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openCeremonyService, signBy } from "../../signing/envelopes/ceremony/ceremony-service.ts";
import { findingsOf } from "./findings.ts";

const running = await forTests(openCeremonyService());

const receipts = ["delivery_receipt", "mail_receipt", "fax_certificate"] as const;
const content = { title: "Fax to +1 212 555 0123", sentence: "All pages arrived.", rows: [], events: [] };

test("finds the entry of each document that the service seals for an order, and of each kind of receipt", async () => {
  const email = "ann@example.com";
  const code = await running.order([{ name: "Ann", email }], { svc_notary: "true" });
  await signBy(running.ceremony, await running.linkOf(email), "Ann");
  await running.client.ok("POST", `/api/partner/sandbox/orders/${code}/advance`);
  const [order] = await running.db.query<{ id: number }>(sql`
    SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`);
  assert.ok(order);
  const deps = { ...running.deps, providers: { rawEvents: async () => [] } };
  for (const kind of receipts) await makeReceipt(deps, async () => content, { orderId: order.id, kind, subject: 7 });
  const sealed = await running.db.query<{ kind: string; isQueuedWithIt: boolean }>(sql`
    SELECT kind, EXISTS (SELECT FROM (SELECT line, queued_at FROM log_entries UNION ALL SELECT line, queued_at FROM log_leaves) AS e WHERE e.line = 'seal/v1 ' || d.sha256 || chr(10)
      AND e.queued_at = d.created_at) AS "isQueuedWithIt"
    FROM documents d WHERE order_id = ${order.id} AND kind NOT IN ('original', 'revision') ORDER BY kind`);
  assert.deepEqual(
    sealed,
    ["custody_certificate", "delivery_receipt", "fax_certificate", "mail_receipt", "notarized", "sealed"].map(
      (kind) => ({
        kind,
        isQueuedWithIt: true,
      }),
    ),
  );
  assert.deepEqual(await findingsOf(running), []);
});
