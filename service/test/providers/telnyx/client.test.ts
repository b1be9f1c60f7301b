import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startTelnyx } from "@signsealship/testing/doubles/telnyx";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { createCaller, createTelnyx, faxInEvent, type Telnyx } from "../../../src/providers/providers.ts";
import { telnyxVerifier } from "../../../src/providers/telnyx/account.ts";

const log = openLog("silent");
const double = await forTests(startTelnyx());

/** A separate client for each test, because they must not share a circuit breaker. */
const open = (apiKey = double.apiKey): Telnyx => {
  const settings = {
    provider: "telnyx",
    baseUrl: double.url,
    authorization: `Bearer ${apiKey}`,
    timeoutMs: 300,
  } as const;
  return createTelnyx(createCaller({ fetch, clock: systemClock, log }, settings).call);
};
const fax = { app: "c1", from: "+13125790015", to: "+13127367276", pdf: makePdf({ pages: 2 }), clientState: "YTox" };

describe("faxes", () => {
  it("are sent with the file itself, found by their number and time, and read by their id", async () => {
    const since = new Date(Date.now() - 1000);
    const sent = await open().sendFax(fax);
    assert.equal(sent.kind, "done");
    assert.deepEqual([sent.result.status, sent.result.clientState], ["queued", "YTox"]);
    assert.deepEqual(double.contents.get(sent.result.id)?.bytes, fax.pdf);
    assert.deepEqual(await open().listFaxes({ to: fax.to, since }), { kind: "done", result: [sent.result] });
    assert.deepEqual(await open().getFax(sent.result.id), sent);
    assert.deepEqual(await open().listFaxes({ to: "+13127367200", since }), { kind: "done", result: [] });
  });

  it("are found on any page of the list", async () => {
    const to = "+13127367201";
    for (let n = 0; n < 101; n++) await open().sendFax({ ...fax, to });
    const listed = await open().listFaxes({ to, since: new Date(0) });
    assert.equal(listed.kind === "done" && listed.result.length, 101);
  });

  it("are listed to the end when the number of pages is unknown, with unreadable items", async () => {
    const pages = [{ data: [{ id: "f1", client_state: "YTox" }, {}] }, { data: [] }];
    const bodies = [...pages];
    const call = async () =>
      ({ kind: "answered", status: 200, body: bodies.shift(), bytes: new Uint8Array() }) as const;
    const listed = await createTelnyx(call).listFaxes({ to: fax.to, since: new Date(0) });
    assert.ok(listed.kind === "done");
    assert.deepEqual([listed.result.map((each) => each?.id ?? null), bodies.length], [["f1", null], 0]);
  });

  it("are canceled while they are in progress", async () => {
    const sent = await open().sendFax(fax);
    assert.ok(sent.kind === "done");
    assert.equal((await open().cancelFax(sent.result.id)).kind, "done");
    assert.equal((await open().cancelFax(sent.result.id)).kind, "refused");
  });
});

it("failures are distinguished: not done, possibly done, not now", async () => {
  const kindOf = async (fails: () => void, ask: (telnyx: Telnyx) => Promise<{ kind: string }>) => {
    fails();
    return (await ask(open())).kind;
  };
  const send = (telnyx: Telnyx) => telnyx.sendFax(fax);
  assert.equal(await kindOf(() => double.fail("cut"), send), "unknown");
  assert.equal(await kindOf(() => double.fail("hang"), send), "unknown");
  assert.equal(await kindOf(() => double.fail({ status: 503 }), send), "unknown");
  assert.equal(await kindOf(() => double.fail({ status: 402 }), send), "unavailable");
  assert.equal(await kindOf(() => double.fail({ status: 429 }), send), "unavailable");
  assert.equal((await open("KEYwrong").sendFax(fax)).kind, "unavailable");
  const refused = await open().sendFax({ ...fax, to: "5550100" });
  assert.ok(refused.kind === "refused");
  assert.deepEqual([refused.code, /E\.164/.test(refused.why)], ["10016", true]);
});

describe("an event's signature", () => {
  const made = async () => {
    const sent = await open().sendFax(fax);
    const taken = double.faxes.find(({ id }) => sent.kind === "done" && id === sent.result.id);
    assert.ok(taken);
    return { taken, body: JSON.stringify(double.move(taken, "delivered")) };
  };
  const check = (body: string, headers: Record<string, string>) =>
    telnyxVerifier(double.publicKey)(Buffer.from(body), headers, new Date());

  it("is accepted over the exact bytes", async () => {
    const { taken, body } = await made();
    const verified = check(body, double.sign(body));
    assert.ok(verified.ok);
    assert.deepEqual([verified.type, verified.objectId], ["fax.delivered", taken.id]);
    const told = faxInEvent(verified.body);
    assert.deepEqual([told?.status, told?.pages, told?.seconds, told?.clientState], ["delivered", 2, 37, "YTox"]);
  });

  it("is refused over other bytes, of another key, with another time, or when missing", async () => {
    const { body } = await made();
    const at = (seconds: number) => double.sign(body, { at: new Date(Date.now() + seconds * 1000) });
    const good = double.sign(body);
    const wrong: Record<string, string>[] = [
      double.sign(`${body} `),
      double.sign(body, { otherKey: true }),
      at(-302),
      at(302),
      {},
      { ...good, "telnyx-timestamp": String(Number(good["telnyx-timestamp"]) + 1) },
      { ...good, "telnyx-signature-ed25519": "AAAA" },
      { "telnyx-timestamp": good["telnyx-timestamp"] ?? "" },
    ];
    for (const headers of wrong) assert.equal(check(body, headers).ok, false, JSON.stringify(headers));
    for (const within of [at(-290), at(290)]) assert.equal(check(body, within).ok, true);
    for (const noEvent of [
      "",
      "null",
      "[]",
      '{"data":{"id":"x"}}',
      '{"data":{"id":"x","event_type":"y","occurred_at":"z"}}',
    ])
      assert.equal(check(noEvent, double.sign(noEvent)).ok, false, noEvent);
  });

  it("is ignored for incoming faxes and for other objects", () => {
    const data = { id: "e", event_type: "fax.received", payload: { fax_id: "f", direction: "inbound" } };
    assert.equal(faxInEvent({ data }), null);
    assert.equal(faxInEvent({ data: { ...data, event_type: "message.sent", payload: { id: "m" } } }), null);
    assert.equal(faxInEvent(null), null);
  });
});
