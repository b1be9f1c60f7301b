import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { buildOracle } from "@signsealship/testing/tools/log/oracle";
import { fsckProgram } from "@signsealship/testing/tools/tessera-fsck";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { MacOfRow } from "../../../src/kernel/platform/database/state-mac.ts";

const { service, db } = await forTests(openHarness());
const leaves = repeats(100_000, 2_000);

/** Queues lines as the service does, many at once. */
async function queue(first: number, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) => `artifact/v1 ${String(first + i).padStart(64, "0")}\n`);
  const macs = lines.map((line) => new MacOfRow("log_entries", { log: "test", line }));
  await db.query(sql`
    INSERT INTO log_entries (log, line, queued_at, row_mac)
    SELECT 'test', line, now(), mac FROM unnest(${lines}::text[], ${macs}::bytea[]) AS n (line, mac)`);
}

const published = async () =>
  (await db.query<{ size: number }>(sql`SELECT max(size) AS size FROM log_checkpoints WHERE log = 'test'`))[0]?.size ??
  0;

test(
  `tessera's fsck over HTTP and Go's own packages accept the whole log of ${leaves} leaves, and refuse it with one changed byte`,
  needs("tesseraFsck", "go"),
  async () => {
    const folder = temporaryFolder();
    const mirror = join(folder.path, "mirror");
    for (const [first, end] of [
      [0, leaves / 2],
      [leaves / 2, leaves],
    ] as const) {
      for (let at = first; at < end; at += 5_000) await queue(at, Math.min(5_000, end - at));
      await until(async () => (await published()) === end);
      // Keeps the checkpoint of the first half. Below, Go's packages verify that the whole log extends this first half.
      if (end === leaves) copyFileSync(join(mirror, "checkpoint"), join(mirror, "checkpoint.old"));
      await service.cli("log", "export", mirror, "--test");
    }
    const origin = readFileSync(join(mirror, "checkpoint"), "utf8").split("\n")[0] ?? "";
    /**
     * Runs fsck and reads its output, because it exits with 0 even when it finds a fault. With fewer workers than
     * tiles, it would hang after the first fault.
     */
    const isWhole = (from: string): boolean => {
      const args = [
        "--storage_url",
        from,
        "--public_key",
        join(mirror, "vkey"),
        "--origin",
        origin,
        "--ui=false",
        "-N=16",
      ];
      const { stderr } = spawnSync(fsckProgram, args, { encoding: "utf8", timeout: 60_000 });
      return stderr.includes(`Successfully fsck'd log with size ${leaves} `) && !stderr.includes("fsck failed");
    };
    const oracle = buildOracle(folder.path);
    const check = () => spawnSync(oracle, [mirror], { encoding: "utf8" });
    const { status, stdout, stderr } = check();
    assert.equal(status, 0, stderr);
    assert.match(stdout, new RegExp(`^ok: ${leaves} entries, root, bundles, inclusion, consistency`));
    assert.ok(isWhole(`${service.baseUrl}/log/test/`));
    assert.ok(isWhole(`file://${mirror}/`));
    for (const tile of ["tile/0/000", "tile/0/003", "tile/entries/001"]) {
      const path = join(mirror, tile);
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.with(77, (bytes[77] ?? 0) ^ 1));
      assert.ok(!isWhole(`file://${mirror}/`), tile);
      assert.notEqual(check().status, 0, tile);
      writeFileSync(path, bytes);
    }
    folder.remove();
  },
);
