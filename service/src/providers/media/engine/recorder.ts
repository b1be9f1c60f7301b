/** Records one session: one take for each connection on which a participant sends, and one hash chain for all takes. */
import type { EndCause, MediaEvent, RecordingRun } from "../media.ts";
import { openSpool, recordKey } from "../spool.ts";
import type { Packet } from "../webm/packets.ts";
import { type Chunk, type SenderReport, Take } from "../webm/take.ts";
import type { Picture } from "../webm/vp8.ts";
import type { Media } from "../webm/webm.ts";
import type { Kinds } from "./sdp.ts";

export type Recorder = {
  beginTake: (person: string, kinds: Kinds, askForKeyFrame: () => void, now: number) => void;
  packet: (person: string, media: Media, packet: Packet, now: number) => void;
  /** True if the participant's current take includes this kind of media. */
  records: (person: string, media: Media) => boolean;
  report: (person: string, media: Media, report: SenderReport) => void;
  /**
   * `picture` is the size of the participant's picture. `unseenMs` is the longer of two times: since the last whole
   * frame of recorded video, and since the last whole frame of unmuted audio. It is null before the first whole video
   * frame.
   */
  seen: (person: string, now: number, muted: Kinds) => Seen;
  /** The kinds of media in the participant's take whose packets have stopped. */
  silent: (person: string, now: number) => readonly Media[];
  endTake: (person: string, cause: EndCause, now: number) => void;
  tick: (now: number) => void;
  close: () => Promise<void>;
};

type RecorderInput = RecordingRun & {
  readonly session: string;
  readonly folder: string;
  readonly now: () => number;
  readonly emit: (event: MediaEvent) => void;
  readonly onFailure: (why: string) => void;
};

type Seen = { readonly picture: Picture | null; readonly unseenMs: number | null };

type Open = { readonly take: number; readonly kinds: Kinds; readonly writer: Take; picture: Picture | null };

export function openRecorder({
  key,
  head,
  firstTake,
  lastTake,
  session,
  folder,
  now,
  emit,
  onFailure,
}: RecorderInput): Recorder {
  const takes = new Map<string, Open>();
  let next = firstTake;
  const spool = openSpool({
    folder,
    key: recordKey(key),
    head,
    now,
    onChunk: (line) => emit({ kind: "chunk", session, line }),
    onPart: (file) => emit({ kind: "part", session, file }),
    onFailure: (error) => onFailure(error.message),
  });

  function tell(person: string, take: number, at: number, ended: EndCause | null): void {
    emit({ kind: "take", session, person, take, at: new Date(at).toISOString(), ended });
  }

  return {
    beginTake(person, kinds, askForKeyFrame, at) {
      if (!kinds.audio && !kinds.video) return;
      // A take number above `lastTake` could reuse a nonce under this recording's key.
      if (next > lastTake) return onFailure("the recording has no more numbers of takes");
      const take = next++;
      let n = 0;
      const input = {
        media: kinds,
        onChunk: (chunk: Chunk) => spool.add({ ...chunk, take, n: n++, person }),
        onHole: askForKeyFrame,
        onPicture: (picture: Picture) => {
          open.picture = picture;
        },
      };
      const writer = new Take(input, at);
      const open: Open = { take, kinds, writer, picture: null };
      takes.set(person, open);
      tell(person, take, at, null);
    },
    packet: (person, media, packet, at) => takes.get(person)?.writer.packet(media, packet, at),
    records: (person, media) => takes.get(person)?.kinds[media] ?? false,
    report: (person, media, report) => takes.get(person)?.writer.report(media, report),
    seen(person, at, muted) {
      const open = takes.get(person);
      const video = open?.kinds.video ? open.writer.sinceWhole("video", at) : null;
      if (!open || !video?.hasFrame) return { picture: open?.picture ?? null, unseenMs: null };
      const audioMs = open.kinds.audio && !muted.audio ? open.writer.sinceWhole("audio", at).ms : 0;
      return { picture: open.picture, unseenMs: Math.max(video.ms, audioMs) };
    },
    silent: (person, at) => takes.get(person)?.writer.silent(at) ?? [],
    endTake(person, cause, at) {
      const open = takes.get(person);
      if (!open) return;
      takes.delete(person);
      open.writer.end(at);
      tell(person, open.take, at, cause);
    },
    tick(at) {
      for (const [person, { take, writer }] of takes) {
        writer.tick(at);
        for (const media of writer.newlyIncomplete(at)) emit({ kind: "incomplete", session, person, take, media });
      }
      spool.tick();
    },
    close: () => spool.close(),
  };
}
