import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { describe, test } from "node:test";
import { testMedia } from "@signsealship/testing/media";
import { readConfig } from "../../../src/kernel/config/config.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { iceServersFor } from "../../../src/providers/media/probe.ts";
import { mediaFindings } from "../../../src/upkeep/doctor/outside.ts";

const config = (env: Record<string, string>) => readConfig(env, "/", "/");
const on = { MEDIA: "embedded" };
const livekit = {
  MEDIA: "livekit",
  LIVEKIT_URL: "wss://livekit.example.com/",
  LIVEKIT_API_KEY: "key",
  LIVEKIT_API_SECRET: "0123456789abcdef0123456789abcdef",
};
const away = { ...on, BASE_URL: "https://sign.example.com" };

describe("the settings of live audio and video", () => {
  test("are off by default, and on this machine need nothing else", () => {
    assert.equal(config({}).media, null);
    assert.equal(config({ MEDIA: "off" }).media, null);
    assert.deepEqual(config(on).media, {
      engine: "embedded",
      ports: [41_000, 41_999],
      announce: "127.0.0.1",
      tcp: true,
      turn: null,
    });
  });

  test("elsewhere need the address to which browsers send", () => {
    assert.throws(() => config(away), /^StartupError: MEDIA_ANNOUNCE must be set when MEDIA is embedded/);
    const { media } = config({ ...away, MEDIA_ANNOUNCE: "203.0.113.7" });
    assert.ok(media?.engine === "embedded" && media.announce === "203.0.113.7");
  });

  test("of LiveKit name its server and a key, and no ports", () => {
    assert.deepEqual(config(livekit).media, {
      engine: "livekit",
      url: "https://livekit.example.com",
      key: "key",
      turn: null,
      secret: livekit.LIVEKIT_API_SECRET,
    });
    for (const name of ["LIVEKIT_URL", "LIVEKIT_API_KEY", "LIVEKIT_API_SECRET"])
      assert.throws(() => config({ ...livekit, [name]: "" }), new RegExp(`${name} must be set when MEDIA is livekit`));
    assert.throws(() => config({ ...livekit, LIVEKIT_API_SECRET: "short" }), /must have at least 32 characters/);
    for (const url of ["http://10.0.0.5:7880", "ws://localhost:7880", "http://livekit:7880", "ws://[fd00::1]:7880"])
      config({ ...livekit, LIVEKIT_URL: url });
    const insecure = ["http://livekit.example.com", "ws://203.0.113.7:7880", "http://[2001:db8::1]:7880"];
    const malformed = ["livekit.example.com", "ftp://a.example.com", "https://a@b.example.com", "https://a/?b"];
    for (const url of [...insecure, ...malformed])
      assert.throws(
        () => config({ ...livekit, LIVEKIT_URL: url }),
        /LIVEKIT_URL must be an https or wss URL, or an http or ws URL of a private host/,
      );
  });

  test("of a node's own address take https anywhere, and http on private hosts only, without a path", () => {
    assert.equal(config({}).nodeUrl, null);
    assert.equal(config({ NODE_URL: "https://a.example.com/" }).nodeUrl, "https://a.example.com");
    for (const url of ["http://10.0.0.5:8080", "http://[fd00::1]:8080", "http://node-a:8080", "http://a.internal"])
      assert.equal(config({ NODE_URL: url }).nodeUrl, url);
    const insecure = ["http://a.example.com", "http://203.0.113.7", "http://[2001:db8::1]"];
    const malformed = ["a:8080", "ftp://a", "https://a/b", "https://a?b", "https://b@a", "https://a/#b", "wss://a"];
    for (const url of [...insecure, ...malformed])
      assert.throws(() => config({ NODE_URL: url }), /NODE_URL must be an https URL, or an http URL of a private host/);
  });

  test("that are wrong are refused by name", () => {
    const wrong: [Record<string, string>, RegExp][] = [
      [{ MEDIA: "janus" }, /MEDIA must be embedded, livekit or off/],
      [{ ...on, MEDIA_ANNOUNCE: "example.com" }, /MEDIA_ANNOUNCE must be an IP address/],
      [{ ...on, MEDIA_PORTS: "41000" }, /MEDIA_PORTS must be a range/],
      [{ ...on, MEDIA_PORTS: "41000-41010" }, /MEDIA_PORTS must be a range of 16 or more/],
      [{ ...on, MEDIA_PORTS: "80-41010" }, /MEDIA_PORTS must be a range/],
      [{ ...on, MEDIA_PORTS: "60000-70000" }, /MEDIA_PORTS must be a range/],
      [{ ...on, MEDIA_TCP: "yes" }, /MEDIA_TCP must be on or off/],
      [{ ...on, TURN_URLS: "https://turn.example.com", TURN_SECRET: "s" }, /TURN_URLS must be turn: or turns: URLs/],
      [{ ...on, TURN_URLS: "turn:turn.example.com" }, /TURN_SECRET must be set when TURN_URLS is/],
      [{ ...on, TURN_SECRET: "s" }, /TURN_URLS must be set when TURN_SECRET is/],
    ];
    for (const [env, words] of wrong) assert.throws(() => config(env), words);
  });

  test("make credentials for the relay that expire", () => {
    const { media } = config({
      ...on,
      TURN_URLS: "turns:turn.example.com:443,turn:turn.example.com",
      TURN_SECRET: "secret",
    });
    assert.ok(media);
    const [server] = iceServersFor(media, "s1", new Date("2026-11-26T04:00:00Z"));
    assert.deepEqual(server?.urls, ["turns:turn.example.com:443", "turn:turn.example.com"]);
    const [expiry, name] = server?.username?.split(":") ?? [];
    assert.equal(Number(expiry), Date.parse("2026-11-26T08:00:00Z") / 1_000);
    assert.equal(name, "s1");
    assert.equal(
      server?.credential,
      createHmac("sha1", "secret")
        .update(server?.username ?? "")
        .digest("base64"),
    );
  });
});

