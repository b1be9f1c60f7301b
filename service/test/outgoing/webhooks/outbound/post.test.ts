import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import {
  type Authority,
  type Catcher,
  makeAuthority,
  startCatcher,
} from "@signsealship/testing/doubles/webhook-catcher";
import { temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { type Clock, systemClock } from "../../../../src/kernel/platform/clock.ts";
import { type Outbound, openOutbound } from "../../../../src/outgoing/webhooks/outbound/post.ts";
import {
  addressPolicy,
  type ResolveName,
  rememberingNames,
} from "../../../../src/outgoing/webhooks/outbound/resolve-name.ts";

const { after, before, test } = testsNeeding("openssl");

const folder = temporaryFolder();
const opened: { close: () => unknown }[] = [];
let authority: Authority;
let catcher: Catcher;

before(async () => {
  authority = makeAuthority(folder.path);
  catcher = await startCatcher(authority);
});
after(async () => {
  for (const each of opened) await each.close();
  await catcher.close();
  folder.remove();
});

const loopback: ResolveName = async () => ["127.0.0.1"];

type Options = { clock?: Clock; allow?: string[]; resolveName?: ResolveName; timeoutMs?: number; trusted?: boolean };

function outboundWith({
  clock = systemClock,
  allow = ["127.0.0.0/8"],
  resolveName = loopback,
  timeoutMs = 5_000,
  trusted = true,
}: Options = {}): Outbound {
  const extraCa = trusted ? readFileSync(authority.caFile, "utf8") : null;
  const outbound = openOutbound({ clock, mayReach: addressPolicy(allow), resolveName, extraCa, timeoutMs });
  opened.push(outbound);
  return outbound;
}

const body = Buffer.from('{"x":1}');
const post = (outbound: Outbound, url: string) =>
  outbound.post(url, { "content-type": "application/json" }, body, () => true);

async function judged(outbound: Outbound, url: string) {
  const outcome = await post(outbound, url);
  return [outcome?.statusCode, outcome?.reason];
}

/** A TLS server in which `speak` writes to the connection after the first bytes of the request have arrived. */
async function rawServer(speak: (socket: Socket) => void): Promise<{ url: string; ended: Promise<void> }> {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const sockets = new Set<Socket>();
  const server = createTlsServer({ cert: authority.cert, key: authority.key }, (socket) => {
    socket.on("error", () => {});
    socket.on("close", () => end());
    socket.once("data", () => speak(socket));
  });
  server.on("connection", (socket) => sockets.add(socket));
  // If a connection is cut during the handshake, the server creates no TLS socket.
  server.on("tlsClientError", () => end());
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  opened.push({ close });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { url: `https://localhost:${typeof address === "object" ? address?.port : 0}/`, ended };
}

test("posts the exact bytes once and counts any 2xx as delivered", async () => {
  for (const status of [200, 201, 202, 204, 299]) {
    catcher.answer(`/s${status}`, (_request, response) => void response.writeHead(status).end());
    assert.deepEqual(await judged(outboundWith(), `${catcher.url}/s${status}`), [status, null]);
  }
  const [caught] = await catcher.wait("/s200");
  assert.deepEqual([caught?.method, caught?.body], ["POST", body]);
});

test("any other status fails, and a redirect is not followed", async () => {
  catcher.answer(
    "/to-loopback",
    (_request, response) => void response.writeHead(307, { Location: `${catcher.url}/target` }).end(),
  );
  assert.deepEqual(await judged(outboundWith(), `${catcher.url}/to-loopback`), [307, "redirect"]);
  assert.equal(
    catcher.caught.some(({ path }) => path === "/target"),
    false,
  );
  for (const status of [400, 410, 429, 500, 503]) {
    catcher.answer(`/s${status}`, (_request, response) => void response.writeHead(status).end("no"));
    assert.deepEqual(await judged(outboundWith(), `${catcher.url}/s${status}`), [status, "http_status"]);
  }
});

test("a silent endpoint fails by the time-out", async () => {
  const { url, ended } = await rawServer(() => {});
  assert.deepEqual(await judged(outboundWith({ timeoutMs: 100 }), url), [null, "timeout"]);
  await ended;
});

test("an endpoint that never answers the handshake is cut by the same time-out", async () => {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const server = createServer((socket) =>
    socket
      .on("error", () => {})
      .on("close", () => end())
      .resume(),
  );
  opened.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `https://localhost:${typeof address === "object" ? address?.port : 0}/`;
  assert.deepEqual(await judged(outboundWith({ timeoutMs: 100 }), url), [null, "timeout"]);
  await ended;
});

test("an endpoint that trickles its head byte by byte is cut by the same time-out", async () => {
  const { url, ended } = await rawServer((socket) => {
    const drip = setInterval(() => socket.write("H"), 20);
    socket.write("HTTP/1.1 200 OK\r\nX: ");
    socket.on("close", () => clearInterval(drip));
  });
  assert.deepEqual(await judged(outboundWith({ timeoutMs: 200 }), url), [null, "timeout"]);
  await ended;
});

test("a 200 whose body trickles forever is delivered, and the connection is cut by the time-out", async () => {
  const { url, ended } = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const drip = setInterval(() => socket.write("1\r\nx\r\n"), 20);
    socket.on("close", () => clearInterval(drip));
  });
  assert.deepEqual(await judged(outboundWith({ timeoutMs: 200 }), url), [200, null]);
  await ended;
});

