/** The sessions of the engine's process: forwards each person's packets to the others, and hands them to the recording. */
import type { RtpPacket } from "werift";
import { BusyError, invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { Allowed, ClientMessage, EndCause, MediaEvent, RecordingRun, ServerMessage } from "../media.ts";
import type { Media } from "../webm/webm.ts";
import { type LineSettings, openPublishing, openSubscription, type Publishing, type Subscription } from "./connections.ts";
import { openRecorder, type Recorder } from "./recorder.ts";
import { fingerprintIn, readSdp, sectionsIn, sentKinds } from "./sdp.ts";

/** Each forwards to all others: eight people are 56 streams of pictures. */
const mostPeople = 8;
/** One audio and one video; a second of each may come with a change of devices. */
const mostSections = 4;
/** Never more than this from a place from which all decodes. */
const keyFrameMs = 3_000;
/** A sender is asked once for what several receivers miss. */
const askAgainMs = 500;
/** After so long without a packet a connection is over; the browser has given up, too. */
const deadMs = 30_000;
const tickMs = 100;
const secondMs = 1_000;

type Counted = { audio: number; video: number; lost: number };

type Person = {
  readonly name: string;
  allowed: Allowed;
  muted: { audio: boolean; video: boolean };
  publishing: (Publishing & { fingerprint: string }) | null;
  subscription: Subscription | null;
  counted: Counted;
  lastPacketAt: number;
  lastSequence: number | null;
  askedAt: number;
  hasJoined: boolean;
};

type Session = {
  readonly name: string;
  readonly people: Map<string, Person>;
  readonly recorder: Recorder | null;
  ticks: number;
};

export type RoomsInput = {
  readonly line: LineSettings;
  readonly mostSessions: number;
  readonly folderOf: (session: string) => string;
  readonly now: () => number;
  readonly emit: (event: MediaEvent) => void;
};

export type Rooms = ReturnType<typeof openRooms>;

export function openRooms({ line, mostSessions, folderOf, now, emit }: RoomsInput) {
  const sessions = new Map<string, Session>();

  function sessionOf(name: string): Session {
    const session = sessions.get(name);
    if (!session) throw new ServiceError("not_found", "The session is not open.");
    return session;
  }

  function personOf(session: Session, name: string): Person {
    const person = session.people.get(name);
    if (!person) throw new ServiceError("not_found", "The person was not let into the session.");
    return person;
  }

  async function breakOff(session: Session, why: string): Promise<void> {
    if (sessions.get(session.name) !== session) return;
    await closeSession(session.name);
    emit({ kind: "broken", session: session.name, why });
  }

  async function closeSession(name: string): Promise<void> {
    const session = sessions.get(name);
    if (!session) return;
    sessions.delete(name);
    await Promise.all([...session.people.values()].map((person) => endPerson(session, person, "closed")));
    await session.recorder?.close();
  }

  async function endPublishing(session: Session, person: Person, cause: EndCause): Promise<void> {
    const { publishing } = person;
    if (!publishing) return;
    person.publishing = null;
    person.hasJoined = false;
    session.recorder?.endTake(person.name, cause, now());
    emit({ kind: "left", session: session.name, person: person.name, cause });
    await publishing.close();
  }

  async function endPerson(session: Session, person: Person, cause: EndCause): Promise<void> {
    const { subscription } = person;
    person.subscription = null;
    await Promise.all([endPublishing(session, person, cause), subscription?.close()]);
  }

  function askForKeyFrame(person: Person): void {
    if (now() - person.askedAt < askAgainMs) return;
    person.askedAt = now();
    person.publishing?.askForKeyFrame();
  }

  /** Everybody receives everybody else who sends. */
  function showAll(session: Session): void {
    const senders = [...session.people.values()].filter(({ publishing }) => publishing);
    for (const person of session.people.values())
      person.subscription?.show(
        senders.filter((each) => each !== person || person.allowed.loop).map(({ name }) => name),
      );
  }

  function packet(session: Session, person: Person, media: Media, rtp: RtpPacket): void {
    if (person.muted[media] || !person.allowed[media]) return;
    const { sequenceNumber: sequence, timestamp, marker } = rtp.header;
    const at = now();
    person.lastPacketAt = at;
    person.counted[media]++;
    if (media === "video") countLoss(person, sequence);
    if (!person.hasJoined) {
      person.hasJoined = true;
      emit({ kind: "joined", session: session.name, person: person.name });
    }
    session.recorder?.packet(person.name, media, { sequence, timestamp, marker, payload: rtp.payload }, at);
    for (const other of session.people.values())
      if (other !== person || person.allowed.loop) other.subscription?.send(person.name, media, rtp);
  }

  async function publish(session: Session, person: Person, message: { sdp: unknown }): Promise<ServerMessage[]> {
    const offer = readSdp(message.sdp);
    const kinds = sentKinds(offer);
    if (sectionsIn(offer) > mostSections) throw invalid(`sdp must have at most ${mostSections} media sections`);
    for (const kind of ["audio", "video"] as const)
      if (kinds[kind] && !person.allowed[kind]) throw invalid(`sdp must not send ${kind}: it is not allowed to this person`);
    const fingerprint = fingerprintIn(offer);
    if (person.publishing && person.publishing.fingerprint === fingerprint)
      return [{ kind: "publish", sdp: await person.publishing.again(offer) }];
    await endPublishing(session, person, "replaced");
    let isCurrent = false;
    const own = await openPublishing({
      settings: line,
      offer,
      onPacket: (media, rtp) => {
        if (isCurrent && person.publishing === publishing) packet(session, person, media, rtp);
      },
      onReport: (media, report) => {
        if (person.publishing === publishing) session.recorder?.report(person.name, media, report);
      },
      onEnd: () => {
        if (person.publishing === publishing) void endPublishing(session, person, "failed").then(() => showAll(session));
      },
    });
    const publishing = { ...own, fingerprint };
    // Somebody else may have been faster, or the session over.
    if (session.people.get(person.name) !== person || sessions.get(session.name) !== session || person.publishing) {
      await own.close();
      throw new ServiceError("conflict", "The connection was replaced by a later one.");
    }
    person.publishing = publishing;
    person.lastPacketAt = now();
    person.lastSequence = null;
    isCurrent = true;
    session.recorder?.beginTake(person.name, kinds, () => askForKeyFrame(person), now());
    for (const other of session.people.values()) other.subscription?.continued(person.name);
    showAll(session);
    return [{ kind: "publish", sdp: own.answer }];
  }

  async function join(session: Session, person: Person): Promise<ServerMessage[]> {
    await person.subscription?.close();
    const subscription = openSubscription({
      settings: line,
      onOffer: (message) => {
        if (person.subscription === subscription)
          emit({ kind: "message", session: session.name, person: person.name, message });
      },
      onPictureLost: (from) => {
        const sender = session.people.get(from);
        if (sender) askForKeyFrame(sender);
      },
      onEnd: () => {
        if (person.subscription === subscription) person.subscription = null;
        void subscription.close();
      },
    });
    person.subscription = subscription;
    showAll(session);
    return [];
  }

  function second(session: Session): void {
    const at = now();
    for (const person of session.people.values()) {
      if (!person.publishing) continue;
      const { audio, video, lost } = person.counted;
      person.counted = { audio: 0, video: 0, lost: 0 };
      const silentMs = at - person.lastPacketAt;
      emit({
        kind: "quality",
        session: session.name,
        person: person.name,
        at,
        audioPackets: audio,
        videoPackets: video,
        lost,
        silentMs,
        picture: session.recorder?.pictureOf(person.name) ?? null,
      });
      if (silentMs > deadMs) void endPublishing(session, person, "failed").then(() => showAll(session));
    }
  }

  function tick(): void {
    for (const session of sessions.values()) {
      session.ticks++;
      session.recorder?.tick(now());
      if (session.ticks % (secondMs / tickMs) === 0) second(session);
      if (session.ticks % (keyFrameMs / tickMs) === 0)
        for (const person of session.people.values()) person.publishing?.askForKeyFrame();
    }
  }
  const timer = setInterval(tick, tickMs);

  return {
    async open(name: string, recording: RecordingRun | null): Promise<void> {
      if (sessions.has(name)) throw new ServiceError("conflict", "The session is open already.");
      if (sessions.size >= mostSessions) throw new BusyError("Too many sessions are open now. Try again later.");
      const recorder =
        recording &&
        openRecorder({ ...recording, session: name, folder: folderOf(name), now, emit, onFailure: (why) => breakOff(session, why) });
      const session: Session = { name, people: new Map(), recorder, ticks: 0 };
      sessions.set(name, session);
    },
    async admit(sessionName: string, name: string, allowed: Allowed): Promise<void> {
      const session = sessionOf(sessionName);
      const before = session.people.get(name);
      if (!before && session.people.size >= mostPeople)
        throw new ServiceError("conflict", `A session has at most ${mostPeople} people.`);
      session.people.set(name, {
        name,
        allowed,
        muted: { audio: false, video: false },
        publishing: null,
        subscription: null,
        counted: { audio: 0, video: 0, lost: 0 },
        lastPacketAt: now(),
        lastSequence: null,
        askedAt: 0,
        hasJoined: false,
      });
      if (before) await endPerson(session, before, "replaced");
    },
    async signal(sessionName: string, name: string, message: ClientMessage): Promise<ServerMessage[]> {
      const session = sessionOf(sessionName);
      const person = personOf(session, name);
      switch (message?.kind) {
        case "join":
          return join(session, person);
        case "publish":
          return publish(session, person, message);
        case "subscribe":
          if (!person.subscription) throw invalid("subscribe must follow join");
          await person.subscription.answered(readSdp(message.sdp));
          return [];
        default:
          throw invalid("kind must be join, publish or subscribe");
      }
    },
    async mute(session: string, person: string, muted: { audio: boolean; video: boolean }): Promise<void> {
      personOf(sessionOf(session), person).muted = { audio: muted.audio, video: muted.video };
    },
    async remove(sessionName: string, name: string): Promise<void> {
      const session = sessions.get(sessionName);
      const person = session?.people.get(name);
      if (!session || !person) return;
      session.people.delete(name);
      await endPerson(session, person, "removed");
      showAll(session);
    },
    close: closeSession,
    async stop(): Promise<void> {
      clearInterval(timer);
      await Promise.all([...sessions.keys()].map(closeSession));
    },
  };
}

/** Missing numbers, less those that come late. */
function countLoss(person: Person, sequence: number): void {
  const step = person.lastSequence === null ? 1 : (sequence - person.lastSequence + 65_536) % 65_536;
  if (step > 32_768) person.counted.lost = Math.max(0, person.counted.lost - 1);
  else {
    if (step < 1_000) person.counted.lost += Math.max(0, step - 1);
    person.lastSequence = sequence;
  }
}