describe("the doctor", () => {
  const look = async (env: Record<string, string>) =>
    (await mediaFindings(config(env), { clock: systemClock })).map(({ result, detail }) => `${result}: ${detail}`);
  const { ports } = testMedia();
  const own = { MEDIA_PORTS: ports.join("-") };

  test("reports that media is off, or which port opens", async () => {
    assert.match((await look({}))[0] ?? "", /^ok: MEDIA is off/);
    const [found, relay] = await look({ ...on, ...own });
    assert.equal(found, `ok: port ${ports[0]} opens, browsers are told 127.0.0.1`);
    assert.match(relay ?? "", /^ok: TURN_URLS is not set/);
  });

  test("warns of an address that nobody elsewhere can reach, and of a page without https", async () => {
    for (const [address, reach] of [
      ["127.0.0.1", "loopback"],
      ["10.1.2.3", "private"],
      ["192.168.1.9", "private"],
      ["100.64.0.1", "carrierGradeNat"],
    ])
      assert.match(
        (await look({ ...away, ...own, MEDIA_ANNOUNCE: address ?? "" }))[0] ?? "",
        new RegExp(`^warning: .*which is ${reach}`),
      );
    assert.match(
      (await look({ ...away, ...own, MEDIA_ANNOUNCE: "203.0.113.7" }))[0] ?? "",
      /^(ok|warning: .*reserved)/,
    );
    assert.match((await look({ ...away, ...own, MEDIA_ANNOUNCE: "8.8.4.4" }))[0] ?? "", /^ok: /);
    const plain = { ...own, MEDIA: "embedded", BASE_URL: "http://sign.example.com", MEDIA_ANNOUNCE: "8.8.4.4" };
    assert.match((await look(plain))[0] ?? "", /^warning: .*without https/);
  });

  test("fails when no port is free, and for a relay that does not answer", async () => {
    const range = testMedia().ports;
    const sockets = await Promise.all(
      Array.from({ length: 16 }, async (_, index) => {
        const socket = createSocket("udp4").bind(range[0] + index);
        await once(socket, "listening");
        return socket;
      }),
    );
    const [found, relay] = await look({
      ...on,
      MEDIA_PORTS: `${range[0]}-${range[0] + 15}`,
      TURN_URLS: "turn:127.0.0.1:9?transport=tcp",
      TURN_SECRET: "secret",
    });
    for (const socket of sockets) socket.close();
    assert.match(found ?? "", /^failed: no UDP port of .* is free/);
    assert.match(relay ?? "", /^failed: /);
  });
});
