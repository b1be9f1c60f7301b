import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { lifecyclePage } from "../../../../../tools/lifecycle.ts";
import { processorEvents, transitionTable } from "../../../../src/orders/order/transitions/table.ts";

const source = fileURLToPath(new URL("../../../../src", import.meta.url));

const files = readdirSync(source, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ name, text: readFileSync(join(source, name), "utf8") }));

const named = (pattern: RegExp): string[] =>
  files
    .filter(({ text }) => pattern.test(text))
    .map(({ name }) => name)
    .sort();

test("only payments/ moves orders because of the processor", () => {
  const importers = named(/by-processor\.ts"/);
  assert.ok(importers.length > 0);
  for (const name of importers) assert.match(name, /^orders\/payments\//);
  const appliers = named(/from "[^"]*\/apply\.ts"/).filter((name) => name.startsWith("orders/order/"));
  assert.deepEqual([...appliers, ...named(/transitions\/apply\.ts"/)].sort(), [
    "orders/order/transitions/by-processor.ts",
    "orders/order/transitions/transitions.ts",
  ]);
});

test("every event that leads to Paid is the processor's", () => {
  const roads = transitionTable.filter(({ to }) => to === "Paid").map(({ on }) => on);
  assert.deepEqual(roads, ["payment_cleared"]);
  for (const on of roads) assert.ok(processorEvents.has(on));
});

test("only one statement writes the status of an existing order", () => {
  assert.deepEqual(named(/UPDATE\s+orders\s+SET[^;`]*\bstatus\s*=/i), ["orders/order/transitions/apply.ts"]);
});

test("docs/lifecycle.md equals the output of `npm run lifecycle`", () => {
  const page = readFileSync(new URL("../../../../../docs/lifecycle.md", import.meta.url), "utf8");
  assert.equal(page, lifecyclePage());
});
