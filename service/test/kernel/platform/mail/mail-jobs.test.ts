import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "@signsealship/testing/service";
import type { Environment } from "../../../../src/kernel/identity/identity.ts";
import type { Handler, Jobs, WorkOptions } from "../../../../src/kernel/platform/jobs/jobs.ts";
import { type Mail, type Mailer, openMailer, outboxFolder } from "../../../../src/kernel/platform/mail/mail.ts";
import { defineMail } from "../../../../src/kernel/platform/mail/mail-jobs.ts";
import type { RowMac } from "../../../../src/kernel/platform/row-mac.ts";

type Deps = { mailer: Mailer; rowMac: RowMac; done: string[] };

// The payloads of this queue have no MAC.
const rowMac: RowMac = { of: () => Buffer.alloc(36), holds: () => false, verify: () => {} };

const noted = defineMail({
  queue: "noted-mail",
  maxAttempts: 3,
  load: async ({ id }: { id: string; environment?: Environment }, _: Deps) => (id === "gone" ? null : `about ${id}`),
  write: (subject, { id, environment }) => ({
    id,
    to: "dana@example.com",
    ...(environment && { environment }),
    subject,
    greeting: "Hello,",
    lines: ["One line."],
    link: null,
    caution: "",
  }),
  onSent: async (subject, _, { done }) => done.push(subject),
});

/**
 * Sets up the mail queue. `job` runs one job, which sends a live mail through `send`. `done` collects the subjects that
 * `onSent` reports. `kept` collects the subjects of mails that were stored instead of sent.
 */
function working(send: (mail: Mail) => Promise<void>) {
  const [done, kept] = [[] as string[], [] as string[]];
  const queues = new Map<string, { handler: Handler<object>; options: WorkOptions | undefined }>();
  const jobs: Jobs = {
    work: (queue, handler, options) => queues.set(queue, { handler: handler as Handler<object>, options }),
    start: async () => {},
    stop: async () => {},
  };
  const mailer: Mailer = {
    send,
    keep: async ({ subject }) => void kept.push(subject),
    isUp: () => null,
    close: () => {},
  };
  noted.work(jobs, { mailer, rowMac, done });
  const { handler, options } = queues.get("noted-mail") ?? assert.fail("no such queue");
  const job = (payload: { id: string; environment?: Environment }) =>
    handler(payload, { attempt: 1, signal: AbortSignal.abort() });
  return { done, kept, options, job };
}

test("sends the loaded mail, in its queue with its attempts, and then reports it", async () => {
  const sent: Mail[] = [];
  const { done, options, job } = working(async (mail) => void sent.push(mail));
  await job({ id: "order 7" });
  assert.deepEqual(options, { maxAttempts: 3 });
  assert.deepEqual([sent[0]?.id, sent[0]?.to, sent[0]?.subject], ["order 7", "dana@example.com", "about order 7"]);
  assert.match(sent[0]?.text ?? "", /One line\./);
  assert.deepEqual(done, ["about order 7"]);
});

test("sends no mail that no longer applies", async () => {
  const { done, kept, job } = working(async () => assert.fail("sent"));
  await job({ id: "gone" });
  assert.deepEqual([done, kept], [[], []]);
});

test("stores the mail of a test order, and sends that of a live one", async () => {
  const sent: string[] = [];
  const { kept, job } = working(async ({ subject }) => void sent.push(subject));
  await job({ id: "1", environment: "test" });
  await job({ id: "2", environment: "live" });
  assert.deepEqual([kept, sent], [["TEST: about 1"], ["about 2"]]);
});

test("fails with the server, so that the job is retried and the mail is not reported as sent", async () => {
  const { done, job } = working(() => Promise.reject(new Error("451 try later")));
  await assert.rejects(job({ id: "1" }), /451/);
  assert.deepEqual(done, []);
});

test("writes a log's checkpoint into a header that is folded at spaces", async () => {
  const folder = temporaryFolder();
  const mailer = openMailer({
    smtpUrl: null,
    mailFrom: "SignSealShip <sign@example.com>",
    dataDir: folder.path,
    baseUrl: "https://sign.example.com",
    clock: () => new Date("2026-03-04T05:06:07Z"),
  });
  const checkpoint = `sign.example.com/log/live\n12\n${"r".repeat(44)}\n\n— sign.example.com/log/live ${"s".repeat(92)}\n`;
  try {
    await mailer.keep({ id: "1", to: "dana@example.com", subject: "Done", text: "Done.", html: "Done.", checkpoint });
    const [file = ""] = readdirSync(outboxFolder(folder.path));
    const mail = readFileSync(join(outboxFolder(folder.path), file), "utf8");
    const value = /^Service-Log-Checkpoint:((?:.|\r\n )*)\r\n/m.exec(mail)?.[1] ?? "";
    assert.equal(Buffer.from(value.replace(/\s/g, ""), "base64").toString(), checkpoint);
    assert.ok(mail.split("\r\n").every((line) => line.length <= 78 || !line.startsWith(" ")));
  } finally {
    folder.remove();
  }
});
