import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, test } from "node:test";
import { newDatabase } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import { createServer } from "../../src/kernel/http/server.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { createJobs } from "../../src/kernel/platform/jobs/jobs.ts";
import { createMetrics } from "../../src/kernel/platform/metrics.ts";
import { secretBytes } from "../../src/kernel/platform/secrets.ts";
import {
  type Account,
  type InboundVerifier,
  openProviders,
  providerWebhook,
  type StoredEvent,
} from "../../src/providers/providers.ts";
import { silent } from "../orders/order/orders-database.ts";

const secret = "whsec_of_the_test";
const sign = (raw: string): string => createHmac("sha256", secret).update(raw).digest("hex");

/** Verifies events in a format of this test. The header `Things-Signature` is a MAC over the bytes. */
const verify: InboundVerifier = (raw, headers) => {
  if (headers["things-signature"] !== sign(raw.toString())) return { ok: false, why: "the MAC does not hold" };
  const body = JSON.parse(raw.toString());
  return { ok: true, eventId: body.id, type: body.type, objectId: body.object, occurredAt: new Date(body.at), body };
};

const metrics = createMetrics();
const worked: StoredEvent[] = [];
const known = new Set(["thing_1", "thing_2"]);

const db = await forTests(newDatabase());
const account: Account = {
  provider: "lob",
  baseUrl: "http://127.0.0.1:9",
  authorization: "Bearer x",
  verify,
  check: async () => ({ ok: true, detail: "" }),
};
const deaf: Account = { ...account, provider: "easypost", verify: null };
const providers = openProviders(
  { db, clock: () => new Date(), log: silent, secrets: secretBytes(Buffer.alloc(32, 7)), fetch },
  [account, deaf],
);
providers.onEvent("lob", async (event) => {
  if (event.type.startsWith("other.")) return "irrelevant";
  if (!known.has(event.objectId)) return "unknown";
  worked.push(event);
  return "applied";
});
const jobs = await forTests(createJobs({ db, log: silent }));
providers.work(jobs);
await jobs.start();
const app = await forTests(
  createServer({ log: silent, metrics, baseUrl: "http://localhost", trustProxy: [], unmatchedPage: () => null }),
);
await providerWebhook(app, { providers, log: silent, metrics });
await app.ready();

const eventOf = (id: string, more: object = {}): string =>
  JSON.stringify({ id, type: "thing.made", object: "thing_1", at: "2026-06-01T12:00:00Z", ...more });

const post = (raw: string, { path = "/api/providers/lob/webhook", signature = sign(raw) } = {}) =>
  app.inject({
    method: "POST",
    url: path,
    headers: {
      "content-type": "application/json",
      "things-signature": signature,
      cookie: "a=b",
      "x-forwarded-for": "1.2.3.4",
    },
    payload: raw,
  });

const outcomeOf = async (eventId: string): Promise<string | null> => {
  const [row] = await db.query<{ outcome: string | null }>(
    sql`SELECT outcome FROM provider_events WHERE event_id = ${eventId}`,
  );
  return row?.outcome ?? null;
};

