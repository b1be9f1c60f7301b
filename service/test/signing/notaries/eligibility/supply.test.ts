import assert from "node:assert/strict";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, runCli } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { addNotary, setNotary } from "../../../../src/signing/notaries/notaries.ts";
import { newMember, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { openLiveService } from "../../../orders/fulfilment/live-service.ts";
import { type NotarySoftware, openNotarySoftware } from "../signing/notary-software.ts";

const { test, before, after, describe } = testsNeeding("pyhanko");

type Answer = {
  orderCode: string;
  status: string;
  totalCents: number;
  checkoutUrl: string | null;
  manualQuoteReason?: string;
  error?: string;
};

let running: Awaited<ReturnType<typeof openLiveService>>;
let software: NotarySoftware;

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
};
const notarized = { svc_notary: "true", signer_state: "FL" };
const nobody = "No notary on record may notarize online today.";

before(async () => {
  [running, software] = await Promise.all([
    openLiveService({}),
    openNotarySoftware({ Nora: ["2020-01-01", "2045-01-01"] }),
  ]);
});
after(async () => {
  software.close();
  await running.close();
});

async function order(fields: Record<string, string>, headers: { Authorization: string } = running.headers) {
  const body = orderForm({ ...minimal, create_checkout: "true", ...fields });
  const answer = await fetch(`${running.url()}/api/partner/orders`, { method: "POST", headers, body });
  return { status: answer.status, body: (await answer.json()) as Answer };
}
const fetched = async (code: string): Promise<Answer> =>
  (await fetch(`${running.url()}/api/partner/orders/${code}`, { headers: running.headers })).json() as Promise<Answer>;
const checkout = async (code: string) => {
  const url = `${running.url()}/api/partner/orders/${code}/checkout`;
  const answer = await fetch(url, { method: "POST", headers: running.headers });
  return { status: answer.status, body: (await answer.json()) as Answer };
};
const page = async (path: string, cookie: string): Promise<string> =>
  (await fetch(running.url() + path, { headers: { Cookie: cookie } })).text();