test("of an endless body little more than 64 KiB is read before the connection is cut", async () => {
  let sent = 0;
  const chunk = Buffer.from(`4000\r\n${"x".repeat(0x4000)}\r\n`);
  const { url, ended } = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
    };
    socket.on("drain", pour);
    pour();
  });
  assert.deepEqual(await judged(outboundWith({ timeoutMs: 60_000 }), url), [200, null]);
  await ended;
  // Only bytes that fit in the operating system's buffers were sent, because nobody reads them.
  assert.ok(sent < 16 << 20, `${sent}`);
});

test("a body that announces gigabytes is cut at once", async () => {
  const { url, ended } = await rawServer((socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 9000000000\r\n\r\nx");
  });
  assert.deepEqual(await judged(outboundWith({ timeoutMs: 60_000 }), url), [200, null]);
  await ended;
});

test("huge headers are a bad response", async () => {
  const { url } = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nX: ${"y".repeat(200_000)}\r\n\r\n`);
  });
  assert.deepEqual(await judged(outboundWith(), url), [null, "bad_response"]);
});

test("an answer that is not HTTP is a bad response, and a cut connection is lost", async () => {
  const gibberish = await rawServer((socket) => socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
  assert.deepEqual(await judged(outboundWith(), gibberish.url), [null, "bad_response"]);
  const cut = await rawServer((socket) => socket.destroy());
  assert.deepEqual(await judged(outboundWith(), cut.url), [null, "connection_lost"]);
});

test("a certificate of an unknown authority or of another name fails", async () => {
  assert.deepEqual(await judged(outboundWith({ trusted: false }), catcher.url), [null, "tls_failed"]);
  assert.deepEqual(await judged(outboundWith(), `https://other.example:${catcher.port}/`), [null, "tls_failed"]);
});

test("a port where nobody listens fails", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  const port = typeof address === "object" ? address?.port : 0;
  assert.deepEqual(await judged(outboundWith(), `https://127.0.0.1:${port}/`), [null, "connect_failed"]);
});

test("a private address in the URL is refused without a connection, in any notation", async () => {
  const outbound = outboundWith({ allow: [] });
  const seen = catcher.connections();
  const { port } = catcher;
  const hosts = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
  ];
  for (const host of hosts)
    assert.deepEqual(await judged(outbound, `https://${host}:${port}/`), [null, "address_refused"], host);
  assert.equal(catcher.connections(), seen);
});

test("a name that resolves to a private address is refused; of mixed answers only the public ones are tried", async () => {
  const seen = catcher.connections();
  for (const addresses of [["127.0.0.1"], ["10.0.0.1", "::1"], ["::ffff:127.0.0.1"], ["169.254.169.254"]]) {
    const outbound = outboundWith({ allow: [], resolveName: async () => addresses });
    assert.deepEqual(await judged(outbound, `https://a.hooks.test:${catcher.port}/`), [null, "address_refused"]);
  }
  assert.equal(catcher.connections(), seen);
  const mixed = outboundWith({ allow: ["127.0.0.1"], resolveName: async () => ["10.0.0.1", "127.0.0.1"] });
  assert.deepEqual(await judged(mixed, `https://a.hooks.test:${catcher.port}/`), [200, null]);
});

