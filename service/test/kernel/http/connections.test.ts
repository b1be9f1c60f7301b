import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { boundConnections } from "../../../src/kernel/http/client-address.ts";

/** A server with these limits, which sends one byte on each connection that it keeps. */
async function bounded(t: TestContext, unbounded: string[]) {
  let refused = 0;
  const server = createServer();
  boundConnections(server, { perAddress: 3, unbounded, onRefused: () => refused++ });
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    if (!socket.destroyed) socket.write("1");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const open = async (localAddress: string): Promise<Socket | null> => {
    const socket = connect({ port, host: "127.0.0.1", localAddress });
    sockets.push(socket);
    socket.on("error", () => {});
    const isKept = await Promise.race([once(socket, "data").then(() => true), once(socket, "close").then(() => false)]);
    return isKept ? socket : null;
  };
  return { open, refusals: () => refused };
}

test("closes connections of an address beyond its limit, and keeps those of another", async (t) => {
  const { open, refusals } = await bounded(t, []);
  for (let n = 0; n < 3; n++) assert.ok(await open("127.0.0.1"));
  assert.ok((await open("127.0.0.1")) === null);
  assert.equal(refusals(), 1);
  assert.ok(await open("127.0.0.2"));
});

test("accepts a new connection of an address once one of its own has ended", async (t) => {
  const { open } = await bounded(t, []);
  const first = await open("127.0.0.1");
  for (let n = 0; n < 2; n++) assert.ok(await open("127.0.0.1"));
  assert.ok(first);
  first.destroy();
  await once(first, "close");
  let next = await open("127.0.0.1");
  // The server notices the closed connection a little later than the client.
  while (next === null) next = await open("127.0.0.1");
  assert.ok((await open("127.0.0.1")) === null);
});

test("keeps every connection of a trusted proxy", async (t) => {
  const { open, refusals } = await bounded(t, ["127.0.0.0/8"]);
  for (let n = 0; n < 10; n++) assert.ok(await open("127.0.0.1"));
  assert.equal(refusals(), 0);
});
