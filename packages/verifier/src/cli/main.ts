import { runVerify } from "./run.ts";

// A reader such as head may close the pipe early, which is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
});

process.exitCode = await runVerify(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  outIsTty: process.stdout.isTTY === true,
  errIsTty: process.stderr.isTTY === true,
  now: Date.now,
  fetch: globalThis.fetch,
  trustedByDefault: [],
});
