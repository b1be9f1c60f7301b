import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { startNameServer, type Zone } from "@signsealship/testing/doubles/name-server";
import {
  type Authority,
  type Catcher,
  makeAuthority,
  startCatcher,
} from "@signsealship/testing/doubles/webhook-catcher";
import { temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { openOutbound } from "../../../../src/outgoing/webhooks/outbound/post.ts";
import { addressPolicy, openResolver } from "../../../../src/outgoing/webhooks/outbound/resolve-name.ts";

const { after, before, test } = testsNeeding("openssl");

const folder = temporaryFolder();
let authority: Authority;
let catcher: Catcher;

before(async () => {
  authority = makeAuthority(folder.path);
  catcher = await startCatcher(authority);
  // Closes each connection after its answer: a reused connection needs no new look-up, because its address was already
  // checked.
  catcher.answer("/", (_request, response) => response.setHeader("Connection", "close").end());
});
after(async () => {
  await catcher.close();
  folder.remove();
});

// Deliveries may reach 127.0.0.1, where the catcher listens. All other addresses of this machine are private.
const [reached, hidden] = ["127.0.0.1", "127.0.0.2"];

type Posted = [status: number | null | undefined, reason: string | null | undefined, admitted: readonly string[]];

/** Posts to a name of the zone at each of these times, with the real resolver over UDP. */
async function postedTo(zone: Zone, times: readonly number[], timeoutMs = 5_000) {
  const server = await startNameServer(zone);
  let now = 0;
  const outbound = openOutbound({
    clock: () => new Date(now),
    mayReach: addressPolicy([reached]),
    resolveName: openResolver([server.address]),
    extraCa: readFileSync(authority.caFile, "utf8"),
    timeoutMs,
  });
  const posted: Posted[] = [];
  for (const time of times) {
    now = time;
    let admitted: readonly string[] = [];
    const outcome = await outbound.post(`https://a.hooks.test:${catcher.port}/`, {}, Buffer.from("{}"), (addresses) => {
      admitted = addresses;
      return true;
    });
    posted.push([outcome?.statusCode, outcome?.reason, admitted]);
  }
  await outbound.close();
  await server.close();
  return { posted, asked: server.asked };
}

test("a name that is public for the check and private for the connection leads to the checked address", async () => {
  const zone: Zone = ({ nth }) => (nth === 0 ? [reached] : [hidden]);
  const { posted, asked } = await postedTo(zone, [0, 500, 1_500]);
  assert.deepEqual(posted, [
    [200, null, [reached]],
    [200, null, [reached]],
    [null, "address_refused", [hidden]],
  ]);
  assert.equal(asked.filter(({ type }) => type === "A").length, 2, "one question for a check and its connection");
});

test("a name that is private at first is refused, and reached once it is public", async () => {
  const connections = catcher.connections();
  const { posted } = await postedTo(({ nth }) => (nth === 0 ? [hidden] : [reached]), [0, 1_500]);
  assert.deepEqual(
    posted.map(([status, reason]) => [status, reason]),
    [
      [null, "address_refused"],
      [200, null],
    ],
  );
  assert.equal(catcher.connections(), connections + 1);
});

test("of a name's addresses only the allowed ones are connected to, whatever their family and order", async () => {
  for (const addresses of [
    [hidden, reached],
    ["::1", reached],
    ["fd00::1", "169.254.169.254", reached],
    ["::ffff:7f00:2", reached],
  ])
    assert.deepEqual(
      (await postedTo(() => addresses, [0])).posted.map(([status]) => status),
      [200],
      String(addresses),
    );
  const connections = catcher.connections();
  for (const addresses of [
    ["::1"],
    ["fd00::1"],
    ["fe80::1"],
    ["64:ff9b::7f00:1"],
    ["10.0.0.1"],
    ["169.254.169.254"],
    ["0.0.0.0"],
  ])
    assert.equal((await postedTo(() => addresses, [0])).posted[0]?.[1], "address_refused", String(addresses));
  assert.equal(catcher.connections(), connections);
});

test("a name without addresses, one that does not exist, and a silent name server are failures with their names", async () => {
  assert.equal((await postedTo(() => [], [0])).posted[0]?.[1], "dns_failed");
  assert.equal((await postedTo(() => null, [0])).posted[0]?.[1], "dns_failed");
  assert.equal((await postedTo(() => "silent", [0], 300)).posted[0]?.[1], "timeout");
});
