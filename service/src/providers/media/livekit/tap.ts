/**
 * The hidden participant through which this process receives a participant's packets from LiveKit. LiveKit forwards the
 * packets unchanged and doesn't transcode them.
 */
import { SignalTarget } from "@livekit/protocol";
import { RTCPeerConnection } from "werift";
import { hear, mediaOfLines } from "../engine/connections.ts";
import { readSdp } from "../engine/sdp.ts";
import type { PublishInput } from "../engine/transport.ts";
import { readVp8Packet } from "../webm/vp8.ts";
import type { Media } from "../webm/webm.ts";
import { candidatesOf } from "./candidates.ts";
import type { Place } from "./place.ts";
import { completed } from "./sdp.ts";

type Tap = {
  readonly askForKeyFrame: () => void;
  readonly record: (tracks: readonly string[]) => void;
  readonly close: () => Promise<void>;
};

/** LiveKit's offers also contain a data channel, which this service doesn't use. */
export const livekitSections = /^m=(audio|video|application) /;

const empty = Buffer.alloc(0);
/**
 * LiveKit itself sends this 8x8 key frame and this silence when a track ends. They don't come from a camera or
 * microphone.
 */
const fillerPackets: Readonly<Record<Media, Buffer>> = {
  audio: Buffer.concat([Buffer.from("f8fffe", "hex"), Buffer.alloc(77)]),
  video: Buffer.from("1002009d012a08000800004708858588858488020200", "hex"),
};
/** True if LiveKit made the packet. A packet with other bytes in addition is a participant's own, and is recorded. */
export const isFiller = (media: Media, payload: Buffer): boolean =>
  media === "audio"
    ? payload.equals(fillerPackets.audio)
    : (readVp8Packet(payload)?.data.equals(fillerPackets.video) ?? false);

export async function openTap(
  place: Place,
  { person, onPacket, onReport, onEnd }: Omit<PublishInput, "session" | "offer">,
): Promise<Tap> {
  const signal = await place.enter(person, "listener", onEnd);
  const pc = new RTCPeerConnection({
    ...mediaOfLines(),
    iceServers: [],
    iceUseIpv6: false,
    bundlePolicy: "max-bundle",
  });
  const askForKeyFrame = hear(pc, {
    onPacket: (media, packet) => {
      if (isFiller(media, packet.payload)) packet.payload = empty;
      onPacket(media, packet);
    },
    onReport,
  });
  pc.connectionStateChange.subscribe((state) => {
    if (state === "failed" || state === "closed") onEnd();
    if (state === "connected") askForKeyFrame();
  });
  const candidates = candidatesOf(signal, SignalTarget.SUBSCRIBER);
  let queue = Promise.resolve();
  signal.hear("offer", ({ sdp, id }) => {
    queue = queue
      .then(async () => {
        // The LiveKit server is in the same network, so UDP works. werift's TCP sockets break when the server
        // ends.
        const addresses = (await candidates()).filter((each) => / udp /i.test(each));
        const offer = completed(readSdp(sdp, livekitSections), addresses);
        await pc.setRemoteDescription({ type: "offer", sdp: offer });
        await pc.setLocalDescription(await pc.createAnswer());
        signal.send({ case: "answer", value: { type: "answer", sdp: pc.localDescription?.sdp ?? "", id } });
      })
      .catch(onEnd);
  });
  let asked: readonly string[] = [];
  return {
    askForKeyFrame,
    record(tracks) {
      const [gone, come] = [
        asked.filter((each) => !tracks.includes(each)),
        tracks.filter((each) => !asked.includes(each)),
      ];
      asked = tracks;
      if (gone.length > 0) signal.send({ case: "subscription", value: { trackSids: gone, subscribe: false } });
      if (come.length > 0) signal.send({ case: "subscription", value: { trackSids: [...come], subscribe: true } });
    },
    async close() {
      signal.close();
      await pc.close().catch(() => {});
    },
  };
}
