import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli } from "@signsealship/testing/service";
import { ruledOption } from "../../../src/cli/verb.ts";
import {
  issueKey,
  keyExpiry,
  keyName,
  keyOverlap,
  keyScopes,
  rotateKey,
} from "../../../src/firms/partners/partners.ts";
import { type Scope, scopes } from "../../../src/kernel/identity/identity.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { link, signIn } from "../members/signed-in-member.ts";

type Operation = { security?: { partnerKey?: string[] }[] };
type Document = { paths: Record<string, Record<string, Operation>> };

const harness = await forTests(openHarness({ PLAYBOOKS: "on" }));
const firm = await newPartner(harness.service);

const deps = () => ({ ...harness, clock: systemClock });
const issue = (...wanted: Scope[]) =>
  issueKey(deps(), firm.partnerId, "test", { actor: "operator", scopes: wanted, name: "Reports" });

async function call(key: string, method: string, path: string, body?: FormData) {
  const headers = { Authorization: `Bearer ${key}` };
  const answer = await fetch(harness.service.baseUrl + path, { method, headers, ...(body && { body }) });
  return { status: answer.status, text: await answer.text() };
}

/** Every route that accepts a key, with the scope that its description names. */
async function keyRoutes() {
  const document = (await (await fetch(`${harness.service.baseUrl}/openapi.json`)).json()) as Document;
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { security = [] }]) =>
      security.flatMap(({ partnerKey }) =>
        partnerKey ? [{ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, "x"), partnerKey }] : [],
      ),
    ),
  );
}

test("every route for keys names its scope: reading needs read, and a key with all other scopes is refused by name", async () => {
  const without = new Map<string, string>();
  for (const scope of scopes) {
    const others = scopes.filter((each) => each !== scope);
    without.set(scope, (await issue(...others)).key);
  }
  const routes = await keyRoutes();
  assert.ok(routes.length > 40, `${routes.length} routes`);
  for (const { method, path, partnerKey } of routes) {
    const [scope = ""] = partnerKey;
    assert.deepEqual(partnerKey, [method === "GET" ? "read" : scope], `${method} ${path}`);
    assert.ok(
      scopes.some((each) => each === scope),
      `${method} ${path} names ${scope}`,
    );
    const refused = await call(without.get(scope) ?? "", method, path);
    assert.equal(refused.status, 403, `${method} ${path}`);
    assert.equal(refused.text, `{"error":"This key does not have the scope ${scope}."}`);
    assert.notEqual((await call(firm.key, method, path)).status, 403, `${method} ${path} with a full key`);
  }
});

test("a key with one scope can only use that scope's routes", async () => {
  const document = makePdf();
  const { key: reader } = await issue("read");
  const { key: intake } = await issue("orders");
  const order = (key: string) => call(key, "POST", "/api/partner/orders", orderForm(minimal, document));
  assert.equal((await order(intake)).status, 201);
  assert.equal((await order(reader)).status, 403);
  assert.equal((await call(intake, "GET", "/api/partner/orders")).status, 403);
  const listed = await call(reader, "GET", "/api/partner/orders");
  assert.equal(listed.status, 200);
  assert.equal(JSON.parse(listed.text).orders.length, 1);
});

test("an unknown caller is refused before any scope is checked, and a restricted key connects nobody to its firm", async () => {
  const bad = await call(`svc_pk_test_${"a".repeat(52)}`, "POST", "/api/rooms");
  assert.deepEqual([bad.status, bad.text], [401, '{"error":"A valid partner API key is required."}']);
  const { key } = await issue(...scopes);
  const { cookie } = await signIn(harness.service, "restricted@harbor-title.com");
  const linked = await link(harness.service, cookie, key);
  assert.equal(linked.status, 403);
  assert.match(await linked.text(), /Only a key without restrictions/);
  const rows = await harness.db.query(sql`SELECT FROM members WHERE partner_id = ${firm.partnerId}`);
  assert.equal(rows.length, 0);
});

test("a key gives no access from the instant of its expiry on", async () => {
  for (const [ms, status] of [
    [60_000, 200],
    [0, 401],
  ] as const) {
    const expiresAt = new Date(Date.now() + ms);
    const { key } = await issueKey(deps(), firm.partnerId, "test", { actor: "operator", expiresAt });
    assert.equal((await call(key, "GET", "/api/partner/me")).status, status);
  }
});

