import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createTypeset, openFaces } from "@signsealship/certificate";
import { forTests } from "@signsealship/testing/for-tests";
import { shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { changeRowsOf } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { faxAct } from "../../../src/delivery/faxing/act.ts";
import type { FaxDeps } from "../../../src/delivery/faxing/deps.ts";
import { faxCertificate } from "../../../src/delivery/faxing/faxing.ts";
import { followFaxes } from "../../../src/delivery/faxing/follow.ts";
import { attemptState, sweepFaxNumbers } from "../../../src/delivery/faxing/store.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { isSealed, type Statement, sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { taskState } from "../../../src/kernel/tasks/tasks.ts";
import { type Intent, openProviders } from "../../../src/providers/providers.ts";
import { telnyxPublicKey } from "../../../src/providers/telnyx/account.ts";
import { postForm } from "../../firms/members/signed-in-member.ts";
import { openFaxWorld } from "./fax-world.ts";

const world = await forTests(openFaxWorld());

const setAttempts = (where: Statement, set: Statement) => changeRowsOf(world.db, attemptState, where, set);
const statesOf = async (code: string) => (await world.attempts(code)).map(({ state }) => state);
let lastToShip = 1000;
const cuts = Number(process.env["CUTS"] ?? 6);

test("a live order is faxed from its payment to its delivery, without any person", async () => {
  const { code, faxTo } = await world.order(makePdf({ pages: 3 }));
  const fax = await world.fax(faxTo);
  await world.become(code, "FaxSent");
  assert.deepEqual([fax.from, fax.connection_id], ["+13125550100", "1234567890"]);
  const pdf = world.telnyx.contents.get(fax.id)?.bytes.toString("latin1") ?? "";
  assert.match(pdf, /\/Count 4\b/, "a cover sheet goes before the three pages");
  const clientState = Buffer.from(fax.client_state ?? "", "base64").toString();
  assert.ok(
    clientState.startsWith(code.slice(0, 6).toUpperCase()) && !clientState.toLowerCase().includes(code.slice(0, 8)),
  );
  await world.tell(fax, "sending");
  await world.tell(fax, "delivered", { page_count: 4 });
  await world.become(code, "FaxDelivered");
  const shown = await world.db.query(sql`
    SELECT f.status, f.fax_to AS "faxTo" FROM faxes f JOIN orders o ON o.id = f.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.deepEqual(shown, [{ status: "Delivered", faxTo }]);
  assert.deepEqual(await statesOf(code), ["delivered"]);
  assert.deepEqual(
    (await world.tasksOf(code)).map(({ kind, state }) => [kind, state]),
    [["fax_send", "done"]],
  );
});

test(
  "a sealed document certifies its transmission with the event that Telnyx signed, which a stranger verifies",
  needs("poppler", "openssl"),
  async () => {
    const { code, faxTo } = await world.order();
    const fax = await world.fax(faxTo);
    await world.tell(fax, "sending");
    const delivered = world.telnyx.move(fax, "delivered", { page_count: 2, call_duration_secs: 37 });
    await world.telnyx.deliver(world.url(), delivered);
    const pdf = await until(() => world.documentOf(code, "fax_certificate"));
    const original = await world.documentOf(code, "original");
    const folder = temporaryFolder();
    const shell = (command: string, env: Record<string, string> = {}) =>
      execFileSync("sh", ["-c", command], { cwd: folder.path, encoding: "utf8", env: { ...process.env, ...env } });
    writeFileSync(join(folder.path, "receipt.pdf"), pdf);
    assert.match(shell("pdfsig -nocert receipt.pdf"), /Signature is Valid/);
    shell("pdfdetach -saveall receipt.pdf");
    const read = (name: string) => readFileSync(join(folder.path, name), "utf8");
    assert.equal(read("event-01.json"), JSON.stringify(delivered), "byte by byte as it came");
    const { rows } = JSON.parse(read("receipt.json")) as { rows: { label: string; value: string }[] };
    const said = Object.fromEntries(rows.map(({ label, value }) => [label, value]));
    assert.deepEqual(
      [said["To"], said["From"], said["Pages confirmed"], said["Duration of the call"], said["Document, SHA-256"]],
      [
        faxTo,
        "+13125550100",
        "2",
        "37 seconds",
        createHash("sha256")
          .update(original ?? "")
          .digest("hex"),
      ],
    );
    const headers = JSON.parse(read("event-01.headers.json")) as Record<string, string>;
    writeFileSync(join(folder.path, "sig"), Buffer.from(headers["telnyx-signature-ed25519"] ?? "", "base64"));
    const pem = telnyxPublicKey(world.telnyx.publicKey).export({ format: "pem", type: "spki" });
    writeFileSync(join(folder.path, "key.pem"), pem);
    const verify = `(printf '%s|' "$TIMESTAMP"; cat event-01.json) > signed
      openssl pkeyutl -verify -rawin -pubin -inkey key.pem -in signed -sigfile sig`;
    const timestamp = Number(headers["telnyx-timestamp"]);
    assert.match(shell(verify, { TIMESTAMP: String(timestamp) }), /Verified Successfully/);
    assert.throws(() => shell(verify, { TIMESTAMP: String(timestamp + 1) }));
    folder.remove();
  },
);

test("forged, stale or replayed events change nothing; repeated and reordered events lead to the same end", async () => {
  const { code, faxTo } = await world.order();
  const fax = await world.fax(faxTo);
  await world.become(code, "FaxSent");
  const { telnyx, url } = world;
  const delivered = telnyx.event({ ...fax, status: "delivered" });
  const minutes = (n: number) => new Date(Date.now() + n * 60_000);
  for (const options of [{ forged: true }, { otherKey: true }, { at: minutes(-6) }, { at: minutes(6) }])
    assert.equal((await telnyx.deliver(url(), delivered, options)).status, 400);
  assert.equal(await world.statusOf(code), "FaxSent");
  const sending = telnyx.event({ ...fax, status: "sending" });
  for (const event of [delivered, delivered, sending, delivered, telnyx.event({ ...fax, status: "queued" })])
    assert.equal((await telnyx.deliver(url(), event)).status, 200);
  await world.become(code, "FaxDelivered");
  assert.deepEqual(await statesOf(code), ["delivered"]);
});

test("a busy line is tried again after 5, 15 and 60 minutes; then the fax has failed, and a person may request it again", async () => {
  const { code, faxTo } = await world.order();
  for (const [n, minutes] of [5, 15, 60].entries()) {
    await world.tell(await world.fax(faxTo, n + 1), "failed", { failure_reason: "user_busy" });
    const [next] = (
      await until(async () => {
        const rows = await world.attempts(code);
        return rows.length === n + 2 ? rows : null;
      })
    ).slice(-1);
    const wait = ((next?.dueAt.getTime() ?? 0) - Date.now()) / 60_000;
    assert.ok(wait > minutes - 1 && wait <= minutes, `${wait} of ${minutes}`);
    assert.equal(await world.statusOf(code), "FaxSent");
    await world.passTime(code);
  }
  await world.tell(await world.fax(faxTo, 4), "failed", { failure_reason: "user_busy" });
  await world.become(code, "FaxFailed");
  const task = (await world.tasksOf(code)).at(-1);
  assert.deepEqual([task?.kind, task?.state], ["fax_exception", "open"]);
  assert.match(task?.reason ?? "", /the line was busy \(after 4 attempts\)/);
  await world.harness.service.cli("order", "move", code, "FaxPending");
  await world.tell(await world.fax(faxTo, 5), "delivered");
  await world.become(code, "FaxDelivered");
  assert.equal(world.faxesTo(faxTo).length, 5);
});

test("the console's page of the order shows each attempt with its outcome", async () => {
  const { code, faxTo } = await world.order();
  await world.tell(await world.fax(faxTo), "failed", { failure_reason: "receiver_no_answer" });
  await until(async () => (await world.attempts(code)).length === 2);
  await world.passTime(code);
  await world.tell(await world.fax(faxTo, 2), "delivered", { page_count: 2, call_duration_secs: 37 });
  await world.become(code, "FaxDelivered");
  const { url } = await world.harness.service.cli("operator", "link");
  const signedIn = await postForm(world.url() + new URL(url ?? "").pathname, {});
  const cookie = signedIn.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const page = await (await fetch(`${world.url()}/operator/orders/${code}`, { headers: { cookie } })).text();
  const list = /Attempts by Telnyx.*?<\/ol>/s.exec(page)?.[0].replaceAll(/<[^>]+>/g, " ") ?? "";
  assert.match(list, /Attempt 1\s+Failed\s+nobody answered/);
  assert.match(list, /Attempt 2\s+Delivered\s+2 pages confirmed, 37 seconds/);
});

test("a number that is not in use fails at once, in plain words; earlier reports say nothing about a later attempt", async () => {
  const { code, faxTo } = await world.order();
  const fax = await world.fax(faxTo);
  const failed = world.telnyx.move(fax, "failed", { failure_reason: "receiver_unallocated_number" });
  assert.equal((await world.telnyx.deliver(world.url(), failed)).status, 200);
  await world.become(code, "FaxFailed");
  assert.match((await world.tasksOf(code)).at(-1)?.reason ?? "", /^the number is not in use$/);
  await world.harness.service.cli("order", "move", code, "FaxPending");
  const again = await world.fax(faxTo, 2);
  await world.tell(fax, "failed", { failure_reason: "receiver_unallocated_number" });
  await world.tell(again, "delivered");
  await world.become(code, "FaxDelivered");
});

test("without events Telnyx is polled", async () => {
  const { code, faxTo } = await world.order();
  const fax = await world.fax(faxTo);
  await world.become(code, "FaxSent");
  world.telnyx.move(fax, "delivered");
  await world.passTime(code);
  await world.become(code, "FaxDelivered");
});

test("after a cut connection, a fax that Telnyx accepted is found there, and there is only one", async () => {
  for (let n = 0; n < cuts; n++) {
    world.telnyx.fail("cut", /^POST \/v2\/faxes$/);
    const { code, faxTo } = await world.order();
    const fax = await world.fax(faxTo);
    await until(async () => {
      const [call] = await world.db.query<{ lookAt: Date | null }>(sql`
        SELECT look_at AS "lookAt" FROM provider_calls c JOIN orders o ON o.id = c.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
      return call?.lookAt;
    });
    assert.equal(await world.statusOf(code), "FaxPending");
    // For a third of the faxes, Telnyx sends an event before the service looks the fax up.
    if (n % 3 === 1) await world.tell(fax, "sending");
    // For another third of the faxes, the look-up fails as well.
    if (n % 3 === 2) world.telnyx.fail("cut", /^GET/);
    await until(async () => {
      await world.passTime(code);
      return (await world.statusOf(code)) === "FaxSent";
    });
    assert.equal(world.faxesTo(faxTo).length, 1);
    world.telnyx.mend();
  }
});

