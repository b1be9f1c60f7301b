import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { verifyWebhook } from "@signsealship/sdk";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { columnCipher } from "../../../src/kernel/platform/column-cipher.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { oneSubscription } from "../../../src/outgoing/webhooks/webhooks.ts";
import { recentProof } from "../../firms/members/recent-proof.ts";
import { type Client, openWebhooksService, type WebhooksService } from "./webhooks-service.ts";

const { after, before, test } = testsNeeding("openssl");

let running: WebhooksService;
let acme: Client;
before(async () => {
  running = await openWebhooksService();
  acme = await running.partner();
});
after(() => running.close());

const unknownId = "00000000-0000-4000-8000-000000000000";
const webhooks = "/api/partner/webhooks";
const url = "https://hooks.example.com/a";

test("a new subscription is returned with its secret once, and listed newest first without it", async () => {
  const client = await running.partner();
  const first = await client.ok("POST", webhooks, {
    url,
    topics: ["order.created", "passport.sealed", "order.created"],
  });
  assert.deepEqual(Object.keys(first), ["id", "secret", "url", "topics", "signatureHeader", "standardWebhooksSecret"]);
  assert.match(String(first["secret"]), /^svc_whsec_[a-z2-7]{52}$/);
  assert.equal(first["standardWebhooksSecret"], `whsec_${hash("sha256", String(first["secret"]), "base64")}`);
  assert.deepEqual(
    [first["url"], first["topics"], first["signatureHeader"]],
    [url, ["order.created", "passport.sealed"], "Service-Signature"],
  );
  const second = await client.ok("POST", webhooks, { url: `${url}/second`, topics: ["payment.cleared"] });
  const list = await client.ok<Record<string, unknown>[]>("GET", webhooks);
  assert.deepEqual(
    list.map(({ id }) => id),
    [second["id"], first["id"]],
  );
  assert.deepEqual(Object.keys(list[0] ?? {}), ["id", "url", "topics", "active", "createdAt"]);
  assert.equal(list[0]?.["active"], true);
});

test("one subscription is found by its owner, in its environment, until it is deleted", async () => {
  const { partnerId, ...client } = await running.partner();
  const { id } = await client.subscribe("/one", ["order.created"]);
  const deps = {
    rowMac: running.rowMac,
    db: running.db,
    clock: systemClock,
    secretCipher: columnCipher(secretBytes(Buffer.alloc(32)), "none"),
  };
  const own: Principal = {
    partnerId,
    environment: "test",
    firmName: "Acme Title",
    tier: "trial",
    liveEnabled: true,
    key: null,
    member: {
      userId: unknownId,
      email: "dana@example.com",
      role: "member",
      liveAccess: true,
      seesBilling: false,
      proof: recentProof(),
    },
  };
  const [listed] = await client.ok<Record<string, unknown>[]>("GET", webhooks);
  assert.deepEqual(await oneSubscription(deps, own, id), listed);
  const unknown = /^ServiceError: No such webhook\.$/;
  for (const other of ["x", "\0", unknownId]) await assert.rejects(oneSubscription(deps, own, other), unknown);
  await assert.rejects(oneSubscription(deps, { ...own, environment: "live" }, id), unknown);
  await assert.rejects(oneSubscription(deps, { ...own, partnerId: acme.partnerId }, id), unknown);
  await client.ok("DELETE", `${webhooks}/${id}`);
  await assert.rejects(oneSubscription(deps, own, id), unknown);
});

test("the database contains neither a secret nor its hash as plain text", async () => {
  const { id, secret } = await acme.subscribe("/secret", ["order.created"]);
  const [row] = await running.db.query<{ dump: string }>(sql`
    SELECT encode(hash, 'escape') || encode(hash, 'hex') AS dump FROM webhook_secrets WHERE webhook_id = ${id}`);
  const { createHash } = await import("node:crypto");
  const hash = createHash("sha256").update(secret).digest("hex");
  assert.ok(row && !row.dump.includes(secret) && !row.dump.includes(hash));
});

test("the URL must be absolute and https, and is checked before the topics", async () => {
  const message = "A https:// webhook URL is required.";
  const bad = [
    undefined,
    null,
    7,
    "",
    "http://a.example/",
    "https://",
    "https:a.example",
    "https:///a",
    "//a.example",
    "ftp://a.example",
    "hooks",
    "https://a b/",
    "https://a.example/\u0000",
    "https://[::1",
    [url],
  ];
  for (const value of bad)
    assert.equal(await acme.refused(400, "POST", webhooks, { url: value, topics: [] }), message, String(value));
  for (const body of ["[]", "null", '"x"', "{}"])
    assert.equal(await acme.refused(400, "POST", webhooks, body), message);
  assert.equal(await acme.refused(400, "POST", webhooks), message);
  assert.equal(await acme.refused(400, "POST", webhooks, "{"), "The body is not valid JSON.");
  assert.match(
    await acme.refused(400, "POST", webhooks, { url: "https://u:p@a.example/", topics: ["order.created"] }),
    /user name or a password/,
  );
  assert.match(
    await acme.refused(400, "POST", webhooks, { url: `${url}${"x".repeat(2048)}`, topics: ["order.created"] }),
    /at most 2048/,
  );
});

