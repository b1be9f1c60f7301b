import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { temporaryFolder } from "@signsealship/testing/service";
import { passableMode, prepareDataFolder } from "../../src/kernel/platform/data-folder.ts";
import { openEmbeddedPostgres } from "../../src/kernel/platform/postgres/embedded.ts";

const folder = temporaryFolder();
after(() => folder.remove());
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("only the owner can read a new data folder", () => {
  const made = join(folder.path, "above", "data");
  prepareDataFolder(made);
  assert.equal(modeOf(made), passableMode().toString(8));
  assert.equal(passableMode() & 0o066, 0);
});

test("only the owner can read the files of the database server next to its cluster", async () => {
  const data = join(folder.path, "database");
  await prepareDatabase(data);
  const server = await openEmbeddedPostgres(data);
  try {
    const at = join(data, "postgres");
    assert.deepEqual(
      [at, join(at, "holders"), join(at, "server.log"), join(at, "holders", String(process.pid))].map(modeOf),
      [passableMode().toString(8), "700", "600", "600"],
    );
  } finally {
    await server.release();
  }
});
