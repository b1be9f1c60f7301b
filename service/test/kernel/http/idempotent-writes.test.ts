import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner } from "@signsealship/testing/service";
import { issueKey } from "../../../src/firms/partners/partners.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";

const stripe = await forTests(startStripe());
const harness = await forTests(
  openHarness({
    RATE_LIMITS: "off",
    ...stripe.settings("test"),
  }),
);
const firm = await newPartner(harness.service, { tier: "ClosingDesk" });
// The firm's new key, as after a rotation.
const { key: rotated } = await issueKey({ ...harness, clock: systemClock }, firm.partnerId, "test");

type Answer = { status: number; replayed: string | null; text: string; body: Record<string, unknown> };

async function post(path: string, body: BodyInit | null, key: string | null, by = firm.key): Promise<Answer> {
  const headers = {
    Authorization: `Bearer ${by}`,
    ...(typeof body === "string" && { "Content-Type": "application/json" }),
    ...(key !== null && { "Idempotency-Key": key }),
  };
  const response = await fetch(harness.service.baseUrl + path, { method: "POST", headers, body });
  const text = await response.text();
  return {
    status: response.status,
    replayed: response.headers.get("Idempotent-Replayed"),
    text,
    body: JSON.parse(text),
  };
}

const room = (key: string | null, name = "12 Elm Street", by?: string) =>
  post("/api/rooms", JSON.stringify({ name }), key, by);

function seal(key: string | null, pages = 1, by?: string): Promise<Answer> {
  const form = new FormData();
  form.append("file", new Blob([new Uint8Array(makePdf({ pages }))], { type: "application/pdf" }), "deed.pdf");
  return post("/api/passport/seal", form, key, by);
}

const order = (key: string | null, name = "Jane Doe", by?: string) =>
  post("/api/partner/orders", orderForm({ ...minimal, customer_name: name }), key, by);

async function orderInRoom(): Promise<{ order: string; room: string }> {
  const { orderCode } = (await order(null)).body as { orderCode: string };
  const { roomCode } = (await room(null)).body as { roomCode: string };
  assert.equal((await post(`/api/rooms/${roomCode}/orders`, JSON.stringify({ orderCode }), null)).status, 200);
  return { order: orderCode, room: roomCode };
}

const [here, there] = [await orderInRoom(), await orderInRoom()];

const checkout = (key: string | null, of = here.order, by?: string) =>
  post(`/api/partner/orders/${of}/checkout`, null, key, by);
const roomCheckout = (key: string | null, of = here.room, by?: string) =>
  post(`/api/rooms/${of}/checkout`, null, key, by);

const rows = (name: "rooms" | "passports" | "orders") => async (): Promise<number> => {
  const tables = { rooms: sql`rooms`, passports: sql`passports`, orders: sql`orders` };
  const [row] = await harness.db.query<{ n: number }>(sql`SELECT count(*)::int AS n FROM ${tables[name]}`);
  return row?.n ?? 0;
};
const sessions = async (): Promise<number> => stripe.sessions.size;

type Write = {
  write: (key: string | null, by?: string) => Promise<Answer>;
  /** Sends a request with other content to the same route. */
  other: (key: string) => Promise<Answer>;
  status: number;
  made: () => Promise<number>;
};

/** The POST routes of the contract that accept an `Idempotency-Key`. The tests of other features try their own routes. */
const writes: Record<string, Write> = {
  "an order": {
    write: (key, by) => order(key, "Jane Doe", by),
    other: (key) => order(key, "John Roe"),
    status: 201,
    made: rows("orders"),
  },
  "a checkout of an order": {
    write: (key, by) => checkout(key, here.order, by),
    other: (key) => checkout(key, there.order),
    status: 200,
    made: sessions,
  },
  "a checkout of a room": {
    write: (key, by) => roomCheckout(key, here.room, by),
    other: (key) => roomCheckout(key, there.room),
    status: 200,
    made: sessions,
  },
  "a room": {
    write: (key, by) => room(key, "12 Elm Street", by),
    other: (key) => room(key, "9 Oak Lane"),
    status: 200,
    made: rows("rooms"),
  },
  "a seal": {
    write: (key, by) => seal(key, 1, by),
    other: (key) => seal(key, 2),
    status: 200,
    made: rows("passports"),
  },
};

for (const [what, { write, other, status, made }] of Object.entries(writes))
  describe(`${what} with an Idempotency-Key`, () => {
    const isCheckout = made === sessions;
    // A checkout that is still open is returned again, with or without a key. So such a request creates one checkout
    // session or none.
    const most = (before: number) => (isCheckout ? [before, before + 1] : [before + 1]);

    test("is performed once, and answered byte for byte the same, also with the firm's other key", async () => {
      const before = await made();
      const first = await write(`${what}-once`);
      const again = [await write(`${what}-once`), await write(`${what}-once`, rotated)];
      assert.deepEqual([first.status, first.replayed], [status, null], first.text);
      for (const { status: same, replayed, text } of again)
        assert.deepEqual([same, replayed, text], [status, "true", first.text]);
      assert.ok(most(before).includes(await made()));
    });

    test("is performed once for six concurrent requests", async () => {
      const before = await made();
      const answers = await Promise.all(Array.from({ length: 6 }, () => write(`${what}-race`)));
      assert.deepEqual(
        answers.map((answer) => answer.status),
        Array(6).fill(status),
      );
      assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
      assert.equal(answers.filter(({ replayed }) => replayed === null).length, 1);
      assert.ok(most(before).includes(await made()));
    });

    test("is refused when the key was used with other content, or has fewer than 8 or more than 255 characters", async () => {
      await write(`${what}-other`);
      const before = await made();
      const refused = await other(`${what}-other`);
      assert.deepEqual([refused.status, /another body/.test(refused.text)], [409, true]);
      for (const key of ["1234567", "x".repeat(256)]) {
        const malformed = await write(key);
        assert.deepEqual([malformed.status, /8 to 255/.test(malformed.text)], [400, true], malformed.text);
      }
      assert.equal(await made(), before);
    });

    test("without a key is another request", async () => {
      const [one, two] = [await write(null), await write(null)];
      assert.deepEqual([one.replayed, two.replayed], [null, null]);
      assert.notEqual(one.text, two.text);
    });
  });

test("the same key on another route is another request", async () => {
  const answers: Answer[] = [];
  for (const { write } of Object.values(writes)) answers.push(await write("one-key-for-all-routes"));
  assert.deepEqual(
    answers.map(({ replayed }) => replayed),
    answers.map(() => null),
  );
});

test("a refused room leaves its key free, and another firm's key of the same text names another room", async () => {
  assert.equal((await room("rooms-refused", " ")).status, 400);
  const made = await room("rooms-refused");
  const theirs = await room("rooms-refused", "12 Elm Street", (await newPartner(harness.service)).key);
  assert.deepEqual([made.status, theirs.status, theirs.replayed], [200, 200, null]);
  assert.notEqual(made.body["roomCode"], theirs.body["roomCode"]);
});
