// tools/test.ts loads this into each test process, so that resources left open by a failed set-up don't keep the file
// running.
import { after, beforeEach } from "node:test";
import { isMainThread } from "node:worker_threads";

let timer: NodeJS.Timeout | undefined;

function endIn(seconds: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => process.exit(process.exitCode ?? 1), seconds * 1000).unref();
}

// A run may allow its files more than the ten minutes below.
const longest = 60 * Math.max(10, Number(process.env["TEST_MINUTES"] ?? 0));

// Threads of a test process also load this module, and must not end the process.
if (isMainThread) {
  // Allows ten minutes at first, because a file may wait before its first test, and again for each test: on a busy
  // machine, a file with long tests takes longer than ten minutes in all.
  endIn(longest);
  beforeEach(() => endIn(longest));
  // Runs after the file's own tests. The hooks that the file registers later run after this hook.
  after(() => endIn(20));
}
