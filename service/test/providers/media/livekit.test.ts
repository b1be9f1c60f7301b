import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { after, describe, test } from "node:test";
import { startEngine } from "@signsealship/testing/media";
import { until } from "@signsealship/testing/until";
import { Endings } from "../../../src/providers/media/livekit/endings.ts";
import type { Place } from "../../../src/providers/media/livekit/place.ts";
import { LivekitReceiving } from "../../../src/providers/media/livekit/receiving.ts";
import { checkOffer, completed, namedOffer } from "../../../src/providers/media/livekit/sdp.ts";
import { probeLivekit } from "../../../src/providers/media/livekit/server.ts";
import { openSignal } from "../../../src/providers/media/livekit/signal.ts";
import { isFiller } from "../../../src/providers/media/livekit/tap.ts";
import { accessToken } from "../../../src/providers/media/livekit/token.ts";

const at = Date.parse("2026-11-26T12:00:00Z");
const secret = "a secret of these tests, long enough";
const key = { key: "testing", secret };

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;

const section = (kind: string, types: string, lines: readonly string[]) => [
  `m=${kind} 9 UDP/TLS/RTP/SAVPF ${types}`,
  "a=ice-ufrag:u",
  "a=ice-pwd:p",
  "a=fingerprint:sha-256 00",
  "a=mid:0",
  ...lines,
];
const offer = [
  "v=0",
  "o=- 1 2 IN IP4 127.0.0.1",
  "s=-",
  "t=0 0",
  "a=msid-semantic: WMS x",
  ...section("audio", "111 63 9", ["a=msid:stream its-name", "a=sendonly", "a=rtpmap:111 opus/48000/2"]),
  "a=fmtp:111 useinbandfec=1",
  "a=rtpmap:63 red/48000/2",
  "a=fmtp:63 111/111",
  "a=rtpmap:9 G722/8000",
  ...section("video", "96 97 103", ["a=sendonly", "a=rtpmap:96 VP8/90000", "a=rtcp-fb:96 nack"]),
  "a=rtpmap:97 rtx/90000",
  "a=fmtp:97 apt=96",
  "a=rtpmap:103 H264/90000",
  "a=ssrc:1 msid:stream other-name",
  ...section("video", "96", ["a=inactive", "a=rtpmap:96 VP8/90000"]),
  "",
].join("\r\n");

describe("access tokens", () => {
  test("are signed, last a minute, and name one room and one person", () => {
    const token = accessToken(key, { room: "s.1", identity: "a", role: "publisher", at });
    const [head, body, signature] = token.split(".");
    assert.equal(signature, createHmac("sha256", secret).update(`${head}.${body}`).digest("base64url"));
    assert.deepEqual(JSON.parse(Buffer.from(head ?? "", "base64url").toString()), { alg: "HS256", typ: "JWT" });
    const { iss, sub, exp, nbf } = claimsOf(token);
    assert.deepEqual({ iss, sub, exp, nbf }, { iss: "testing", sub: "a", exp: at / 1_000 + 60, nbf: at / 1_000 - 30 });
  });

  test("let a sender only send, and a receiver only receive, unseen", () => {
    const granted = (role: "publisher" | "listener" | "admin") =>
      claimsOf(accessToken(key, { room: "s.1", identity: "a", role, at }))["video"];
    const joins = { room: "s.1", roomJoin: true, canPublishData: false };
    assert.deepEqual(granted("publisher"), { ...joins, canPublish: true, canSubscribe: false, hidden: false });
    assert.deepEqual(granted("listener"), { ...joins, canPublish: false, canSubscribe: true, hidden: true });
    assert.deepEqual(granted("admin"), {
      room: "s.1",
      roomAdmin: true,
      roomCreate: true,
      roomList: true,
    });
  });
});

