import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();
after(() => folder.remove());

for (const [first, second] of [
  ["SIGTERM", "SIGTERM"],
  ["SIGINT", "SIGTERM"],
] as const)
  test(`${first} to the process group and ${second} passed on stop service and database in order`, async () => {
    const service = await startService({ DATA_DIR: folder.path, ...ownProcess });
    const running = join(folder.path, "postgres/cluster/postmaster.pid");
    assert.ok(existsSync(running));
    const ended = once(service.process(), "exit");
    service.process().kill(first);
    service.process().kill(second);
    assert.deepEqual(await ended, [0, null]);
    assert.ok(!existsSync(running), "the database is stopped");
  });
