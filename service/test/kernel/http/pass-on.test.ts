import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import fastify, { type FastifyInstance } from "fastify";
import { clientAddress } from "../../../src/kernel/http/client-address.ts";
import { wireError } from "../../../src/kernel/http/errors/wire-errors.ts";
import { Passing, takePassedOn } from "../../../src/kernel/http/pass-on.ts";
import { openRateLimits } from "../../../src/kernel/http/rate-limits.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { OwnNode } from "../../../src/kernel/platform/nodes.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";

const secrets = secretBytes(Buffer.alloc(32, 1));
const limits = await openRateLimits({ enabled: true, redisUrl: null }, () => {});

async function started(add: (app: FastifyInstance) => void): Promise<string> {
  const app = fastify({ logger: false });
  app.decorateRequest("clientAddress", null);
  app.setErrorHandler(wireError);
  add(app);
  await app.listen({ port: 0, host: "127.0.0.1" });
  await forTests({ stop: () => app.close() });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

const own = () => new OwnNode({ secrets, clock: systemClock, url: null });

/** The node that has something: it answers with what it was asked. */
const holder = own();
let streams = 0;
const holderUrl = await started((app) => {
  takePassedOn(app, holder);
  app.addContentTypeParser("text/plain", { parseAs: "string" }, (_, body, done) => done(null, body));
  app.post("/echo", { onRequest: limits.limit("sign-in") }, async (request, reply) => {
    const { host, cookie, connection, "x-forwarded-for": forwarded } = request.headers;
    return reply
      .code(201)
      .header("set-cookie", ["a=1", "b=2"])
      .send({ host, cookie, connection, forwarded, body: request.body, client: clientAddress(request) });
  });
  app.get("/stream", (_, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { "content-type": "text/event-stream" });
    reply.raw.write("data: 1\n\n");
    streams++;
    reply.raw.on("close", () => streams--);
  });
});

let target = { node: holder.id, url: holderUrl };
const ends = new Set<() => void>();
const passingUrl = await started((app) => {
  const node = own();
  takePassedOn(app, node);
  const passing = new Passing(node);
  app.addHook("preParsing", (request, reply) =>
    passing.pass(request, reply, target, (end) => {
      ends.add(end);
      return () => ends.delete(end);
    }),
  );
  app.all("/*", async () => "not passed on");
});

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
    ...{ host: new URL(passingUrl).host, cookie: "c=3", connection: "close" },
    ...{ forwarded: "127.0.0.1", body: "hello", client: "127.0.0.1" },
  });
  assert.equal(ends.size, 0);
});

test("a passed request is not counted against the client's limit a second time", async () => {
  // The limit is 10 requests, and each node has counted for itself.
  for (let n = 0; n < 15; n++) assert.equal((await echo()).status, 201);
});

test("an answer that goes on ends with its client, with its node, and when another node has the session", async () => {
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

/** A server that accepts connections and never answers. */
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
  target = { node: own().id, url: holderUrl };
  await refused();
  target = { node: holder.id, url: "http://127.0.0.1:9" };
  await refused();
  const server = await silentServer();
  target = { node: holder.id, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  const asked = refused();
  await until(() => ends.size === 1);
  for (const end of ends) end();
  await asked;
  server.close();
  target = good;
  assert.equal(ends.size, 0);
});
