import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();
const redocly = fileURLToPath(new URL("../../../../node_modules/.bin/redocly", import.meta.url));
type Ref = { $ref: string };
type Response = { headers: Record<string, Ref>; content?: Record<string, { schema: Ref }> };
type Operation = {
  operationId: string;
  summary: string;
  security?: Record<string, string[]>[];
  parameters?: { name: string }[];
  requestBody?: { required: boolean; content: Record<string, object> };
  responses: Record<string, Response>;
};
type Document = {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { headers: Record<string, object>; schemas: Record<string, { required?: string[] }> };
};

const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off", PLAYBOOKS: "on" }));
const document = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as Document;

test("the published description is OpenAPI 3.1 of interface 1.0.0 and passes a linter", () => {
  assert.match(document.openapi, /^3\.1\./);
  assert.equal(document.info.version, "1.0.0");
  const file = join(folder.path, "openapi.json");
  writeFileSync(file, JSON.stringify(document));
  const rules = join(folder.path, "redocly.yaml");
  writeFileSync(
    rules,
    "extends: [recommended]\nrules:\n  no-server-example.com: off\n  operation-4xx-response: error\n",
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, [redocly, "lint", file, "--config", rules], {
    encoding: "utf8",
    env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
  });
  assert.equal(status, 0, stdout + stderr);
});

const operations = () =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => ({ path, method, ...about })),
  );

test("every route of the interface is described, with a name, a summary and its refusals", () => {
  assert.ok(operations().length >= 4);
  for (const { path, method, operationId, summary, responses } of operations()) {
    assert.ok(operationId && summary, `${method} ${path}`);
    assert.ok(
      Object.keys(responses).some((status) => status.startsWith("2")),
      `${method} ${path} has no success`,
    );
    assert.ok(
      Object.keys(responses).some((status) => status.startsWith("4")),
      `${method} ${path} has no refusal`,
    );
  }
});

test("the route that ends a copy link describes the conflict with a change of the closing", () => {
  const { responses = {} } = operations().find(({ operationId }) => operationId === "endCopyLink") ?? {};
  assert.deepEqual(
    Object.keys(responses).filter((status) => ["404", "409"].includes(status)),
    ["404", "409"],
  );
});

test("every refusal is described in both of its forms, and the problem's members equal the sent ones", async () => {
  const refusals = operations().flatMap(({ responses }) =>
    Object.entries(responses).filter(([status, { content }]) => Number(status) >= 400 && content),
  );
  assert.ok(refusals.length > 100);
  for (const [, { content }] of refusals)
    assert.deepEqual(Object.keys(content ?? {}), ["application/json", "application/problem+json"]);
  const problem = await fetch(`${service.baseUrl}/api/partner/orders`, {
    headers: { Accept: "application/problem+json" },
  });
  assert.deepEqual(document.components.schemas["Problem"]?.required, Object.keys((await problem.json()) as object));
});

test("headers are described where they are sent", async () => {
  const named = (response: Response | undefined) => Object.keys(response?.headers ?? {});
  for (const { path, method, responses, parameters = [] } of operations())
    for (const [status, response] of Object.entries(responses)) {
      const where = `${method} ${path} ${status}`;
      assert.ok(named(response).includes("Request-Id"), where);
      assert.equal(named(response).includes("RateLimit"), "429" in responses, where);
      assert.equal(named(response).includes("Retry-After"), ["429", "503"].includes(status), where);
      assert.ok("503" in responses, where);
      const keepsAnswers = parameters.some(({ name }) => name === "idempotency-key") && Number(status) < 300;
      assert.equal(named(response).includes("Idempotent-Replayed"), keepsAnswers, where);
      for (const { $ref } of Object.values(response.headers))
        assert.ok(document.components.headers[$ref.replace("#/components/headers/", "")], $ref);
    }
  assert.ok(named(document.paths["/api/partner/orders"]?.["post"]?.responses["201"]).includes("Idempotent-Replayed"));
});

test("the described errors for a body that is too large, of another type or missing are the real ones", async () => {
  const { headers } = await newPartner(service);
  const withBody = operations().filter(
    ({ requestBody, security = [{}] }) =>
      requestBody && (security.length === 0 || security.some((each) => "partnerKey" in each)),
  );
  const statuses = { tooLarge: 0, otherType: 0, leftOut: 0 };
  for (const { path, method, requestBody, responses } of withBody) {
    const url = service.baseUrl + path.replace(/\{[^}]+\}/g, "a".repeat(40));
    const send = async (type: string, body: string) =>
      (await fetch(url, { method, headers: { ...headers, "Content-Type": type }, body })).status;
    const types = Object.keys(requestBody?.content ?? {});
    const [json] = types.filter((type) => type === "application/json" || type.endsWith("urlencoded"));
    const large = json ?? (types.includes("multipart/form-data") ? "application/json" : undefined);
    if (large) {
      assert.equal(await send(large, " ".repeat(300_000)), 413, path);
      statuses.tooLarge += 1;
    }
    assert.equal("413" in responses, large !== undefined, path);
    assert.equal((await send("text/plain", "x")) === 415, "415" in responses, path);
    statuses.otherType += "415" in responses ? 1 : 0;
    if (requestBody?.required === false) {
      assert.equal(await send("application/json", ""), 404, path);
      statuses.leftOut += 1;
    }
  }
  assert.ok(statuses.tooLarge >= 8 && statuses.otherType >= 7, JSON.stringify(statuses));
  assert.equal(statuses.leftOut, 4);
});

test("the readable description is served without other hosts", async () => {
  for (const path of ["/docs", "/docs/reference"]) {
    const response = await fetch(service.baseUrl + path);
    assert.equal(response.status, 200, path);
    assert.doesNotMatch(await response.text(), /(src|href)="https?:/, path);
  }
});
