/** A session's room on a LiveKit server. */
import type { Media } from "../webm/webm.ts";
import type { Endings } from "./endings.ts";
import { openSignal, type Signal } from "./signal.ts";
import type { LivekitKey } from "./token.ts";

/** LiveKit's ids of the tracks that a participant sends. */
export type SentTracks = Readonly<Record<Media, string | null>>;

export type Place = {
  /**
   * Connects to the room as a LiveKit participant, to send for a person or to receive. Each connection has a new name,
   * because LiveKit disconnects an earlier participant of the same name.
   */
  readonly enter: (person: string, role: "publisher" | "listener", onEnd: () => void) => Promise<Signal>;
  readonly tracks: Map<string, SentTracks>;
};

export function placeOf(livekit: LivekitKey, room: string, now: () => number, endings: Endings): Place {
  let entered = 0;
  return {
    async enter(person, role, onEnd) {
      const identity = `${person}.${role}.${entered++}`;
      const end = () => void endings.participant(room, identity);
      const cutOff = () => {
        end();
        onEnd();
      };
      const signal = await openSignal({ livekit, room, identity, role, now, onEnd: cutOff });
      const close = () => {
        signal.close();
        end();
      };
      return { ...signal, close };
    },
    tracks: new Map(),
  };
}
