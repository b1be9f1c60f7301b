import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Server } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import fastify, { type FastifyInstance } from "fastify";
import { clientAddress } from "../../../src/kernel/http/client-address.ts";
import { wireError } from "../../../src/kernel/http/errors/wire-errors.ts";
import { acceptPassedOn, Passing } from "../../../src/kernel/http/pass-on.ts";
import { openRateLimits } from "../../../src/kernel/http/rate-limits.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { OwnNode } from "../../../src/kernel/platform/nodes.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";

const secrets = secretBytes(Buffer.alloc(32, 1));
const limits = await openRateLimits({ enabled: true, redisUrl: null }, () => {});

async function started(add: (app: FastifyInstance) => void): Promise<string> {
  const app = fastify({ logger: false, forceCloseConnections: true });
  app.decorateRequest("clientAddress", null);
  app.setErrorHandler(wireError);
  add(app);
  await app.listen({ port: 0, host: "127.0.0.1" });
  await forTests({ stop: () => app.close() });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

const own = () => new OwnNode({ secrets, clock: systemClock, url: null });

/** The node to which requests are forwarded. `/echo` returns the request that arrived there. */
const holder = own();
let streams = 0;
let atWork = 0;
const finished = Promise.withResolvers<void>();
const holderUrl = await started((app) => {
  acceptPassedOn(app, holder);
  app.addContentTypeParser("text/plain", { parseAs: "string" }, (_, body, done) => done(null, body));
  app.post("/echo", { onRequest: limits.limit("sign-in") }, async (request, reply) => {
    const { host, cookie, connection, "x-forwarded-for": forwarded } = request.headers;
    return reply
      .code(201)
      .header("set-cookie", ["a=1", "b=2"])
      .send({ host, cookie, connection, forwarded, body: request.body, client: clientAddress(request) });
  });
  app.get("/stuck", () => new Promise(() => {}));
  app.post("/slow", async (_, reply) => {
    atWork++;
    await finished.promise;
    return reply.code(201).send("done");
  });
  app.get("/stream", (_, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { "content-type": "text/event-stream" });
    reply.raw.write("data: 1\n\n");
    streams++;
    reply.raw.on("close", () => streams--);
  });
});

let target = { node: holder.id, url: holderUrl, id: "session", page: "link" };
const ends = new Set<() => void>();
const passingNode = (limits: ConstructorParameters<typeof Passing>[1] = {}) =>
  started((app) => {
    const node = own();
    acceptPassedOn(app, node);
    const passing = new Passing(node, limits);
    app.addHook("preParsing", (request, reply) =>
      passing.pass(request, reply, target, (end) => {
        ends.add(end);
        return () => ends.delete(end);
      }),
    );
    app.all("/*", async () => "not passed on");
  });
const passingUrl = await passingNode();

const echo = () =>
  fetch(`${passingUrl}/echo?a=%20b`, {
    method: "POST",
    headers: { cookie: "c=3", "content-type": "text/plain", "x-forwarded-for": "203.0.113.9" },
    body: "hello",
  });

test("passes method, path, body, cookies and the client's address on, and the whole answer back", async () => {
  const answer = await echo();
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.headers.getSetCookie(), ["a=1", "b=2"]);
  assert.deepEqual(await answer.json(), {
    host: new URL(passingUrl).host,
    cookie: "c=3",
    connection: "close",
    forwarded: "127.0.0.1",
    body: "hello",
    client: "127.0.0.1",
  });
  assert.equal(ends.size, 0);
});

test("a passed request is not counted against the client's limit a second time", async () => {
  // The holder's limit is 10 requests, but it does not count requests that another node has passed on.
  for (let n = 0; n < 15; n++) assert.equal((await echo()).status, 201);
});

test("an endless answer ends with its client, with its node, and when another node takes over the session", async () => {
  const client = new AbortController();
  await fetch(`${passingUrl}/stream`, { signal: client.signal });
  await until(() => streams === 1 && ends.size === 1);
  client.abort();
  await until(() => streams === 0 && ends.size === 0);
  const other = await fetch(`${passingUrl}/stream`);
  await until(() => ends.size === 1);
  for (const end of ends) end();
  await assert.rejects(other.text());
  await until(() => streams === 0);
});

/** A server that accepts connections and never responds. */
async function silentServer(): Promise<Server> {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await until(() => server.listening);
  return server;
}

