/** Prepares a recording for its page. */
import type { Mark } from "./manifest.ts";
import { messagesOf } from "./messages.ts";
import { locateChunks, type ReadDeps } from "./read.ts";
import { partsOf, type Recording } from "./store.ts";

type ShownTake = {
  take: number;
  name: string;
  role: string;
  hasPicture: boolean;
  /** When the take begins, in milliseconds from the start of the recording's first take. */
  fromMs: number;
  durationMs: number;
  endedBy: string;
};

/** An event on the page's time line. `ms` is the time since the start of the first take, in milliseconds. */
type ShownMark = {
  ms: number;
  kind: string;
  name: string | null;
  /** The text of a written message. */
  text?: string;
};

export type ShownRecording = { takes: ShownTake[]; marks: ShownMark[]; durationMs: number };

type Manifest = {
  takes: { take: number; person: string; codecs: string[]; endedBy: string }[];
  gaps: { person: string; from: string; cause: string }[];
  marks: Mark[];
};

/**
 * Prepares a recording that has ended.
 * @throws ServiceError `unavailable` for a message that was altered
 */
export async function shownRecording(
  { db, secrets }: Pick<ReadDeps, "db" | "secrets">,
  recording: Recording,
): Promise<ShownRecording> {
  const manifest = JSON.parse(recording.manifest ?? '{"takes":[],"gaps":[],"marks":[]}') as Manifest;
  const people = new Map(recording.people.map((each) => [each.person, each]));
  const starts = startsOf(locateChunks(await partsOf(db, recording.id)).map(({ line }) => line));
  const zero = Math.min(...[...starts.values()].map(({ at }) => at));
  const takes = manifest.takes.map(({ take, person, codecs, endedBy }) => ({
    take,
    name: people.get(person)?.name ?? person,
    role: people.get(person)?.role ?? "",
    hasPicture: codecs.includes("vp8"),
    fromMs: Math.max(0, (starts.get(take)?.at ?? zero) - zero),
    durationMs: starts.get(take)?.durationMs ?? 0,
    endedBy,
  }));
  const gaps = manifest.gaps.map(({ person, from, cause }) => ({ at: from, kind: `gap (${cause})`, person }));
  const texts = new Map((await messagesOf(db, secrets, recording)).map(({ sha256, text }) => [sha256, text]));
  const marks = [...manifest.marks, ...gaps]
    .map(({ at, kind, person, sha256 }: Mark) => ({
      ...(sha256 !== undefined && texts.has(sha256) && { text: texts.get(sha256) ?? "" }),
      ms: Math.max(0, Date.parse(at) - zero),
      kind,
      name: person === null ? null : (people.get(person)?.name ?? person),
    }))
    .sort((one, other) => one.ms - other.ms);
  const durationMs = Math.max(0, ...takes.map(({ fromMs, durationMs }) => fromMs + durationMs));
  return { takes, marks, durationMs };
}

type Line = { take: number; at: string; to: number; n: number };

/**
 * The start of each take, by this service's clock. Each chunk gives an estimate, which is too late if the chunk was
 * written late. So the earliest estimate is used.
 */
function startsOf(lines: readonly Line[]): Map<number, { at: number; durationMs: number }> {
  const starts = new Map<number, { at: number; durationMs: number }>();
  for (const { take, at, to } of lines) {
    const before = starts.get(take);
    const began = Date.parse(at) - to;
    starts.set(take, {
      at: before ? Math.min(before.at, began) : began,
      durationMs: Math.max(before?.durationMs ?? 0, to),
    });
  }
  return starts;
}
