import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { addNotary } from "../../../src/signing/notaries/notaries.ts";
import { giveLiveAccess, newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { newOperator } from "../../firms/operators/console-people.ts";
import { openLiveService } from "../fulfilment/live-service.ts";

const live = await forTests(openLiveService({}));
const { db, headers, stripe } = live;
const { service } = live.harness;
const member = await newMember(service, "owner@acme.example", headers.Authorization.slice("Bearer ".length));
const owner = { ...member.headers, Accept: "text/html", Origin: new URL(service.baseUrl).origin };
const press = (path: string, fields: Record<string, string> = {}) => postForm(live.url() + path, fields, owner);
const look = async (path: string) => (await fetch(live.url() + path, { headers: owner })).text();

async function addCard(): Promise<void> {
  const left = await (await press("/dashboard/billing/method")).text();
  const [session = ""] = /cs_test_[0-9a-f]+/.exec(left) ?? [];
  for (const event of stripe.finishSetup(session)) await stripe.deliver(live.url(), event);
  await until(async () => (await db.query(sql`SELECT FROM payment_methods WHERE state = 'active'`)).length === 1);
}

/** A notary on record who may not act online, because the notary has no certificate. */
async function addNotaryWithoutCertificate(): Promise<void> {
  const { id } = await newOperator(live.harness, { roles: ["notary"], passkey: false });
  const commission = {
    commissionName: "Nora Ames",
    state: "CT",
    county: "Hartford",
    commissionNumber: "2024-1",
    commissionExpires: "2040-01-31",
    ronRegistration: "RON-77",
    ronExpires: "2040-01-31",
    tool: "Example Meetings",
    status: "active",
    certificate: "",
  };
  await addNotary({ db, clock: () => new Date() }, id, commission, "operator");
}

type Checked = { bulkId: string; totalCents: number | null; errors: object[] };

test("a list whose orders no notary may notarize has no total, and its page announces no charge for them", async () => {
  const [firm] = await db.query<{ partnerId: string }>(sql`SELECT partner_id AS "partnerId" FROM members`);
  await giveLiveAccess(service, firm?.partnerId ?? "");
  await press("/dashboard/environment", { environment: "live" });
  await addCard();
  const ofTemplate = { name: "Deed", svc_sign: "true", svc_notary: "true", roles: '[{"name":"Seller"}]' };
  const body = orderForm(ofTemplate, makePdf());
  const made = await fetch(`${live.url()}/api/partner/templates`, { method: "POST", headers, body });
  assert.equal(made.status, 201, await made.clone().text());
  const { templateId: template } = (await made.json()) as { templateId: string };
  const send = async (person: string) => {
    const list = orderForm({ template, byod_confirmed: "true" }, null);
    const rows = `Seller.name,Seller.email,signer_state,pay_by\n${person},${person}@example.com,FL,firm\n`;
    list.append("file", new Blob([rows], { type: "text/csv" }), "people.csv");
    const answer = await fetch(`${live.url()}/api/partner/bulk`, { method: "POST", headers, body: list });
    const checked = (await answer.json()) as Checked;
    assert.deepEqual(checked.errors, [], JSON.stringify(checked));
    const { bulkId, totalCents } = checked;
    const page = await look(`/dashboard/bulk/${bulkId}`);
    return { totalCents, announced: /name="total_cents" value="(\d+)"/.exec(page)?.[1], bulkId };
  };
  const before = await send("ann");
  assert.ok((before.totalCents ?? 0) > 0);
  assert.equal(before.announced, String(before.totalCents));
  await addNotaryWithoutCertificate();
  const { totalCents, announced, bulkId } = await send("bob");
  assert.deepEqual([totalCents, announced], [null, "0"]);
  const placed = await fetch(`${live.url()}/api/partner/bulk/${bulkId}/place`, { method: "POST", headers });
  assert.equal(placed.status, 200);
  const orders = await db.query<{ status: string }>(sql`SELECT status FROM orders`);
  assert.deepEqual(orders, [{ status: "ManualQuoteRequired" }]);
});
