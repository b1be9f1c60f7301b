import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { textOf } from "../../closing/closing-passports/seal-room.ts";
import { newMember, postForm } from "../../firms/members/signed-in-member.ts";
import { openLiveService } from "../fulfilment/live-service.ts";

const folder = temporaryFolder();
const issuerFile = join(folder.path, "billing.yaml");
writeFileSync(
  issuerFile,
  `issuer: { name: "Harbor Services LLC", address: ["1 Pier Street", "Albany, NY 12207"], taxId: "EIN 12-3456789" }
taxLine: "No sales tax applies to these services."
zone: America/New_York
`,
);
const live = await forTests(openLiveService({ BILLING: issuerFile }));
const { headers, stripe } = live;
const key = headers.Authorization.slice("Bearer ".length);
const { headers: member } = await newMember(live.harness.service, "owner@billing.example", key);

type Receipt = { number: string; kind: string; receiptNumber: string; amountCents: number };
const get = (path: string, by: Record<string, string> = headers) => fetch(live.url() + path, { headers: by });
const receiptsOf = async (code: string): Promise<Receipt[]> =>
  ((await (await get(`/api/partner/orders/${code}/receipts`)).json()) as { receipts: Receipt[] }).receipts;
async function pdfOf(path: string, by: Record<string, string> = headers): Promise<Buffer> {
  const answer = await get(path, by);
  assert.equal(answer.status, 200, path);
  assert.equal(answer.headers.get("content-type"), "application/pdf");
  return Buffer.from(await answer.arrayBuffer());
}
/** The data that is attached to one of our PDFs. The attachment is not compressed. */
const dataOf = (pdf: Buffer) =>
  JSON.parse(/\{"format":"signsealship-[^\n]*\}(?=\s*endstream)/.exec(pdf.toString())?.[0] ?? "{}");

async function paidOrder(fields: Record<string, string> = {}) {
  const body = orderForm({ ...minimal, svc_sign: "true", create_checkout: "true", ...fields }, null);
  body.append("document", new Blob([new Uint8Array(examplePdf)], { type: "application/pdf" }), "Warranty deed.pdf");
  const placed = await fetch(`${live.url()}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode, checkoutUrl } = (await placed.json()) as { orderCode: string; checkoutUrl: string };
  const event = stripe.pay(stripe.sessionOf(checkoutUrl));
  await stripe.deliver(live.url(), event);
  return { code: orderCode, intent: String(event.data.object["payment_intent"]) };
}

test("a payment has a receipt, and a refunded part a credit note: both as the same PDF each time, everywhere", async () => {
  const { code, intent } = await paidOrder({ external_reference: "2026-1187" });
  const [receipt] = await receiptsOf(code);
  assert.ok(receipt);
  assert.match(receipt.number, /^R-\d{4}-00001$/);
  for (const event of stripe.refundByHand(intent, 500)) await stripe.deliver(live.url(), event);
  const [, note] = await receiptsOf(code);
  assert.deepEqual([note?.kind, note?.amountCents, note?.receiptNumber], ["credit_note", 500, receipt.number]);

  const path = `/api/partner/orders/${code}/receipts/${receipt.number}`;
  const pdf = await pdfOf(path);
  assert.deepEqual(await pdfOf(path), pdf);
  const data = dataOf(pdf);
  assert.equal(data.issuer.name, "Harbor Services LLC");
  assert.equal(data.issuer.taxLine, "No sales tax applies to these services.");
  assert.deepEqual(
    [data.amountCents, data.reference, data.buyer.name],
    [receipt.amountCents, "2026-1187", "Acme Title"],
  );
  assert.deepEqual([data.paidBy, data.method], ["client", null]);
  assert.equal(data.order.length, 6, "the whole code would open the order");
  assert.match(pdf.toString("latin1"), /\/Title\(Receipt R-\d{4}-00001, 2026-1187, Warranty deed\)/);
  const { headers: saved } = await get(path);
  assert.match(saved.get("content-disposition") ?? "", new RegExp(`filename="${receipt.number} 2026-1187.pdf"`));
  assert.match(pdf.toString("latin1"), /\/StructTreeRoot .*\/MarkInfo<<\/Marked true>>/);

  const changed = await postForm(
    `${live.url()}/dashboard/statements/address`,
    { name: "Acme Title, LLC", address: "9 Elm Street\nAlbany" },
    member,
  );
  assert.equal(changed.status, 303, await changed.text());
  assert.deepEqual(await pdfOf(path), pdf, "an earlier receipt keeps its names");
  const page = await (await get(`/dashboard/orders/${code}`, { ...member, Accept: "text/html" })).text();
  assert.match(page, new RegExp(`Receipt ${receipt.number}.*, E[DS]T<`), "the date is in the zone of statements");
  assert.deepEqual(await pdfOf(`/dashboard/orders/${code}/receipts/${receipt.number}`, member), pdf);
  const client = await (await get(`/orders/${code}?lang=es`, {})).text();
  assert.match(client, new RegExp(`Nota de crédito ${note?.number}`));
  assert.deepEqual(await pdfOf(`/orders/${code}/receipts/${receipt.number}`, {}), pdf);
  const later = await paidOrder();
  const [next] = await receiptsOf(later.code);
  const drawn = dataOf(await pdfOf(`/api/partner/orders/${later.code}/receipts/${next?.number}`));
  assert.deepEqual(drawn.buyer, { name: "Acme Title, LLC", address: ["9 Elm Street", "Albany"] });
});

test("finds the order of a receipt by the receipt's number, and no order of another firm or environment", async () => {
  const { code } = await paidOrder();
  const { code: otherCode } = await paidOrder();
  const [receipt] = await receiptsOf(code);
  const search = async (text: string, by: Record<string, string>) =>
    (await get(`/dashboard/orders?q=${text}`, { ...by, Accept: "text/html" })).text();
  const found = await search((receipt?.number ?? "").toLowerCase(), member);
  assert.match(found, new RegExp(`/dashboard/orders/${code}`));
  assert.doesNotMatch(found, new RegExp(`/dashboard/orders/${otherCode}`));
  for (const wrong of ["R-2026-99999", "X-2026-00001", "R-2026-999999999", `TEST-${receipt?.number}`])
    assert.doesNotMatch(await search(wrong, member), /\/dashboard\/orders\/[0-9a-f]{40}/);
  const other = await newPartner(live.harness.service, { live: true });
  const stranger = await newMember(live.harness.service, "s@b.example", other.headers.Authorization.slice(7));
  assert.doesNotMatch(await search(receipt?.number ?? "", stranger.headers), new RegExp(code));
});

test("shows receipts to nobody else, and not to a client whose firm pays", async () => {
  const { code } = await paidOrder({ pay_by: "firm" });
  const [receipt] = await receiptsOf(code);
  assert.ok(receipt);
  assert.doesNotMatch(await (await get(`/orders/${code}`, {})).text(), /receipts\//);
  assert.equal((await get(`/orders/${code}/receipts/${receipt.number}`, {})).status, 404);
  const other = await newPartner(live.harness.service, { live: true });
  for (const path of ["receipts", `receipts/${receipt.number}`])
    assert.equal((await get(`/api/partner/orders/${code}/${path}`, other.headers)).status, 404);
  const unknown = await get(`/api/partner/orders/${code}/receipts/R-2026-99999`);
  assert.equal(unknown.status, 404);
  assert.deepEqual(await unknown.json(), { error: "Receipt not found." });
});

test("the statement agrees with the receipts as JSON, page, PDF and CSV", async () => {
  const { code } = await paidOrder({ external_reference: "=1+2" });
  const { statements } = (await (await get("/api/partner/billing/statements")).json()) as {
    statements: { month: string; status: string; paymentsCents: number; refundsCents: number; closingCents: number }[];
  };
  const [open] = statements;
  assert.ok(open);
  assert.deepEqual([open.status, open.closingCents, open.refundsCents], ["open", 0, 500]);
  const path = `/api/partner/billing/statements/${open.month}`;
  const { lines } = (await (await get(path)).json()) as {
    lines: {
      number: string;
      kind: string;
      orderCode: string;
      fileNumber: string | null;
      amountCents: number;
      paidBy: string;
      method: string | null;
    }[];
  };
  const sum = (kind: string) => lines.reduce((cents, each) => cents + (each.kind === kind ? each.amountCents : 0), 0);
  assert.equal(sum("receipt"), open.paymentsCents);
  assert.ok(lines.some((line) => line.orderCode === code && line.fileNumber === "=1+2"));
  assert.equal((await get("/api/partner/billing/statements/2020-01")).status, 404);

  const page = await (await get(`/dashboard/statements/${open.month}`, { ...member, Accept: "text/html" })).text();
  for (const { number } of lines) assert.match(page, new RegExp(number));
  const [payers = ""] = /By payer[\s\S]*?By file number/.exec(page) ?? [];
  assert.match(payers, /Client, payment page[\s\S]*Firm, payment page/);
  const byPayer = [...payers.matchAll(/\$(\d+)\.(\d\d)/g)].reduce(
    (all, [, dollars, cents]) => all + Number(`${dollars}${cents}`),
    0,
  );
  assert.equal(byPayer, open.paymentsCents - open.refundsCents);
  assert.match(
    await (await get("/dashboard/statements", { ...member, Accept: "text/html" })).text(),
    /This month so far/,
  );
  const csv = await (await get(`/dashboard/statements/${open.month}/csv`, member)).text();
  assert.match(csv, /,'=1\+2,/, "no cell is a formula");
  const rows = csv.trim().split("\r\n");
  assert.equal(rows.length, lines.length + 3);
  assert.match(rows[1] ?? "", /^\d{4}-\d\d-01,,,,,Opening balance,.*,0\.00,,,$/);
  assert.match(rows.at(-1) ?? "", /,Closing balance,.*,0\.00,,,$/);
  assert.match(csv, /,Refund,,5\.00,,5\.00,USD,,"Client, payment page",-5\.00,0\.00,[^,]*,,pi_\w+\r\n/);
  assert.match(page, /Client, payment page/);
  assert.ok(lines.every(({ paidBy, method }) => ["client", "firm"].includes(paidBy) && method === null));
  const statement = await pdfOf(`/dashboard/statements/${open.month}/pdf`, member);
  assert.match(statement.toString("latin1"), /\/Title\(Statement \d{4}-\d{2}, so far, Acme Title(?:, LLC)?\)/);
  assert.match(textOf(statement), /Opening balance in your favor/, "no label is cut off");
  const drawn = dataOf(statement);
  assert.deepEqual([drawn.sums.payments, drawn.lines.length], [open.paymentsCents, lines.length]);
});

test("refuses a bad name or address, and everybody except owners", async () => {
  const save = (fields: Record<string, string>, by = member) =>
    postForm(`${live.url()}/dashboard/statements/address`, fields, by);
  for (const [fields, message] of [
    [{ name: " ", address: "" }, /Name on receipts must have 1 to 100 characters/],
    [{ name: "Acme", address: "1\n2\n3\n4\n5\n6\n7" }, /Address must have at most 6 lines/],
    [{ name: "Acme", address: "x".repeat(101) }, /Address must have at most 6 lines/],
  ] as const) {
    const answer = await save(fields);
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), message);
  }
});
