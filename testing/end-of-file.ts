// Loaded into each test process by tools/test.ts: what a failed set-up leaves open keeps no file running for ever.
import { after } from "node:test";
import { isMainThread } from "node:worker_threads";

const endIn = (seconds: number) => void setTimeout(() => process.exit(process.exitCode ?? 1), seconds * 1000).unref();

// Threads of a test process load this, too.
if (isMainThread) {
  // A file may wait for something before its first test.
  endIn(600);
  // The hooks of the file itself come after this one.
  after(() => endIn(20));
}
