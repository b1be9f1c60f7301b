import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { EmbeddedMedia, MediaSettings } from "../service/src/kernel/config/media.ts";
import { systemClock } from "../service/src/kernel/platform/clock.ts";
import { openLog } from "../service/src/kernel/platform/logs.ts";
import type { ClientMessage, MediaEngine, MediaEvent, ServerMessage } from "../service/src/providers/media/media.ts";
import { openMediaEngine } from "../service/src/providers/providers.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { until } from "./until.ts";

/** Flags that give a browser a fake camera and microphone, without asking for permission. */
export const fakeDevices = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

/**
 * As `fakeDevices`, with a quarter of the pictures, for tests of what people do in a session. Encoding and decoding the
 * pictures of four browsers takes most of their processor time.
 */
export const slowDevices = ["--use-fake-device-for-media-stream=fps=5", "--use-fake-ui-for-media-stream"];

/** The first port of the next media server's range. Each test process has its own ranges. */
let rangeStart = 20_000 + (process.pid % 250) * 80;

/**
 * Media settings for loopback. Browsers hide their own loopback candidates, so the browser contacts the media server
 * first.
 */
export function testMedia(): EmbeddedMedia {
  const first = rangeStart;
  rangeStart += 40;
  return { engine: "embedded", announce: "127.0.0.1", ports: [first, first + 39], tcp: false, turn: null };
}

export type EngineUnderTest = {
  engine: MediaEngine;
  spoolDir: string;
  events: MediaEvent[];
  happened: <Kind extends MediaEvent["kind"]>(
    kind: Kind,
    is?: (event: Extract<MediaEvent, { kind: Kind }>) => boolean,
  ) => Promise<Extract<MediaEvent, { kind: Kind }>>;
  stop: () => Promise<void>;
};

export function startEngine(settings: MediaSettings = testMedia()): EngineUnderTest {
  const folder = temporaryFolder();
  const spoolDir = join(folder.path, "recordings", "node.own");
  const engine = openMediaEngine({ settings, spoolDir, clock: systemClock, log: openLog("silent") });
  const events: MediaEvent[] = [];
  engine.listen((event) => events.push(event));
  return {
    engine,
    spoolDir,
    events,
    async happened(kind, is = () => true) {
      type Wanted = Extract<MediaEvent, { kind: typeof kind }>;
      const find = () => events.find((event): event is Wanted => event.kind === kind && is(event as Wanted));
      await until(() => find() !== undefined);
      return find() as Wanted;
    },
    async stop() {
      await engine.stop();
      folder.remove();
    },
  };
}

/** The media servers' processes among the children of a process; by default, of this one. */
export function enginePids(parent = process.pid): number[] {
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ");
  return children
    .filter((pid) => pid !== "" && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("media-main"))
    .map(Number);
}

