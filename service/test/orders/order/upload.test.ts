import assert from "node:assert/strict";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { newPartner, ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";

const folder = temporaryFolder();

const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off", ...ownProcess }));
const { headers } = await newPartner(service);

const limit = 35 * 1024 * 1024;

function pdfOf(bytes: number): Buffer {
  const filler = Buffer.alloc(bytes, "\n");
  examplePdf.copy(filler);
  return filler;
}

const blobs = (): string[] =>
  readdirSync(join(folder.path, "blobs"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

const url = () => `${service.baseUrl}/api/partner/orders`;
const post = (body: BodyInit, more: Record<string, string> = {}) =>
  fetch(url(), { method: "POST", headers: { ...headers, ...more }, body });

async function orderCount(): Promise<number> {
  return ((await (await fetch(`${url()}?limit=100`, { headers })).json()) as { orders: unknown[] }).orders.length;
}

/** Runs the attempt, and asserts that it left no order and no blob. */
async function leavesNothing<T>(attempt: () => Promise<T>): Promise<T> {
  const [orders, files] = [await orderCount(), blobs().length];
  const result = await attempt();
  assert.equal(await orderCount(), orders);
  assert.equal(blobs().length, files);
  return result;
}

const errorOf = async (response: Response): Promise<string> => {
  assert.equal(response.status, 400);
  return ((await response.json()) as { error: string }).error;
};

test("35 MiB are accepted, and one more byte gets a 400 that says 35 MB", async () => {
  assert.equal((await post(orderForm(minimal, pdfOf(limit)))).status, 201);
  const message = await leavesNothing(async () => errorOf(await post(orderForm(minimal, pdfOf(limit + 1)))));
  assert.equal(message, "document must be a PDF of at most 35 MB.");
});

test("a far larger body is refused by its declared length", async () => {
  const message = await leavesNothing(async () =>
    errorOf(await post(orderForm(minimal, pdfOf(limit + 4 * 1024 * 1024)))),
  );
  assert.equal(message, "document must be a PDF of at most 35 MB.");
});

test("a body without a declared length has the same limit", async () => {
  const stream = async (bytes: number) => {
    const source = new Response(orderForm(minimal, pdfOf(bytes)));
    const type = source.headers.get("content-type") ?? "";
    return fetch(url(), {
      method: "POST",
      headers: { ...headers, "Content-Type": type },
      body: source.body,
      duplex: "half",
    } as RequestInit);
  };
  assert.equal((await stream(100_000)).status, 201);
  assert.equal((await stream(limit)).status, 201);
  await leavesNothing(async () => errorOf(await stream(limit + 1)));
});

test("JSON instead of a form gets a 400 that says what to send", async () => {
  const send = () => post(JSON.stringify(minimal), { "Content-Type": "application/json" });
  assert.match(await leavesNothing(async () => errorOf(await send())), /multipart\/form-data/);
});

test("JSON that is too long is refused with 413 and the limit", async () => {
  const answer = await post(" ".repeat(256 * 1024 + 1), { "Content-Type": "application/json" });
  assert.deepEqual(
    [answer.status, await answer.json()],
    [413, { error: "The body is too large: a body that is not multipart/form-data may have at most 256 KiB." }],
  );
});

test("two documents, a document under another name and a repeated field are refused by name", async () => {
  const twice = orderForm(minimal);
  twice.append("document", new Blob([new Uint8Array(examplePdf)]), "second.pdf");
  assert.equal(await leavesNothing(async () => errorOf(await post(twice))), "document must be sent once.");
  const renamed = orderForm(minimal, null);
  renamed.append("file", new Blob([new Uint8Array(examplePdf)]), "file.pdf");
  assert.match(
    await leavesNothing(async () => errorOf(await post(renamed))),
    /^file must be a text field, not a file: the file is sent as document\.$/,
  );
  const typed = orderForm(minimal, null);
  typed.append("document", "hello");
  assert.equal(await leavesNothing(async () => errorOf(await post(typed))), "document must be a file.");
  const repeated = orderForm(minimal);
  repeated.append("email", "other@example.com");
  assert.equal(await leavesNothing(async () => errorOf(await post(repeated))), "email must be sent once.");
});

async function formBytes(document?: Buffer): Promise<{ type: string; body: Buffer }> {
  const response = new Response(orderForm(minimal, document));
  return { type: response.headers.get("content-type") ?? "", body: Buffer.from(await response.arrayBuffer()) };
}

test("a form that ends early gets a 400", async () => {
  const { type, body } = await formBytes();
  for (const length of [body.length - 20, body.length - 200, Math.floor(body.length / 2), 80]) {
    const half = body.subarray(0, length);
    assert.match(
      await leavesNothing(async () => errorOf(await post(half as BodyInit, { "Content-Type": type }))),
      /cut off or malformed|is required/,
    );
  }
});

test("a client that disconnects leaves no data, and the service continues", async () => {
  const { type, body } = await formBytes();
  const { hostname, port } = new URL(service.baseUrl);
  await leavesNothing(async () => {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.write(
      `POST /api/partner/orders HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.Authorization}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    socket.write(body.subarray(0, body.length - 100));
    await new Promise((resolve) => setTimeout(resolve, 200));
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 200));
  });
  assert.equal((await post(orderForm(minimal))).status, 201);
});

test("a boundary that is missing or never appears gets a 400", async () => {
  await leavesNothing(async () =>
    errorOf(await post(examplePdf as BodyInit, { "Content-Type": "multipart/form-data" })),
  );
  await leavesNothing(async () =>
    errorOf(await post(examplePdf as BodyInit, { "Content-Type": "multipart/form-data; boundary=never" })),
  );
});

test("the files on the disk reveal nothing of the document", async () => {
  assert.equal((await post(orderForm(minimal))).status, 201);
  // The first bytes of the document: too many to occur elsewhere by chance.
  const beginning = examplePdf.subarray(0, 16);
  for (const entry of readdirSync(join(folder.path, "blobs"), { recursive: true, withFileTypes: true }))
    if (entry.isFile()) assert.equal(readFileSync(join(entry.parentPath, entry.name)).includes(beginning), false);
});

test("twenty concurrent uploads of 35 MiB, of four firms, all succeed, and memory stays limited", async () => {
  // Firms without live access share memory for three such uploads, and each firm may use memory for one.
  const others = await Promise.all(["Beta", "Gamma", "Delta"].map((name) => newPartner(service, { name })));
  const memory = (field: string): number => {
    const status = readFileSync(`/proc/${service.process().pid}/status`, "utf8");
    return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  };
  // Resets the memory peak, which so far includes the earlier tests.
  writeFileSync(`/proc/${service.process().pid}/clear_refs`, "5");
  const idle = memory("VmRSS");
  const { type, body } = await formBytes(pdfOf(limit));
  const firms = [{ headers }, ...others];
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      const own = { ...firms[n % 4]?.headers, "Content-Type": type, "Content-Length": body.length };
      // Does not use fetch, which copies the bytes three times.
      const sent = request(url(), { method: "POST", headers: own, agent: false }).end(body);
      const [answer] = (await once(sent, "response")) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    }),
  );
  assert.deepEqual(new Set(statuses), new Set([201]));
  // At most three of these uploads are in memory at once, which is 105 MiB. All twenty would be 700 MiB.
  const grown = memory("VmHWM") - idle;
  assert.ok(grown < 450, `grew by ${grown} MiB`);
});
