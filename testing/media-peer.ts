import { randomBytes } from "node:crypto";
import {
  MediaStreamTrack,
  RTCPeerConnection,
  RtpHeader,
  RtpPacket,
  useNACK,
  useOPUS,
  usePLI,
  useSdesMid,
  useSdesRTPStreamId,
  useVP8,
} from "werift";
import type { MediaEngine, MediaEvent } from "../service/src/providers/media/media.ts";

/** A participant without a browser, who sends generated audio and video. */
export type MediaPeer = {
  readonly person: string;
  /** The numbers of packets that arrived from each other participant. */
  readonly received: Map<string, { audio: number; video: number }>;
  /** The session descriptions that the media server sent. */
  readonly descriptions: string[];
  keyFrames: () => number;
  /** Makes another offer on the same connection. `change` edits the offered description, as a modified client could. */
  offerChanged: (change: (sdp: string) => string) => Promise<void>;
  /**
   * Sends a packet that no session description names, as a modified client can. `over` chooses the participant's
   * sending or receiving connection.
   * @returns whether it was sent
   */
  sendRaw: (over: "sending" | "receiving", packet: RawPacket) => Promise<boolean>;
  /** Starts sending video as well, with another offer on the same connection. */
  addVideo: () => Promise<void>;
  /** Stops sending without notifying anybody. */
  silence: () => void;
  close: () => Promise<void>;
};

type RawPacket = { type: 96 | 111; ssrc: number; sequence: number; mid: string; rid?: string; payload: Buffer };

type PeerOptions = {
  engine: MediaEngine;
  session: string;
  person: string;
  audio?: boolean;
  video?: boolean;
  loop?: boolean;
  /** True if `addVideo` may be called later. */
  mayVideo?: boolean;
  /** Video frames per second. */
  rate?: number;
  bytesOfFrame?: number;
  /** Called with the payload of each packet that arrives. */
  onPayload?: (payload: Buffer) => void;
  /** True if the offer claims the header extension by which simulcast names its streams. */
  namesStreams?: boolean;
  /** Returns true for a packet to drop, to simulate loss. */
  drops?: (sequence: number, kind: "audio" | "video") => boolean;
};

const audioMs = 20;
const mtu = 1_100;

const lineOf = (namesStreams = false) =>
  new RTCPeerConnection({
    codecs: {
      audio: [useOPUS({ payloadType: 111 })],
      video: [useVP8({ payloadType: 96, rtcpFeedback: [useNACK(), usePLI()] })],
    },
    headerExtensions: {
      audio: [useSdesMid()],
      video: [useSdesMid(), ...(namesStreams ? [useSdesRTPStreamId()] : [])],
    },
    iceServers: [],
    iceUseIpv6: false,
    iceAdditionalHostAddresses: ["127.0.0.1"],
    bundlePolicy: "max-bundle",
  });

/** A VP8 frame with a valid header and random bytes as its picture, which can't be decoded. */
export function madeUpFrame(isKey: boolean, bytes: number): Buffer {
  const frame = randomBytes(Math.max(16, bytes));
  frame[0] = isKey ? 0x10 : 0x11;
  if (isKey) Buffer.from("9d012a8002e001", "hex").copy(frame, 3);
  return frame;
}

/** One frame of Opus of 20 ms, with random bytes as its sound. */
const madeUpSound = (): Buffer => Buffer.concat([Buffer.from([0xf8]), randomBytes(59)]);

/** The RTP payloads of a VP8 frame, each with its VP8 descriptor. */
export const vp8Payloads = (frame: Buffer): Buffer[] =>
  Array.from({ length: Math.ceil(frame.length / mtu) }, (_, index) =>
    Buffer.concat([Buffer.from([index === 0 ? 0x10 : 0]), frame.subarray(index * mtu, (index + 1) * mtu)]),
  );

/** Admits the participant to the session, joins it, and starts to send. */
export async function openPeer(options: PeerOptions): Promise<MediaPeer> {
  const { engine, session, person, audio = true, video = true, loop = false, mayVideo = video } = options;
  const { ticket } = await engine.admit(session, person, { audio, video: mayVideo, loop });
  const descriptions: string[] = [];
  const receiving = receiver(options, ticket, descriptions);
  await engine.signal(ticket, { kind: "join" });
  const pc = lineOf(options.namesStreams);
  let keyFrames = 0;
  const wanted = () => keyFrames++;
  const stop: (() => void)[] = [];
  if (audio) {
    const track = new MediaStreamTrack({ kind: "audio" });
    pc.addTransceiver(track, { direction: "sendonly" });
    stop.push(sendAudio(track, options));
  }
  const sendPictures = () => {
    const track = new MediaStreamTrack({ kind: "video" });
    pc.addTransceiver(track, { direction: "sendonly" }).sender.onPictureLossIndication.subscribe(wanted);
    stop.push(sendVideo(track, options, () => keyFrames));
  };
  const publish = async (change = (sdp: string) => sdp) => {
    await pc.setLocalDescription(await pc.createOffer());
    const [answer] = await engine.signal(ticket, { kind: "publish", sdp: change(pc.localDescription?.sdp ?? "") });
    descriptions.push(answer?.sdp ?? "");
    await pc.setRemoteDescription({ type: "answer", sdp: answer?.sdp ?? "" });
  };
  if (video) sendPictures();
  if (audio || video) await publish();
  const silence = () => {
    for (const each of stop.splice(0)) each();
  };
  return {
    person,
    received: receiving.received,
    descriptions,
    keyFrames: () => keyFrames,
    silence,
    offerChanged: publish,
    sendRaw: (over, packet) => sendRaw(over === "sending" ? pc : receiving.pc, packet),
    async addVideo() {
      sendPictures();
      await publish();
    },
    async close() {
      silence();
      await Promise.all([pc.close(), receiving.close()]);
    },
  };
}