/** An origin where browsers allow cameras: an empty page on loopback. */
export async function cameraOrigin(): Promise<{ url: string; close: () => void }> {
  const server = createServer((_, response) => response.setHeader("content-type", "text/html").end("<!doctype html>"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}/`, close: () => void server.close() };
}

/** Works like the page of a session: it has two connections, and offers no candidates of the browser's own. */
const clientScript = `
globalThis.media = {
  async start(ask, { video = true, iceServers = [], iceTransportPolicy = "all" } = {}) {
    const received = new RTCPeerConnection({ iceServers, iceTransportPolicy });
    const people = new Map();
    received.ontrack = ({ transceiver, track }) => {
      const element = document.createElement(track.kind);
      element.autoplay = true; element.muted = true; element.srcObject = new MediaStream([track]);
      element.dataset.mid = transceiver.mid;
      document.body.append(element);
    };
    let queue = Promise.resolve();
    globalThis.media.receive = (message) => {
      queue = queue.then(async () => {
        people.clear();
        for (const { mid, person } of message.tracks) people.set(mid, person);
        await received.setRemoteDescription({ type: "offer", sdp: message.sdp });
        await received.setLocalDescription(await received.createAnswer());
        await ask({ kind: "subscribe", sdp: received.localDescription.sdp });
      });
      return queue;
    };
    globalThis.media.seen = () => [...document.querySelectorAll("video")]
      .filter((element) => people.has(element.dataset.mid) && element.currentTime > 0.2)
      .map((element) => ({ person: people.get(element.dataset.mid), width: element.videoWidth, time: element.currentTime }));
    await ask({ kind: "join" });
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: video && { width: 640, height: 480, frameRate: 20 } });
    const sent = new RTCPeerConnection({ iceServers, iceTransportPolicy });
    for (const track of stream.getTracks())
      sent.addTransceiver(track, { direction: "sendonly", sendEncodings: track.kind === "video" ? [{ maxBitrate: 600000, maxFramerate: 20 }] : [{}] });
    const publish = async (options) => {
      await sent.setLocalDescription(await sent.createOffer(options));
      const [answer] = await ask({ kind: "publish", sdp: sent.localDescription.sdp });
      await sent.setRemoteDescription({ type: "answer", sdp: answer.sdp });
    };
    globalThis.media.restart = () => publish({ iceRestart: true });
    globalThis.media.sent = sent;
    globalThis.media.received = received;
    await publish();
  },
};
`;

export type SeenPicture = { person: string; width: number; time: number };

type JoinOptions = { session: string; person: string; video?: boolean; loop?: boolean; relayOnly?: boolean };

/** Lets a participant join with a page: audio and video go both ways. */
export async function joinByPage(
  { engine }: { engine: MediaEngine },
  page: Page,
  { session, person, video = true, loop = false, relayOnly = false }: JoinOptions,
) {
  const { ticket, iceServers } = await engine.admit(session, person, { audio: true, video, loop });
  if (!(await page.evaluate("'ask' in globalThis")))
    await page.exposeFunction("ask", (own: string, message: Parameters<MediaEngine["signal"]>[1]) =>
      engine.signal(own, message),
    );
  await page.evaluate(clientScript);
  const stop = engine.listen((event) => {
    if (event.kind === "message" && event.session === session && event.person === person)
      void page.evaluate(`media.receive(${JSON.stringify(event.message)})`).catch(() => {});
  });
  const input = JSON.stringify({ video, iceServers, iceTransportPolicy: relayOnly ? "relay" : "all" });
  await page.evaluate(`media.start((message) => ask(${JSON.stringify(ticket)}, message), ${input})`);
  return {
    seen: () => page.evaluate("media.seen()") as Promise<SeenPicture[]>,
    restart: () => page.evaluate("media.restart()"),
    leave: stop,
  };
}

/**
 * A lossy network path to the engine: the page gets the ports of a relay, which forwards packets in both directions.
 */
export function lossyWay({ engine }: EngineUnderTest) {
  const ways = new Map<string, Promise<number>>();
  const sockets: Socket[] = [];
  /** The percentage of packets that the relay drops, in each direction. */
  let loss = 0;
  let lost = 0;
  const isLost = () => {
    const isHit = Math.random() * 100 < loss;
    if (isHit) lost++;
    return isHit;
  };
  const opened = async (): Promise<Socket> => {
    const socket = createSocket("udp4");
    sockets.push(socket);
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    return socket;
  };
  async function wayTo(port: string): Promise<number> {
    const [front, back] = [await opened(), await opened()];
    let page: RemoteInfo | null = null;
    front.on("message", (packet, from) => {
      page = from;
      if (!isLost()) back.send(packet, Number(port), "127.0.0.1");
    });
    back.on("message", (packet) => {
      if (page && !isLost()) front.send(packet, page.port, page.address);
    });
    return front.address().port;
  }
  const candidate = /^(a=candidate:\S+ \d+ udp \d+ \S+) (\d+) /gim;
  async function throughWay(message: ServerMessage): Promise<ServerMessage> {
    const ports = [...message.sdp.matchAll(candidate)].map(([, , port = ""]) => port);
    for (const port of ports) if (!ways.has(port)) ways.set(port, wayTo(port));
    const told = new Map<string, number>();
    for (const port of ports) told.set(port, await (ways.get(port) ?? wayTo(port)));
    return { ...message, sdp: message.sdp.replaceAll(candidate, (_, start, port) => `${start} ${told.get(port)} `) };
  }
  return {
    engine: {
      ...engine,
      signal: async (ticket: string, message: ClientMessage) =>
        Promise.all((await engine.signal(ticket, message)).map(throughWay)),
    },
    lose: (percent: number) => {
      loss = percent;
    },
    lost: () => lost,
    close: () => {
      for (const socket of sockets) socket.close();
    },
  };
}
