import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Service, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();
const redocly = fileURLToPath(new URL("../../../node_modules/.bin/redocly", import.meta.url));
let service: Service;
type Document = {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, { operationId: string; summary: string; responses: Record<string, object> }>>;
};
let document: Document;

before(async () => {
  service = await startService({ DATA_DIR: folder.path });
  document = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as Document;
});
after(async () => {
  await service.stop();
  folder.remove();
});

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

test("every route of the interface is described, with a name, a summary and its refusals", () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => ({ path, method, ...about })),
  );
  assert.ok(operations.length >= 4);
  for (const { path, method, operationId, summary, responses } of operations) {
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

test("the readable description is served from here alone", async () => {
  const response = await fetch(`${service.baseUrl}/docs`);
  assert.equal(response.status, 200);
  assert.doesNotMatch(await response.text(), /(src|href)="https?:/);
});
