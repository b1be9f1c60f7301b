import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { HttpError, type HttpErrorCode } from "../../../src/kernel/http/errors/http-error.ts";
import { createServer } from "../../../src/kernel/http/server.ts";
import { BusyError, type ErrorCode, NotYetError, ServiceError } from "../../../src/kernel/platform/errors.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { createMetrics } from "../../../src/kernel/platform/metrics.ts";

type Wire = readonly [status: number, title: string];

/** The HTTP form of each domain error: its status, and the title of its problem type. */
const ofDomain: Record<ErrorCode, Wire> = {
  validation: [400, "Bad Request"],
  key_revoked: [401, "Unauthorized"],
  owner_required: [403, "Forbidden"],
  scope_required: [403, "Forbidden"],
  role_required: [403, "Forbidden"],
  confirmation_required: [403, "Forbidden"],
  passkey_required: [403, "Forbidden"],
  not_found: [404, "Not Found"],
  rate_limited: [429, "Too Many Requests"],
  conflict: [409, "Conflict"],
  not_payable: [409, "Conflict"],
  idempotency_key_reused: [409, "Conflict"],
  idempotency_in_flight: [409, "Conflict"],
  processor_failed: [502, "Bad Gateway"],
  payments_not_configured: [503, "Service Unavailable"],
  unavailable: [503, "Service Unavailable"],
};

/** The errors that HTTP adds to the domain's. */
const ofHttp: Record<HttpErrorCode, Wire> = {
  unauthenticated: [401, "Unauthorized"],
  sign_in_required: [401, "Unauthorized"],
  not_linked: [403, "Forbidden"],
  cross_site: [403, "Forbidden"],
  verdict_unknown: [404, "Not Found"],
  verdict_deleted: [404, "Not Found"],
  method_not_allowed: [405, "Method Not Allowed"],
  payload_too_large: [413, "Payload Too Large"],
  unsupported_media_type: [415, "Unsupported Media Type"],
  rate_limited: [429, "Too Many Requests"],
};

type Code = ErrorCode | HttpErrorCode;
const table: Record<Code, Wire> = { ...ofDomain, ...ofHttp };
const codes = Object.keys(table) as Code[];
const message = (code: Code) => `why it is ${code}`;
const isHttp = (code: Code): code is HttpErrorCode => code in ofHttp;

const log = openLog("silent");

const app = await forTests(
  createServer({
    log,
    metrics: createMetrics(),
    baseUrl: "http://localhost",
    trustProxy: [],
    unmatchedPage: () => null,
  }),
);

app.get<{ Params: { code: Code } }>("/api/refused/:code", ({ params: { code } }) => {
  throw isHttp(code) ? new HttpError(code, message(code)) : new ServiceError(code, message(code));
});
app.get("/api/busy", () => {
  throw new BusyError("Too much is under way.");
});
app.get("/api/not-yet", () => {
  throw new NotYetError("It exists in a few seconds.");
});
app.get("/api/broken", () => {
  throw new Error("the secret reason");
});
await app.ready();

async function get(url: string, accept = "*/*") {
  const { statusCode, headers, body } = await app.inject({ url, headers: { accept } });
  return { statusCode, headers, body: JSON.parse(body) as unknown };
}

for (const [code, [status, title]] of Object.entries(table) as [Code, Wire][]) {
  test(`${code} is ${status} with the contract's body`, async () => {
    const { statusCode, headers, body } = await get(`/api/refused/${code}`);
    assert.equal(statusCode, status);
    const ofVerification: Partial<Record<Code, object>> = {
      verdict_unknown: { verdict: "unknown" },
      verdict_deleted: { verdict: "unknown", deleted: message(code) },
    };
    assert.deepEqual(body, ofVerification[code] ?? { error: message(code) });
    assert.equal(headers["content-type"], "application/json; charset=utf-8");
    assert.equal(headers["cache-control"], "no-store");
    assert.equal(headers["www-authenticate"], status === 401 ? "Bearer" : undefined);
  });

  test(`${code} as problem details is of its own type, titled ${title}`, async () => {
    const { statusCode, headers, body } = await get(`/api/refused/${code}`, "application/problem+json");
    assert.equal(statusCode, status);
    assert.equal(headers["content-type"], "application/problem+json");
    const type = `urn:signsealship:problem:${code}`;
    const requestId = headers["request-id"];
    assert.deepEqual(body, { type, title, status, detail: message(code), code, requestId });
  });
}

test("an error that is not a refusal is an opaque 500 in either form", async () => {
  const plain = await get("/api/broken");
  assert.deepEqual([plain.statusCode, plain.body], [500, { error: "Something went wrong on our side." }]);
  const problem = await get("/api/broken", "application/problem+json");
  assert.equal(problem.statusCode, 500);
  assert.doesNotMatch(JSON.stringify(problem.body), /secret/);
  assert.equal((problem.body as { code: string }).code, "internal");
});

test("warns once about many refusals because of load, without a stack, and logs no error", async (t) => {
  const warn = t.mock.method(log, "warn");
  const error = t.mock.method(log, "error");
  for (let n = 0; n < 20; n++) assert.equal((await get("/api/busy")).statusCode, 503);
  assert.equal(error.mock.callCount(), 0);
  assert.equal(warn.mock.callCount(), 1);
  const [fields] = warn.mock.calls[0]?.arguments ?? [];
  assert.deepEqual(fields, { refused: 1, reason: "Too much is under way." });
  await get("/api/broken");
  assert.equal(error.mock.callCount(), 1);
});

test("a refusal because something does not exist yet is a 503 that the log does not report as an error", async (t) => {
  const error = t.mock.method(log, "error");
  const { statusCode, body } = await get("/api/not-yet");
  assert.deepEqual([statusCode, body], [503, { error: "It exists in a few seconds." }]);
  assert.equal(error.mock.callCount(), 0);
});

test("a payment without a payment processor is a 503 that the log mentions once, and not as an error", async (t) => {
  const own = openLog("silent");
  const other = await createServer({
    log: own,
    metrics: createMetrics(),
    baseUrl: "http://localhost",
    trustProxy: [],
    unmatchedPage: () => null,
  });
  t.after(() => other.close());
  other.get("/api/pay", () => {
    throw new ServiceError("payments_not_configured", "Payments are not configured.");
  });
  const error = t.mock.method(own, "error");
  const warn = t.mock.method(own, "warn");
  const info = t.mock.method(own, "info");
  for (let n = 0; n < 20; n++) assert.equal((await other.inject({ url: "/api/pay" })).statusCode, 503);
  assert.deepEqual([error.mock.callCount(), warn.mock.callCount()], [0, 0]);
  const mentions = info.mock.calls.filter(({ arguments: [said] }) => /no payment processor/.test(String(said)));
  assert.equal(mentions.length, 1);
});

test("every code is used by some refusal in the source", () => {
  const folder = join(import.meta.dirname, "../../../src");
  const source = globSync("**/*.ts", { cwd: folder })
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("\n");
  // In wire-errors.ts, `wire` marks the errors of Fastify itself.
  const refused = new Set(
    Array.from(source.matchAll(/\b(?:ServiceError|HttpError|wire)\(\s*"([a-z_]+)"/g), ([, code]) => code),
  );
  if (/\binvalid\(/.test(source)) refused.add("validation");
  assert.deepEqual(
    codes.filter((code) => !refused.has(code)),
    [],
  );
});