/** Encrypts a packet with the connection's keys and sends it, without the checks and changes of a normal sender. */
async function sendRaw(pc: RTCPeerConnection, { type, ssrc, sequence, mid, rid, payload }: RawPacket) {
  const idOf = (name: string) =>
    Number(
      new RegExp(`a=extmap:(\\d+)\\S* urn:ietf:params:rtp-hdrext:sdes:${name}`).exec(
        pc.localDescription?.sdp ?? "",
      )?.[1],
    );
  const header = new RtpHeader({
    payloadType: type,
    sequenceNumber: sequence & 0xffff,
    timestamp: sequence * 3_000,
    marker: true,
    ssrc,
    extension: true,
    extensionProfile: 0xbede,
    extensions: [
      { id: idOf("mid"), payload: Buffer.from(mid) },
      ...(rid === undefined ? [] : [{ id: idOf("rtp-stream-id"), payload: Buffer.from(rid) }]),
    ],
  });
  // The result is undefined after an error.
  return ((await pc.dtlsTransports[0]?.sendRtp(payload, header)) ?? 0) > 0;
}

function receiver({ engine, session, person, onPayload }: PeerOptions, ticket: string, descriptions: string[]) {
  const pc = lineOf();
  const received: MediaPeer["received"] = new Map();
  let people = new Map<string, string>();
  pc.onTransceiverAdded.subscribe((transceiver) =>
    transceiver.onTrack.subscribe((track) =>
      track.onReceiveRtp.subscribe(({ payload }) => {
        onPayload?.(payload);
        const from = people.get(transceiver.mid ?? "") ?? "?";
        const counted = received.get(from) ?? { audio: 0, video: 0 };
        counted[track.kind as "audio" | "video"]++;
        received.set(from, counted);
      }),
    ),
  );
  let queue = Promise.resolve();
  const stopListening = engine.listen((event: MediaEvent) => {
    if (event.kind !== "message" || event.session !== session || event.person !== person) return;
    const { message } = event;
    if (message.kind !== "subscribe") return;
    descriptions.push(message.sdp);
    queue = queue
      .then(async () => {
        people = new Map(message.tracks.map((track) => [track.mid, track.person]));
        await pc.setRemoteDescription({ type: "offer", sdp: message.sdp });
        await pc.setLocalDescription(await pc.createAnswer());
        await engine.signal(ticket, { kind: "subscribe", sdp: pc.localDescription?.sdp ?? "" });
      })
      // Answering fails if the session has ended, because its tickets ended with it. Tests ignore this error.
      .catch(() => {});
  });
  return {
    received,
    pc,
    async close() {
      stopListening();
      await queue;
      await pc.close();
    },
  };
}

function sendAudio(track: MediaStreamTrack, { drops }: PeerOptions): () => void {
  let sequence = 0;
  const timer = setInterval(() => {
    const header = new RtpHeader({
      payloadType: 111,
      sequenceNumber: sequence & 0xffff,
      timestamp: sequence * 960,
      ssrc: 1,
    });
    if (!drops?.(sequence, "audio")) track.writeRtp(new RtpPacket(header, madeUpSound()));
    sequence++;
  }, audioMs);
  return () => clearInterval(timer);
}

function sendVideo(track: MediaStreamTrack, options: PeerOptions, asked: () => number): () => void {
  const { rate = 20, bytesOfFrame = 2_800, drops } = options;
  let [sequence, frames, answered] = [0, 0, -1];
  const timer = setInterval(() => {
    const isKey = frames === 0 || asked() > answered;
    answered = asked();
    const payloads = vp8Payloads(madeUpFrame(isKey, isKey ? 3 * bytesOfFrame : bytesOfFrame));
    const timestamp = Math.round((frames++ * 90_000) / rate);
    payloads.forEach((payload, index) => {
      const marker = index === payloads.length - 1;
      const header = new RtpHeader({ payloadType: 96, sequenceNumber: sequence & 0xffff, timestamp, marker, ssrc: 2 });
      if (!drops?.(sequence, "video")) track.writeRtp(new RtpPacket(header, payload));
      sequence++;
    });
  }, 1_000 / rate);
  return () => clearInterval(timer);
}
