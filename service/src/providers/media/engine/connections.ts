/**
 * The connection that receives a participant's media, and the code that both connections of a participant share. The
 * browser makes the offer for the connection on which it sends.
 */
import {
  type MediaStreamTrack,
  RTCPeerConnection,
  type RTCRtpReceiver,
  type RTCRtpTransceiver,
  RtcpSrPacket,
  useNACK,
  useOPUS,
  usePLI,
  useSdesMid,
  useVP8,
} from "werift";
import { BusyError, invalid } from "../../../kernel/platform/errors.ts";
import type { Media } from "../webm/webm.ts";
import { ownSdp, withCandidatesOf } from "./sdp.ts";
import type { PublishInput, Publishing } from "./transport.ts";

export type LineSettings = { readonly announce: string; readonly tcp: boolean; readonly ports: PortPool };

/** Assigns ports to connections. Each connection has its own port number, used for both UDP and TCP. */
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

export type Line = { readonly pc: RTCPeerConnection; readonly port: number; readonly close: () => Promise<void> };

/** The recorded codecs. Browsers may send no others. */
export const mediaOfLines = () => ({
  // Leaves out transport-wide feedback, with which Chromium's bandwidth estimate drops to 81 kbit/s.
  codecs: {
    audio: [useOPUS({ payloadType: 111, parameters: "minptime=10;useinbandfec=1" })],
    video: [useVP8({ payloadType: 96, rtcpFeedback: [useNACK(), usePLI()] })],
  },
  headerExtensions: { audio: [useSdesMid()], video: [useSdesMid()] },
});

function openLine({ announce, tcp, ports }: LineSettings): Line {
  const port = ports.take();
  const pc = new RTCPeerConnection({
    ...mediaOfLines(),
    iceServers: [],
    iceLite: true,
    iceUseTcp: tcp,
    // The announced address becomes the only candidate; this machine's own addresses are not used.
    iceUseIpv4: false,
    iceUseIpv6: false,
    iceAdditionalHostAddresses: [announce],
    bundlePolicy: "max-bundle",
  });
  // The port range is set after the construction, because the constructor refuses a range of one port.
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

/** Another program may use a port of the range, so this many ports are tried. */
const maxTries = 5;

export async function describedLine(
  settings: LineSettings,
  describe: (pc: RTCPeerConnection) => Promise<void>,
): Promise<{ line: Line; sdp: string }> {
  for (let tried = 0; tried < maxTries; tried++) {
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

type LineInput = Omit<PublishInput, "session" | "person"> & { readonly settings: LineSettings };

const ntpEpochMs = 2_208_988_800_000;
const ntpMs = (ntp: bigint): number =>
  Number(ntp >> 32n) * 1_000 + (Number(ntp & 0xffffffffn) / 2 ** 32) * 1_000 - ntpEpochMs;
const isMedia = (kind: string): kind is Media => kind === "audio" || kind === "video";

/**
 * Passes the packets and reports of the connection's incoming tracks to the callbacks.
 * @returns a function that requests a key frame of each video track
 */
export function hear(
  pc: RTCPeerConnection,
  { onPacket, onReport }: Pick<PublishInput, "onPacket" | "onReport">,
): () => void {
  const pictures = new Map<RTCRtpReceiver, MediaStreamTrack>();
  const listen = (track: MediaStreamTrack, { receiver }: RTCRtpTransceiver) => {
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
  pc.onTransceiverAdded.subscribe((transceiver) =>
    transceiver.onTrack.subscribe((track) => listen(track, transceiver)),
  );
  return () => {
    for (const [receiver, { ssrc }] of pictures)
      if (ssrc !== undefined) void receiver.sendRtcpPLI(ssrc).catch(() => {});
  };
}

/**
 * Answers a browser's offer.
 * @throws ServiceError `validation` for an offer that can't be answered; `unavailable` when no port is free
 */
export async function openPublishing({ settings, offer, onPacket, onReport, onEnd }: LineInput): Promise<Publishing> {
  let askForKeyFrame = () => {};
  const { line, sdp } = await describedLine(settings, async (pc) => {
    askForKeyFrame = hear(pc, { onPacket, onReport });
    await answered(pc, offer);
  });
  line.pc.connectionStateChange.subscribe((state) => {
    if (state === "failed" || state === "closed") onEnd();
  });
  return {
    answer: sdp,
    async again(next) {
      await answered(line.pc, next);
      // Once the keys are agreed on, werift doesn't start its transports again for a new offer. Without this loop, it
      // would ignore further connectivity checks.
      for (const transport of line.pc.iceTransports)
        if (!transport.connection.nominated) void transport.start().catch(() => {});
      return withCandidatesOf(ownSdp(line.pc.localDescription?.sdp ?? "", settings.announce), sdp);
    },
    askForKeyFrame,
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