test("a failure that is reported before its request is answered counts as sent, with the same consequences", async () => {
  for (const [reason, status, states] of [
    ["user_busy", "FaxSent", ["failed", "waiting"]],
    ["receiver_unallocated_number", "FaxFailed", ["failed"]],
  ] as const) {
    world.telnyx.fail("cut", /^POST \/v2\/faxes$/);
    const { code, faxTo } = await world.order();
    await world.tell(await world.fax(faxTo), "failed", { failure_reason: reason });
    await world.become(code, status);
    assert.deepEqual(await statesOf(code), states);
    const faxed = sql`SELECT count(*)::int AS n FROM faxes f JOIN orders o ON o.id = f.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`;
    assert.deepEqual(await world.db.query(faxed), [{ n: 1 }]);
    world.telnyx.mend();
  }
});

test("after a cut connection, a fax that Telnyx did not accept is sent again, once", async () => {
  world.telnyx.fail({ status: 500 }, /^POST \/v2\/faxes$/);
  const { code, faxTo } = await world.order();
  await until(async () => {
    await world.passTime(code);
    return (await world.statusOf(code)) === "FaxSent";
  });
  assert.equal(world.faxesTo(faxTo).length, 1);
});

test("an answer that refuses a fax changes nothing once an event has reported the fax", async () => {
  const { code, faxTo } = await world.order();
  await world.tell(await world.fax(faxTo), "sending");
  await world.become(code, "FaxSent");
  const [attempt] = await world.db.query<{ id: number; orderId: number }>(
    sql`SELECT id, order_id AS "orderId" FROM fax_attempts WHERE fax_to = ${faxTo}`,
  );
  const intent = { orderId: attempt?.orderId, payload: { attemptId: attempt?.id } } as Intent;
  const act = faxAct({ clock: systemClock } as FaxDeps);
  const end = { kind: "failed", code: null, why: "The number is blocked" } as const;
  await world.db.transaction((tx) => act.settled(tx, intent, end));
  assert.deepEqual(await statesOf(code), ["sending"]);
});

