/** A person's two connections: one that the browser offers and sends by, one that the engine offers and all others come by. */
import {
  type MediaStreamTrack,
  RTCPeerConnection,
  type RTCRtpReceiver,
  type RTCRtpTransceiver,
  type RtpPacket,
  RtcpSrPacket,
  useNACK,
  useOPUS,
  usePLI,
  useSdesMid,
  useVP8,
} from "werift";
import { BusyError, invalid } from "../../../kernel/platform/errors.ts";
import type { SentTrack, ServerMessage } from "../media.ts";
import type { SenderReport } from "../webm/take.ts";
import type { Media } from "../webm/webm.ts";
import { ownSdp, withCandidatesOf } from "./sdp.ts";

export type LineSettings = { readonly announce: string; readonly tcp: boolean; readonly ports: PortPool };

/** Ports for connections: each has one of its own, the same for UDP and TCP. */
export type PortPool = { readonly take: () => number; readonly give: (port: number) => void };

export function portPool([first, last]: readonly [number, number]): PortPool {
  const used = new Set<number>();
  let next = first;
  return {
    take() {
      for (let tried = first; tried <= last; tried++) {
        const port = next;
        next = next === last ? first : next + 1;
        if (used.has(port)) continue;
        used.add(port);
        return port;
      }
      throw new BusyError("Too many people are in sessions now. Try again later.");
    },
    give: (port) => void used.delete(port),
  };
}

type Line = { readonly pc: RTCPeerConnection; readonly port: number; readonly close: () => Promise<void> };

function openLine({ announce, tcp, ports }: LineSettings): Line {
  const port = ports.take();
  const pc = new RTCPeerConnection({
    // No feedback for the whole transport: with it Chromium's estimate falls to 81 kbit/s.
    codecs: {
      audio: [useOPUS({ payloadType: 111, parameters: "minptime=10;useinbandfec=1" })],
      video: [useVP8({ payloadType: 96, rtcpFeedback: [useNACK(), usePLI()] })],
    },
    headerExtensions: { audio: [useSdesMid()], video: [useSdesMid()] },
    iceServers: [],
    iceLite: true,
    iceUseTcp: tcp,
    // Only the announced address is gathered, whatever this machine has.
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: [announce],
    bundlePolicy: "max-bundle",
  });
  // The constructor refuses a range of one port.
  pc.config.icePortRange = [port, port];
  let closed: Promise<void> | null = null;
  return {
    pc,
    port,
    close: () => {
      closed ??= pc
        .close()
        .catch(() => {})
        .finally(() => ports.give(port));
      return closed;
    },
  };
}

/** Another program may have taken a port of ours; a few tries find one. */
const mostTries = 5;

async function describedLine(
  settings: LineSettings,
  describe: (pc: RTCPeerConnection) => Promise<void>,
): Promise<{ line: Line; sdp: string }> {
  for (let tried = 0; tried < mostTries; tried++) {
    const line = openLine(settings);
    try {
      await describe(line.pc);
      const sdp = ownSdp(line.pc.localDescription?.sdp ?? "", settings.announce);
      if (/^a=candidate:/m.test(sdp)) return { line, sdp };
    } catch (error) {
      await line.close();
      throw error;
    }
    await line.close();
  }
  throw new BusyError("No port of MEDIA_PORTS is free. Try again later.");
}

type PublishInput = {
  readonly settings: LineSettings;
  readonly offer: string;
  readonly onPacket: (media: Media, packet: RtpPacket) => void;
  readonly onReport: (media: Media, report: SenderReport) => void;
  readonly onEnd: () => void;
};

export type Publishing = {
  readonly answer: string;
  /** Takes a new offer on the same connection, as after a change of network. @returns the answer */
  readonly again: (offer: string) => Promise<string>;
  readonly askForKeyFrame: () => void;
  readonly close: () => Promise<void>;
};