describe("session descriptions", () => {
  test("offer Opus and VP8 alone, and name tracks that are sent", () => {
    const { sdp, tracks } = namedOffer(offer);
    assert.deepEqual(tracks, [
      { name: "track-1", media: "audio" },
      { name: "track-2", media: "video" },
    ]);
    assert.match(sdp, /^m=audio 9 UDP\/TLS\/RTP\/SAVPF 111\r$/m);
    assert.match(sdp, /^a=msid:track track-1\r$/m);
    assert.doesNotMatch(sdp, /red|G722|rtx|H264|its-name|other-name/);
    assert.match(sdp, /^a=fmtp:111 useinbandfec=1\r$/m);
  });

  test("for browsers have the server's addresses once for each section, and an initial bit rate", () => {
    const sent = completed(
      offer.replace("a=mid:0", "a=candidate:1 1 udp 1 10.0.0.1 1 typ host\r\na=end-of-candidates"),
      ["candidate:2 1 udp 1 203.0.113.7 7882 typ host"],
    );
    assert.equal(sent.match(/^a=candidate:2 1 udp 1 203\.0\.113\.7 7882 typ host\r$/gm)?.length, 3);
    assert.doesNotMatch(sent, /10\.0\.0\.1|end-of-candidates/);
    assert.match(sent, /x-google-start-bitrate=600/);
  });

  test("that can't be answered are refused with the reason, before the server sees them", () => {
    checkOffer(offer);
    const wrong: [string, RegExp][] = [
      [offer.replace("a=ice-ufrag:u\r\n", ""), /a section has no ice-ufrag/],
      [offer.replace("a=ice-pwd:p\r\n", ""), /a section has no ice-pwd/],
      [offer.replace("a=fingerprint:sha-256 00\r\n", ""), /a section has no fingerprint/],
      [offer.replace("a=mid:0\r\n", ""), /a section has no mid/],
      [offer.replace("VP8/90000", "VP9/90000"), /neither Opus nor VP8/],
      ["v=0\r\nm=audio 9 X 96\r\n", /a section has no ice-ufrag/],
    ];
    for (const [sdp, words] of wrong)
      assert.throws(
        () => checkOffer(sdp),
        (error: Error & { code?: string }) => {
          assert.match(error.message, words);
          return error.code === "validation" && error.message.startsWith("sdp must be an offer that can be answered");
        },
      );
  });
});

test("a packet counts as made by the server only as a whole, so nobody keeps frames off the recording", () => {
  const black = Buffer.from("1002009d012a08000800004708858588858488020200", "hex");
  const silence = Buffer.concat([Buffer.from("f8fffe", "hex"), Buffer.alloc(77)]);
  for (const descriptor of ["10", "90e0812a0521"])
    assert.equal(isFiller("video", Buffer.concat([Buffer.from(descriptor, "hex"), black])), true);
  assert.equal(isFiller("audio", silence), true);
  const frame = Buffer.from([0x10, 1, 2, 3]);
  for (const own of [Buffer.concat([frame, black]), Buffer.concat([Buffer.from([0x10]), black, frame])])
    assert.equal(isFiller("video", own), false);
  assert.equal(isFiller("audio", Buffer.concat([Buffer.from([0xf8, 1]), silence])), false);
  assert.equal(isFiller("audio", Buffer.concat([silence, Buffer.alloc(1)])), false);
});

test("a track that replaces another of the same person is asked for only after its first packet", async () => {
  const sent: { trackSids: string[]; subscribe: boolean }[] = [];
  const signal = { hear() {}, close() {}, send: ({ value }: { value: never }) => void sent.push(value) };
  const place = { enter: async () => signal, tracks: new Map() } as unknown as Place;
  const input = { session: "s", person: "b", onOffer() {}, onPictureLost() {}, onEnd() {} };
  const receiving = new LivekitReceiving(place, input);
  const asked = async () => {
    await new Promise(setImmediate);
    return sent.splice(0).map(({ trackSids, subscribe }) => `${subscribe ? "+" : "-"}${trackSids.join()}`);
  };
  place.tracks.set("a", { audio: "A1", video: "V1" });
  receiving.show(["a"]);
  for (const media of ["audio", "video"] as const) receiving.send("a", media);
  assert.deepEqual(await asked(), ["+A1", "+V1"]);
  receiving.continued("a");
  assert.deepEqual(await asked(), []);
  place.tracks.set("a", { audio: "A1", video: "V2" });
  receiving.continued("a");
  assert.deepEqual(await asked(), ["-V1"]);
  receiving.send("a", "video");
  assert.deepEqual(await asked(), ["+V2"]);
  await receiving.close();
});

