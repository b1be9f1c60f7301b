import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { type Client, openRoomsService } from "../../closing/rooms/rooms-service.ts";

const running = await forTests(openRoomsService());
const acme = await running.partner();

type Snapshot = {
  windowDays: number;
  volumeByMonth: { month: string; createdCount: number }[];
  funnel: Record<string, number>;
  revenueCents: number;
  generatedAt: string;
  requestId: string;
};

test("a snapshot has the fields of the contract and the request's id", async () => {
  await acme.order({ svc_sign: "true" });
  const { headers, body } = await acme.call("GET", "/api/partner/analytics?days=7");
  assert.deepEqual(Object.keys(body), [
    "windowDays",
    "volumeByMonth",
    "funnel",
    "turnaroundHours",
    "serviceMix",
    "evidence",
    "revenueCents",
    "generatedAt",
    "requestId",
  ]);
  assert.equal(body["requestId"], headers.get("request-id"));
  assert.equal(body["windowDays"], 7);
  assert.deepEqual(body["funnel"], { created: 1, paid: 0, inProgress: 0, completed: 0, problem: 0 });
  assert.deepEqual(body["serviceMix"], { sign: 1, notarize: 0, ship: 0, fax: 0 });
  assert.match(String(body["generatedAt"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
});

test("figures follow changed statuses, and include no other partner or environment", async () => {
  const partner = await running.partner();
  const code = await partner.order();
  const read = (client: Client) => client.ok<Snapshot>("GET", "/api/partner/analytics");
  assert.equal((await read(partner)).revenueCents, 0);
  await running.setStatus(code, "EsignPending");
  const { funnel, revenueCents, windowDays } = await read(partner);
  assert.deepEqual([funnel["inProgress"], revenueCents, windowDays], [1, 1200, 90]);
  for (const other of [await running.partner(), await partner.withKey("live")])
    assert.deepEqual((await read(other)).volumeByMonth, []);
});

test("days that are not an integer are refused by name; others are clamped", async () => {
  for (const days of ["abc", "1.5", "", "%20", "7&days=8"])
    assert.equal(
      await acme.refused(400, "GET", `/api/partner/analytics?days=${days}`),
      "days must be an integer from 1 to 366.",
    );
  for (const [days, effective] of [
    ["0", 1],
    ["-3", 1],
    ["1000", 366],
    ["366", 366],
  ] as const)
    assert.equal((await acme.ok<Snapshot>("GET", `/api/partner/analytics?days=${days}`)).windowDays, effective);
});

test("without a key analytics and launchpad ask for a sign-in, before any other check", async () => {
  for (const path of ["/api/partner/analytics?days=abc", "/api/partner/launchpad"])
    for (const headers of [{}, { Authorization: "Bearer svc_pk_test_nonsense" }] as HeadersInit[]) {
      const response = await fetch(running.service.baseUrl + path, { headers });
      assert.equal(response.status, 401);
      assert.equal(response.headers.get("www-authenticate"), "Bearer");
      assert.deepEqual(await response.json(), { error: "Sign in to continue." });
    }
});

type Launchpad = {
  partner: { id: string; name: string; tier: string };
  readyForLive: boolean;
  completed: number;
  total: number;
  checklist: { key: string; done: boolean; label: string; action: string; deepLink: string }[];
  funnel: { step: string; reached: boolean; at: string | null }[];
  hoursToFirstLiveOrder: number | null;
  requestId: string;
};

test("the launchpad follows the facts from nothing to a live order", async () => {
  const partner = await running.partner("ProOffice", "Roe Closings");
  const read = (client = partner) => client.ok<Launchpad>("GET", "/api/partner/launchpad");
  const done = ({ checklist }: Launchpad) => checklist.filter((item) => item.done).map(({ key }) => key);
  const reached = ({ funnel }: Launchpad) => funnel.filter((step) => step.reached).map(({ step }) => step);
  const empty = await read();
  assert.deepEqual(empty.partner, { id: partner.partnerId, name: "Roe Closings", tier: "ProOffice" });
  assert.deepEqual([done(empty), reached(empty), empty.completed, empty.total], [[], ["joined"], 0, 6]);
  assert.ok(empty.checklist.every(({ label, action, deepLink }) => label && action && deepLink.startsWith("/")));
  assert.ok(empty.requestId);

  const code = await partner.order();
  assert.deepEqual(done(await read()), ["first_test_order"]);
  await running.setStatus(code, "Completed");
  await partner.room();
  assert.deepEqual(done(await read()), ["first_test_order", "sandbox_completed", "first_room"]);
  await running.db.query(sql`INSERT INTO seal_chains VALUES (repeat('0', 64), 'x', now())`);
  await running.db.query(sql`
    INSERT INTO passports (id, verify_code, partner_id, environment, doc_sha256, sealed_sha256, seal_chain, row_mac,
      created_at)
    VALUES (gen_random_uuid(), 'c1.' || repeat('a', 26), ${partner.partnerId}, 'test', repeat('0', 64), repeat('0', 64),
      repeat('0', 64), sha256('x'), now())`);
  const webhook = { url: "https://hooks.example.com/", topics: ["order.created"] };
  const { id } = await partner.ok<{ id: string }>("POST", "/api/partner/webhooks", webhook);
  const ready = await read();
  assert.deepEqual([ready.readyForLive, ready.completed, ready.hoursToFirstLiveOrder], [true, 5, null]);

  const live = await partner.withKey("live");
  await live.order();
  const atLive = await read(live);
  assert.deepEqual([atLive.completed, typeof atLive.hoursToFirstLiveOrder], [6, "number"]);
  assert.ok(reached(atLive).includes("first_live_order"));
  assert.equal(atLive.funnel.find(({ step }) => step === "first_live_completed")?.at, null);

  await partner.ok("DELETE", `/api/partner/webhooks/${id}`);
  assert.equal((await read()).readyForLive, false);
});
