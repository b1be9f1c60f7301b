// tools/test.ts loads this into each test process, so that resources left open by a failed set-up don't keep the file
// running.
import { after } from "node:test";
import { isMainThread } from "node:worker_threads";

const endIn = (seconds: number) => void setTimeout(() => process.exit(process.exitCode ?? 1), seconds * 1000).unref();

// Threads of a test process also load this module, and must not end the process.
if (isMainThread) {
  // Allows ten minutes at first, because a file may wait for something before its first test.
  endIn(600);
  // Runs after the file's own tests. The hooks that the file registers later run after this hook.
  after(() => endIn(20));
}