test("a fax that Telnyx refuses becomes manual work, with Telnyx's words", async () => {
  world.telnyx.fail({ status: 422, code: "10015", detail: "The number is blocked." }, /^POST \/v2\/faxes$/);
  const { code, faxTo } = await world.order();
  await until(async () => (await statesOf(code))[0] === "refused");
  const open = (await world.tasksOf(code)).filter(({ state }) => state === "open");
  assert.deepEqual(
    open.map(({ kind, reason }) => [kind, /The number is blocked/.test(reason ?? "")]),
    [["fax_send", true]],
  );
  assert.equal(world.faxesTo(faxTo).length, 0);
  await world.harness.service.cli("order", "move", code, "FaxSent");
  await world.harness.service.cli("order", "move", code, "FaxDelivered");
  assert.equal(world.faxesTo(faxTo).length, 0, "by hand, and not by Telnyx, too");
});

describe("an order on hold", () => {
  test("has its fax canceled, and faxed again after the hold", async () => {
    const { code, faxTo } = await world.order();
    const fax = await world.fax(faxTo);
    await world.become(code, "FaxSent");
    world.telnyx.fail("cut", /cancel$/);
    await world.harness.service.cli("order", "move", code, "OnHold", "--reason", "wait");
    await until(() => fax.status === "failed" && fax.failure_reason === "sender_canceled");
    await world.tell(fax, "failed", { failure_reason: "sender_canceled" });
    await until(async () => (await statesOf(code))[0] === "failed");
    assert.equal(world.faxesTo(faxTo).length, 1);
    await world.harness.service.cli("order", "move", code, "--release");
    await world.tell(await world.fax(faxTo, 2), "delivered");
    await world.become(code, "FaxDelivered");
  });

  test("gets no further attempt, and none at all after a refund", async () => {
    const { code, faxTo } = await world.order();
    await world.tell(await world.fax(faxTo), "failed", { failure_reason: "user_busy" });
    await until(async () => (await world.attempts(code)).length === 2);
    await world.harness.service.cli("order", "move", code, "OnHold", "--reason", "wait");
    await world.passTime(code);
    await world.harness.service.cli("order", "move", code, "RefundPending", "--reason", "not wanted");
    await until(async () => (await statesOf(code))[1] === "withdrawn");
    assert.equal(world.faxesTo(faxTo).length, 1);
  });
});

