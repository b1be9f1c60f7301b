import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { until } from "@signsealship/testing/until";
import fastify from "fastify";
import { wireError } from "../../../src/kernel/http/errors/wire-errors.ts";
import { acceptPassedOn } from "../../../src/kernel/http/pass-on.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import type { Statement } from "../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../src/kernel/platform/ids.ts";
import { OwnNode } from "../../../src/kernel/platform/nodes.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";
import { nodesFinding } from "../../../src/upkeep/doctor/nodes.ts";

const secrets = secretBytes(Buffer.alloc(32, 1));

/** A node of a service with this master key. */
async function nodeWith(key = secrets): Promise<{ url: string; id: string }> {
  const own = new OwnNode({ secrets: key, clock: systemClock, url: null });
  const app = fastify({ logger: false });
  app.decorateRequest("clientAddress", null);
  app.setErrorHandler(wireError);
  acceptPassedOn(app, own);
  app.get("/healthz", async () => ({ status: "ok" }));
  await app.listen({ port: 0, host: "127.0.0.1" });
  await forTests({ stop: () => app.close() });
  return { url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`, id: own.id };
}

const nodes = [await nodeWith(), await nodeWith()] as const;

type Seen = { nodeUrl: string | null; leases?: { node: string; url: string | null }[]; machines?: number };

/** The finding of `doctor` about nodes, if the database has these leases and connections from this many machines. */
async function found({ nodeUrl, leases = [], machines = 1 }: Seen): Promise<string> {
  const query = async ({ text }: Statement) => (text.includes("pg_stat_activity") ? [{ machines }] : leases);
  const config = { media: {}, nodeUrl };
  const result = await nodesFinding({ config, db: { query }, secrets, clock: systemClock } as never);
  return typeof result === "string" ? `ok: ${result}` : `warning: ${result.warning}`;
}

const other = { node: newUuid(), url: "http://10.0.0.6:8080" };

describe("the check of NODE_URL", () => {
  test("requires it where there are several nodes", async () => {
    assert.match(await found({ nodeUrl: null }), /^ok: NODE_URL is not set, and only one node was seen/);
    assert.match(await found({ nodeUrl: null, machines: 2 }), /^warning: .*several nodes/);
    const one = { node: newUuid(), url: null };
    assert.match(await found({ nodeUrl: null, leases: [one] }), /^ok/);
    assert.match(await found({ nodeUrl: null, leases: [one, other] }), /^warning: .*several nodes/);
  });

  test("accepts the address of a node of this service", async () => {
    const { url, id } = nodes[0];
    assert.equal(await found({ nodeUrl: url }), `ok: ${url} answers as a node of this service`);
    assert.match(await found({ nodeUrl: url, leases: [{ node: id, url }, other] }), /^ok/);
  });

  test("names an address at which nothing answers, or something else does", async () => {
    assert.match(await found({ nodeUrl: "http://127.0.0.1:9" }), /^warning: .*can't be reached.*ECONNREFUSED/);
    const { url } = nodes[0];
    assert.match(await found({ nodeUrl: url.replace("http:", "https:") }), /^warning: .*speaks no TLS: is it an http/);
    const stranger = await nodeWith(secretBytes(Buffer.alloc(32, 2)));
    assert.match(await found({ nodeUrl: stranger.url }), /^warning: .*another program.*SECRETS_KEY/);
    const program = fastify({ logger: false }).get("/healthz", async () => ({ status: "ok" }));
    await program.listen({ port: 0, host: "127.0.0.1" });
    await forTests({ stop: () => program.close() });
    const at = `http://127.0.0.1:${(program.server.address() as AddressInfo).port}`;
    assert.match(await found({ nodeUrl: at }), /^warning: .*another program/);
  });

  test("names the address of a load balancer, and one that another node has, too", async () => {
    let asked = 0;
    const balancer = createServer((socket) => {
      const to = connect(Number(new URL(nodes[asked++ % 2 === 0 ? 0 : 1].url).port), "127.0.0.1");
      socket.pipe(to).pipe(socket);
    }).listen(0, "127.0.0.1");
    await until(() => balancer.listening);
    await forTests({ stop: async () => void balancer.close() });
    const url = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
    assert.match(await found({ nodeUrl: url }), /^warning: .*several nodes: it must be the address of one node/);
    const [first] = nodes;
    const same = { node: newUuid(), url: first.url };
    assert.match(await found({ nodeUrl: first.url, leases: [same] }), /^warning: .*address of another node, too/);
  });

  test("names a node without an address, and one that only its own machine reaches", async () => {
    const { url, id } = nodes[0];
    const leases = [
      { node: id, url },
      { node: newUuid(), url: null },
    ];
    assert.match(await found({ nodeUrl: url, leases }), /^warning: .*another node that has a session has no NODE_URL/);
    assert.match(await found({ nodeUrl: url, machines: 2 }), /^warning: .*this machine only/);
  });
});
