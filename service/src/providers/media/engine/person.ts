/** A participant of a session: the kinds of media that the participant may send, and the counts of packets. */
import { minuteMs } from "../../../kernel/platform/clock.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { Allowed } from "../media.ts";
import type { Media } from "../webm/webm.ts";
import type { Recorder } from "./recorder.ts";
import type { Kinds } from "./sdp.ts";
import type { Publishing, Receiving } from "./transport.ts";

export type Person = {
  readonly name: string;
  readonly allowed: Allowed;
  muted: Kinds;
  publishing: (Publishing & { fingerprint: string }) | null;
  subscription: Receiving | null;
  /** The time of an offer that the participant's browser has not answered; null without one. */
  offeredAt: number | null;
  readonly counted: Counted;
  /** The time of the last packet of any kind; before the first packet, the start of the connection. */
  lastPacketAt: number;
  /** The time of the last video packet that was not empty, even if muted; null before the first. */
  seenAt: number | null;
  lastSequence: number | null;
  askedAt: number;
  /** True if a key frame must be requested later, because the last request was too recent. */
  isKeyFrameDue: boolean;
  /** The number of requests of each kind in the minute that began at `at`. */
  readonly requests: Readonly<Record<"join" | "publish", { count: number; at: number }>>;
  hasJoined: boolean;
};

type Bucket = { bytes: number; packets: number; at: number };
type Counted = {
  audio: number;
  video: number;
  lost: number;
  dropped: number;
  buckets: Readonly<Record<Media, Bucket>>;
};

/**
 * The most that a participant may send in one second, by kind. A key frame of 1280x720 fits. A browser that is limited
 * to 600 kbit/s sends a sixth of this. More would fill the disk and saturate the other participants' connections.
 */
const rates: Readonly<Record<Media, { bytes: number; packets: number }>> = {
  audio: { bytes: 32_000, packets: 200 },
  video: { bytes: 500_000, packets: 1_000 },
};

/** When several receivers miss a key frame, only one request in this time is sent to the sender. */
const askAgainMs = 500;

const fullBucket = (media: Media, at: number): Bucket => ({ ...rates[media], at });

export const newPerson = (name: string, allowed: Allowed, now: number): Person => ({
  name,
  allowed,
  muted: { audio: false, video: false },
  publishing: null,
  subscription: null,
  offeredAt: null,
  counted: {
    audio: 0,
    video: 0,
    lost: 0,
    dropped: 0,
    buckets: { audio: fullBucket("audio", now), video: fullBucket("video", now) },
  },
  lastPacketAt: now,
  seenAt: null,
  lastSequence: null,
  askedAt: 0,
  isKeyFrameDue: false,
  requests: { join: { count: 0, at: now }, publish: { count: 0, at: now } },
  hasJoined: false,
});

/** True for an observer, who may send nothing. */
export const isObserver = ({ allowed }: Person): boolean => !allowed.audio && !allowed.video;

/**
 * The most requests of each kind in a minute. A page joins when it starts. It makes an offer then, and when its devices
 * or its network change.
 */
const maxRequests = 30;

/**
 * Counts a request.
 * @returns true if the request exceeds the limit for a minute
 */
export function isOneTooMany({ requests }: Person, kind: "join" | "publish", now: number): boolean {
  const counted = requests[kind];
  if (now - counted.at > minuteMs) Object.assign(counted, { count: 0, at: now });
  return ++counted.count > maxRequests;
}

type Asked = Pick<Person, "askedAt" | "isKeyFrameDue"> & {
  readonly publishing: Pick<Publishing, "askForKeyFrame"> | null;
};

export function askForKeyFrame(person: Asked, now: number): void {
  person.isKeyFrameDue = now - person.askedAt < askAgainMs;
  if (person.isKeyFrameDue) return;
  person.askedAt = now;
  person.publishing?.askForKeyFrame();
}

/** Sends a postponed request for a key frame. Must be called about ten times a second. */
export function askIfDue(person: Asked, now: number): void {
  if (person.isKeyFrameDue) askForKeyFrame(person, now);
}