describe("an order that is also shipped", () => {
  const toShip = async (more: Record<string, string> = {}) => {
    const faxTo = `+1646555${++lastToShip}`;
    const code = await world.paidOrder({ ...shipping, fax_to: faxTo, ...more });
    await world.become(code, "ShippingPending");
    return { code, faxTo };
  };
  const faxRows = (code: string) =>
    world.db.query<{ status: string; faxTo: string }>(sql`
      SELECT f.status, f.fax_to AS "faxTo" FROM faxes f JOIN orders o ON o.id = f.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY f.id`);
  const faxStates = async (code: string) => (await faxRows(code)).map(({ status }) => status);
  const { cli } = world.harness.service;
  const handOver = async (code: string) => {
    await cli("order", "move", code, "Shipped", "--carrier", "UPS", "--tracking", "1Z");
    await cli("order", "move", code, "Delivered");
  };
  const goOn = (code: string, status: string) =>
    until(async () => {
      await world.hurry("next-segment");
      const now = await world.statusOf(code);
      return now === status || now === "Completed";
    });
  const statuses = async (code: string) => {
    const rows = await world.db.query<{ to: string }>(sql`
      SELECT a.to_status AS "to" FROM audit_log a JOIN orders o ON o.id = a.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} AND a.to_status IS NOT NULL ORDER BY a.id`);
    return rows.map(({ to }) => to).slice(rows.findIndex(({ to }) => to === "ShippingPending"));
  };

  test("is faxed while its parcel waits, and its statuses follow the table afterwards, with one fax", async () => {
    const { code, faxTo } = await toShip();
    const fax = await world.fax(faxTo);
    assert.match(world.telnyx.contents.get(fax.id)?.bytes.toString("latin1") ?? "", /\/Count 2\b/);
    await until(async () => (await faxStates(code))[0] === "Sent");
    assert.equal(await world.statusOf(code), "ShippingPending");
    await world.tell(fax, "sending");
    await world.tell(fax, "delivered", { page_count: 2 });
    await until(async () => (await faxStates(code))[0] === "Delivered");
    assert.deepEqual(
      (await world.tasksOf(code)).map(({ kind, state }) => [kind, state]),
      [
        ["label_print", "open"],
        ["fax_send", "done"],
      ],
    );
    await handOver(code);
    await goOn(code, "FaxDelivered");
    assert.deepEqual((await statuses(code)).slice(0, 5), [
      "ShippingPending",
      "Shipped",
      "Delivered",
      "FaxPending",
      "FaxDelivered",
    ]);
    assert.deepEqual([await faxStates(code), world.faxesTo(faxTo).length], [["Delivered"], 1]);
  });

  test("enters FaxSent with a fax that is still in progress, and later gets that fax's outcome", async () => {
    const { code, faxTo } = await toShip();
    const fax = await world.fax(faxTo);
    await until(async () => (await faxStates(code))[0] === "Sent");
    await handOver(code);
    await goOn(code, "FaxSent");
    await world.tell(fax, "delivered");
    await goOn(code, "FaxDelivered");
    assert.deepEqual([await faxStates(code), world.faxesTo(faxTo).length], [["Delivered"], 1]);
  });

  test("can have a failed fax corrected before the parcel leaves, and enters FaxFailed only in its turn", async () => {
    const { code, faxTo } = await toShip();
    await world.tell(await world.fax(faxTo), "failed", { failure_reason: "receiver_unallocated_number" });
    await until(async () => (await faxStates(code))[0] === "Failed");
    assert.equal(await world.statusOf(code), "ShippingPending");
    const open = async () =>
      (await world.tasksOf(code)).filter(({ state }) => state === "open").map(({ kind }) => kind);
    assert.deepEqual(await open(), ["label_print", "fax_exception"]);
    const correct = (to: string) =>
      fetch(`${world.url()}/api/partner/orders/${code}/corrections`, {
        method: "POST",
        headers: { ...world.headers, "content-type": "application/json" },
        body: JSON.stringify({ fax_to: to }),
      });
    const other = `+1646555${++lastToShip}`;
    assert.equal((await correct(other)).status, 200);
    const again = await world.fax(other);
    await until(async () => (await faxStates(code)).at(-1) === "Sent");
    assert.equal((await correct(faxTo)).status, 409, "the fax is on its way");
    await world.tell(again, "failed", { failure_reason: "receiver_decline" });
    await until(async () => (await faxStates(code)).join() === "Failed,Failed");
    await handOver(code);
    await goOn(code, "FaxFailed");
    await cli("order", "move", code, "FaxPending");
    await world.tell(await world.fax(other, 2), "delivered");
    await world.become(code, "FaxDelivered");
  });

  test("is not faxed while it is held, nor after a refund", async () => {
    const { code, faxTo } = await toShip();
    const fax = await world.fax(faxTo);
    await until(async () => (await faxStates(code))[0] === "Sent");
    await cli("order", "move", code, "OnHold", "--reason", "wait");
    await until(() => fax.failure_reason === "sender_canceled");
    await world.tell(fax, "failed", { failure_reason: "sender_canceled" });
    assert.deepEqual(
      (await openTasks(code)).map(({ kind }) => kind),
      ["order_on_hold"],
    );
    await world.passTime(code);
    assert.equal(world.faxesTo(faxTo).length, 1);
    await cli("order", "move", code, "--release");
    const second = await world.fax(faxTo, 2);
    await cli("order", "move", code, "RefundPending", "--reason", "not wanted");
    await until(() => second.failure_reason === "sender_canceled");
    await world.tell(second, "failed", { failure_reason: "sender_canceled" });
    await world.passTime(code);
    assert.equal(world.faxesTo(faxTo).length, 2);
  });

  test("can be faxed by a person ahead of its turn, once, and refuses impossible reports", async () => {
    world.telnyx.fail({ status: 402 }, /^POST \/v2\/faxes$/);
    const { code, faxTo } = await toShip();
    await until(async () => (await actOf(code))?.awaySince);
    world.telnyx.mend();
    await assert.rejects(cli("order", "move", code, "FaxPending"), /can’t have 'retried' now/);
    for (const reason of ["the line was busy", "busy again"])
      await cli("order", "move", code, "FaxFailed", "--reason", reason);
    await cli("order", "move", code, "FaxDelivered");
    await assert.rejects(cli("order", "move", code, "FaxSent"), /can’t have 'fax sent' now/);
    await world.passTime(code);
    await handOver(code);
    await goOn(code, "FaxDelivered");
    assert.deepEqual([await faxStates(code), world.faxesTo(faxTo).length], [["Failed", "Failed", "Delivered"], 0]);
  });
});

