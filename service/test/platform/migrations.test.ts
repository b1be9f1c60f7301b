import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

test("every migration has a number of its own, from 1 without a gap", () => {
  const names = readdirSync(join(import.meta.dirname, "../../migrations")).filter((name) => name.endsWith(".sql"));
  assert.deepEqual(
    names.map((name) => Number(name.slice(0, 4))).sort((a, b) => a - b),
    names.map((_, index) => index + 1),
  );
});