const keeping = () => ({ db: running.db, clock: () => new Date() });
const newNotary = async (typed: Record<string, string> = {}) => {
  const { id } = await newOperator(running.harness, { roles: ["notary"], passkey: false });
  return addNotary(
    keeping(),
    id,
    { ...commission, certificate: software.certificates["Nora"] ?? "", ...typed },
    "operator",
  );
};
const suspend = (id: string) => setNotary(keeping(), id, { status: "suspended" }, "operator");
const doctor = async (env: Record<string, string> = {}) => {
  const { code, stdout } = await runCli({ DATA_DIR: running.harness.service.dataDir, ...env }, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as {
    checks: { name: string; result: string; detail: string; urgent?: true }[];
  };
  return { code, found: checks.find(({ name }) => name === "online notarization") };
};

describe("while no notary is on record", () => {
  test("quotes and sells as before, and warns the operator in red on Today, on Health and in doctor", async () => {
    const { status, body } = await order(notarized);
    assert.deepEqual([status, body.status, body.totalCents], [201, "QuoteReady", 6100]);
    assert.ok(body.checkoutUrl);
    const { cookie } = await newOperator(running.harness, { roles: ["admin"] });
    for (const path of ["/operator", "/operator/health"])
      assert.match(
        await page(path, cookie),
        /class="notice stopped"[\s\S]*Online notarization is sold and cannot be performed/,
      );
    assert.match(
      await page("/operator/health/checks", cookie),
      /<span>online notarization<\/span><\/th><td[^>]*><span><span class="badge stopped"/,
    );
    const { found } = await doctor();
    assert.deepEqual([found?.result, found?.urgent], ["warning", true]);
  });
});

describe("once a notary is on record", () => {
  let nora: string;
  let paper: string;
  before(async () => {
    // A notary of Wyoming, for which the rules contain only acts on paper.
    paper = await newNotary({ commissionName: "Paul Paper", state: "WY" });
  });

  test("an order that nobody may perform waits for a person's price, and its firm and the staff learn the reason", async () => {
    const { status, body } = await order(notarized);
    assert.deepEqual(
      [status, body.status, body.checkoutUrl, body.manualQuoteReason],
      [201, "ManualQuoteRequired", null, nobody],
    );
    assert.equal((await fetched(body.orderCode)).manualQuoteReason, nobody);
    assert.equal((await checkout(body.orderCode)).body.error, "An order in ManualQuoteRequired is not payable.");
    const [task] = await running.tasksOf(body.orderCode);
    assert.deepEqual([task?.kind, task?.reason], ["quote", nobody]);
    const { cookie } = await newOperator(running.harness, { roles: ["agent"] });
    assert.match(await page("/operator/tasks/quote", cookie), new RegExp(nobody));
    assert.match(await page(`/operator/orders/${body.orderCode}`, cookie), new RegExp(nobody));
  });

  test("the firm reads the reason on its order's page, and before it places one", async () => {
    const key = running.headers.Authorization.replace("Bearer ", "");
    const { headers } = await newMember(running.harness.service, "member@acme.example", key);
    const origin = { Origin: running.url() };
    const switched = { environment: "live", return_to: "/dashboard" };
    assert.equal(
      (await postForm(`${running.url()}/dashboard/environment`, switched, { ...headers, ...origin })).status,
      303,
    );
    const { orderCode } = (await order(notarized)).body;
    assert.match(
      await page(`/dashboard/orders/${orderCode}`, headers.Cookie),
      new RegExp(`${nobody} A person arranges it`),
    );
    const quoted = await postForm(`${running.url()}/dashboard/orders/new/quote`, notarized, { ...headers, ...origin });
    assert.match(await quoted.text(), new RegExp(`${nobody} A person prices it`));
  });

  test("staff arrange such an order and price it; then it is paid, although nobody on record may perform it", async () => {
    const { orderCode: code } = (await order(notarized)).body;
    const { cookie } = await newOperator(running.harness, { roles: ["agent"] });
    const unmeant = await postForm(
      `${running.url()}/operator/orders/${code}/moves/priced`,
      {},
      { Cookie: cookie, Origin: running.url() },
    );
    assert.match(await unmeant.text(), /Amount must be given, or it must be confirmed/);
    const moved = await postForm(
      `${running.url()}/operator/orders/${code}/moves/priced`,
      { amount: "15.00", label: "Notary of a partner" },
      { Cookie: cookie, Origin: running.url() },
    );
    assert.equal(moved.status, 303, await moved.text());
    const priced = await fetched(code);
    assert.deepEqual([priced.status, priced.totalCents, priced.manualQuoteReason], ["QuoteReady", 7600, undefined]);
    assert.equal((await checkout(code)).status, 200);
  });

  test("orders without notarization, and test orders, are quoted as before", async () => {
    assert.equal((await order({ svc_sign: "true" })).body.status, "QuoteReady");
    const test = await newPartner(running.harness.service);
    assert.equal((await order({ ...notarized, create_checkout: "" }, test.headers)).body.status, "QuoteReady");
  });

  test("doctor, Health and Today report that nobody may act online; it does not count as a fault of the service", async () => {
    const { found } = await doctor();
    assert.deepEqual([found?.result, found?.urgent], ["warning", undefined]);
    assert.match(found?.detail ?? "", /no notary on record may act online today.*wait for a quote by a person/);
    const { cookie } = await newOperator(running.harness, { roles: ["admin"] });
    assert.match(await page("/operator", cookie), /class="notice attention"[\s\S]*No notary on record may act online/);
  });

  test("is quoted again when a notary may act online, except for a document that the state excludes", async () => {
    nora = await newNotary();
    assert.equal((await order(notarized)).body.status, "QuoteReady");
    const deed = (await order({ doc_slug: "quitclaim-deed", signer_state: "FL" })).body;
    assert.deepEqual(
      [deed.status, deed.manualQuoteReason],
      ["ManualQuoteRequired", "No notary on record may notarize a document of the kind quitclaim-deed online."],
    );
    assert.equal((await doctor()).found?.result, "ok");
  });

  const without = [
    ["a registration", { ronRegistration: "", ronExpires: "" }],
    ["a certificate", { certificate: "" }],
    ["a commission that has begun", { commissionStarts: "2039-01-01" }],
    ["a commission that still counts", { commissionExpires: "2024-01-31" }],
    ["being active", { status: "suspended" }],
  ] as const;
  for (const [what, typed] of without)
    test(`a notary without ${what} can perform none`, async () => {
      await setNotary(keeping(), nora, typed, "operator");
      assert.equal((await order(notarized)).body.manualQuoteReason, nobody);
      const certificate = software.certificates["Nora"] ?? "";
      await setNotary(keeping(), nora, { ...commission, certificate, commissionStarts: "" }, "operator");
      assert.equal((await order(notarized)).body.status, "QuoteReady");
    });

  for (const state of ["FL", "NV", "PA", "TX", "VA"])
    test(`a notary of ${state} performs them by the shipped rules`, async () => {
      await setNotary(keeping(), nora, { state }, "operator");
      assert.equal((await order(notarized)).body.status, "QuoteReady");
      await setNotary(keeping(), nora, { state: commission.state }, "operator");
    });

  test("a notary who may no longer sign in to the desk can perform none", async () => {
    const setActive = (active: boolean) =>
      running.db.query(
        sql`UPDATE operators SET active = ${active} WHERE user_id = (SELECT operator_id FROM notaries WHERE id = ${nora})`,
      );
    await setActive(false);
    assert.equal((await order(notarized)).body.manualQuoteReason, nobody);
    await setActive(true);
  });

  test("a quote whose last notary leaves before it is paid is not payable, and is paid when there is one again", async () => {
    const { orderCode: code } = (await order({ ...notarized, create_checkout: "" })).body;
    await suspend(nora);
    const { status, body } = await checkout(code);
    assert.equal(status, 409);
    assert.match(
      body.error ?? "",
      /^The notarization of this order can’t be performed as quoted\. No notary on record/,
    );
    await setNotary(keeping(), nora, { status: "active" }, "operator");
    assert.equal((await checkout(code)).status, 200);
  });

  test("an order that is paid on a page from before the last notary left is not lost: its notarization waits", async () => {
    const { orderCode: code, checkoutUrl } = (await order(notarized)).body;
    await suspend(nora);
    await running.stripe.deliver(running.url(), running.stripe.pay(running.stripe.sessionOf(checkoutUrl ?? "")));
    assert.equal(await running.statusOf(code), "NotarizationPending");
    await setNotary(keeping(), nora, { status: "active" }, "operator");
  });

  test("NOTARY_REQUIRED=on refuses an order that nobody may perform, and names the field; others are quoted", async () => {
    await running.harness.service.stop();
    running.harness.service = await running.harness.service.restart({ NOTARY_REQUIRED: "on" });
    const deed = await order({ doc_slug: "quitclaim-deed", signer_state: "FL" });
    assert.equal(deed.status, 400);
    assert.match(deed.body.error ?? "", /^doc_slug asks for a notarization that is not offered\. No notary on record/);
    assert.equal((await order(notarized)).body.status, "QuoteReady");
    await suspend(nora);
    await suspend(paper);
    const { status, body } = await order(notarized);
    assert.deepEqual([status, body.error], [400, `svc_notary asks for a notarization that is not offered. ${nobody}`]);
    assert.equal((await order({ svc_sign: "true" })).status, 201);
    assert.match((await doctor({ NOTARY_REQUIRED: "on" })).found?.detail ?? "", /are refused \(NOTARY_REQUIRED\)/);
  });
});