test("a document with too many pages is faxed by a person, and the task says so", async () => {
  const { code, faxTo } = await world.order(makePdf({ pages: 350 }));
  await until(async () => (await statesOf(code))[0] === "refused");
  const task = (await world.tasksOf(code)).at(-1);
  assert.match(task?.reason ?? "", /has 351 pages: a fax has at most 350/);
  assert.equal(world.faxesTo(faxTo).length, 0);
});

test("a test order never reaches Telnyx", async () => {
  const { headers } = await newPartner(world.harness.service);
  const had = world.telnyx.requests.length;
  const { orderCode } = await world.place({ fax_to: "+12125550001", create_checkout: "" }, { by: headers });
  const sandbox = (act: string) =>
    fetch(`${world.url()}/api/partner/sandbox/orders/${orderCode}/${act}`, { method: "POST", headers });
  await sandbox("checkout");
  const passed: (string | undefined)[] = [];
  for (let n = 0; n < 3; n++) {
    passed.push(await world.statusOf(orderCode));
    await sandbox("advance");
  }
  assert.ok(passed.includes("FaxPending") && passed.includes("Completed"), passed.join());
  assert.deepEqual(await world.attempts(orderCode), []);
  assert.ok(world.telnyx.requests.slice(had).every(({ params }) => params["to"] !== "+12125550001"));
});

