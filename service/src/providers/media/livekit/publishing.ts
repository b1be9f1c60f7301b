/**
 * The connection on which a browser sends to LiveKit. This process negotiates the connection, and receives the packets
 * through its own connection (tap.ts).
 */
import { SignalTarget, TrackSource, TrackType } from "@livekit/protocol";
import { BusyError, invalid } from "../../../kernel/platform/errors.ts";
import type { PublishInput, Publishing } from "../engine/transport.ts";
import type { Media } from "../webm/webm.ts";
import { candidatesOf } from "./candidates.ts";
import type { Place, SentTracks } from "./place.ts";
import { checkOffer, completed, countSections, type NamedTrack, namedOffer } from "./sdp.ts";
import { openTap } from "./tap.ts";

const kindOf: Readonly<Record<Media, { type: TrackType; source: TrackSource }>> = {
  audio: { type: TrackType.AUDIO, source: TrackSource.MICROPHONE },
  video: { type: TrackType.VIDEO, source: TrackSource.CAMERA },
};

/**
 * Publishes a person's audio and video through LiveKit, and resolves when the connection is open.
 * @throws ServiceError `validation` for an offer that LiveKit can't answer; `unavailable` when LiveKit does not respond
 */
export async function publishByLivekit(place: Place, input: PublishInput): Promise<Publishing> {
  const { person, offer, onEnd } = input;
  checkOffer(offer);
  let isOpen = false;
  let isOver = false;
  const end = () => {
    const wasOver = isOver;
    isOver = true;
    // Before the connection is open, a failure rejects this call and doesn't call `onEnd`.
    if (isOpen && !wasOver) onEnd();
  };
  const signal = await place.enter(person, "publisher", end);
  const tap = await openTap(place, { ...input, onEnd: end }).catch((error) => {
    signal.close();
    throw error;
  });
  const candidates = candidatesOf(signal, SignalTarget.PUBLISHER);
  const published = new Map<string, string>();
  let own: SentTracks = { audio: null, video: null };
  let offers = 0;

  async function publish({ name, media }: NamedTrack): Promise<void> {
    if (published.has(name)) return;
    const answer = signal.next("trackPublished", ({ cid }) => cid === name);
    signal.send({ case: "addTrack", value: { cid: name, disableRed: true, ...kindOf[media] } });
    published.set(name, (await answer).track?.sid ?? "");
  }

  async function negotiate(sdp: string): Promise<string> {
    checkOffer(sdp);
    const { sdp: named, tracks } = namedOffer(sdp);
    for (const track of tracks) await publish(track);
    const answer = signal.next("answer");
    signal.send({ case: "offer", value: { type: "offer", sdp: named, id: ++offers } });
    const { sdp: answered } = await answer;
    if (countSections(answered) !== countSections(named)) throw invalid("sdp must be an offer that can be answered");
    const addresses = await candidates();
    if (addresses.length === 0) throw new BusyError("The media server named no address. Try again later.");
    const current = (kind: Media) => tracks.findLast(({ media }) => media === kind)?.name ?? "";
    own = { audio: published.get(current("audio")) ?? null, video: published.get(current("video")) ?? null };
    place.tracks.set(person, own);
    tap.record([own.audio, own.video].filter((each) => each !== null));
    return completed(answered, addresses);
  }

  async function close(): Promise<void> {
    isOver = true;
    if (place.tracks.get(person) === own) place.tracks.delete(person);
    signal.close();
    await tap.close();
  }

  try {
    const answer = await negotiate(offer);
    if (isOver) throw new BusyError("The media server ended the connection. Try again.");
    isOpen = true;
    return { answer, again: negotiate, askForKeyFrame: tap.askForKeyFrame, close };
  } catch (error) {
    await close();
    throw error;
  }
}
