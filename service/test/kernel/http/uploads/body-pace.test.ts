import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import fastify from "fastify";
import { wireError } from "../../../../src/kernel/http/errors/wire-errors.ts";
import {
  acceptMultipart,
  type BodyPace,
  ignoreMultipart,
  readForm,
} from "../../../../src/kernel/http/uploads/multipart.ts";
import { createUploadMemory } from "../../../../src/kernel/http/uploads/upload-memory.ts";
import type { UploadHolder } from "../../../../src/kernel/http/uploads/upload-places.ts";
import { memoryHolder } from "../../../../src/kernel/platform/bounds/memory-budget.ts";
import { beginUpload, pieces, textPart } from "./raw-upload.ts";

const pace: BodyPace = { windowMs: 600, minBytes: 1000, minBytesAtMost: 1000, maxBytes: 40 * 1024 * 1024 };
const principal = {
  partnerId: "firm",
  environment: "test",
  firmName: "",
  tier: "trial",
  liveEnabled: false,
  key: null,
  member: null,
} as const;
const megabyte = Buffer.alloc(1024 * 1024, "x");
const small = pieces("file", Buffer.from("%PDF-1.4"));
const large = pieces("file", Buffer.alloc(30_000, "x"));
const tooLong = 37 * 1024 * 1024;
let authenticated = 0;

const app = await forTests(fastify());
app.decorateRequest("principal", null);
app.setErrorHandler(wireError);
ignoreMultipart(app, pace);
await acceptMultipart(app);
app.addHook("onRequest", async (request) => {
  request.principal = principal;
});
// The memory of all uploads. It suffices for one upload of 30,000,000 bytes, but not for two.
const size = 36 * 1024 * 1024;
const memory = createUploadMemory({ total: size, perHolder: size });
const places = { reserve: (holder: UploadHolder, bytes: number) => memory.reserve(memoryHolder(holder), bytes, 100) };
const messages = { notMultipart: "no form", tooLarge: "too large", incomplete: "incomplete" };
const authenticate = async () => {
  authenticated += 1;
};
app.post("/upload", async (request) => {
  const form = await readForm(request, { filePart: "file", places, messages, authenticate }, pace);
  const answer = { bytes: form.upload?.bytes.length ?? null };
  form.release();
  return answer;
});
app.post("/growing", async (request) => {
  const growing = { ...pace, windowMs: 300, minBytes: 500, minBytesAtMost: 100_000 };
  return readForm(request, { filePart: "file", places, messages, authenticate }, growing);
});
app.post("/typed", async (request) => {
  const typed = new Map<string, string>();
  const rules = { filePart: "file", places, messages, authenticate, typed };
  return readForm(request, rules, pace).catch((error) => ({ error: error.message, typed: [...typed] }));
});
await app.listen({ port: 0, host: "127.0.0.1" });
const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;

const answer = (upload: { received: () => string }, pattern: RegExp) => until(() => pattern.test(upload.received()));

test("an upload without data gets a 400, and the next in the queue gets its memory", async () => {
  const idle = await beginUpload(`${url}/upload`, { "Content-Length": 30_000_000 });
  const next = await beginUpload(`${url}/upload`, { "Content-Length": 30_000_000 });
  await answer(idle, /^HTTP\/1\.1 400 .*incomplete/s);
  assert.equal(next.received(), "");
  await answer(next, /^HTTP\/1\.1 400 .*incomplete/s);
  const third = await beginUpload(`${url}/upload`, { "Content-Length": small.length });
  await third.send(small.head + small.bytes + small.end);
  await answer(third, /^HTTP\/1\.1 200 .*"bytes":8\b/s);
  for (const upload of [idle, next]) await until(upload.closed);
  third.hangUp();
});

test("an upload that stops in the middle of its file, or only trickles, gets a 400 too", async () => {
  const stopped = await beginUpload(`${url}/upload`, { "Content-Length": 10_000_000 });
  await stopped.send(large.head);
  await stopped.send(large.bytes);
  await answer(stopped, /^HTTP\/1\.1 400 .*incomplete/s);
  const dripping = await beginUpload(`${url}/upload`, { "Content-Length": 10_000_000 });
  await dripping.send(small.head);
  await until(async () => {
    await dripping.send("x");
    return /^HTTP\/1\.1 400 .*incomplete/s.test(dripping.received());
  });
  for (const upload of [stopped, dripping]) upload.hangUp();
});

