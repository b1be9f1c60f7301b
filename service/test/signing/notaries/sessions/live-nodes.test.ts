import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, symlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { createServer as createTlsServer } from "node:tls";
import { connectionTo } from "@signsealship/testing/database";
import { type SeverableProxy, startSeverableProxy } from "@signsealship/testing/doubles/severable-proxy";
import { makeAuthority } from "@signsealship/testing/doubles/webhook-catcher";
import { forTests } from "@signsealship/testing/for-tests";
import { freePort } from "@signsealship/testing/free-port";
import { openHarness } from "@signsealship/testing/harness";
import type { MediaPeer } from "@signsealship/testing/media-peer";
import { ownProcess, runCli, type Service, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { systemClock } from "../../../../src/kernel/platform/clock.ts";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { newUuid } from "../../../../src/kernel/platform/ids.ts";
import { OwnNode } from "../../../../src/kernel/platform/nodes.ts";
import { openSecretsKey, secretBytes } from "../../../../src/kernel/platform/secrets.ts";
import { type ChainLine, emptyChain, followChain } from "../../../../src/providers/media/chain.ts";
import { readSpool, spoolFiles } from "../../../../src/providers/media/spool.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import { liveSettings } from "./live-rules.ts";
import { type BegunSession, connectAll, foldersOf, liveWorld } from "./live-world.ts";

const folder = await forTests(temporaryFolder());
const settings = { ...liveSettings(folder.path), ...ownProcess };
const firstPort = 34_000 + (process.pid % 200) * 20;

const addressed = async () => {
  const port = String(await freePort());
  return { PORT: port, NODE_URL: `http://127.0.0.1:${port}` };
};

/**
 * Issues the TLS certificate of the node that holds the sessions (`holder`). The other node trusts this authority
 * through NODE_EXTRA_CA_CERTS.
 */
const authority = makeAuthority(folder.path);

/** A TLS endpoint in front of a node, as in a cluster that encrypts all traffic. */
async function encrypted(port: number): Promise<string> {
  const server = createTlsServer({ cert: authority.cert, key: authority.key }, (socket) => {
    const to = connect(port, "127.0.0.1");
    for (const [one, another] of [
      [socket, to],
      [to, socket],
    ] as const)
      one.on("error", () => another.destroy()).on("close", () => another.destroy());
    socket.pipe(to).pipe(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  await forTests({ stop: async () => void server.close() });
  return `https://localhost:${(server.address() as AddressInfo).port}`;
}

/** The node that receives people's requests. Another node holds the sessions. */
const running = await forTests(
  openHarness({ ...settings, ...(await addressed()), NODE_EXTRA_CA_CERTS: authority.caFile }),
);
const other = running.service;
const world = await liveWorld(running, folder.path);
const { dataDir } = other;
const secrets = await openSecretsKey(`file:${dataDir}/keys/secrets`);

/** The holder's own disk, as if it ran on another machine. Recordings stay there until they are stored. */
const holderDir = join(folder.path, "holder");
mkdirSync(holderDir);
for (const shared of ["keys", "blobs", "outbox"]) {
  mkdirSync(join(dataDir, shared), { recursive: true });
  symlinkSync(join(dataDir, shared), join(holderDir, shared));
}

/** The node that holds the sessions. Its connection to the database can be cut. */
let holder: Service;
let proxy: SeverableProxy;

const startHolder = async () => {
  const { user, password, database } = connectionTo(dataDir, "owner");
  const own = await addressed();
  return startService({
    ...settings,
    ...own,
    NODE_URL: await encrypted(Number(own.PORT)),
    DATA_DIR: holderDir,
    RATE_LIMITS: "off",
    LOG_LEVEL: "info",
    DATABASE_URL: `postgresql://${user}:${password}@127.0.0.1:${proxy.port}/${database}`,
    MEDIA_PORTS: `${firstPort}-${firstPort + 19}`,
  });
};

before(async () => {
  const { host, port } = connectionTo(dataDir, "owner");
  proxy = await startSeverableProxy(`${host}/.s.PGSQL.${port}`);
  holder = await startHolder();
});
after(async () => {
  await holder.stop();
  await proxy.sever();
});

/** Begins a session at the service `holder`. */
async function beginAtHolder(email: string): Promise<BegunSession> {
  running.service = holder;
  try {
    return await world.begin(email);
  } finally {
    running.service = other;
  }
}

async function recordedAtHolder(session: BegunSession): Promise<void> {
  running.service = holder;
  try {
    await world.recordedSince(0, session);
  } finally {
    running.service = other;
  }
}

/** The lines of a session that are only on the holder's disk. */
async function linesOnDisk({ id }: BegunSession): Promise<ChainLine[]> {
  const files = (await Promise.all((await foldersOf(holderDir, id)).map((folder) => spoolFiles(folder)))).flat();
  const read = await Promise.all(files.map(readSpool));
  return read.flatMap(({ chunks }) => chunks.map(({ line }) => line));
}

/** The names of all files of a session that are left on the holder's disk, including files that can't be stored. */
const filesOf = async ({ id }: BegunSession): Promise<string[]> =>
  (await Promise.all((await foldersOf(holderDir, id)).map((folder) => readdir(folder)))).flat();

const pageOf = ({ pages }: BegunSession, person: string) => {
  const page = pages.find((each) => each.person === person);
  assert.ok(page);
  return page;
};

async function connectAt(node: Service, session: BegunSession, person: string): Promise<MediaPeer> {
  const [peer] = await connectAll(node.baseUrl, { ...session, pages: [pageOf(session, person)] });
  assert.ok(peer);
  return peer;
}

const ask = (node: Service, path: string, headers: Record<string, string> = {}) =>
  fetch(node.baseUrl + path, { headers: { Accept: "application/json", ...headers } });

const headerName = "signsealship-node";

type LeaseRow = { node: string; until: Date };

const leaseOf = async ({ id }: BegunSession): Promise<LeaseRow> => {
  const [row] = await running.db.query<LeaseRow>(
    sql`SELECT node, lease_until AS until FROM live_sessions WHERE id = ${id} AND node IS NOT NULL`,
  );
  assert.ok(row);
  return row;
};

test("a signer who comes by another node sees, is seen, is recorded, and can write", async () => {
  const session = await beginAtHolder("by-another@example.com");
  const { node } = await leaseOf(session);
  const notary = await connectAt(holder, session, "notary");
  const signer = await connectAt(other, session, "signer-1");
  await until(() => (notary.received.get("signer-1")?.video ?? 0) > 5);
  await until(() => (signer.received.get("notary")?.video ?? 0) > 5);
  await recordedAtHolder(session);
  const { path, cookie } = pageOf(session, "signer-1");
  const written = await postForm(`${other.baseUrl}${path}/message`, { text: "By the other node" }, { cookie });
  assert.equal(written.status, 200, await written.text());
  const desk = pageOf(session, "notary");
  for (const each of [holder, other]) {
    const heard = await ask(each, `${desk.path}/messages`, { cookie: desk.cookie });
    assert.match(await heard.text(), /By the other node/);
  }
  assert.equal((await leaseOf(session)).node, node, "the session has stayed at its node");
  await Promise.all([notary, signer].map((peer) => peer.close()));
  await world.end(session);
});

test("before a session begins, its pages hear of each other by either node", async () => {
  const begun = await beginAtHolder("stranger@example.com");
  const { path, cookie } = pageOf(begun, "signer-1");
  const page = await ask(other, path, { cookie });
  assert.equal(page.status, 200);
  assert.match(page.headers.get("permissions-policy") ?? "", /camera=\(self\)/);
  // The receiving node rejects a caller without a session of the console.
  assert.equal((await ask(other, pageOf(begun, "notary").path)).status, 401);
  await world.end(begun);
});

describe("a request that claims to come from another node", () => {
  let session: BegunSession;
  let node: string;
  before(async () => {
    session = await beginAtHolder("hostile@example.com");
    ({ node } = await leaseOf(session));
  });
  after(() => world.end(session));

  const by = (key = secrets, clock = systemClock) => new OwnNode({ secrets: key, clock, url: null });
  const path = () => `${pageOf(session, "signer-1").path}/messages`;
  const request = () => ({ method: "GET", path: path(), client: "192.0.2.1" });
  const answerTo = async (header: string) => {
    const { cookie } = pageOf(session, "signer-1");
    return (await ask(holder, path(), { cookie, [headerName]: header })).status;
  };

  test("is answered when a node has made its header for exactly this request", async () => {
    assert.equal(await answerTo(by().headerFor({ node, url: "" }, request())), 200);
  });

  test("is refused when the header is forged, old, or of another request", async () => {
    const good = by().headerFor({ node, url: "" }, request());
    const late = () => new Date(Date.now() - 60_000);
    for (const header of [
      "",
      "x",
      `${good}x`,
      good.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
      good.replace(/\.[\w-]*\.([\w-]{43})$/, `.${Buffer.from("192.0.2.2").toString("base64url")}.$1`),
      by(secretBytes(Buffer.alloc(32, 7))).headerFor({ node, url: "" }, request()),
      by(secrets, late).headerFor({ node, url: "" }, request()),
      by().headerFor({ node, url: "" }, { ...request(), method: "POST" }),
      by().headerFor({ node, url: "" }, { ...request(), path: "/operator" }),
    ])
      assert.equal(await answerTo(header), 400, header);
  });

  test("is logged with the client's network when it is refused", async () => {
    const asked = { method: "GET", path: pageOf(session, "notary").path, client: "198.51.100.7" };
    const answer = await ask(holder, asked.path, { [headerName]: by().headerFor({ node, url: "" }, asked) });
    assert.equal(answer.status, 401);
    await until(() => /"status":401.*"source":"198\.51\.100\.0\/24"/.test(holder.stdout() + holder.stderr()));
  });

  test("is refused when it is for an earlier process at this address", async () => {
    assert.equal(await answerTo(by().headerFor({ node: newUuid(), url: "" }, request())), 503);
  });

  test("is not passed on a second time", async () => {
    const passed = by().headerFor({ node: await nodeOf(other), url: "" }, request());
    const { cookie } = pageOf(session, "signer-1");
    const answer = await ask(other, path(), { cookie, [headerName]: passed });
    assert.equal(answer.status, 503);
    assert.ok(answer.headers.get("retry-after"));
  });
});

/** The id of a service's node, read from the lease of a session that begins on this node. */
async function nodeOf(service: Service): Promise<string> {
  const session = await world.begin("named@example.com");
  assert.equal(service, other);
  const { node } = await leaseOf(session);
  await world.end(session);
  return node;
}

test("no request goes to an address that no node has written, nor in circles", async () => {
  const session = await beginAtHolder("address@example.com");
  const { path, cookie } = pageOf(session, "signer-1");
  let stolen = 0;
  const thief = createServer((_, answer) => {
    stolen++;
    answer.end();
  });
  await new Promise<void>((resolve) => thief.listen(0, "127.0.0.1", resolve));
  const address = thief.address();
  assert.ok(address && typeof address === "object");
  const url = `http://127.0.0.1:${address.port}`;
  const until = new Date(Date.now() + 60_000);
  // Also writes another node's id. Otherwise the holder would soon renew its lease and so overwrite the row.
  const write = (node: string, to: string, mac: Buffer) =>
    running.db.query(sql`
      UPDATE live_sessions SET node = ${node}, node_url = ${to}, node_url_mac = ${mac}, lease_until = ${until}
      WHERE id = ${session.id}`);
  const look = () => ask(other, `${path}/messages`, { cookie });
  const node = newUuid();
  await write(node, url, Buffer.alloc(32));
  await look();
  await write(
    node,
    url,
    new OwnNode({ secrets, clock: systemClock, url }).addressFor(newUuid())?.mac ?? Buffer.alloc(0),
  );
  await look();
  thief.close();
  assert.equal(stolen, 0);
  const media = await postForm(`${other.baseUrl}${path}/media`, {}, { cookie, Accept: "application/json" });
  assert.equal(media.status, 503);
  assert.match(await media.text(), /NODE_URL/);
  assert.ok(media.headers.get("retry-after"));
  // With this forged row, the node would forward the request to itself forever.
  const circle = new OwnNode({ secrets, clock: systemClock, url: other.baseUrl });
  await write(circle.id, other.baseUrl, circle.addressFor(session.id)?.mac ?? Buffer.alloc(0));
  const answer = await look();
  assert.equal(answer.status, 503);
  assert.ok(answer.headers.get("retry-after"));
  await running.db.query(sql`UPDATE live_sessions SET node = NULL, lease_until = now() WHERE id = ${session.id}`);
  await world.end(session);
});

test("doctor asks the address of a node, also while a session is at another", async () => {
  const session = await beginAtHolder("doctor@example.com");
  const env = { ...settings, DATA_DIR: dataDir, NODE_URL: other.baseUrl };
  const { stdout } = await runCli(env, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  const detail = `${other.baseUrl} answers as a node of this service`;
  assert.deepEqual(
    checks.find(({ name }) => name === "nodes"),
    { name: "nodes", result: "ok", detail },
  );
  await world.end(session);
});

test("a node that loses its database stops recording before another node begins", async (t) => {
  const session = await beginAtHolder("cut@example.com");
  const before = await connectAll(holder.baseUrl, session);
  await recordedAtHolder(session);
  const cutAt = Date.now();
  await proxy.sever();
  await until(async () => (await leaseOf(session)).until.getTime() < Date.now());
  const peers = await connectAll(other.baseUrl, session);
  await world.recordedSince(cutAt + 9_000, session).catch((error: Error) => {
    throw new Error(`${other.stdout()}${other.stderr()}\n${holder.stdout()}${holder.stderr()}`, { cause: error });
  });
  t.diagnostic(`on the recording of the other node after ${Date.now() - cutAt} ms`);
  await Promise.all(before.map((peer) => peer.close()));
  await world.end(session);
  const { lines, manifest } = await world.recordOf(session);
  assert.deepEqual(followChain(emptyChain, lines), { seq: manifest.chain.lines, sha256: manifest.chain.headSha256 });
  const times = (of: readonly { at: string }[]) => of.map(({ at }) => Date.parse(at));
  const last = Math.max(...times(await linesOnDisk(session)));
  const first = Math.min(...times(lines.filter(({ at }) => Date.parse(at) > cutAt)));
  t.diagnostic(`the holder recorded for ${last - cutAt} ms after the cut, the other node from ${first - cutAt} ms on`);
  assert.ok(last > cutAt && last < cutAt + 9_000);
  assert.ok(last < first);
  await until(() => /could not be renewed in time/.test(holder.stdout() + holder.stderr()));
  await Promise.all(peers.map((peer) => peer.close()));
  await proxy.restore();
  await until(async () => (await fetch(`${holder.baseUrl}/readyz`)).status === 200);
});

test("a node that is stopped stores all of its recording, and another one continues it at once", async (t) => {
  const session = await beginAtHolder("stopped@example.com");
  const before = await connectAll(other.baseUrl, session);
  await recordedAtHolder(session);
  const last = (await linesOnDisk(session)).at(-1);
  assert.ok(last);
  await holder.stop();
  const from = Date.now();
  assert.deepEqual(await filesOf(session), []);
  const [row] = await running.db.query(sql`SELECT node FROM live_sessions WHERE id = ${session.id}`);
  assert.deepEqual(row, { node: null });
  const peers = await connectAll(other.baseUrl, session);
  await world.recordedSince(from, session);
  t.diagnostic(`on the recording of the other node after ${Date.now() - from} ms`);
  await Promise.all([...before, ...peers].map((peer) => peer.close()));
  await world.end(session);
  const { manifest, lines } = await world.recordOf(session);
  assert.deepEqual(followChain(emptyChain, lines), { seq: manifest.chain.lines, sha256: manifest.chain.headSha256 });
  assert.deepEqual(lines[last.seq - 1], last, "the other node has continued the chain of the first");
  holder = await startHolder();
});

test("the session of a node that dies is taken over by a node that had passed requests on to it", async (t) => {
  const session = await beginAtHolder("dies@example.com");
  const before = await connectAll(other.baseUrl, session);
  await recordedAtHolder(session);
  const { path, cookie } = pageOf(session, "signer-1");
  const events = await fetch(`${other.baseUrl}${path}/events`, { headers: { cookie } });
  assert.equal(events.status, 200);
  const ended = events.text().then(
    () => "ended",
    () => "ended",
  );
  await holder.kill();
  const from = Date.now();
  assert.equal(await ended, "ended");
  const refused = await ask(other, `${path}/messages`, { cookie });
  assert.equal(refused.status, 503);
  assert.ok(refused.headers.get("retry-after"));
  await Promise.all(before.map((peer) => peer.close()));
  const peers = await connectAll(other.baseUrl, session);
  await world.recordedSince(from, session);
  t.diagnostic(`on the recording of the other node after ${Date.now() - from} ms`);
  await Promise.all(peers.map((peer) => peer.close()));
  await world.end(session);
  const { manifest, lines } = await world.recordOf(session);
  assert.deepEqual(followChain(emptyChain, lines), { seq: manifest.chain.lines, sha256: manifest.chain.headSha256 });
  holder = await startHolder();
});
