/**
 * Checks the session descriptions of browsers before anything parses them, and reduces the service's own to what is
 * necessary.
 */
import { invalid } from "../../../kernel/platform/errors.ts";

/**
 * The largest session description. Chromium's offer of one camera and one microphone has 6 KB. Its answer, when it
 * receives from seven other people, has about 30 KB.
 */
const maxBytes = 64 * 1024;
const maxLines = 2_000;

/**
 * The initial bit rate, in kbit/s, which is enough for video at 640x480. Without it, Chromium starts at 300 kbit/s and
 * adds only 8 % a second.
 */
const startKbits = 600;

/**
 * A browser's session description without its addresses. The engine is ICE-lite, which only answers requests. So it
 * never sends packets to an address that a stranger chose.
 * @throws ServiceError `validation`
 */
export function readSdp(sdp: unknown, sections = /^m=(audio|video) /): string {
  if (typeof sdp !== "string" || !sdp.startsWith("v=0")) throw invalid("sdp must be a session description");
  if (sdp.length > maxBytes) throw invalid(`sdp must have at most ${maxBytes} bytes`);
  const lines = sdp.split(/\r?\n/);
  if (lines.length > maxLines) throw invalid(`sdp must have at most ${maxLines} lines`);
  // A data channel would expose a second protocol to strangers, and no room uses one.
  const other = lines.find((line) => line.startsWith("m=") && !sections.test(line));
  if (other !== undefined) throw invalid("sdp must have sections of audio and video only");
  return lines.filter((line) => !unread.test(line)).join("\r\n");
}

/**
 * Lines to remove: addresses, and transport-wide feedback, with which Chromium's bandwidth estimate drops to 81 kbit/s.
 */
const unread =
  /^a=(candidate|end-of-candidates|remote-candidates|rtcp-fb:\S+ (transport-cc|goog-remb)|extmap:.*transport-wide-cc)/;

export type Kinds = { readonly audio: boolean; readonly video: boolean };

/** The most media sections: one for audio and one for video, and one more of each after a change of devices. */
const maxSections = 4;

/**
 * Checks the offer of a participant who may send these kinds of media.
 * @throws ServiceError `validation`
 */
export function readOffer(sdp: unknown, allowed: Kinds): { offer: string; kinds: Kinds } {
  const offer = readSdp(sdp);
  const sections = offer.split(/\r\nm=/).length - 1;
  // An offer without media is refused here. Its answer would contain no address, which the engine would misread as a
  // lack of free ports.
  if (sections === 0) throw invalid("sdp must have a section of audio or video");
  if (sections > maxSections) throw invalid(`sdp must have at most ${maxSections} media sections`);
  const sent = sentSections(offer);
  const countOf = (kind: string) => sent.filter((section) => section.startsWith(`${kind} `)).length;
  for (const kind of ["audio", "video"] as const) {
    if (countOf(kind) > 0 && !allowed[kind])
      throw invalid(`sdp must not send ${kind}: it is not allowed to this person`);
    // With two streams of one kind, other participants could see one stream while the recording contains the other.
    if (countOf(kind) > 1) throw invalid(`sdp must send ${kind} in one section`);
  }
  if (sent.some(hasManyStreams)) throw invalid("sdp must send one stream in each section, without simulcast");
  return { offer, kinds: { audio: countOf("audio") > 0, video: countOf("video") > 0 } };
}

/** The sections of an offer in which the browser sends media. */
const sentSections = (sdp: string): string[] =>
  sdp
    .split(/\r\nm=/)
    .slice(1)
    .filter((section) => /\r\na=(sendonly|sendrecv)(\r\n|$)/.test(section));

/**
 * True if a section of an offer sends more than one stream. Streams that only retransmit packets of another stream are
 * ignored.
 */
function hasManyStreams(section: string): boolean {
  if (/\r\na=(rid:|simulcast:|ssrc-group:SIM )/.test(section)) return true;
  const repeating = new Set([...section.matchAll(/\r\na=ssrc-group:FID \d+ (\d+)/g)].map(([, ssrc]) => ssrc));
  const named = new Set([...section.matchAll(/\r\na=ssrc:(\d+)/g)].map(([, ssrc]) => ssrc));
  return [...named].filter((ssrc) => !repeating.has(ssrc)).length > 1;
}

/** The fingerprint of the browser's key. A different fingerprint means a different connection. */
export const fingerprintIn = (sdp: string): string => /^a=fingerprint:(.+)$/m.exec(sdp)?.[1]?.trim() ?? "";

/** The service's session description, with the announced addresses alone, and with the initial bit rate added. */
export const ownSdp = (sdp: string, announced: string): string =>
  withStart(
    sdp.split(/\r?\n/).filter((line) => !line.startsWith("a=candidate:") || line.split(" ")[4] === announced),
  ).join("\r\n");

/** Adds the initial bit rate to the lines of a session description for a browser. */
export function withStart(lines: readonly string[]): readonly string[] {
  const start = `x-google-start-bitrate=${startKbits}`;
  const type = lines.map((line) => /^a=rtpmap:(\d+) VP8\/90000/i.exec(line)?.[1]).find((each) => each !== undefined);
  if (type === undefined) return lines;
  const format = lines.findIndex((line) => line.startsWith(`a=fmtp:${type} `));
  if (format >= 0) return lines.with(format, `${lines[format]};${start}`);
  return lines.toSpliced(
    lines.findIndex((line) => line.startsWith(`a=rtpmap:${type} `)) + 1,
    0,
    `a=fmtp:${type} ${start}`,
  );
}

const candidatesIn = (sdp: string): string[] => sdp.split("\r\n").filter((line) => line.startsWith("a=candidate:"));

/**
 * After an ICE restart the sockets stay the same, but werift omits their addresses. Copies them from the earlier
 * description.
 */
export function withCandidatesOf(sdp: string, earlier: string): string {
  if (candidatesIn(sdp).length > 0) return sdp;
  const lines = sdp.split("\r\n");
  const fragment = lines.findIndex((line) => line.startsWith("a=ice-ufrag:"));
  if (fragment >= 0) lines.splice(fragment, 0, ...candidatesIn(earlier));
  return lines.join("\r\n");
}