const ntpEpochMs = 2_208_988_800_000;
const ntpMs = (ntp: bigint): number => Number(ntp >> 32n) * 1_000 + (Number(ntp & 0xffffffffn) / 2 ** 32) * 1_000 - ntpEpochMs;
const isMedia = (kind: string): kind is Media => kind === "audio" || kind === "video";

/** Answers a browser's offer. @throws ServiceError `validation` for an offer that can't be answered */
export async function openPublishing({ settings, offer, onPacket, onReport, onEnd }: PublishInput): Promise<Publishing> {
  const pictures = new Map<RTCRtpReceiver, MediaStreamTrack>();
  const hear = (track: MediaStreamTrack, { receiver }: RTCRtpTransceiver) => {
    const { kind } = track;
    if (!isMedia(kind)) return;
    if (kind === "video") pictures.set(receiver, track);
    track.onReceiveRtp.subscribe((packet) => onPacket(kind, packet));
    receiver.onRtcp.subscribe((packet) => {
      if (!(packet instanceof RtcpSrPacket)) return;
      const { ntpTimestamp, rtpTimestamp } = packet.senderInfo;
      onReport(kind, { senderMs: ntpMs(ntpTimestamp), timestamp: rtpTimestamp });
    });
  };
  const { line, sdp } = await describedLine(settings, async (pc) => {
    pc.onTransceiverAdded.subscribe((transceiver) =>
      transceiver.onTrack.subscribe((track) => hear(track, transceiver)),
    );
    await answered(pc, offer);
  });
  line.pc.connectionStateChange.subscribe((state) => {
    if (state === "failed" || state === "closed") onEnd();
  });
  return {
    answer: sdp,
    async again(next) {
      await answered(line.pc, next);
      // werift leaves this out where the keys are agreed on already, and would hear no more requests.
      for (const transport of line.pc.iceTransports)
        if (!transport.connection.nominated) void transport.start().catch(() => {});
      return withCandidatesOf(ownSdp(line.pc.localDescription?.sdp ?? "", settings.announce), sdp);
    },
    askForKeyFrame() {
      for (const [receiver, { ssrc }] of pictures) if (ssrc !== undefined) void receiver.sendRtcpPLI(ssrc).catch(() => {});
    },
    close: line.close,
  };
}