describe("an event of a provider", () => {
  test("is stored once, and applied by a job", async () => {
    const raw = eventOf("evt_1");
    for (const _ of [1, 2, 3]) assert.equal((await post(raw)).statusCode, 200);
    assert.equal(await until(() => outcomeOf("evt_1")), "applied");
    assert.equal(worked.filter(({ eventId }) => eventId === "evt_1").length, 1);
    assert.deepEqual(worked[0]?.body, JSON.parse(raw));
    const stored = await db.query(sql`SELECT FROM provider_events WHERE event_id = 'evt_1'`);
    assert.equal(stored.length, 1);
  });

  test("is stored unchanged, encrypted, with the headers that prove it and no others", async () => {
    const raw = `${eventOf("evt_bytes")}  \n`;
    await post(raw);
    const [row] = await db.query<{ id: number; content: Buffer }>(
      sql`SELECT id, content FROM provider_events WHERE event_id = 'evt_bytes'`,
    );
    assert.ok(row && !row.content.includes("evt_bytes"));
    const [event] = await providers.rawEvents(db, [row.id]);
    assert.equal(event?.body.toString(), raw);
    assert.deepEqual(event?.headers, { "content-type": "application/json", "things-signature": sign(raw) });
  });

  test("that is forged, empty or not JSON gets a 400, and nothing of it is stored", async () => {
    const raw = eventOf("evt_forged");
    for (const answer of [
      await post(raw, { signature: sign(`${raw} `) }),
      await post(raw, { signature: "" }),
      await post("", { signature: "x" }),
    ])
      assert.equal(answer.statusCode, 400);
    assert.deepEqual(await db.query(sql`SELECT FROM provider_events WHERE event_id = 'evt_forged'`), []);
    assert.match(await metrics.render(), /provider_events_total\{provider="lob",outcome="forged"\} 3/);
  });

  test("that has a NUL in a text gets a 400, and one with the six characters of its escape does not", async () => {
    const nul = String.fromCharCode(0);
    for (const more of [
      { id: `evt${nul}` },
      { type: `thing${nul}` },
      { object: nul },
      { metadata: { [nul]: `\\${nul}` } },
    ]) {
      const answer = await post(eventOf("evt_nul", more));
      assert.equal(answer.statusCode, 400);
      assert.match(answer.body, /must not contain NUL/);
    }
    assert.equal((await post(eventOf("evt_escape", { metadata: "\\u0000" }))).statusCode, 200);
  });

  test("of an unknown provider, or one without a secret, gets a 404", async () => {
    for (const name of ["easypost", "telnyx", "fedex", "__proto__"])
      assert.equal((await post(eventOf("evt_2"), { path: `/api/providers/${name}/webhook` })).statusCode, 404, name);
  });

  test("longer than 1 MiB gets a 413", async () => {
    const raw = eventOf("evt_long", { pad: "x".repeat(1024 * 1024) });
    assert.equal((await post(raw)).statusCode, 413);
  });

  test("without meaning gets a 200 and is marked as irrelevant", async () => {
    await post(eventOf("evt_other", { type: "other.kind" }));
    assert.equal(await until(() => outcomeOf("evt_other")), "irrelevant");
  });

  test("about an object that is not on record yet is tried again", async () => {
    await post(eventOf("evt_early", { object: "thing_3" }));
    const again = await until(async () => {
      const [job] = await db.query<{ inSeconds: number }>(sql`
        SELECT extract(epoch FROM due_at - now())::float8 AS "inSeconds" FROM jobs
        WHERE queue = 'provider-event' AND payload ->> 'tries' = '1'`);
      return job;
    });
    assert.ok(again.inSeconds > 1 && again.inSeconds <= 5);
    known.add("thing_3");
    await db.query(sql`UPDATE jobs SET due_at = now() WHERE queue = 'provider-event'`);
    await db.query(sql`SELECT pg_notify('jobs', 'provider-event')`);
    assert.equal(await until(() => outcomeOf("evt_early")), "applied");
  });

  test("about an unknown object is unknown in the end", async () => {
    const raw = eventOf("evt_foreign", { object: "thing_foreign" });
    assert.equal((await post(raw)).statusCode, 200);
    for (let n = 0; n < 5; n++) {
      await until(async () => {
        await db.query(sql`UPDATE jobs SET due_at = now() WHERE queue = 'provider-event'`);
        const left = await db.query<{ tries: string }>(
          sql`SELECT payload ->> 'tries' AS tries FROM jobs WHERE queue = 'provider-event'`,
        );
        return left.length === 0 || Number(left[0]?.tries ?? 0) > n;
      });
      await db.query(sql`SELECT pg_notify('jobs', 'provider-event')`);
    }
    assert.equal(await until(() => outcomeOf("evt_foreign")), "unknown");
  });
});
