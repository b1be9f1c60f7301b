import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { json, openMembersService, type Sent } from "./members-service.ts";
import { link, newMember, postForm, signIn } from "./signed-in-member.ts";

const { service, db, call, newPartner, somebody } = await forTests(openMembersService());

const form = { "Content-Type": "application/x-www-form-urlencoded" };
const unknownId = "00000000-0000-4000-8000-000000000000";

type Operation = { security?: Record<string, unknown>[]; requestBody?: { content: Record<string, unknown> } };
const { paths } = (await call("/openapi.json")).body as { paths: Record<string, Record<string, Operation>> };

const bodyOf = ({ requestBody }: Operation): Sent => {
  if (!requestBody) return {};
  const isJson = "application/json" in requestBody.content;
  return isJson ? { headers: json, body: "{}" } : { headers: form, body: "kind=k&subjectId=s" };
};

/** The API routes that accept a key or a session, with unknown ids. */
const sessionOrKey = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(([, { security = [] }]) => security.length > 1 && security.some((each) => "session" in each))
    .map(([method, operation]): [method: string, path: string, more: Sent] => [
      method.toUpperCase(),
      path.replace(/(?<=playbooks\/)\{\w+\}/, "approval_gate").replaceAll(/\{\w+\}/g, unknownId),
      bodyOf(operation),
    ]),
);

test("the description of the interface names the routes that accept a key or a session", () => {
  const described = sessionOrKey.map(([method, path]) => `${method} ${path}`);
  const hook = `/api/partner/webhooks/${unknownId}`;
  for (const route of [
    "GET /api/partner/me",
    "GET /api/partner/events",
    "GET /api/partner/webhooks",
    "POST /api/partner/webhooks",
    `DELETE ${hook}`,
    `POST ${hook}/rotate`,
    `GET ${hook}/deliveries`,
    "GET /api/partner/analytics",
    "GET /api/partner/playbooks",
    "POST /api/partner/playbooks/approval_gate/run",
  ])
    assert.ok(described.includes(route), route);
});

test("without a key and a session every session-or-key route answers 401, even with invalid ones", async () => {
  for (const [method, path, more] of sessionOrKey)
    for (const headers of [
      {},
      { Authorization: "Bearer svc_pk_nonsense" },
      { Cookie: `__Host-session=${"a".repeat(52)}` },
    ]) {
      const answer = await call(path, { method, ...more, headers: { ...more.headers, ...headers } });
      assert.equal(answer.status, 401, `${method} ${path}`);
      assert.deepEqual(answer.body, { error: "Sign in to continue." });
      assert.equal(answer.headers.get("www-authenticate"), "Bearer");
    }
});

test("a session without a firm gets a 403 on each of them, and a key in the same request takes precedence", async () => {
  const { cookie } = await signIn(service, somebody());
  const { headers: byKey } = await newPartner();
  for (const [method, path, more] of sessionOrKey) {
    const unlinked = await call(path, { method, ...more, headers: { ...more.headers, Cookie: cookie } });
    assert.equal(unlinked.status, 403, `${method} ${path}`);
    assert.deepEqual(unlinked.body, {
      error: "This session is not linked to a partner. Link with a partner API key first.",
    });
    const both = await call(path, { method, ...more, headers: { ...more.headers, Cookie: cookie, ...byKey } });
    assert.ok(![401, 403].includes(both.status), `${method} ${path}: ${both.status}`);
  }
});

test("a linked session opens each of them, even with an invalid key", async () => {
  const { key } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  for (const [method, path, more] of sessionOrKey)
    for (const bad of [{}, { Authorization: "Bearer svc_pk_nonsense" }]) {
      const answer = await call(path, { method, ...more, headers: { ...more.headers, ...headers, ...bad } });
      assert.ok(![401, 403].includes(answer.status), `${method} ${path}: ${answer.status}`);
    }
});

test("routes for keys only accept no session", async () => {
  const { key } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  for (const path of ["/api/partner/orders", "/api/rooms", `/api/passport/${unknownId}`]) {
    const answer = await call(path, { headers });
    assert.equal(answer.status, 401, path);
    assert.deepEqual(answer.body, { error: "A valid partner API key is required." });
  }
});

test("a write by session must come from our own site; a read, and a write by key, may come from anywhere", async () => {
  const { key, headers: byKey } = await newPartner();
  const { headers, cookie } = await newMember(service, somebody(), key);
  const write = (more: Record<string, string>) =>
    call(`/api/partner/webhooks/${unknownId}`, { method: "DELETE", headers: more });
  const foreign = [
    { Origin: "https://evil.example" },
    { Origin: "null" },
    { Origin: `${service.baseUrl}.evil.example` },
    { Origin: "garbage" },
    { "Sec-Fetch-Site": "cross-site" },
    { "Sec-Fetch-Site": "same-site" },
  ] as Record<string, string>[];
  for (const site of foreign) {
    const refused = await write({ ...headers, ...site });
    assert.equal(refused.status, 403, JSON.stringify(site));
    assert.deepEqual(refused.body, { error: "This request came from another site." });
    assert.equal((await link(service, cookie, key, site)).status, 403);
    assert.equal((await call("/api/partner/me", { headers: { ...headers, ...site } })).status, 200);
    assert.equal((await write({ ...byKey, ...site })).status, 404);
  }
  const port = new URL(service.baseUrl).port;
  for (const site of [{}, { Origin: service.baseUrl }, { Origin: `http://localhost:${port}` }])
    assert.equal((await write({ ...headers, ...(site as Record<string, string>) })).status, 404);
});

test("a playbook run that another site requested is refused and leaves nothing in the log", async () => {
  const { key, partnerId } = await newPartner();
  const { headers } = await newMember(service, somebody(), key);
  const refused = await postForm(
    `${service.baseUrl}/api/partner/playbooks/approval_gate/run`,
    { kind: "k", subjectId: "s" },
    { ...headers, Origin: "https://evil.example" },
  );
  assert.equal(refused.status, 403);
  const runs = sql`SELECT FROM audit_log WHERE partner_id = ${partnerId} AND action = 'playbook.run'`;
  assert.equal((await db.query(runs)).length, 0);
});
