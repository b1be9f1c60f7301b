/**
 * Media through a LiveKit server, which forwards them between browsers and to this process. This process records them.
 */
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Transport } from "../engine/transport.ts";
import { Endings } from "./endings.ts";
import { type Place, placeOf } from "./place.ts";
import { publishByLivekit } from "./publishing.ts";
import { LivekitReceiving } from "./receiving.ts";
import type { LivekitKey } from "./token.ts";

/**
 * Transports media through one LiveKit server.
 * @param warn called with a message for the service's log
 */
export function livekitTransport(livekit: LivekitKey, now: () => number, warn: (message: string) => void): Transport {
  const endings = new Endings({ livekit, now, onLate: warn });
  const places = new Map<string, Place & { room: string }>();
  const placeIn = (session: string): Place => {
    const place = places.get(session);
    if (!place) throw new ServiceError("not_found", "The session is not open.");
    return place;
  };
  return {
    open: (session, room) => void places.set(session, { ...placeOf(livekit, room, now, endings), room }),
    async close(session) {
      const place = places.get(session);
      places.delete(session);
      if (place) await endings.room(place.room);
    },
    publish: (input) => publishByLivekit(placeIn(input.session), input),
    receive: (input) => new LivekitReceiving(placeIn(input.session), input),
    dropsPackets: false,
  };
}