test("refuses topics that are missing, empty or unknown, and names the allowed ones", async () => {
  for (const topics of [
    undefined,
    null,
    [],
    "order.created",
    {},
    ["order.deleted"],
    ["order.created", "webhook.test"],
    ["Order.Created"],
    [null],
    [["order.created"]],
  ])
    assert.match(
      await acme.refused(400, "POST", webhooks, { url, topics }),
      /^topics must be a non-empty array of: passport\.sealed, /,
    );
  const all = [
    "passport.sealed",
    "room.order_attached",
    "room.passport_sealed",
    "order.created",
    "payment.cleared",
    "signature.completed",
    "shipment.delivered",
  ];
  const client = await running.partner();
  assert.deepEqual((await client.ok("POST", webhooks, { url, topics: all }))["topics"], all);
});

test("the hundredth subscription is the last, even with many concurrent requests", async () => {
  const client = await running.partner();
  const answers = await Promise.all(
    Array.from({ length: 104 }, (_, n) =>
      client.call("POST", webhooks, { url: `${url}/${n}`, topics: ["order.created"] }),
    ),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 100);
  const refused = answers.find(({ status }) => status === 400);
  assert.equal(refused?.body.error, "A partner holds at most 100 webhooks.");
  const [{ id } = { id: "" }] = await client.ok<{ id: string }[]>("GET", webhooks);
  await client.ok("DELETE", `${webhooks}/${id}`);
  await client.ok("POST", webhooks, { url, topics: ["order.created"] });
});

test("a URL has one active webhook of a firm and environment, in any spelling and by any route", async () => {
  const message = "This URL already has an active webhook.";
  const client = await running.partner();
  const { id } = await client.ok<{ id: string }>("POST", webhooks, { url, topics: ["order.created"] });
  for (const same of [url, "https://HOOKS.example.com:443/b/../a", `${url}#other`]) {
    const body = { url: same, topics: ["payment.cleared"] };
    assert.equal(await client.refused(400, "POST", webhooks, body), message);
    assert.equal(await client.refused(400, "POST", "/api/passport/webhooks", body), message);
  }
  await client.ok("POST", webhooks, { url: `${url}?other`, topics: ["order.created"] });
  const live = await running.withKey(client.partnerId, "live");
  await live.ok("POST", webhooks, { url, topics: ["order.created"] });
  await client.ok("DELETE", `${webhooks}/${id}`);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => client.call("POST", webhooks, { url, topics: ["order.created"] })),
  );
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400, 400, 400, 400]);
});

test("deleting ends it: removed from the list, unknown from then on, its secrets deleted", async () => {
  const { id } = await acme.subscribe("/x", ["order.created"]);
  assert.deepEqual(await acme.ok("DELETE", `${webhooks}/${id}`), { ok: true });
  assert.equal(
    (await acme.ok<{ id: string }[]>("GET", webhooks)).some((each) => each.id === id),
    false,
  );
  assert.equal(await acme.refused(404, "DELETE", `${webhooks}/${id}`), "No such webhook.");
  assert.deepEqual(await running.db.query(sql`SELECT 1 FROM webhook_secrets WHERE webhook_id = ${id}`), []);
});

test("ids that are unknown, malformed, another firm's or of the other environment give the same 404", async () => {
  const other = await running.partner();
  const theirs = await other.subscribe("/x", ["order.created"]);
  const live = await running.withKey(acme.partnerId, "live");
  const ours = await live.subscribe("/x", ["order.created"]);
  const deleted = await acme.subscribe("/x", ["order.created"]);
  await acme.ok("DELETE", `${webhooks}/${deleted.id}`);
  for (const id of [unknownId, "x", "1", "%00", theirs.id, ours.id, deleted.id, ours.id.toUpperCase()]) {
    for (const [method, path] of [
      ["DELETE", ""],
      ["POST", "/rotate"],
      ["GET", "/deliveries"],
      ["POST", "/test"],
    ] as const)
      assert.equal(
        await acme.refused(404, method, `${webhooks}/${id}${path}`),
        "No such webhook.",
        `${method} ${id}${path}`,
      );
    assert.equal(await acme.refused(404, "DELETE", `/api/passport/webhooks/${id}`), "No such webhook.");
    assert.equal(await acme.refused(404, "GET", `${webhooks}/deliveries/${id}`), "No such delivery.");
    assert.equal(await acme.refused(404, "POST", `${webhooks}/deliveries/${id}/replay`), "No such delivery.");
  }
  await other.ok("POST", `${webhooks}/${theirs.id}/rotate`);
});

