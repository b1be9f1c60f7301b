/** Session descriptions between a browser and LiveKit, reduced to the recorded media. */
import { invalid } from "../../../kernel/platform/errors.ts";
import { withStart } from "../engine/sdp.ts";
import type { Media } from "../webm/webm.ts";

const sectionsOf = (sdp: string): string[][] =>
  sdp
    .trimEnd()
    .split(/\r?\n(?=m=)/)
    .map((section) => section.split(/\r?\n/));

const joined = (sections: readonly (readonly string[])[]): string => `${sections.flat().join("\r\n")}\r\n`;

const mediaOf = ([first = ""]: readonly string[]): Media | null =>
  first.startsWith("m=audio ") ? "audio" : first.startsWith("m=video ") ? "video" : null;

const recordedTypes = (section: readonly string[]): string[] =>
  section.flatMap((line) => /^a=rtpmap:(\d+) (?:opus\/48000|VP8\/90000)/i.exec(line)?.[1] ?? []);

const isSent = (section: readonly string[]): boolean =>
  section.some((line) => line === "a=sendonly" || line === "a=sendrecv");

/** Keeps only Opus and VP8, because only these are recorded. A section that offers neither stays unchanged. */
function recordedCodecs(section: string[]): string[] {
  if (!mediaOf(section)) return section;
  const types = recordedTypes(section);
  const [first = "", ...lines] = section;
  const [kind = "", port = "", protocol = ""] = first.split(" ");
  if (types.length === 0) return section;
  const isOfRecordedType = (line: string) =>
    types.includes(/^a=(?:rtpmap|fmtp|rtcp-fb):(\d+)/.exec(line)?.[1] ?? types[0] ?? "");
  return [[kind, port, protocol, ...types].join(" "), ...lines.filter(isOfRecordedType)];
}

/** Refuses an offer that LiveKit can't answer. LiveKit would end the connection without giving a reason. */
export function checkOffer(offer: string): void {
  const [session = [], ...sections] = sectionsOf(offer);
  for (const section of sections)
    for (const name of ["ice-ufrag", "ice-pwd", "fingerprint", "mid"])
      if (![...section, ...session].some((line) => line.startsWith(`a=${name}:`)))
        throw invalid(`sdp must be an offer that can be answered: a section has no ${name}`);
  if (sections.some((section) => isSent(section) && recordedTypes(section).length === 0))
    throw invalid("sdp must be an offer that can be answered: a section has neither Opus nor VP8");
}

export type NamedTrack = { readonly name: string; readonly media: Media };

/** A browser's offer for LiveKit, with this service's name for each track. */
export function namedOffer(offer: string): { sdp: string; tracks: NamedTrack[] } {
  const tracks: NamedTrack[] = [];
  const sections = sectionsOf(offer).map((section, index) => {
    const media = mediaOf(section);
    const lines = recordedCodecs(section).filter((line) => !/^a=(msid:|ssrc:\d+ msid:)/.test(line));
    if (!media || !isSent(section)) return lines;
    const name = `track-${index}`;
    tracks.push({ name, media });
    return [...lines, `a=msid:track ${name}`];
  });
  return { sdp: joined(sections), tracks };
}

/** A description by LiveKit for a browser, completed with LiveKit's addresses, which LiveKit sends separately. */
export function completed(sdp: string, candidates: readonly string[]): string {
  const sections = sectionsOf(sdp).map((section) => {
    const own = recordedCodecs(section).filter((line) => !/^a=(candidate|end-of-candidates)/.test(line));
    const password = own.findIndex((line) => line.startsWith("a=ice-pwd:"));
    return password < 0 ? own : own.toSpliced(password + 1, 0, ...candidates.map((each) => `a=${each}`));
  });
  return joined([withStart(sections.flat())]);
}

export const countSections = (sdp: string): number => sectionsOf(sdp).length - 1;
