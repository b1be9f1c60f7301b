import assert from "node:assert/strict";
import { connect, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import { TLSSocket } from "node:tls";
import { prepareDatabase } from "@signsealship/testing/data-template";
import { makeAuthority } from "@signsealship/testing/doubles/webhook-catcher";
import { forTests } from "@signsealship/testing/for-tests";
import { temporaryFolder } from "@signsealship/testing/service";
import { orDiscard } from "../../src/kernel/platform/blobs/blobs.ts";
import { openDatabase } from "../../src/kernel/platform/database/database.ts";
import { sql } from "../../src/kernel/platform/database/sql.ts";
import { openEmbeddedPostgres } from "../../src/kernel/platform/postgres/embedded.ts";

const folder = temporaryFolder();
await prepareDatabase(join(folder.path, "db"));
const server = await openEmbeddedPostgres(join(folder.path, "db"));
const { host: socketFolder, port, ...role } = server.owner;
const authority = makeAuthority(folder.path);
const servers: Server[] = [];
const sockets = new Set<Socket>();
after(async () => {
  for (const socket of sockets) socket.destroy();
  for (const each of servers) each.close();
  await server.release();
});

async function listen(onConnection: (socket: Socket) => void): Promise<number> {
  const listening = createServer((socket) => onConnection(tracked(socket)));
  servers.push(listening);
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return (listening.address() as { port: number }).port;
}

function tracked(socket: Socket): Socket {
  sockets.add(socket);
  socket.on("error", () => socket.destroy());
  return socket;
}

const toServer = (): Socket => tracked(connect(join(socketFolder, `.s.PGSQL.${port}`)));

/** Accepts TLS in front of PostgreSQL, whose embedded build has none. */
const tlsPort = await listen((socket) => {
  socket.once("data", () => {
    // The client has sent an SSLRequest. "S" means that TLS follows (PostgreSQL, section 54.2.11).
    socket.write("S");
    const plain = new TLSSocket(socket, { isServer: true, cert: authority.cert, key: authority.key });
    plain.on("error", () => socket.destroy());
    plain.pipe(toServer()).pipe(plain);
  });
});

/** The bytes that replace the next answer; null to pass it on. */
let garbled: Buffer | null = null;

/** A proxy that replaces the server's next answer by `garbled`. */
const garbling = (target: () => Socket): Promise<number> =>
  listen((client) => {
    const upstream = target();
    client.pipe(upstream);
    upstream.on("data", (bytes) => client.write(garbled ?? bytes));
    upstream.on("end", () => client.end());
  });

// A TLS record of application data whose MAC is invalid.
const badRecord = Buffer.concat([Buffer.from([0x17, 3, 3, 0, 64]), Buffer.alloc(64, 7)]);
// A message of a type that the protocol does not have.
const badMessage = Buffer.from([0x01, 0, 0, 0, 4]);

const faults = [
  [
    "TLS record",
    await garbling(() => tracked(connect(tlsPort, "127.0.0.1"))),
    { rejectUnauthorized: false },
    badRecord,
  ],
  ["message", await garbling(toServer), false, badMessage],
] as const;

for (const [what, port, ssl, bytes] of faults) {
  test(`a document stays stored when the answer to its commit is an invalid ${what}`, async () => {
    const settings = { ...role, host: "127.0.0.1", port, ssl };
    const db = await forTests(openDatabase(settings, () => {}, { poolSize: 1 }));
    await db.query(sql`CREATE TABLE IF NOT EXISTS written (blob_key text)`);
    const discarded: string[] = [];
    const blobs = { discard: async (key: string) => void discarded.push(key) };
    const write = () =>
      db.transaction(async (tx) => {
        await tx.query(sql`INSERT INTO written VALUES (${what})`);
        garbled = bytes;
      });
    await assert.rejects(orDiscard(blobs, what, write), { code: "unavailable" }).finally(() => {
      garbled = null;
    });
    assert.deepEqual(await db.query(sql`SELECT blob_key FROM written WHERE blob_key = ${what}`), [{ blob_key: what }]);
    assert.deepEqual(discarded, []);
  });
}

test("a server with an untrusted certificate, and one whose name can't be resolved, count as unavailable", async () => {
  for (const to of [
    { host: "127.0.0.1", port: tlsPort, ssl: true },
    { host: "database.invalid", port },
  ]) {
    const db = await forTests(openDatabase({ ...role, ...to }, () => {}, { poolSize: 1 }));
    await assert.rejects(db.query(sql`SELECT 1`), { code: "unavailable" });
  }
});
