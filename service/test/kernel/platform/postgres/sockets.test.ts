import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { openDatabase } from "../../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openEmbeddedPostgres } from "../../../../src/kernel/platform/postgres/embedded.ts";

const modeOf = (path: string) => statSync(path).mode & 0o777;

// The second name is short in characters, but its path is too long in bytes.
for (const name of ["x".repeat(80), "ж".repeat(40)])
  test(`a data folder whose name has ${name.length} characters (${Buffer.byteLength(name)} bytes) has its socket in a new private folder, which every process finds`, async () => {
    const folder = temporaryFolder();
    chmodSync(folder.path, 0o755);
    const dataDir = join(folder.path, name);
    mkdirSync(dataDir);
    // A path derived from the data folder alone: another user could have created it earlier, with a server of their own.
    const hash = createHash("sha256").update(join(dataDir, "postgres")).digest("hex").slice(0, 16);
    const guessable = join(tmpdir(), `signsealship-${hash}`);
    mkdirSync(guessable, { mode: 0o777 });
    try {
      await prepareDatabase(dataDir);
      const server = await openEmbeddedPostgres(dataDir);
      const { host } = server.connection;
      assert.notEqual(host, guessable);
      assert.deepEqual(readdirSync(guessable), []);
      assert.equal(modeOf(host), 0o700);
      // A second process that opens the same database gets the path of the socket.
      const joined = await openEmbeddedPostgres(dataDir);
      assert.equal(joined.connection.host, host);
      const db = openDatabase(joined.connection, () => {});
      assert.deepEqual(await db.query(sql`SELECT 1 AS one`), [{ one: 1 }]);
      await db.close();
      await server.release();
      assert.equal(existsSync(host), false);
    } finally {
      rmSync(guessable, { recursive: true });
      folder.remove();
    }
  });

test("a link in place of the socket's folder is refused, and its target stays unchanged", async () => {
  const folder = temporaryFolder();
  const elsewhere = temporaryFolder();
  try {
    chmodSync(elsewhere.path, 0o755);
    const { uid } = statSync(elsewhere.path);
    await prepareDatabase(folder.path);
    symlinkSync(elsewhere.path, join(folder.path, "postgres/run"));
    await assert.rejects(openEmbeddedPostgres(folder.path), /postgres\/run is not a folder: remove it/);
    assert.deepEqual([modeOf(elsewhere.path), statSync(elsewhere.path).uid], [0o755, uid]);
  } finally {
    folder.remove();
    elsewhere.remove();
  }
});