test("an upload at the required pace may take longer than a window, and its caller is authenticated again", async () => {
  const before = authenticated;
  const slow = await beginUpload(`${url}/upload`, { "Content-Length": large.length });
  await slow.send(large.head);
  const begun = performance.now();
  let sent = 0;
  await until(async () => {
    const due = Math.min(large.bytes.length, Math.floor((performance.now() - begun) * 15));
    if (due > sent) await slow.send(large.bytes.subarray(sent, due));
    sent = due;
    return sent === large.bytes.length;
  });
  await slow.send(large.end);
  await answer(slow, /^HTTP\/1\.1 200 .*"bytes":30000\b/s);
  assert.equal(authenticated, before + 1);
  slow.hangUp();
});

test("an upload that arrives at once needs no second authentication of its caller", async () => {
  const before = authenticated;
  const quick = await beginUpload(`${url}/upload`, { "Content-Length": small.length });
  await quick.send(small.head + small.bytes + small.end);
  await answer(quick, /"bytes":8\b/);
  assert.equal(authenticated, before);
  quick.hangUp();
});

test("a sender that disconnects while it waits for memory gets none later", async () => {
  const first = await beginUpload(`${url}/upload`, { "Content-Length": 30_000_000 });
  const gone = await beginUpload(`${url}/upload`, { "Content-Length": 30_000_000 });
  await answer(first, /400/);
  gone.hangUp();
  const next = await beginUpload(`${url}/upload`, { "Content-Length": small.length });
  await next.send(small.head + small.bytes + small.end);
  await answer(next, /"bytes":8\b/);
  for (const upload of [first, next]) upload.hangUp();
});

test("a declared length above the maximum is refused before the first byte, and its rest is read only for a while", async () => {
  for (const [path, length] of [
    ["/upload", tooLong],
    ["/upload", 99_999_999],
    ["/typed", 99_999_999],
  ] as const) {
    const upload = await beginUpload(url + path, { "Content-Length": length });
    await answer(upload, /too large/);
    await until(upload.closed);
  }
});

test("the rest of a refused body is read up to a limit, then the connection ends", async () => {
  const upload = await beginUpload(`${url}/upload`, { "Content-Length": 10_000_000_000 });
  await answer(upload, /^HTTP\/1\.1 400 .*too large/s);
  let sent = 0;
  await until(async () => {
    await upload.send(megabyte);
    sent += 1;
    return upload.closed();
  });
  assert.ok(sent >= 40, `${sent} MB`);
});

test("a body without a declared length ends at the same size", async () => {
  for (const path of ["/upload", "/typed"]) {
    const upload = await beginUpload(url + path, { "Transfer-Encoding": "chunked" });
    const chunk = Buffer.concat([Buffer.from("100000\r\n"), megabyte, Buffer.from("\r\n")]);
    await upload.send(`${small.head.length.toString(16)}\r\n${small.head}\r\n`);
    await until(async () => {
      await upload.send(chunk);
      return upload.closed();
    });
    assert.match(upload.received(), /too large/);
  }
});

test("of a form that is slightly too long the fields are read, before and after the file", async () => {
  const { head, end } = pieces("file", megabyte, { email: "a@b.co" });
  const note = textPart("note", "kept");
  const last = `\r\n${note}${end.trimStart()}`;
  const length = head.length + 38 * megabyte.length + last.length;
  const upload = await beginUpload(`${url}/typed`, { "Content-Length": length });
  await upload.send(head);
  for (let n = 0; n < 38; n++) await upload.send(megabyte);
  await upload.send(last);
  await answer(upload, /"too large".*\["email","a@b.co"\],\["note","kept"\]/s);
  upload.hangUp();
});

test("the required pace grows from window to window: a pace that suffices at first is too slow later", async () => {
  const begun = performance.now();
  const upload = await beginUpload(`${url}/growing`, { "Content-Length": 10_000_000 });
  await upload.send(large.head);
  while (!/^HTTP\/1\.1 400 .*incomplete/s.test(upload.received())) {
    await upload.send("x".repeat(60));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.ok(performance.now() - begun > 500);
  upload.hangUp();
});
