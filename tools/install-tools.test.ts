import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { toolsOf } from "./install-tools.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

test("names no tool for a test that requires none, even if it starts a service", () => {
  assert.deepEqual(toolsOf(["service/test/kernel/platform/memory-budget.test.ts"]), []);
  assert.deepEqual(toolsOf(["service/test/orders/order/upload-places.test.ts"]), []);
});

test("names the tools that a file requires, and not those of another", () => {
  const tools = toolsOf(["service/test/evidence/seals/cms/cms.test.ts"]);
  assert.ok(tools.includes("openssl"));
  assert.ok(!tools.includes("chromium"));
});

test("names Python with each of its libraries", () => {
  const tools = toolsOf(["packages/evidence/test/ots/interop.test.ts", "service/test/pages/guides/samples.test.ts"]);
  assert.ok(tools.includes("python"));
});

test("names a tool for every file that requires one", () => {
  const patterns = ["packages/*/test/**/*.test.ts", "service/test/**/*.test.ts", "tools/**/*.test.ts"];
  const asking = globSync(patterns, { cwd: root }).filter((file) =>
    /import \{[^}]*\b(?:needs|testsNeeding)\b[^}]*\} from/.test(readFileSync(join(root, file), "utf8")),
  );
  assert.ok(asking.length > 20);
  assert.deepEqual(
    asking.filter((file) => toolsOf([file]).length === 0),
    [],
  );
});