test("the key is checked before anything else", async () => {
  const anonymous = async (method: string, path: string) => {
    const init = {
      method,
      headers: { Authorization: "Bearer svc_pk_test_x", "Content-Type": "application/json" },
      ...(method === "POST" ? { body: "{" } : {}),
    };
    const response = await fetch(running.service.baseUrl + path, init);
    return [response.status, ((await response.json()) as { error: string }).error];
  };
  const portal = [
    ["GET", webhooks],
    ["POST", webhooks],
    ["DELETE", `${webhooks}/x`],
    ["POST", `${webhooks}/x/rotate`],
    ["GET", `${webhooks}/x/deliveries`],
    ["GET", `${webhooks}/deliveries?limit=x`],
    ["GET", `${webhooks}/deliveries/x`],
    ["POST", `${webhooks}/deliveries/x/replay`],
    ["POST", `${webhooks}/x/test`],
  ];
  for (const [method = "", path = ""] of portal)
    assert.deepEqual(await anonymous(method, path), [401, "Sign in to continue."], path);
  for (const [method = "", path = ""] of [
    ["POST", "/api/passport/webhooks"],
    ["DELETE", "/api/passport/webhooks/x"],
  ])
    assert.deepEqual(await anonymous(method, path), [401, "A valid partner API key is required."], path);
});

test("the key-only route subscribes only to passport.sealed and explains the signature", async () => {
  const client = await running.partner();
  const made = await client.ok("POST", "/api/passport/webhooks", { url, topics: ["order.created"] });
  assert.deepEqual(Object.keys(made), [
    "webhookId",
    "url",
    "signingSecret",
    "signatureHeader",
    "standardWebhooksSecret",
    "verification",
  ]);
  assert.match(String(made["signingSecret"]), /^svc_whsec_[a-z2-7]{52}$/);
  assert.match(String(made["verification"]), /HMAC-SHA256/);
  const [listed] = await client.ok<Record<string, unknown>[]>("GET", webhooks);
  assert.deepEqual([listed?.["id"], listed?.["topics"]], [made["webhookId"], ["passport.sealed"]]);
  assert.equal(
    await client.refused(400, "POST", "/api/passport/webhooks", { url: "http://a.example" }),
    "A https:// webhook URL is required.",
  );
  assert.deepEqual(await client.ok("DELETE", `/api/passport/webhooks/${made["webhookId"]}`), {
    deleted: true,
    webhookId: made["webhookId"],
  });
  assert.deepEqual(await client.ok("GET", webhooks), []);
});

test("every change leaves a line in the audit log without a secret or a URL", async () => {
  const client = await running.partner();
  const { id } = await client.subscribe("/x", ["order.created"]);
  await client.ok("POST", `${webhooks}/${id}/rotate`);
  await client.ok("DELETE", `${webhooks}/${id}`);
  const rows = await running.db.query<{ action: string; detail: object }>(sql`
    SELECT action, detail
    FROM audit_log
    WHERE partner_id = ${client.partnerId} AND action LIKE 'webhook.%' ORDER BY id`);
  assert.deepEqual(
    rows,
    ["webhook.created", "webhook.secret_rotated", "webhook.deleted"].map((action) => ({
      action,
      detail: { webhookId: id },
    })),
  );
});

test("the signature example is public, and the SDK accepts it at its time", async () => {
  const response = await fetch(`${running.service.baseUrl}${webhooks}/signature-example`);
  assert.equal(response.status, 200);
  const example = (await response.json()) as {
    rawBody: string;
    secret: string;
    timestamp: number;
    headers: Record<string, string>;
    signatureHeader: string;
  };
  const header = example.headers[example.signatureHeader];
  assert.equal(await verifyWebhook(example.rawBody, header, example.secret, { now: example.timestamp * 1000 }), true);
});

test("management counts against the portal limit, and the key-only route against the key's writes", async () => {
  const headers = { Authorization: `Bearer ${acme.key}` };
  const policy = async (path: string, method: string) =>
    (await fetch(`${limited.baseUrl}${path}`, { method, headers })).headers.get("RateLimit-Policy");
  const { startService } = await import("@signsealship/testing/service");
  const limited = await startService({ ...running.env, RATE_LIMITS: "on" });
  try {
    assert.equal(await policy(webhooks, "GET"), '"partner-portal";q=120;w=60');
    assert.equal(await policy(`${webhooks}/signature-example`, "GET"), '"partner-portal";q=120;w=60');
    assert.equal(await policy("/api/passport/webhooks/x", "DELETE"), '"partner-write";q=60;w=60');
  } finally {
    await limited.stop();
  }
});