test("an unreachable node, an earlier process of it, and one that never answers until another has the session are 503", async () => {
  const good = target;
  const refused = async () => {
    const answer = await echo();
    assert.equal(answer.status, 503);
    assert.ok(answer.headers.get("retry-after"));
  };
  target = { ...good, node: own().id };
  await refused();
  target = { ...good, url: "http://127.0.0.1:9" };
  await refused();
  const server = await silentServer();
  target = { ...good, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const asked = refused();
  await until(() => ends.size === 1);
  for (const end of ends) end();
  await asked;
  server.close();
  target = good;
  assert.equal(ends.size, 0);
});

test("a node that accepts a connection and never agrees on TLS is 503", async () => {
  const good = target;
  const server = await silentServer();
  target = { ...good, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
  assert.equal((await fetch(`${passingUrl}/stream`)).status, 503);
  server.close();
  target = good;
  assert.equal(ends.size, 0);
});

const text = { "content-type": "text/plain" };

/** A request whose body a test sends piece by piece. */
function uploadTo(url: string) {
  const body = new TransformStream<Uint8Array, Uint8Array>();
  const pieces = body.writable.getWriter();
  const closing = new AbortController();
  const answer = fetch(`${url}/echo`, {
    method: "POST",
    headers: text,
    body: body.readable,
    signal: closing.signal,
    duplex: "half",
  } as RequestInit);
  return {
    answer,
    send: (text: string) => pieces.write(Buffer.from(text)),
    end: () => pieces.close(),
    async abort() {
      closing.abort();
      await assert.rejects(answer);
    },
  };
}

test("a slow upload may last longer than the other node's time limit for an answer", async () => {
  const answerMs = 1_500;
  const upload = uploadTo(await passingNode({ answerMs }));
  const since = performance.now();
  let sent = "";
  while (performance.now() - since < 2 * answerMs) {
    await upload.send("a");
    sent += "a";
    await sleep(100);
  }
  await upload.end();
  const answer = await upload.answer;
  assert.equal(answer.status, 201);
  assert.equal(((await answer.json()) as { body: string }).body, sent);
});

test("a request that stops sending its body is refused, and no longer counts toward the limits", async () => {
  const url = await passingNode({ bodyMs: 200, ofSession: 1 });
  const upload = uploadTo(url);
  await upload.send("a");
  const refused = await upload.answer;
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /body of this request has stopped coming/);
  assert.equal(ends.size, 0);
  assert.equal((await fetch(`${url}/echo`, { method: "POST", headers: text, body: "b" })).status, 201);
});

test("requests of one page leave room for other pages of their session, and a page's new request replaces its oldest one", async () => {
  const url = await passingNode({ ofPage: 3, ofSession: 5 });
  const stream = new AbortController();
  await fetch(`${url}/stream`, { signal: stream.signal });
  const stuck = [uploadTo(url), uploadTo(url), uploadTo(url), uploadTo(url)];
  const [first, second, ...rest] = stuck;
  assert.ok(first && second);
  // A page may have three requests. Each further request ends the page's oldest one, but never an event stream.
  await first.send("a");
  await until(() => ends.size === 2);
  await second.send("a");
  await until(() => ends.size === 3);
  for (const [index, upload] of rest.entries()) {
    await upload.send("a");
    const ended = await stuck[index]?.answer;
    assert.equal(ended?.status, 503);
    await ended?.text();
  }
  assert.equal(streams, 1);
  const ask = () => fetch(`${url}/echo`, { method: "POST", headers: text, body: "b" });
  const good = target;
  target = { ...good, page: "another link" };
  assert.equal((await ask()).status, 201);
  target = good;
  assert.equal((await ask()).status, 201);
  stream.abort();
  assert.match((await (await rest[0]?.answer)?.text()) ?? "", /Too many requests are passed on/);
  await rest[1]?.abort();
  await until(() => ends.size === 0);
});

test("a request whose whole body was sent is not ended by later ones of its page: requests without a body are", async () => {
  const url = await passingNode({ ofPage: 2 });
  const slow = () => fetch(`${url}/slow`, { method: "POST", headers: text, body: "b" });
  const first = slow();
  await until(() => atWork === 1);
  const stuck = fetch(`${url}/stuck`);
  await until(() => ends.size === 2);
  const second = slow();
  assert.equal((await stuck).status, 503);
  await until(() => atWork === 2);
  assert.equal((await fetch(`${url}/stuck`)).status, 503);
  finished.resolve();
  for (const answer of await Promise.all([first, second])) assert.equal(answer.status, 201);
  await until(() => ends.size === 0);
});

test("requests for one session leave room for other sessions", async () => {
  const url = await passingNode({ ofSession: 2, ofPage: 4 });
  const uploads = [uploadTo(url), uploadTo(url)];
  for (const upload of uploads) await upload.send("a");
  await until(() => ends.size === 2);
  const ask = () => fetch(`${url}/echo`, { method: "POST", headers: text, body: "b" });
  assert.equal((await ask()).status, 503);
  const good = target;
  target = { ...good, id: "another session" };
  assert.equal((await ask()).status, 201);
  target = good;
  for (const upload of uploads) await upload.abort();
  await until(() => ends.size === 0);
  assert.equal((await ask()).status, 201);
});

test("the body of a request that should have none is not sent after its head, where it would be another request", async () => {
  let received = "";
  const server = createServer((socket) =>
    socket.on("data", (bytes) => {
      received += bytes.toString();
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }),
  ).listen(0, "127.0.0.1");
  await until(() => server.listening);
  const good = target;
  target = { ...good, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
  const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
  const ask = async (head: string, body: string) => {
    received = "";
    const socket = connect(Number(new URL(passingUrl).port), "127.0.0.1");
    socket.write(`${head}\r\nHost: x\r\nConnection: close\r\n${body}`);
    await new Promise((resolve) => socket.on("close", resolve).resume());
    return received;
  };
  for (const method of ["GET", "HEAD"])
    for (const body of [
      `Transfer-Encoding: chunked\r\n\r\n${chunked}`,
      `Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    ]) {
      const passed = await ask(`${method} /echo HTTP/1.1`, body);
      assert.match(passed, new RegExp(`^${method} /echo HTTP/1.1\r\n`));
      assert.doesNotMatch(passed, /smuggled|content-length|transfer-encoding/i);
    }
  server.close();
  target = good;
});
