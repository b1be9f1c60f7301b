import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { openMembersService } from "../../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

/** A member of a new firm, and the member's actions. */
async function member() {
  const { key, headers: ofKey } = await running.newPartner();
  const { headers } = await newMember(running.service, running.somebody(), key);
  const place = async (fields: Record<string, string> = {}, name = "document.pdf") => {
    const form = orderForm({ ...minimal, ...fields });
    form.set("document", form.get("document") as File, name);
    const { body } = await running.call("/api/partner/orders", { method: "POST", headers: ofKey, body: form });
    return body.orderCode as string;
  };
  const page = async (path: string) => (await running.call(path, { headers })).body as string;
  const listed = async (query: string) =>
    [...(await page(`/dashboard/orders?${query}`)).matchAll(/href="\/dashboard\/orders\/([0-9a-f]{40})"/g)].map(
      ([, code]) => code,
    );
  const sandbox = (code: string, verb: string, body: object = {}) =>
    running.call(`/api/partner/sandbox/orders/${code}/${verb}`, {
      method: "POST",
      headers: { ...ofKey, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  return { headers, place, page, listed, sandbox };
}

test("an order is found by its document's hash, client, email, reference, code and tracking number, and no other firm's is", async () => {
  const [acme, other] = [await member(), await member()];
  const fields = {
    ...shipping,
    email: "Maria.Gonzalez@example.com",
    name: "María González",
    external_reference: "FILE-2207",
  };
  const code = await acme.place(fields, "Deed of trust.pdf");
  await acme.place({ email: "someone@else.example" });
  await other.place(fields);
  await acme.sandbox(code, "checkout");
  assert.equal((await acme.sandbox(code, "advance", { event: "shipment.delivered" })).status, 200);
  const shown = await acme.page(`/dashboard/orders/${code}`);
  const [, tracking = ""] = /<code>([^<]+)<\/code><button[^>]* aria-label="Copy tracking number"/.exec(shown) ?? [];
  assert.notEqual(tracking, "", "the page of the order tells the tracking number");
  for (const q of ["maría gonz", "maria.gonzalez@EXAMPLE.com", "file-2207", code, code.slice(0, 8), tracking])
    assert.deepEqual(await acme.listed(`q=${encodeURIComponent(q)}`), [code], q);
  const page = await acme.page("/dashboard/orders?q=FILE-2207");
  for (const words of ["Deed of trust", "María González", "Maria.Gonzalez", "FILE-2207"])
    assert.ok(page.includes(words), words);
});

test("a search finds an order by the name of a person who signs it", async () => {
  const { place, listed } = await member();
  const signers = (name: string) => JSON.stringify([{ name, email: "someone@example.com" }]);
  const code = await place({ svc_sign: "true", signers: signers('Raman "Ray" O\'Neill') });
  await place({ svc_sign: "true", signers: signers("Ann Lee") });
  for (const q of ["raman", "O'Neill"]) assert.deepEqual(await listed(`q=${encodeURIComponent(q)}`), [code], q);
  assert.deepEqual(await listed("q=nobody%25"), []);
});

test("days, groups, payers and sorting combine with a search, and an invalid page says so", async () => {
  const { place, listed, page } = await member();
  const codes = [
    await place({ name: "Jane Roe" }),
    await place({ name: "Jane Doe" }),
    await place({ name: "Ann Lee" }),
  ];
  const today = new Date().toISOString().slice(0, 10);
  assert.deepEqual(await listed(`q=jane&from=${today}&to=${today}&sort=oldest&status=payment`), codes.slice(0, 2));
  assert.deepEqual(await listed("q=jane&to=2020-01-01"), []);
  assert.deepEqual(await listed("q=jane&status=done"), []);
  assert.deepEqual(await listed("sort=changed&status=payment"), codes.toReversed());
  const own = await place({ name: "Jane Poe", pay_by: "firm" });
  assert.deepEqual(await listed("status=payment&payer=firm"), [own]);
  assert.deepEqual(await listed("q=jane&payer=client&sort=oldest"), codes.slice(0, 2));
  assert.deepEqual(await listed("payer=nobody"), []);
  const file = await page("/dashboard/orders.csv?payer=firm");
  assert.match(file, /^[^\r]*,Payer\r\n[^\r]*,Your firm\r\n$/);
});

test("the list is saved as CSV, with the same filters and without formulas", async () => {
  const { place, page } = await member();
  await place({ name: "=HYPERLINK(1)", external_reference: "A, B" }, "Payoff letter.pdf");
  await place({ name: "Ann Lee" });
  const file = await page("/dashboard/orders.csv?q=hyperlink");
  const [head, row, ...rest] = file.split("\r\n");
  assert.match(
    head ?? "",
    /^\uFEFF?Order code,Document,Status,Services,Client,Email,File number,Total \(USD\),Placed \(America\/New_York\)/,
  );
  assert.match(
    row ?? "",
    /^[0-9a-f]{40},Payoff letter,Ready to pay,,'=HYPERLINK\(1\),signer@example\.com,"A, B",\d+\.\d\d,\d{4}-/,
  );
  assert.deepEqual(rest, [""]);
});

test("a member cancels an unpaid order with a reason, and no other", async () => {
  const { headers, place, page, sandbox } = await member();
  const cancel = async (code: string, reason: string) =>
    (await postForm(`${running.service.baseUrl}/dashboard/orders/${code}/cancel`, { reason }, headers)).status;
  const code = await place();
  assert.match(await page(`/dashboard/orders/${code}`), /Cancel this order/);
  for (const reason of ["", "  ", "x".repeat(501)]) assert.equal(await cancel(code, reason), 400);
  assert.equal(await cancel(code, "The closing fell through"), 303);
  const shown = await page(`/dashboard/orders/${code}`);
  assert.match(shown, /This order was canceled/);
  assert.match(shown, /The closing fell through/);
  assert.doesNotMatch(shown, /Cancel this order/);
  assert.equal(await cancel(code, "Again"), 409);
  const paid = await place();
  await sandbox(paid, "checkout");
  assert.doesNotMatch(await page(`/dashboard/orders/${paid}`), /Cancel this order/);
  assert.equal(await cancel(paid, "Too late"), 409);
  const [foreign] = [await (await member()).place()];
  assert.equal(await cancel(foreign, "Not ours"), 404);
});

test("an order's page states who did what, and shows its documents", async () => {
  const { headers, place, page, sandbox } = await member();
  const code = await place({ svc_sign: "true" }, "Deed of trust.pdf");
  await sandbox(code, "checkout");
  const shown = await page(`/dashboard/orders/${code}`);
  assert.match(shown, /<h1>Deed of trust<\/h1>/);
  assert.match(shown, /Order placed<br><span class="second-line">API key /);
  const [, view = ""] = /href="([^"]+\/view)"/.exec(shown) ?? [];
  const answer = await fetch(running.service.baseUrl + view, { headers });
  assert.equal(answer.status, 200);
  assert.match(await answer.text(), /id="preview"/);
  const other = await member();
  assert.equal((await fetch(running.service.baseUrl + view, { headers: other.headers })).status, 404);
});