test("if Telnyx is unreachable for an hour, people may take over, and faxes that nobody took are sent automatically, once", async () => {
  for (let n = 0; n < 3; n++) world.telnyx.fail({ status: 402 }, /^POST \/v2\/faxes$/);
  const [one, two] = [await world.order(), await world.order()];
  const awaySince = () =>
    world.db.query(sql`SELECT FROM provider_calls WHERE away_since IS NOT NULL AND state = 'intended'`);
  await until(async () => (await awaySince()).length >= 2);
  await world.db.query(sql`
    UPDATE provider_calls SET away_since = now() - interval '1 hour' WHERE away_since IS NOT NULL`);
  // A person claims the task about the first order's fax, so the service must not send that fax.
  await changeRowsOf(
    world.db,
    taskState,
    sql`kind = 'fax_send' AND order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", one.code)})`,
    sql`state = 'claimed', claimed_by = 'operator:test', claimed_at = now()`,
  );
  world.telnyx.mend();
  await until(async () => {
    await world.passTime(two.code);
    return (await world.statusOf(two.code)) === "FaxSent";
  });
  await until(async () => {
    await world.passTime(one.code);
    const [act] = await world.db.query<{ state: string }>(sql`
      SELECT c.state FROM provider_calls c JOIN orders o ON o.id = c.order_id WHERE ${isSealed(sql`o.code`, "order", one.code)}`);
    return act?.state === "withdrawn";
  });
  assert.deepEqual([world.faxesTo(one.faxTo).length, world.faxesTo(two.faxTo).length], [0, 1]);
  assert.equal(await world.statusOf(one.code), "FaxPending");
  // The person releases the claim, so the service sends the fax after all.
  const claimed = (await world.tasksOf(one.code)).find(({ state }) => state === "claimed");
  await world.harness.service.cli("task", "release", String(claimed?.id));
  await world.become(one.code, "FaxSent");
  assert.equal(world.faxesTo(one.faxTo).length, 1);
});

/** An order whose fax Telnyx temporarily refuses. */
async function waitingForTelnyx() {
  world.telnyx.fail({ status: 402 }, /^POST \/v2\/faxes$/);
  const order = await world.order();
  await until(async () => (await actOf(order.code))?.awaySince);
  world.telnyx.mend();
  return order;
}

const actOf = async (code: string) => {
  const [act] = await world.db.query<{ id: number; state: string; awaySince: Date | null }>(sql`
    SELECT c.id, c.state, away_since AS "awaySince" FROM provider_calls c JOIN orders o ON o.id = c.order_id
    WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY c.attempt DESC LIMIT 1`);
  return act;
};
const openTasks = async (code: string) => (await world.tasksOf(code)).filter(({ state }) => state === "open");
const attemptsWhere = (code: string) =>
  sql`order_id = (SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)})`;