/**
 * Counts a packet.
 * @returns true if the packet may be forwarded and recorded
 */
export function countPacket(
  person: Person,
  media: Media,
  { sequence, bytes, at }: { sequence: number; bytes: number; at: number },
): boolean {
  if (!person.allowed[media]) return false;
  // A muted participant's packets set this time too, because they show that the participant is present.
  person.lastPacketAt = at;
  // An empty packet contains no picture.
  if (media === "video" && bytes > 0) person.seenAt = at;
  if (person.muted[media]) return false;
  const bucket = person.counted.buckets[media];
  const seconds = Math.max(0, at - bucket.at) / 1_000;
  bucket.at = at;
  bucket.bytes = Math.min(rates[media].bytes, bucket.bytes + seconds * rates[media].bytes);
  bucket.packets = Math.min(rates[media].packets, bucket.packets + seconds * rates[media].packets);
  if (bucket.bytes < bytes || bucket.packets < 1) {
    person.counted.dropped++;
    return false;
  }
  bucket.bytes -= bytes;
  bucket.packets -= 1;
  person.counted[media]++;
  if (media === "video") countLoss(person, sequence);
  return true;
}

/** Counts lost packets: skipped sequence numbers, minus packets that arrive late. */
function countLoss(person: Person, sequence: number): void {
  const step = person.lastSequence === null ? 1 : (sequence - person.lastSequence + 65_536) % 65_536;
  if (step > 32_768) person.counted.lost = Math.max(0, person.counted.lost - 1);
  else {
    if (step < 1_000) person.counted.lost += Math.max(0, step - 1);
    person.lastSequence = sequence;
  }
}

export const silenceOf = ({ lastPacketAt }: Person, now: number): number => now - lastPacketAt;

/**
 * Returns a participant's counts since the last call of this function.
 * @param recorder null when nothing is recorded
 */
export function qualityOf(person: Person, at: number, recorder: Recorder | null) {
  const { counted, name } = person;
  const { audio, video, lost, dropped } = counted;
  Object.assign(counted, { audio: 0, video: 0, lost: 0, dropped: 0 });
  // If the participant's video is muted, its pictures are not recorded. Then the time since the last video packet is
  // reported instead.
  const recorded = recorder?.seen(name, at, person.muted);
  const packetMs = person.seenAt === null ? null : at - person.seenAt;
  const unseenMs = recorded && !person.muted.video ? recorded.unseenMs : packetMs;
  const packets = { audioPackets: audio, videoPackets: video, lost, dropped };
  return {
    person: name,
    at,
    ...packets,
    silentMs: silenceOf(person, at),
    unseenMs,
    picture: recorded?.picture ?? null,
  };
}

type People = ReadonlyMap<string, Person>;

/**
 * The participant with this name, if admitted to the session.
 * @throws ServiceError `not_found`
 */
export function personOf(people: People, name: string): Person {
  const person = people.get(name);
  if (!person) throw new ServiceError("not_found", "The person was not let into the session.");
  return person;
}

/** Forwards each sender's media to all other participants, and back to a sender who tests the connection (`loop`). */
export function showAll(people: People): void {
  const senders = [...people.values()].filter(({ publishing }) => publishing);
  for (const person of people.values())
    person.subscription?.show(senders.filter((each) => each !== person || person.allowed.loop).map(({ name }) => name));
}

/** Stops forwarding a participant's audio or video until the participant's next packet. */
export function pauseFor(people: People, { name }: Person, media: Media): void {
  for (const other of people.values()) other.subscription?.pause(name, media);
}

/**
 * Pauses the kinds of media that no longer reach the recording. Otherwise a LiveKit server could still forward them to
 * other participants.
 */
export function pauseSilent(people: People, person: Person, recorder: Recorder | null, now: number): void {
  for (const media of recorder?.silent(person.name, now) ?? []) pauseFor(people, person, media);
}

/** Notifies all other receivers that a participant has a new connection, or possibly a new track. */
export function tellContinued(people: People, { name }: Person): void {
  for (const other of people.values()) other.subscription?.continued(name);
}