async function answered(pc: RTCPeerConnection, offer: string): Promise<void> {
  try {
    await pc.setRemoteDescription({ type: "offer", sdp: offer });
    await pc.setLocalDescription(await pc.createAnswer());
  } catch (error) {
    throw invalid(`sdp must be an offer that can be answered: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

/** What one person receives of another. */
type Sent = { person: string; senders: Readonly<Record<Media, RTCRtpTransceiver>>; isNew: Record<Media, boolean> };

export type Subscription = {
  /** Sets whose tracks come by this connection, and offers them. */
  readonly show: (people: readonly string[]) => void;
  readonly answered: (sdp: string) => Promise<void>;
  readonly send: (from: string, media: Media, packet: RtpPacket) => void;
  /** The sender's connection is another one: sequence and time go on from where they are. */
  readonly continued: (from: string) => void;
  readonly close: () => Promise<void>;
};

type SubscriptionInput = {
  readonly settings: LineSettings;
  readonly onOffer: (message: ServerMessage) => void;
  readonly onPictureLost: (person: string) => void;
  readonly onEnd: () => void;
};

const settleMs = 5_000;

/** Resolves once the connection stands, or will not. */
function connected(pc: RTCPeerConnection): Promise<void> {
  if (pc.connectionState !== "new" && pc.connectionState !== "connecting") return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, settleMs);
    pc.connectionStateChange.subscribe((state) => {
      if (state === "connecting") return;
      clearTimeout(timer);
      resolve();
    });
  });
}

/** A reader that does not keep up loses packets; memory is not kept for it. */
const mostUnsent = 300;

export function openSubscription({ settings, onOffer, onPictureLost, onEnd }: SubscriptionInput): Subscription {
  let line: Line | null = null;
  let wanted: readonly string[] = [];
  let state: "idle" | "offering" | "waiting" | "closed" = "idle";
  let isStale = false;
  let isAnswered = false;
  let unsent = 0;
  const sent: Sent[] = [];

  /** Tracks of people who left serve those who come later: a description only ever grows. */
  function assign(pc: RTCPeerConnection): void {
    const free = sent.filter(({ person }) => !wanted.includes(person));
    for (const person of wanted) {
      if (sent.some((each) => each.person === person)) continue;
      const reused = free.shift();
      if (reused) {
        reused.person = person;
        reused.isNew = { audio: true, video: true };
        continue;
      }
      const senders = {
        audio: pc.addTransceiver("audio", { direction: "sendonly" }),
        video: pc.addTransceiver("video", { direction: "sendonly" }),
      };
      const added: Sent = { person, senders, isNew: { audio: false, video: false } };
      senders.video.sender.onPictureLossIndication.subscribe(() => onPictureLost(added.person));
      sent.push(added);
    }
  }

  const tracks = (): SentTrack[] =>
    sent
      .filter(({ person }) => wanted.includes(person))
      .flatMap(({ person, senders }) =>
        (["audio", "video"] as const).map((media) => ({ mid: senders[media].mid ?? "", person, media })),
      );

  async function described(pc: RTCPeerConnection): Promise<void> {
    // Another port is another connection, with tracks of its own.
    if (!line) sent.length = 0;
    assign(pc);
    await pc.setLocalDescription(await pc.createOffer());
  }

  async function offer(): Promise<void> {
    state = "offering";
    isStale = false;
    isAnswered = false;
    let sdp: string;
    if (line) {
      await described(line.pc);
      sdp = ownSdp(line.pc.localDescription?.sdp ?? "", settings.announce);
    } else {
      const made = await describedLine(settings, described);
      line = made.line;
      sdp = made.sdp;
      line.pc.connectionStateChange.subscribe((now) => {
        if (now === "failed" || now === "closed") onEnd();
        if (now === "connected") for (const { person } of sent) onPictureLost(person);
      });
    }
    if ((state as string) === "closed") return;
    state = "waiting";
    onOffer({ kind: "subscribe", sdp, tracks: tracks() });
  }

  const offerSoon = (): void => {
    void offer().catch(() => {
      if (state !== "closed") onEnd();
    });
  };

  return {
    show(people) {
      if (people.join() === wanted.join()) return;
      wanted = people;
      isStale = true;
      if (state === "idle" && (people.length > 0 || line)) offerSoon();
    },
    async answered(sdp) {
      if (state !== "waiting" || !line || isAnswered) throw invalid("subscribe must answer an offer that waits for its answer");
      isAnswered = true;
      try {
        await line.pc.setRemoteDescription({ type: "answer", sdp });
      } catch (error) {
        isAnswered = false;
        throw invalid(`sdp must answer the offer: ${error instanceof Error ? error.message : "unknown"}`);
      }
      for (const person of wanted) onPictureLost(person);
      // A new offer while the keys are still being agreed on would break them off.
      await connected(line.pc);
      if ((state as string) !== "waiting") return;
      state = "idle";
      if (isStale) offerSoon();
    },
    send(from, media, packet) {
      const to = sent.find(({ person }) => person === from);
      if (!to || unsent >= mostUnsent) return;
      const { sender } = to.senders[media];
      if (to.isNew[media]) {
        to.isNew[media] = false;
        sender.replaceRTP({ sequenceNumber: packet.header.sequenceNumber, timestamp: packet.header.timestamp });
      }
      unsent++;
      void sender
        .sendRtp(packet)
        .catch(() => {})
        .finally(() => unsent--);
    },
    continued(from) {
      for (const each of sent) if (each.person === from) each.isNew = { audio: true, video: true };
    },
    async close() {
      state = "closed";
      await line?.close();
    },
  };
}