test("a key reads its own name, scopes and end", async () => {
  const expiresAt = new Date(Date.now() + 60_000);
  const keyOf = async (given: { name?: string; scopes?: Scope[]; expiresAt?: Date }) => {
    const { key } = await issueKey(deps(), firm.partnerId, "test", { actor: "operator", ...given });
    const { name, scopes, expiresAt } = JSON.parse((await call(key, "GET", "/api/partner/me")).text).key;
    return { name, scopes, expiresAt };
  };
  assert.deepEqual(await keyOf({}), { name: null, scopes: null, expiresAt: null });
  assert.deepEqual(await keyOf({ name: "Nightly export", scopes: ["read", "seal"], expiresAt }), {
    name: "Nightly export",
    scopes: ["read", "seal"],
    expiresAt: expiresAt.toISOString(),
  });
});

test("a rotated key works for the overlap, and only one key replaces it", async () => {
  const { keyId, key } = await issue("read");
  const both = await Promise.allSettled([rotateKey(deps(), keyId, 1), rotateKey(deps(), keyId, 1)]);
  const [next] = both.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  const [lost] = both.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
  assert.ok(next);
  assert.match(lost ?? "", /This key was rotated before/);
  for (const each of [key, next.key]) assert.equal((await call(each, "GET", "/api/partner/orders")).status, 200);
  assert.equal((await call(next.key, "POST", "/api/rooms")).status, 403, "the scopes are the same");
  await rotateKey(deps(), next.keyId, 0);
  assert.equal((await call(next.key, "GET", "/api/partner/orders")).status, 401);
  await assert.rejects(rotateKey(deps(), next.keyId, 0), /This key is revoked/);
});

test("the command line names, restricts, ends and rotates keys, and lists them", async () => {
  const { partnerId } = await newPartner(harness.service);
  const flags = ["--test", "--name", "CI", "--scopes", "seal,read", "--expires", "30"];
  const { keyId = "", ...issued } = await harness.service.cli("key", "issue", partnerId, ...flags);
  assert.deepEqual(Object.keys(issued), ["key", "environment"]);
  const rotated = await harness.service.cli("key", "rotate", keyId, "--overlap", "72");
  assert.equal(rotated["previousKeyId"], keyId);
  const { keys } = await harness.service.cli<{ keys: Record<string, unknown>[] }>("key", "list", partnerId);
  const days = (at: unknown) => Math.round((Date.parse(String(at)) - Date.now()) / 86_400_000);
  assert.deepEqual(
    keys.slice(1).map(({ name, scopes: may, expiresAt, replaces }) => [name, may, days(expiresAt), replaces]),
    [
      ["CI", ["read", "seal"], 3, null],
      ["CI", ["read", "seal"], 30, keyId],
    ],
  );
  const refused = await runCli({ DATA_DIR: harness.service.dataDir }, "key", "issue", partnerId, "--scopes", "all");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /--scopes must be one or more of read, orders, rooms, seal, webhooks/);
});

test("the input for a new key is checked", () => {
  const now = new Date("2026-05-06T12:00:00Z");
  assert.deepEqual(keyScopes(["seal", "read", "read"]), ["read", "seal"]);
  for (const names of [[], [""], ["read", "all"], ["READ"]]) assert.throws(() => keyScopes(names), /scopes must be/);
  assert.equal(keyExpiry("1", now).toISOString(), "2026-05-07T12:00:00.000Z");
  assert.equal(keyExpiry("2026-05-06", now).toISOString(), "2026-05-07T00:00:00.000Z", "to the end of the day");
  for (const text of [
    "",
    "0",
    "-1",
    "3651",
    "9999",
    "2026-05-05",
    "2036-06-01",
    "2027-13-01",
    "2027-02-31",
    "2027-02-29",
    "soon",
  ])
    assert.throws(() => keyExpiry(text, now), /expires must be/, text);
  assert.equal(keyName(" CI "), "CI");
  for (const name of ["", " ", "\u200b", "a\nb", "x".repeat(101)]) assert.throws(() => keyName(name), /name must have/);
  assert.equal(keyOverlap("24"), 24);
  for (const text of ["", "2", "24.0", "-1"]) assert.throws(() => keyOverlap(text), /overlap must be one of/);
  assert.throws(() => ruledOption({ name: "" }, "name", keyName), /--name must have/);
  assert.throws(() => ruledOption({ expires: "" }, "expires", (text) => keyExpiry(text, now)), /--expires must be/);
  assert.throws(() => ruledOption({ overlap: "" }, "overlap", keyOverlap), /--overlap must be one of/);
});
