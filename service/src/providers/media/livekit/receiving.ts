/**
 * The connection on which LiveKit sends the other participants' media to one participant. This process negotiates it.
 */
import { SignalTarget } from "@livekit/protocol";
import { invalid } from "../../../kernel/platform/errors.ts";
import { readSdp } from "../engine/sdp.ts";
import type { ReceiveInput, Receiving } from "../engine/transport.ts";
import type { SentTrack } from "../media.ts";
import type { Media } from "../webm/webm.ts";
import { candidatesOf } from "./candidates.ts";
import type { Place } from "./place.ts";
import { completed, countSections } from "./sdp.ts";
import type { Signal } from "./signal.ts";
import { livekitSections } from "./tap.ts";

const kinds = ["audio", "video"] as const;
const keyOf = (person: string, media: Media): string => `${person}/${media}`;

/**
 * LiveKit sends a track to a participant only while the participant subscribes to it. This process subscribes to a
 * track only while it receives the sender's packets itself (tap.ts) and may forward them to this participant.
 */
export class LivekitReceiving implements Receiving {
  readonly #place: Place;
  readonly #input: ReceiveInput;
  readonly #signal: Promise<Signal>;
  #shown: readonly string[] = [];
  readonly #flowing = new Set<string>();
  #asked: ReadonlyMap<string, { person: string; media: Media }> = new Map();
  #waiting: { id: number; sections: number } | null = null;
  #isClosed = false;

  constructor(place: Place, input: ReceiveInput) {
    this.#place = place;
    this.#input = input;
    this.#signal = place.enter(input.person, "listener", () => this.#end());
    this.#signal.then(
      (signal) => this.#listen(signal),
      () => this.#end(),
    );
  }

  show(people: readonly string[]): void {
    this.#shown = people;
    for (const key of this.#flowing) if (!people.some((each) => isOf(key, each))) this.#flowing.delete(key);
    this.#ask();
  }

  async answered(answer: unknown): Promise<void> {
    const sdp = readSdp(answer, livekitSections);
    const waiting = this.#waiting;
    if (!waiting) throw invalid("subscribe must answer an offer that waits for its answer");
    if (countSections(sdp) !== waiting.sections) throw invalid("sdp must answer the offer: it has other sections");
    this.#waiting = null;
    (await this.#signal).send({ case: "answer", value: { type: "answer", sdp, id: waiting.id } });
  }

  send(from: string, media: Media): void {
    const key = keyOf(from, media);
    if (this.#flowing.has(key) || !this.#shown.includes(from)) return;
    this.#flowing.add(key);
    this.#ask();
  }

  pause(from: string, media: Media): void {
    if (this.#flowing.delete(keyOf(from, media))) this.#ask();
  }

  continued(from: string): void {
    const tracks = this.#place.tracks.get(from);
    for (const media of kinds) if (!this.#asked.has(tracks?.[media] ?? "")) this.#flowing.delete(keyOf(from, media));
    this.#ask();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#signal.then(
      (signal) => signal.close(),
      () => {},
    );
  }

  #end(): void {
    if (!this.#isClosed) this.#input.onEnd();
  }

  #listen(signal: Signal): void {
    if (this.#isClosed) return;
    const candidates = candidatesOf(signal, SignalTarget.SUBSCRIBER);
    signal.hear("offer", ({ sdp, id, midToTrackId }) => {
      void candidates().then((addresses) => {
        if (this.#isClosed) return;
        this.#waiting = { id, sections: countSections(sdp) };
        this.#input.onOffer({ kind: "subscribe", sdp: completed(sdp, addresses), tracks: this.#tracks(midToTrackId) });
      });
    });
  }

  #tracks(midToTrackId: Readonly<Record<string, string>>): SentTrack[] {
    return Object.entries(midToTrackId).flatMap(([mid, track]) => {
      const asked = this.#asked.get(track);
      return asked ? [{ mid, ...asked }] : [];
    });
  }

  /** Subscribes to exactly the tracks whose packets may be forwarded now. */
  #ask(): void {
    const wanted = new Map<string, { person: string; media: Media }>();
    for (const person of this.#shown)
      for (const media of kinds) {
        const track = this.#place.tracks.get(person)?.[media];
        if (track && this.#flowing.has(keyOf(person, media))) wanted.set(track, { person, media });
      }
    const gone = [...this.#asked.keys()].filter((track) => !wanted.has(track));
    const come = [...wanted.keys()].filter((track) => !this.#asked.has(track));
    this.#asked = wanted;
    void this.#signal.then(
      (signal) => {
        if (gone.length > 0) signal.send({ case: "subscription", value: { trackSids: gone, subscribe: false } });
        if (come.length > 0) signal.send({ case: "subscription", value: { trackSids: come, subscribe: true } });
      },
      () => {},
    );
  }
}

const isOf = (key: string, person: string): boolean => kinds.some((media) => key === keyOf(person, media));
