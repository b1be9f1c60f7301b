/** `recording.json`: the description of a whole recording, in canonical JSON. */
import { canonicalJson } from "@signsealship/evidence/manifest";
import { sha256Hex, tracksIn } from "../../../providers/providers.ts";
import type { ReadTake } from "./read.ts";
import type { Part, Recording } from "./store.ts";

/** An event in the session, such as a step of its script, a consent, or a message. */
export type Mark = {
  at: string;
  kind: string;
  person: string | null;
  /** For a message, the hash of its line. For a document that a person was shown, the document's hash. */
  sha256?: string;
};

type Input = {
  parts: readonly Part[];
  takes: readonly ReadTake[];
  marks: readonly Mark[];
  endedAt: Date;
  /** Random bytes, so that nobody can guess the manifest's content from its hash in the transparency log. */
  salt: Buffer;
};

/** The file with the lines of the chain. `chain.sha256` in the manifest is the hash of exactly these bytes. */
export const chainText = (parts: readonly Part[]): string => parts.map(({ lines }) => lines).join("");

/** The stated end of a take whose real end was not recorded, because the service died during the take. */
export const stopped = "stopped";

export function manifestOf(recording: Recording, { parts, takes, marks, endedAt, salt }: Input): string {
  const { takeEnds } = recording;
  const shown = takes.map((take) => {
    const { audio, video } = tracksIn(take.header);
    return {
      take: take.take,
      person: take.person,
      codecs: [...(audio ? ["opus"] : []), ...(video ? ["vp8"] : [])],
      firstChunkAt: take.firstAt,
      lastChunkAt: take.lastAt,
      chunks: take.chunks,
      bytes: take.bytes,
      sha256: take.sha256,
      endedBy: takeEnds[take.take]?.endedBy ?? stopped,
    };
  });
  const text = chainText(parts);
  return canonicalJson({
    format: "signsealship recording 1",
    recording: recording.id,
    session: recording.session,
    notary: recording.notaryId,
    environment: recording.environment,
    startedAt: recording.startedAt.toISOString(),
    endedAt: endedAt.toISOString(),
    keptUntil: recording.keepUntil,
    people: recording.people.map(({ person, role, name }) => ({ person, role, name })),
    takes: shown,
    gaps: gapsOf(shown),
    marks: marks.map(({ at, kind, person, sha256 }) => ({ at, kind, person, ...(sha256 && { sha256 }) })),
    chain: { lines: recording.headSeq, headSha256: recording.headSha256, sha256: sha256Hex(text) },
    salt: salt.toString("hex"),
  });
}

type Shown = { person: string; firstChunkAt: string; lastChunkAt: string; endedBy: string };

/** The gaps between consecutive takes of the same person. */
function gapsOf(takes: readonly Shown[]) {
  return takes.flatMap((take, index) => {
    const next = takes.slice(index + 1).find(({ person }) => person === take.person);
    return next ? [{ person: take.person, from: take.lastChunkAt, to: next.firstChunkAt, cause: take.endedBy }] : [];
  });
}
