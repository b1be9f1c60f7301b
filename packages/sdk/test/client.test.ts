import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionError, checkChain, createClient, ServiceRefusal } from "@signsealship/sdk";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = await forTests(temporaryFolder());
const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off" }));
const { key } = await newPartner(service);
const client = createClient({ baseUrl: `${service.baseUrl}/`, key });
const anybody = createClient({ baseUrl: service.baseUrl });

const fields = { email: "signer@example.com", byodConfirmed: true, svcSign: true, svcShip: false } as const;
const unknown = "00000000-0000-4000-8000-000000000000";

async function refusal(work: Promise<unknown>): Promise<ServiceRefusal> {
  const error = await work.then(
    () => assert.fail("not refused"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ServiceRefusal, String(error));
  return error;
}

test("places, lists and fetches orders, and repeats one by its key", async () => {
  const idempotencyKey = "sdk-order-0001";
  const order = await client.orders.create({ ...fields, externalReference: "A b&c" }, makePdf(), { idempotencyKey });
  const again = await client.orders.create(
    { ...fields, externalReference: "A b&c" },
    new Blob([new Uint8Array(makePdf())]),
    { idempotencyKey },
  );
  assert.equal(again.orderCode, order.orderCode);
  assert.equal((await client.orders.get(order.orderCode)).services, "Sign");
  const { orders, nextCursor } = await client.orders.list({ externalReference: "A b&c", limit: 5 });
  assert.deepEqual([orders.map(({ orderCode }) => orderCode), nextCursor], [[order.orderCode], null]);
});

test("names signers and places, and reports those that are not possible", async () => {
  const place = { kind: "signature", signer: 1, page: 1, x: 72, y: 600, width: 180, height: 40 } as const;
  const signers = [{ name: "Jane Doe", email: "jane@example.com" }];
  const order = await client.orders.create({ ...fields, signers, fields: [place] }, makePdf());
  assert.equal((await client.orders.get(order.orderCode)).services, "Sign");
  const beside = client.orders.create({ ...fields, signers, fields: [{ ...place, x: 600 }] }, makePdf());
  assert.equal((await refusal(beside)).message, "fields[0] lies outside page 1, which is 612 by 792 points.");
});

test("walks a test order through the sandbox", async () => {
  const { orderCode } = await client.orders.create(fields, makePdf());
  assert.equal((await refusal(client.orders.checkout(orderCode))).status, 503);
  assert.equal((await client.sandbox.checkout(orderCode, "decline")).status, "PaymentFailed");
  assert.deepEqual((await client.sandbox.checkout(orderCode)).firedEvents, ["payment.cleared"]);
  assert.deepEqual((await client.sandbox.advance(orderCode, "signature.completed")).firedEvents, [
    "signature.completed",
  ]);
  assert.equal((await client.sandbox.advance(orderCode)).status, "Completed");
});

test("makes rooms, attaches, views without a key, rotates, closes and reopens", async () => {
  const { orderCode } = await client.orders.create(fields, makePdf());
  const room = await client.rooms.create({ name: "12 Elm Street", reference: "R" });
  assert.deepEqual(await client.rooms.attach(room.roomCode, { orderCode, label: "Deed" }), {
    ok: true,
    alreadyAttached: false,
  });
  await client.rooms.addParticipant(room.roomCode, { name: "Jane Roe", email: "jane@example.com" });
  const { participants } = await client.rooms.participants(room.roomCode);
  assert.equal(participants[0]?.role, "client");
  const view = await anybody.rooms.view(room.roomCode);
  assert.deepEqual([view.orders[0]?.label, view.progress.total], ["Deed", 1]);
  await client.rooms.removeParticipant(room.roomCode, participants[0]?.participantId ?? "");
  const { roomCode } = await client.rooms.rotate(room.roomCode);
  assert.equal((await refusal(anybody.rooms.view(room.roomCode))).status, 404);
  assert.equal((await client.rooms.close(roomCode)).status, "closed");
  assert.equal((await client.rooms.reopen(roomCode)).status, "open");
  await client.rooms.detach(roomCode, orderCode);
  assert.equal((await client.rooms.list()).rooms[0]?.roomCode, roomCode);
});

test("seals a document, which anybody verifies and downloads", async () => {
  const sealed = await client.passports.seal(makePdf());
  assert.equal((await client.passports.get(sealed.passportId)).sealedSha256, sealed.sealedSha256);
  assert.equal((await anybody.passports.verify(sealed.verifyCode)).verdict, "verified_test");
  assert.equal(
    Buffer.from(await anybody.passports.document(sealed.verifyCode))
      .subarray(0, 5)
      .toString(),
    "%PDF-",
  );
  assert.equal(
    Buffer.from(await anybody.passports.evidence(sealed.verifyCode))
      .subarray(0, 2)
      .toString(),
    "PK",
  );
});

test("seals a room, which anybody verifies", async () => {
  const { roomCode } = await client.rooms.create({ name: "9 Oak Lane" });
  const passport = await client.rooms.seal(roomCode);
  assert.equal((await anybody.rooms.verify(passport.verifyCode)).chainOk, true);
  assert.equal(
    Buffer.from(await anybody.rooms.certificate(passport.verifyCode))
      .subarray(0, 5)
      .toString(),
    "%PDF-",
  );
});

test("manages webhooks", async () => {
  const hook = await client.webhooks.create({ url: "https://hooks.example.com/a", topics: ["order.created"] });
  assert.notEqual((await client.webhooks.rotate(hook.id)).secret, hook.secret);
  const { deliveryId } = await client.webhooks.test(hook.id);
  assert.equal((await client.webhooks.feed(hook.id)).deliveries[0]?.deliveryId, deliveryId);
  assert.equal((await client.webhooks.delivery(deliveryId)).eventName, "webhook.test");
  assert.equal((await client.webhooks.replay(deliveryId)).replayedFrom, deliveryId);
  assert.equal((await client.webhooks.deliveries({ topic: "webhook.test" })).deliveries.length, 2);
  assert.equal((await anybody.webhooks.signatureExample()).toleranceSeconds, 300);
  const legacy = await client.passports.subscribe("https://hooks.example.com/b");
  assert.deepEqual(
    (await client.webhooks.list()).map(({ id }) => id),
    [legacy.webhookId, hook.id],
  );
  assert.deepEqual(await client.passports.unsubscribe(legacy.webhookId), {
    deleted: true,
    webhookId: legacy.webhookId,
  });
  assert.deepEqual(await client.webhooks.remove(hook.id), { ok: true });
});

test("reports whose key it uses", async () => {
  const me = await client.me();
  assert.deepEqual([me.environment, me.tier, me.key?.prefix], ["test", "trial", "svc_pk_test_"]);
});

test("a refusal is an error with status, message and request id", async () => {
  const missing = await refusal(client.webhooks.remove(unknown));
  assert.deepEqual([missing.status, missing.message, missing.retryAfterSeconds], [404, "No such webhook.", null]);
  assert.match(String(missing.requestId), /^[0-9a-f-]{36}$/);
  assert.equal((await refusal(anybody.me())).message, "Sign in to continue.");
  assert.deepEqual(
    [missing.code, (await refusal(anybody.passports.verify("x"))).code],
    ["not_found", "verdict_unknown"],
  );
  // An id with special characters stays one segment of the path.
  assert.equal((await refusal(client.orders.get("../webhooks"))).message, "Order not found.");
});

/** A client whose requests get these answers, in this order; the last one repeats. `sent` records the requests. */
function answered(...answers: (() => Response)[]) {
  const sent: RequestInit[] = [];
  const scripted = createClient({
    baseUrl: "https://sign.example.com",
    fetch: async (_url, init = {}) => {
      const answer = answers[Math.min(sent.length, answers.length - 1)];
      sent.push(init);
      return answer ? answer() : Response.error();
    },
  });
  return { scripted, sent };
}
const busy =
  (status: number, retryAfter = "0") =>
  () =>
    new Response('{"error":"Later."}', { status, headers: { "Retry-After": retryAfter } });
const ok = () => Response.json({ orderCode: "a" });
const cut = () => {
  throw new TypeError("fetch failed");
};

test("beyond the limit the refusal says when to try again", async () => {
  const { scripted } = answered(busy(429, "7"));
  assert.equal((await refusal(scripted.with({ maxRetries: 0 }).me())).retryAfterSeconds, 7);
});

test("sends reads, and writes with a key, again when they got no answer; other writes only once", async () => {
  const reads = answered(busy(503), cut, ok);
  await reads.scripted.orders.get("a");
  assert.equal(reads.sent.length, 3);
  const writes = answered(busy(429), busy(502), ok);
  await writes.scripted.orders.create(fields, makePdf());
  const keys = writes.sent.map(({ headers }) => new Headers(headers).get("Idempotency-Key"));
  assert.match(String(keys[0]), /^sdk-[0-9a-f-]{36}$/);
  assert.deepEqual(keys, [keys[0], keys[0], keys[0]]);
  const once = answered(busy(503), ok);
  assert.equal((await refusal(once.scripted.rooms.close("a"))).status, 503);
  assert.equal(once.sent.length, 1);
  const refused = answered(() => Response.json({ error: "no" }, { status: 400 }), ok);
  assert.equal((await refusal(refused.scripted.orders.get("a"))).status, 400);
  assert.equal(refused.sent.length, 1);
  const worn = answered(busy(504));
  assert.equal((await refusal(worn.scripted.me())).status, 504);
  assert.equal(worn.sent.length, 3);
});

test("a write whose first attempt still runs waits for it; an unreadable answer, and one that requests a long wait, are not retried", async () => {
  const inFlight = () =>
    Response.json({ code: "idempotency_in_flight", detail: "Still in progress." }, { status: 409 });
  const order = answered(inFlight, ok);
  await order.scripted.orders.create(fields, makePdf());
  assert.equal(order.sent.length, 2);
  const page = answered(() => new Response("<p>A proxy</p>"), ok);
  await assert.rejects(page.scripted.me(), SyntaxError);
  assert.equal(page.sent.length, 1);
  const long = answered(busy(503, "3600"), ok);
  assert.equal((await refusal(long.scripted.me())).retryAfterSeconds, 3600);
  assert.equal(long.sent.length, 1);
  assert.throws(() => createClient({ baseUrl: "sign.example.com" }), /baseUrl must be an http\(s\) URL/);
});

test("a request ends at its time-out, or when the caller aborts it", async () => {
  const hanging: typeof fetch = (_url, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
  const slow = createClient({ baseUrl: "https://sign.example.com", fetch: hanging, timeoutMs: 5, maxRetries: 0 });
  await assert.rejects(slow.me(), (error) => error instanceof ConnectionError && isNamed(error.cause, "TimeoutError"));
  const controller = new AbortController();
  const asked = slow.with({ signal: controller.signal, timeoutMs: 60_000, maxRetries: 5 }).me();
  controller.abort();
  await assert.rejects(asked, { name: "AbortError" });
});

const isNamed = (error: unknown, name: string) => error instanceof Error && error.name === name;

test("an unreachable service is named by its address; a document is bytes; unconfigured payments are not requested again", async () => {
  const baseUrl = `http://127.0.0.1:${await freePort()}`;
  const nowhere = createClient({ baseUrl, maxRetries: 0 });
  await assert.rejects(nowhere.me(), (error) => {
    assert.ok(error instanceof ConnectionError && error.cause instanceof Error);
    assert.deepEqual([error.baseUrl, error.message], [baseUrl, `No answer from ${baseUrl} (ECONNREFUSED).`]);
    return true;
  });
  const { scripted, sent } = answered(() => Response.json({ code: "payments_not_configured" }, { status: 503 }), ok);
  for (const given of ["deed.pdf", { pdf: "deed.pdf", fileName: "deed.pdf" }] as unknown as Uint8Array[]) {
    await assert.rejects(scripted.orders.create(fields, given), { name: "TypeError", message: /bytes of a PDF/ });
    await assert.rejects(scripted.passports.seal(given), { name: "TypeError" });
  }
  assert.equal((await refusal(scripted.orders.checkout("a"))).code, "payments_not_configured");
  assert.equal(sent.length, 1);
});

test("reads all pages of a list on demand", async () => {
  const codes: string[] = [];
  for await (const { orderCode } of client.orders.all({ limit: 1 })) codes.push(orderCode);
  const { orders } = await client.orders.list({ limit: 100 });
  assert.ok(codes.length > 1);
  assert.deepEqual(
    codes,
    orders.map(({ orderCode }) => orderCode),
  );
  for await (const { roomCode } of client.rooms.all()) assert.ok(roomCode);
  for await (const { deliveryId } of client.webhooks.allDeliveries({ status: "failed" })) assert.ok(deliveryId);
});

test("reports the firm's analytics, and the playbooks that it may run", async () => {
  assert.equal((await client.launchpad()).partner.tier, "trial");
  assert.equal((await client.analytics({ days: 30 })).windowDays, 30);
  assert.equal((await refusal(client.playbooks.run("approval_gate", { kind: "x" }))).status, 404);
});

test("follows events as they arrive, continues after an outage, and verifies their chain", async () => {
  const { key } = await newPartner(service);
  let calls = 0;
  const shaky: typeof fetch = async (...request) => {
    if (++calls % 4 === 2) throw new TypeError("the line was cut");
    return fetch(...request);
  };
  const own = createClient({ baseUrl: service.baseUrl, key, fetch: shaky, maxRetries: 0 });
  const placed = createClient({ baseUrl: service.baseUrl, key });
  const { orderCode } = await placed.orders.create(fields, makePdf());
  const events = [];
  for await (const event of own.events.follow()) {
    events.push(event);
    if (events.length === 1) await placed.sandbox.checkout(orderCode);
    if (events.length === 2) break;
  }
  assert.deepEqual(
    events.map(({ payload }) => payload?.id),
    [`order.created:${orderCode}`, `payment.cleared:${orderCode}`],
  );
  const { last, fault } = await checkChain(events);
  assert.equal(fault, null);
  assert.deepEqual((await placed.events.list({ cursor: String(last.position), topics: ["order.created"] })).events, []);
  assert.equal((await refusal(placed.webhooks.publicKey())).status, 404);
  const made = await placed.webhooks.makePublicKey();
  assert.equal((await placed.webhooks.publicKey()).publicKey, made.publicKey);
});

const feedOf = (...positions: number[]) =>
  Response.json({ events: positions.map((position) => ({ position })), cursor: "7", requestId: "r" });

test("events that take too long are requested again, but not after the client has ended", async () => {
  const asked: string[] = [];
  const slow: typeof fetch = async (address) => {
    asked.push(new URL(String(address)).searchParams.get("wait") ?? "");
    if (asked.length === 1) throw new DOMException("The operation was aborted due to timeout", "TimeoutError");
    return feedOf(7);
  };
  const options = { baseUrl: "https://sign.example.com", maxRetries: 0, fetch: slow };
  const { value } = await createClient({ ...options, timeoutMs: 12_000 })
    .events.follow()
    .next();
  assert.deepEqual([value?.position, asked], [7, ["7", "7"]]);
  const signal = AbortSignal.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  const ending: typeof fetch = async (_address, init) => {
    init?.signal?.throwIfAborted();
    return feedOf();
  };
  await assert.rejects(
    createClient({ ...options, fetch: ending, signal })
      .events.follow()
      .next(),
    /due to timeout/,
  );
});

test("a replay of all failed deliveries waits while many are pending, but not forever", async ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const busy = () => Response.json({ detail: "More than 200 deliveries", code: "conflict" }, { status: 409 });
  const done = () => Response.json({ replayed: 3, left: 0, until: "2026-03-04T05:06:07.089Z", requestId: "r" });
  /**
   * Replays against a service that answers "busy" this many times.
   * @returns the result and the number of requests
   */
  const replayed = async (times: number) => {
    let calls = 0;
    const own = createClient({
      baseUrl: "https://sign.example.com",
      fetch: async () => (++calls > times ? done() : busy()),
    });
    let outcome: unknown;
    own.webhooks.replayAllFailed("w", new Date()).then(
      (count) => (outcome = count),
      (error: unknown) => (outcome = error),
    );
    while (outcome === undefined) {
      await new Promise((resolve) => setImmediate(resolve));
      mock.timers.tick(5_000);
    }
    return [outcome instanceof ServiceRefusal ? outcome.status : outcome, calls];
  };
  assert.deepEqual(await replayed(2), [3, 3]);
  assert.deepEqual(await replayed(1_000), [409, 121]);
});

test("all failed deliveries are replayed in one period, and the replay ends even if nothing can arrive", async () => {
  const bodies: unknown[] = [];
  const answers = [
    Response.json({ replayed: 200, left: 5, until: "2026-03-04T05:06:07.089Z", requestId: "r" }),
    Response.json({ replayed: 5, left: 0, until: "2026-03-04T05:06:07.089Z", requestId: "r" }),
  ];
  const scripted: typeof fetch = async (_address, init) => {
    bodies.push(JSON.parse(String(init?.body)));
    return answers.shift() ?? assert.fail("asked for more");
  };
  const own = createClient({ baseUrl: "https://sign.example.com", fetch: scripted });
  assert.equal(await own.webhooks.replayAllFailed("w", new Date("2026-03-04T00:00:00Z")), 205);
  const since = "2026-03-04T00:00:00.000Z";
  assert.deepEqual(bodies, [{ since }, { since, until: "2026-03-04T05:06:07.089Z" }]);
  const refused = createClient({
    baseUrl: "https://sign.example.com",
    fetch: async () => Response.json({ detail: "No such webhook." }, { status: 404 }),
  });
  assert.equal((await refusal(refused.webhooks.replayAllFailed("w", new Date()))).status, 404);
});