test("a name is looked up once a second, and connections use the checked address", async () => {
  const rebinding = await rawServer((socket) =>
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
  );
  const url = rebinding.url.replace("localhost", "rebind.hooks.test");
  let lookups = 0;
  // The first look-up gives an allowed IP address; every later one gives a private address.
  const resolveName: ResolveName = async () => (lookups++ === 0 ? ["127.0.0.1"] : ["127.0.0.2"]);
  let now = 0;
  const outbound = outboundWith({ allow: ["127.0.0.1"], resolveName, clock: () => new Date(now) });
  assert.deepEqual(await judged(outbound, url), [200, null]);
  assert.deepEqual(await judged(outbound, url), [200, null], "by a new connection to the address of before");
  assert.equal(lookups, 1);
  now = 1_000;
  assert.deepEqual(await judged(outbound, url), [null, "address_refused"]);
  assert.equal(lookups, 2);
});

test("a name that is unknown, or whose name server never answers, fails", async () => {
  const unknown = outboundWith({
    resolveName: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" })),
  });
  assert.deepEqual(await judged(unknown, "https://nowhere.test/"), [null, "dns_failed"]);
  const silent = outboundWith({ resolveName: () => new Promise(() => {}), timeoutMs: 100 });
  assert.deepEqual(await judged(silent, "https://silent.test/"), [null, "timeout"]);
});

test("closing cuts deliveries in progress, and their outcome is unknown", async () => {
  const { url } = await rawServer((socket) => socket.write("HTTP/1.1 "));
  const outbound = outboundWith();
  const outcome = post(outbound, url);
  await outbound.close();
  assert.equal(await outcome, null);
});

test("the first headers of an answer are stored, 4 KiB in total", async () => {
  catcher.answer("/headers", (_request, response) => {
    for (let n = 10; n < 30; n++) response.setHeader(`x-${n}`, "a".repeat(450));
    response.end("ok");
  });
  const outcome = await post(outboundWith(), `${catcher.url}/headers`);
  const headers = outcome?.answer?.headers ?? {};
  const bytes = Buffer.byteLength(Object.entries(headers).flat().join(""));
  assert.ok(bytes > 3 * 1024 && bytes <= 4 * 1024, String(bytes));
  assert.deepEqual([outcome?.statusCode, headers["x-10"]?.length, headers["x-29"]], [200, 450, undefined]);
});

test("sends nothing when the host's addresses are not admitted", async () => {
  const outbound = outboundWith({ resolveName: async () => ["127.0.0.1", "127.0.0.2"] });
  const asked: (readonly string[])[] = [];
  const refuse = (addresses: readonly string[]) => {
    asked.push(addresses);
    return false;
  };
  const before = catcher.caught.length;
  for (const url of [`${catcher.url}/x`, catcher.url.replace("127.0.0.1", "named.example")]) {
    const outcome = await outbound.post(url, {}, body, refuse);
    assert.deepEqual([outcome?.statusCode, outcome?.reason], [null, "host_limit"]);
  }
  assert.deepEqual(asked, [["127.0.0.1"], ["127.0.0.1", "127.0.0.2"]]);
  assert.equal(catcher.caught.length, before);
});

test("caches a name's answer for a second, a failure too, and only the first 16 addresses", async () => {
  let now = 0;
  let asked = 0;
  const names = rememberingNames(
    async (name) => {
      asked++;
      if (name === "none") throw new Error("no such name");
      return Array.from({ length: 20 }, (_, n) => `192.0.2.${asked * 20 + n}`);
    },
    () => new Date(now),
  );
  const [first, second] = await Promise.all([names("a"), names("a")]);
  assert.equal(first, second);
  assert.equal(first.length, 16);
  now = 999;
  assert.equal(await names("a"), first);
  now = 1_000;
  assert.notDeepEqual(await names("a"), first);
  assert.equal(asked, 2);
  for (let n = 0; n < 2; n++) await assert.rejects(names("none"), /no such name/);
  assert.equal(asked, 3);
});