test("a fax that a person sent while Telnyx was unreachable is not sent a second time", async () => {
  const { code, faxTo } = await waitingForTelnyx();
  await world.harness.service.cli("order", "move", code, "FaxSent");
  await until(async () => {
    await world.passTime(code);
    return (await actOf(code))?.state === "withdrawn";
  });
  assert.deepEqual(await statesOf(code), ["withdrawn"]);
  await world.harness.service.cli("order", "move", code, "OnHold", "--reason", "wait");
  await world.harness.service.cli("order", "move", code, "--release");
  await world.passTime(code);
  assert.deepEqual([await world.statusOf(code), await statesOf(code)], ["FaxSent", ["withdrawn"]]);
  assert.equal(world.faxesTo(faxTo).length, 0);
});

test("after a hold no task asks for a fax that Telnyx may have sent, and a fax that was sent during the hold is canceled", async () => {
  world.telnyx.fail("cut", /^POST \/v2\/faxes$/);
  const { code, faxTo } = await world.order();
  const fax = await world.fax(faxTo);
  await until(async () => (await actOf(code))?.state === "begun");
  const { cli } = world.harness.service;
  await cli("order", "move", code, "OnHold", "--reason", "wait");
  await cli("order", "move", code, "--release");
  await until(async () => !(await openTasks(code)).some(({ kind }) => kind === "fax_send"));
  assert.equal((await world.tasksOf(code)).find(({ kind }) => kind === "fax_send")?.state, "done");
  await cli("order", "move", code, "OnHold", "--reason", "wait");
  await until(async () => {
    await world.passTime(code);
    return fax.failure_reason === "sender_canceled";
  });
});

test("a fax without a final report for a day, or that Telnyx does not know, becomes a task", async () => {
  const [silent, wrong] = [await world.order(), await world.order()];
  for (const { code } of [silent, wrong]) await world.become(code, "FaxSent");
  await world.db.query(
    sql`UPDATE provider_calls SET ended_at = ended_at - interval '1 day' WHERE ${attemptsWhere(silent.code)}`,
  );
  await setAttempts(attemptsWhere(wrong.code), sql`fax_id = 'no-such-fax'`);
  for (const [{ code }, words] of [
    [silent, /^In a day Telnyx has not said how the fax/],
    [wrong, /^Telnyx does not know the fax no-such-fax/],
  ] as const) {
    const task = await until(async () => {
      await world.passTime(code);
      return (await openTasks(code)).find(({ kind }) => kind === "delivery_trouble");
    });
    assert.match(task.reason ?? "", words);
  }
  await world.tell(await world.fax(silent.faxTo), "delivered");
  await world.become(silent.code, "FaxDelivered");
  assert.deepEqual(await openTasks(silent.code), [], "its end ends the task");
});

test("pages that the receiving machine did not confirm are named, and become a task", async () => {
  const { code, faxTo } = await world.order(makePdf({ pages: 3 }));
  const fax = await world.fax(faxTo);
  await world.become(code, "FaxSent");
  await world.tell(fax, "delivered", { page_count: 3 });
  const { id, orderId } = await until(async () => {
    const [row] = await world.db.query<{ id: number; orderId: number }>(sql`
      SELECT id, order_id AS "orderId" FROM fax_attempts WHERE receipt_at IS NOT NULL AND ${attemptsWhere(code)}`);
    return row;
  });
  const receipt = await faxCertificate(world.db, orderId, id);
  assert.match(receipt?.sentence ?? "", /confirmed 3 of the 4 pages of this fax, and not the other 1\./);
  const said = new Map(receipt?.rows);
  const typeset = createTypeset(await openFaces());
  // A receipt prints only the first line of a label: 118 points of a font of 8.5 points.
  for (const label of said.keys()) assert.equal(typeset(label, 118_000 / 8.5).lines.length, 1, label);
  assert.equal(said.get("Began"), "not reported");
  assert.match(said.get("Ended") ?? "", /^2/);
  const [task] = await openTasks(code);
  assert.equal(task?.kind, "delivery_trouble");
  assert.match(task?.reason ?? "", /3 of the 4 pages/);
  await setAttempts(sql`id = ${id}`, sql`event_id = NULL`);
  assert.match(
    new Map((await faxCertificate(world.db, orderId, id))?.rows).get("Ended") ?? "",
    /^before Telnyx’s answer at 2/,
  );
});

