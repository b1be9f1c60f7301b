/** Session descriptions: those of browsers are checked before anything reads them, ours say no more than they have to. */
import { invalid } from "../../../kernel/platform/errors.ts";

/** Chromium's offer of one camera and one microphone has 6 KB; an answer for seven others has about 30. */
const mostBytes = 64 * 1024;
const mostLines = 2_000;

/** Enough for the room's 640x480; without it Chromium begins with 300 kbit/s and adds 8 % a second. */
const startKbits = 600;

/**
 * The text of a browser's session description without its addresses: the engine is ICE-lite and answers those that ask, so it never
 * sends to an address that a stranger names.
 * @throws ServiceError `validation`
 */
export function readSdp(sdp: unknown, field = "sdp"): string {
  if (typeof sdp !== "string" || !sdp.startsWith("v=0")) throw invalid(`${field} must be a session description`);
  if (sdp.length > mostBytes) throw invalid(`${field} must have at most ${mostBytes} bytes`);
  const lines = sdp.split(/\r?\n/);
  if (lines.length > mostLines) throw invalid(`${field} must have at most ${mostLines} lines`);
  // A data channel would be a second protocol for strangers, and no room has one.
  const other = lines.find((line) => line.startsWith("m=") && !/^m=(audio|video) /.test(line));
  if (other !== undefined) throw invalid(`${field} must have sections of audio and video only`);
  return lines.filter((line) => !unread.test(line)).join("\r\n");
}

/** Addresses, and feedback for the whole transport: with werift's, Chromium's estimate falls to 81 kbit/s. */
const unread =
  /^a=(candidate|end-of-candidates|remote-candidates|rtcp-fb:\S+ (transport-cc|goog-remb)|extmap:.*transport-wide-cc)/;

export type Kinds = { readonly audio: boolean; readonly video: boolean };

/** One audio and one video; a second of each may come with a change of devices. */
const mostSections = 4;

/** Reads an offer of a person who may send these kinds. @throws ServiceError `validation` */
export function readOffer(sdp: unknown, allowed: Kinds): { offer: string; kinds: Kinds } {
  const offer = readSdp(sdp);
  const sections = offer.split(/\r\nm=/).length - 1;
  // Its answer would have no address, as when no port is free.
  if (sections === 0) throw invalid("sdp must have a section of audio or video");
  if (sections > mostSections) throw invalid(`sdp must have at most ${mostSections} media sections`);
  const kinds = sentKinds(offer);
  for (const kind of ["audio", "video"] as const)
    if (kinds[kind] && !allowed[kind]) throw invalid(`sdp must not send ${kind}: it is not allowed to this person`);
  return { offer, kinds };
}

/** Which kinds a browser's offer sends. */
function sentKinds(sdp: string): Kinds {
  const sections = sdp.split(/\r\nm=/).slice(1);
  const sends = (kind: string) =>
    sections.some((section) => section.startsWith(`${kind} `) && /\r\na=(sendonly|sendrecv)(\r\n|$)/.test(section));
  return { audio: sends("audio"), video: sends("video") };
}

/** The key of the browser's side: another one is another connection. */
export const fingerprintIn = (sdp: string): string => /^a=fingerprint:(.+)$/m.exec(sdp)?.[1]?.trim() ?? "";

/** Our description: only announced addresses, and the bit rate to start with. */
export function ownSdp(sdp: string, announced: string): string {
  const vp8 = /^a=rtpmap:(\d+) VP8\/90000/im.exec(sdp)?.[1];
  const start = `x-google-start-bitrate=${startKbits}`;
  const lines = sdp
    .split(/\r?\n/)
    .filter((line) => !line.startsWith("a=candidate:") || line.split(" ")[4] === announced);
  if (vp8 === undefined) return lines.join("\r\n");
  const format = lines.findIndex((line) => line.startsWith(`a=fmtp:${vp8} `));
  if (format >= 0) lines[format] += `;${start}`;
  else lines.splice(lines.findIndex((line) => line.startsWith(`a=rtpmap:${vp8} `)) + 1, 0, `a=fmtp:${vp8} ${start}`);
  return lines.join("\r\n");
}

const candidatesIn = (sdp: string): string[] => sdp.split("\r\n").filter((line) => line.startsWith("a=candidate:"));

/** After an ICE restart the sockets are the same, but werift names no address: the earlier description has them. */
export function withCandidatesOf(sdp: string, earlier: string): string {
  if (candidatesIn(sdp).length > 0) return sdp;
  const lines = sdp.split("\r\n");
  const fragment = lines.findIndex((line) => line.startsWith("a=ice-ufrag:"));
  if (fragment >= 0) lines.splice(fragment, 0, ...candidatesIn(earlier));
  return lines.join("\r\n");
}
