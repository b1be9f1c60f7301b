// tools/test.ts loads this module into each test process. A failed set-up can leave resources open that would keep the
// process running. So this module ends the process.
import { after, beforeEach } from "node:test";
import { isMainThread } from "node:worker_threads";

let timer: NodeJS.Timeout | undefined;

function endIn(seconds: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => process.exit(process.exitCode ?? 1), seconds * 1000).unref();
}

// The longest time until the first test, and for each test, in seconds. TEST_MINUTES may allow more than ten minutes,
// never less.
const maxSeconds = 60 * Math.max(10, Number(process.env["TEST_MINUTES"] ?? 0));

// Threads of a test process also load this module, and must not end the process.
if (isMainThread) {
  // Limits the time until the first test, and then the time of each test. A file with long tests may take longer in all
  // on a busy machine.
  endIn(maxSeconds);
  beforeEach(() => endIn(maxSeconds));
  // Runs after the file's tests, and before the hooks that the file registers later. Those hooks then have 20 seconds.
  after(() => endIn(20));
}