describe("a server", () => {
  const servers: Server[] = [];
  after(() => Promise.all(servers.map(closed)));

  const answers = async (status: number | (() => number), body = "{}", asked: string[] = []): Promise<string> => {
    const server = createServer(async (request, response) => {
      asked.push(`${request.url?.split("/").at(-1)} ${await text(request)}`);
      response.writeHead(typeof status === "number" ? status : status()).end(body);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
    return `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  };

  test("that refuses the key, fails, or is none, is told by doctor", async () => {
    await probeLivekit({ ...key, url: await answers(200) }, at);
    await assert.rejects(probeLivekit({ ...key, url: await answers(401) }, at), /refuses LIVEKIT_API_KEY/);
    await assert.rejects(probeLivekit({ ...key, url: await answers(500) }, at), /status 500: is it a LiveKit server/);
    await assert.rejects(probeLivekit({ ...key, url: "http://127.0.0.1:1" }, at), /LIVEKIT_URL can't be reached/);
  });

  const endingsAt = (url: string, late: string[] = [], now = () => at) =>
    new Endings({ livekit: { ...key, url }, now, onLate: (message) => late.push(message) });
  const rooms = (...names: string[]) => JSON.stringify({ rooms: names.map((name) => ({ name })) });

  test("loses a session's earlier rooms, and no others, when the session opens again", async () => {
    const asked: string[] = [];
    const url = await answers(200, rooms("s1.old", "s1.older", "s11.other", "s2.other"), asked);
    await endingsAt(url).beforeOpening("s1");
    assert.deepEqual(asked.sort(), ['DeleteRoom {"room":"s1.old"}', 'DeleteRoom {"room":"s1.older"}', "ListRooms {}"]);
  });

  test("that does not tell its rooms makes a session unavailable, because an earlier room may go on", async () => {
    for (const url of [await answers(500), "http://127.0.0.1:1"])
      await assert.rejects(endingsAt(url).beforeOpening("s1"), { code: "unavailable" });
  });

  test("that fails is asked again until the media have ended", async () => {
    const asked: string[] = [];
    const statuses = [500, 404, 503, 200];
    const endings = endingsAt(await answers(() => statuses.shift() ?? 200, "{}", asked));
    await endings.room("s1.x");
    await until(() => asked.length === 2);
    await until(() => endings.open === 0);
    await endings.participant("s1.x", "a.publisher.0");
    await until(() => asked.length === 4 && endings.open === 0);
    assert.deepEqual([...new Set(asked.map((each) => each.split(" ")[0]))], ["DeleteRoom", "RemoveParticipant"]);
  });

  test("ends the media of a participant whose signalling was cut off", async () => {
    const asked: string[] = [];
    await endingsAt(await answers(200, "{}", asked)).participant("s1.x", "a.publisher.0");
    assert.deepEqual(asked, ['RemoveParticipant {"room":"s1.x","identity":"a.publisher.0"}']);
  });

  test("that is away gets one request at a time however many wait, and all of them once it is back", async () => {
    const asked: string[] = [];
    const late: string[] = [];
    let [isAway, running, most, now] = [true, 0, 0, at];
    const server = createServer(async (request, response) => {
      const call = `${request.url?.split("/").at(-1)} ${await text(request)}`;
      if (isAway) {
        most = Math.max(most, ++running);
        setTimeout(() => {
          running--;
          response.destroy();
        }, 20);
        return;
      }
      asked.push(call);
      response.writeHead(200).end(call.startsWith("ListRooms") ? rooms("s2.old") : "{}");
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    servers.push(server);
    const endings = endingsAt(`http://127.0.0.1:${(server.address() as { port: number }).port}`, late, () => now);
    await endings.participant("s1.x", "first");
    for (let n = 0; n < 20; n++) await endings.participant("s1.x", `a.${n}`);
    await endings.room("s3.y");
    for (let n = 0; n < 200; n++) await endings.participant("s4.z", `a.${n}`);
    await endings.earlierRooms("s2");
    // The many participants of one room were ended with one request for the room.
    assert.equal(endings.open, 21 + 1 + 1 + 1);
    now += 61_000;
    await until(() => late.length === 1);
    assert.match(late[0] ?? "", /^LiveKit has not ended media for 61 s; open requests: 24$/);
    assert.equal(most, 1);
    now += 3_600_000;
    isAway = false;
    await until(() => endings.open === 0);
    assert.deepEqual(asked.filter((each) => !each.startsWith("RemoveParticipant")).sort(), [
      'DeleteRoom {"room":"s2.old"}',
      'DeleteRoom {"room":"s3.y"}',
      'DeleteRoom {"room":"s4.z"}',
      "ListRooms {}",
    ]);
    assert.equal(asked.filter((each) => each.startsWith("RemoveParticipant")).length, 21);
  });

  test("that is away does not keep a session from ending, and its rooms end later unless the session is open again", async () => {
    const asked: string[] = [];
    let isAway = true;
    const url = await answers(() => (isAway ? 503 : 200), rooms("gone.old", "back.new"), asked);
    const media = startEngine({ engine: "livekit", url, ...key, turn: null });
    // Neither session is open in this engine, as after a restart of the service.
    for (const session of ["gone", "back"]) await media.engine.close(session, true);
    await assert.rejects(media.engine.open("back", null), { code: "unavailable" });
    isAway = false;
    await until(() => asked.includes('DeleteRoom {"room":"gone.old"}'));
    assert.ok(!asked.includes('DeleteRoom {"room":"back.new"}'));
    await media.stop();
  });

  test("that lets nobody in makes a session unavailable, without an end of the process", async () => {
    const enter = (url: string) =>
      openSignal({
        livekit: { ...key, url },
        room: "s.1",
        identity: "a",
        role: "publisher",
        now: () => at,
        onEnd: () => {},
      });
    await assert.rejects(enter(await answers(401)), { code: "unavailable" });
    await assert.rejects(enter("http://127.0.0.1:1"), { code: "unavailable" });
  });
});

const closed = (server: Server) => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
};
