import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { startLob } from "../../../../testing/doubles/lob.ts";
import { makePdf } from "../../../../testing/inputs/pdf-maker.ts";
import { testsNeeding } from "../../../../testing/tools/tools.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { basicAuthorization } from "../../../src/providers/account.ts";
import { createCaller } from "../../../src/providers/calls/call.ts";
import { lobVerifier } from "../../../src/providers/lob/account.ts";
import { createLob } from "../../../src/providers/lob/lob.ts";

const double = await startLob();
after(() => double.close());

const clientWith = (apiKey: string, timeoutMs = 10_000) =>
  createLob(
    createCaller(
      { fetch, clock: () => new Date(), log: openLog("silent") },
      { provider: "lob", baseUrl: double.apiBase, authorization: basicAuthorization(apiKey), timeoutMs },
    ).call,
  );
const lob = clientWith(double.apiKey);

const jane = {
  name: "Jane Roe",
  line1: "350 Fifth Avenue",
  line2: "Suite 1",
  city: "New York",
  state: "NY",
  postal: "10118",
};
const pdf = new Uint8Array(makePdf({ pages: 2 }));
const letter = (name: string) => ({
  to: jane,
  from: { ...jane, name: "Acme Title" },
  pdf,
  mailClass: "certified" as const,
  doubleSided: false,
  metadata: { letter: name },
});

const accepted = async (name: string) => {
  const answer = await lob.send(letter(name), name);
  assert.ok(answer.kind === "done", JSON.stringify(answer));
  return answer.result;
};

const { test: testOfFiles } = testsNeeding("mupdf");

describe("letters by our client", () => {
  testOfFiles("sends the file itself, with the address on a page of its own", async () => {
    const { letterId, trackingNumber, expectedDelivery, sendAt } = await accepted("one");
    assert.ok(double.files.get(letterId)?.equals(pdf));
    const { params, idempotencyKey } = double.requests.at(-1) ?? assert.fail();
    assert.equal(params["address_placement"], "insert_blank_page");
    assert.equal(params["use_type"], "operational");
    assert.equal(params["extra_service"], "certified");
    assert.deepEqual(params["metadata"], { letter: "one" });
    assert.equal(idempotencyKey, "one");
    assert.match(trackingNumber ?? "", /^\d{20}$/);
    assert.match(expectedDelivery ?? "", /^\d{4}-/);
    assert.ok(sendAt && sendAt > new Date());
  });

  testOfFiles("sends standard mail without an extra service", async () => {
    const answer = await lob.send({ ...letter("standard"), mailClass: "standard" }, "standard");
    assert.ok(answer.kind === "done");
    assert.equal(answer.result.trackingNumber, null);
    assert.equal(double.requests.at(-1)?.params["extra_service"], undefined);
  });

  testOfFiles("finds a letter whose answer was lost, and the same key sends no second one", async () => {
    double.fail("cut");
    assert.equal((await lob.send(letter("lost"), "lost")).kind, "unknown");
    const found = await lob.find({ letter: "lost" });
    assert.ok(found.kind === "done" && found.result.length === 1);
    assert.equal((await accepted("lost")).letterId, found.result[0]?.letterId);
    assert.deepEqual(await lob.find({ letter: "never" }), { kind: "done", result: [] });
  });

  testOfFiles("reads what happened to a letter", async () => {
    const { letterId } = await accepted("tracked");
    const at = new Date("2026-11-20T10:00:00Z");
    double.happens(letterId, "letter.certified.returned_to_sender", at);
    const answer = await lob.get(letterId);
    assert.deepEqual(answer.kind === "done" && answer.result.tracking, [{ name: "Returned to Sender", at }]);
  });

  testOfFiles("cancels a letter, and is refused when it is too late", async () => {
    const { letterId } = await accepted("cancelled");
    assert.equal((await lob.cancel(letterId)).kind, "done");
    const answer = await lob.get(letterId);
    assert.equal(answer.kind === "done" && answer.result.isCanceled, true);
    double.cancellable(0);
    const late = await accepted("late");
    double.cancellable(3_600_000);
    const refused = await lob.cancel(late.letterId);
    assert.equal(refused.kind === "refused" && refused.code, "not_deletable");
  });

  testOfFiles("is refused in Lob's words for pages of another size", async () => {
    const a4 = Buffer.from(Buffer.from(pdf).toString("latin1").replaceAll("612 792", "595 842"), "latin1");
    const refused = await lob.send({ ...letter("a4"), pdf: new Uint8Array(a4) }, "a4");
    assert.ok(refused.kind === "refused");
    assert.equal(refused.code, "invalid_file_dimensions");
  });

  test("distinguish outcomes that certainly did nothing from unknown ones", async () => {
    const kindOf = async (...failures: Parameters<typeof double.fail>) => {
      double.fail(...failures);
      return (await clientWith(double.apiKey, 300).get("ltr_0")).kind;
    };
    assert.equal(await kindOf("hang"), "unknown");
    assert.equal(await kindOf({ status: 500 }), "unknown");
    assert.equal(await kindOf({ status: 429, retryAfter: 2 }), "unavailable");
    assert.equal(await kindOf({ status: 422 }), "refused");
    assert.equal((await clientWith("live_wrong").get("ltr_0")).kind, "unavailable");
  });
});

describe("Lob's signature", () => {
  const verify = lobVerifier(double.webhookSecret);
  const now = new Date();
  const event = {
    id: "evt_1",
    event_type: { id: "letter.mailed" },
    reference_id: "ltr_1",
    date_created: now.toISOString(),
    body: {},
  };
  const body = Buffer.from(JSON.stringify(event));
  const lowered = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const signed = (bytes = body, at = now, secret?: string) => lowered(double.sign(bytes.toString(), at, secret));

  test("is accepted over the exact bytes, and identifies the object of the event", () => {
    const known = verify(body, signed(), now);
    assert.ok(known.ok);
    const { eventId, type, objectId, occurredAt } = known;
    assert.deepEqual([eventId, type, objectId, occurredAt], ["evt_1", "letter.mailed", "ltr_1", now]);
  });

  test("is refused over other bytes, with another secret, and when missing", () => {
    assert.equal(verify(Buffer.concat([body, Buffer.from(" ")]), signed(), now).ok, false);
    assert.equal(verify(body, signed(body, now, "another"), now).ok, false);
    assert.equal(verify(body, {}, now).ok, false);
    const { "lob-signature": signature } = signed();
    assert.equal(verify(body, { "lob-signature": signature }, now).ok, false);
    const moved = { ...signed(), "lob-signature-timestamp": String(now.getTime() + 1) };
    assert.equal(verify(body, moved, now).ok, false);
  });

  test("is refused when its time differs by more than five minutes", () => {
    const at = (minutes: number) => verify(body, signed(), new Date(now.getTime() + minutes * 60_000)).ok;
    assert.deepEqual([-6, -4, 4, 6].map(at), [false, true, true, false]);
  });

  test("is refused over a body that is not an event", () => {
    for (const text of ["[]", "null", "{}", '{"id":"evt_1"}', "not json"]) {
      const bytes = Buffer.from(text);
      assert.equal(verify(bytes, signed(bytes), now).ok, false);
    }
  });
});
