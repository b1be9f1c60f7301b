import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { startLob } from "@signsealship/testing/doubles/lob";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { authenticate, changeOrder } from "@signsealship/testing/row-mac";
import { newPartner, runCli } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { columnCipher } from "../../src/kernel/platform/column-cipher.ts";
import { isSealed, sql } from "../../src/kernel/platform/database/sql.ts";
import { openSecretsKey } from "../../src/kernel/platform/secrets.ts";
import { callColumn } from "../../src/providers/sealed-json.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { openInsider } from "../insiders/insider.ts";

const lob = await forTests(startLob());
const running = await forTests(openHarness({ LOB_API_KEY: lob.apiKey, LOB_API_BASE: lob.apiBase }));
const { headers } = await newPartner(running.service);
const secrets = await openSecretsKey(`file:${join(running.service.dataDir, "keys/secrets")}`);
const cipher = columnCipher(secrets, callColumn);

/** A live order whose packet is not printed yet, with a provider act in this state. */
async function orderWithAct(state: "begun" | "unknown") {
  const body = orderForm({ ...minimal, ...shipping, ship_method: "print_mail" });
  const answer = await fetch(`${running.service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode } = (await answer.json()) as { orderCode: string };
  await changeOrder(running.db, orderCode, sql`environment = 'live', status = 'ShippingPending'`);
  await authenticate(running, "documents");
  const [intent] = await running.db.query<{ id: number; orderId: number }>(sql`
    INSERT INTO provider_calls (act, provider, order_id, attempt, state, is_beside, tries, intended_at, begun_at, why)
    SELECT 'letter.send', 'lob', id, 1, ${state}, false, 1, now(), now(), 'no answer within 15000 ms'
    FROM orders WHERE ${isSealed(sql`code`, "order", orderCode)} RETURNING id, order_id AS "orderId"`);
  const payload = cipher.encrypt(Buffer.from(JSON.stringify({ orderCode })), `letter.send:${intent?.orderId}:1`);
  await running.db.query(sql`UPDATE provider_calls SET payload = ${payload} WHERE id = ${intent?.id}`);
  await authenticate(running, "provider_calls");
  return { code: orderCode, intentId: intent?.id ?? 0 };
}

const open = (cookie: string, path: string, form?: Record<string, string>) =>
  fetch(running.service.baseUrl + path, {
    redirect: "manual",
    headers: { cookie },
    ...(form && { method: "POST", body: new URLSearchParams(form) }),
  });

test("an act with an unknown outcome is shown with its forms to people who may record the outcome", async () => {
  const { code, intentId } = await orderWithAct("unknown");
  const shipper = await newOperator(running, { roles: ["shipper"] });
  const page = await (await open(shipper.cookie, `/operator/acts/${code}`)).text();
  assert.match(page, /Nobody knows/);
  assert.match(page, /no answer within 15000 ms/);
  assert.match(page, new RegExp(`action="/operator/acts/${code}/${intentId}/done"`));
  const auditor = await newOperator(running, { roles: ["auditor"] });
  assert.doesNotMatch(await (await open(auditor.cookie, `/operator/acts/${code}`)).text(), /It was not done/);
  const order = await (await open(auditor.cookie, `/operator/orders/${code}`)).text();
  assert.match(order, /<strong>Letter send wanted<\/strong><br><span class="quiet breakable">Lob; Attempt: 1</);
  const tester = await newOperator(running, { roles: ["shipper"], environment: "test" });
  assert.equal((await open(tester.cookie, `/operator/acts/${code}`)).status, 404);
});

test("a recorded outcome is checked", async () => {
  const { code, intentId } = await orderWithAct("begun");
  const { cookie } = await newOperator(running, { roles: ["shipper"] });
  const early = await open(cookie, `/operator/acts/${code}/${intentId}/not-done`, {});
  assert.equal(early.status, 409);
  assert.match(await early.text(), /known already/);
  assert.equal((await open(cookie, `/operator/acts/${code}/${intentId + 1000}/not-done`, {})).status, 404);
  assert.equal((await open(cookie, `/operator/acts/${code}/${intentId}/done`, { id: "" })).status, 400);
});

test("a person's record that it was not done returns the work to people", async () => {
  const { code, intentId } = await orderWithAct("unknown");
  const { cookie, id } = await newOperator(running, { roles: ["shipper"] });
  const said = await open(cookie, `/operator/acts/${code}/${intentId}/not-done`, {});
  assert.equal(said.status, 303);
  const [act] = await running.db.query<object>(sql`
    SELECT state, ended_by AS "endedBy", code FROM provider_calls WHERE id = ${intentId}`);
  assert.deepEqual(act, { state: "failed", endedBy: `operator:${id}`, code: "not_done" });
  const tasks = await running.db.query(sql`
    SELECT FROM tasks t JOIN orders o ON o.id = t.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} AND t.kind = 'packet_print' AND t.state = 'open'`);
  assert.equal(tasks.length, 1);
});

test("nobody can move an order by hand while a provider may be doing the work", async () => {
  const facts = { carrier: "USPS", tracking: "EA123456785US" };
  for (const [state, words] of [
    ["begun", /Lob is doing this now \(mailing the letter\)/],
    ["unknown", /Nobody knows yet whether Lob did this/],
  ] as const) {
    const { code } = await orderWithAct(state);
    const { cookie } = await newOperator(running, { roles: ["shipper"] });
    const { cookie: agent } = await newOperator(running, { roles: ["agent"] });
    for (const page of [await open(cookie, `/operator/paper/${code}`), await open(agent, `/operator/orders/${code}`)]) {
      const text = await page.text();
      assert.match(text, words);
      assert.doesNotMatch(text, /moves\/(?:shipped|delivered|shipping_failed)"/);
    }
    const refused = await open(cookie, `/operator/paper/${code}/moves/shipped`, facts);
    assert.equal(refused.status, 409);
    assert.match(await refused.text(), words);
    const command = running.service.cli("order", "move", code, "Shipped", "--carrier", "USPS", "--tracking", "9400");
    await assert.rejects(command, words);
    // A hold is still possible, because the act in progress ends automatically.
    await running.service.cli("order", "move", code, "OnHold", "--reason", "a call");
  }
});

test("accounts are checked without effect, by the command line, by doctor and on the page Health", async () => {
  await orderWithAct("unknown");
  const { ok, providers } = await running.service.cli<{ ok: boolean; providers: object[] }>("provider", "check");
  assert.equal(ok, true);
  const detail = "the key is accepted";
  assert.deepEqual(providers, [{ provider: "lob", name: "Lob", ok: true, detail, takesEvents: false }]);
  assert.equal(lob.letters.size, 0);
  const env = { DATA_DIR: running.service.dataDir, LOB_API_KEY: "wrong", LOB_API_BASE: lob.apiBase };
  const wrong = await runCli(env, "provider", "check");
  assert.equal(wrong.code, 1);
  assert.match(wrong.stdout, /failed Lob: the key is not accepted/);
  assert.doesNotMatch(wrong.stdout + wrong.stderr, /wrong/);
  const { cookie } = await newOperator(running, { roles: ["admin"] });
  const health = await (await open(cookie, "/operator/health")).text();
  assert.match(health, /Nobody knows/);
  assert.match(health, /Lob/);
  assert.match(health, />Store of documents<[\s\S]*>Transparency log</);
  const checks = await (await open(cookie, "/operator/health/checks")).text();
  assert.match(checks, /provider lob/);
  assert.match(checks, /LOB_API_KEY|asked by the clock/);
  const metrics = await (await fetch(`${running.service.baseUrl}/metrics`)).text();
  assert.match(metrics, /provider_acts_unknown\{provider="lob"\} [1-9]/);
});

test("an act that was set back in the database to not begun is neither repeated nor left to people", async () => {
  const { code, intentId } = await orderWithAct("unknown");
  const { cookie } = await newOperator(running, { roles: ["shipper"] });
  const insider = openInsider(running.service.dataDir);
  await insider.run(
    sql`UPDATE provider_calls SET state = 'intended', tries = 0, begun_at = NULL WHERE id = ${intentId}`,
  );
  await insider.run(sql`SELECT enqueue_job('provider-act-lob', ${{ intentId }}::jsonb, now())`);
  await until(async () => {
    const [job] = await insider.run<{ attempts: number }>(sql`
      SELECT attempts FROM jobs WHERE queue = 'provider-act-lob' AND (payload ->> 'intentId')::bigint = ${intentId}`);
    return job !== undefined && job.attempts > 0;
  });
  assert.deepEqual(
    lob.requests.filter(({ method }) => method === "POST"),
    [],
  );
  for (const answer of [
    await open(cookie, `/operator/acts/${code}`),
    await open(cookie, `/operator/acts/${code}/${intentId}/not-done`, {}),
  ]) {
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /not what the service wrote/);
  }
  await assert.rejects(insider.run(sql`DELETE FROM provider_calls WHERE id = ${intentId}`), /append-only/);
  await insider.close();
});