test("a fax that cannot be compared does not count as missing: nobody sends it twice", async () => {
  world.telnyx.fail("cut", /^POST \/v2\/faxes$/);
  const { code, faxTo } = await world.order();
  const fax = await world.fax(faxTo);
  fax.client_state = null;
  await until(async () => {
    await world.passTime(code);
    const [row] = await world.db.query<{ looks: number }>(
      sql`SELECT looks FROM provider_calls WHERE ${attemptsWhere(code)}`,
    );
    return row && row.looks > 0;
  });
  assert.equal((await actOf(code))?.state, "begun");
  assert.equal(world.faxesTo(faxTo).length, 1);
});

test("without the account's key an open fax is not forgotten: it is checked again an hour later", async () => {
  const { code, faxTo } = await world.order();
  await world.become(code, "FaxSent");
  const [order] = await world.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const orderId = order?.id ?? 0;
  const which = sql`queue = 'fax' AND (payload->>'orderId')::bigint = ${orderId}`;
  await world.db.query(sql`DELETE FROM jobs WHERE ${which}`);
  const given = {
    db: world.db,
    clock: systemClock,
    log: openLog("silent"),
    secrets: secretBytes(Buffer.alloc(32)),
    fetch,
  };
  await followFaxes({ ...given, providers: openProviders(given, []) } as Pick<FaxDeps, "db"> as FaxDeps, orderId);
  const jobs = await world.db.query<{ minutes: number }>(sql`
    SELECT round(extract(epoch FROM due_at - now()) / 60)::int AS minutes FROM jobs WHERE ${which}`);
  assert.deepEqual(jobs, [{ minutes: 60 }]);
  world.telnyx.move(await world.fax(faxTo), "delivered");
  await world.passTime(code);
  await world.become(code, "FaxDelivered");
});

test("an order that is held after its fax was begun has it sent after the hold", async () => {
  const { code } = await waitingForTelnyx();
  const [order] = await world.db.query<{ id: number }>(
    sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`,
  );
  const { cli } = world.harness.service;
  await cli("order", "move", code, "OnHold", "--reason", "wait");
  const [attempt] = await world.db.query<{ id: number }>(sql`SELECT id FROM fax_attempts WHERE ${attemptsWhere(code)}`);
  const intent = { orderId: order?.id ?? 0, payload: { attemptId: attempt?.id } } as Intent;
  const call = () => Promise.reject(new Error("nothing is asked"));
  const end = await faxAct({ db: world.db } as FaxDeps).perform(intent, call);
  assert.deepEqual(end, { kind: "unavailable", why: "the order is not being faxed now", retryAfterMs: null });
  await cli("order", "move", code, "--release");
  await until(async () => {
    await world.passTime(code);
    return (await world.statusOf(code)) === "FaxSent";
  });
});

test("a fax of an altered document waits until its file is restored", async () => {
  const { code, faxTo } = await waitingForTelnyx();
  const [document] = await world.db.query<{ blobKey: string }>(sql`
    SELECT d.blob_key AS "blobKey" FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE d.kind = 'original' AND ${isSealed(sql`o.code`, "order", code)}`);
  const path = join(world.harness.service.dataDir, "blobs", document?.blobKey ?? "");
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.with(bytes.length - 20, bytes.readUInt8(bytes.length - 20) ^ 1));
  const goOn = async () => {
    await world.passTime(code);
    return (await world.tasksOf(code)).some(({ kind }) => kind === "document_altered");
  };
  await until(goOn);
  assert.deepEqual(await statesOf(code), ["waiting"]);
  writeFileSync(path, bytes);
  await until(async () => {
    await world.passTime(code);
    return (await world.statusOf(code)) === "FaxSent";
  });
  assert.equal(world.faxesTo(faxTo).length, 1);
});

test("the number of a fax is deleted with the other records of providers, once the fax has ended", async () => {
  const { code, faxTo } = await world.order();
  const { db } = world;
  const numbers = async () =>
    (await db.query<{ to: string }>(sql`SELECT fax_to AS to FROM fax_attempts WHERE ${attemptsWhere(code)}`)).map(
      ({ to }) => to,
    );
  const fax = await world.fax(faxTo);
  const later = new Date(Date.now() + 60_000);
  await sweepFaxNumbers(db, later);
  assert.deepEqual(await numbers(), [faxTo], "it is under way");
  await world.tell(fax, "delivered");
  await world.become(code, "FaxDelivered");
  await sweepFaxNumbers(db, new Date(0));
  assert.deepEqual(await numbers(), [faxTo], "it ended lately");
  await sweepFaxNumbers(db, later);
  assert.deepEqual(await numbers(), [""]);
});
