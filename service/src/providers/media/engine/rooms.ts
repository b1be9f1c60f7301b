/**
 * The sessions of the engine's process. Forwards each participant's packets to the other participants and to the
 * recording.
 */
import type { RtpPacket } from "werift";
import { secondMs } from "../../../kernel/platform/clock.ts";
import { BusyError, invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import type { Allowed, ClientMessage, EndCause, MediaEvent, RecordingRun, ServerMessage } from "../media.ts";
import type { Media } from "../webm/webm.ts";
import {
  askForKeyFrame,
  askIfDue,
  countPacket,
  isOneTooMany,
  newPerson,
  type Person,
  pauseFor,
  pauseSilent,
  personOf,
  qualityOf,
  showAll,
  silenceOf,
  tellContinued,
} from "./person.ts";
import { type Receivers, receivers, replaced } from "./receivers.ts";
import { openRecorder, type Recorder } from "./recorder.ts";
import { fingerprintIn, type Kinds, readOffer } from "./sdp.ts";
import type { Transport } from "./transport.ts";

/**
 * The most participants of a session. This counts everybody who was admitted and not removed, even without a
 * connection. Each participant's media are forwarded to all others, so eight participants make 56 streams.
 */
const maxPeople = 8;
/** The longest time between two requested key frames. A recording can be decoded from each key frame on. */
const keyFrameMs = 3_000;
/** A sending connection without packets for this long counts as ended. The browser has then given up as well. */
const deadMs = 30_000;
/** A new sending connection without packets for this long ends. Otherwise, the page would wait for half a minute. */
const connectMs = 15_000;
/**
 * The most packets above the rate limit that a participant may send in a second. A participant who sends more is
 * disconnected, unless the transport drops such packets before other participants receive them.
 */
const maxDropped = 50;
const tickMs = 100;

type Session = {
  readonly name: string;
  readonly people: Map<string, Person>;
  readonly recorder: Recorder | null;
  ticks: number;
};

export type RoomsInput = {
  readonly transport: Transport;
  readonly maxSessions: number;
  readonly folderOf: (session: string) => string;
  readonly now: () => number;
  readonly emit: (event: MediaEvent) => void;
};

export class Rooms {
  readonly #input: RoomsInput;
  readonly #sessions = new Map<string, Session>();
  readonly #receivers: Receivers;
  readonly #timer: NodeJS.Timeout;

  constructor(input: RoomsInput) {
    this.#input = input;
    this.#receivers = receivers(input);
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  async open(name: string, recording: RecordingRun | null, place: string): Promise<void> {
    const { transport, maxSessions, folderOf, now, emit } = this.#input;
    if (this.#sessions.has(name)) throw new ServiceError("conflict", "The session is open already.");
    if (this.#sessions.size >= maxSessions) throw new BusyError("Too many sessions are open now. Try again later.");
    const onFailure = (why: string) => void this.#breakOff(session, why);
    const recorder =
      recording && openRecorder({ ...recording, session: name, folder: folderOf(name), now, emit, onFailure });
    const session: Session = { name, people: new Map(), recorder, ticks: 0 };
    this.#sessions.set(name, session);
    transport.open(name, place);
  }

  async admit(sessionName: string, name: string, allowed: Allowed): Promise<void> {
    const session = this.#session(sessionName);
    const before = session.people.get(name);
    if (!before && session.people.size >= maxPeople)
      throw new ServiceError("conflict", `A session has at most ${maxPeople} people.`);
    session.people.set(name, newPerson(name, allowed, this.#input.now()));
    if (before) await this.#endPerson(session, before, "replaced");
  }

  async signal(sessionName: string, name: string, message: ClientMessage): Promise<ServerMessage[]> {
    const session = this.#session(sessionName);
    const person = personOf(session.people, name);
    switch (message?.kind) {
      case "join":
        if (isOneTooMany(person, "join", this.#input.now()))
          throw new BusyError("Too many joins in a minute. Try again later.");
        return this.#receivers.join(session, person, () => this.#isOver(session, person));
      case "publish":
        return this.#publish(session, person, message.sdp);
      case "subscribe":
        return this.#receivers.answer(session, person, message.sdp);
      default:
        throw invalid("kind must be join, publish or subscribe");
    }
  }

  async mute(sessionName: string, name: string, muted: Kinds): Promise<void> {
    const session = this.#session(sessionName);
    const person = personOf(session.people, name);
    person.muted = { audio: muted.audio, video: muted.video };
    for (const media of ["audio", "video"] as const) if (muted[media]) pauseFor(session.people, person, media);
  }

  async remove(sessionName: string, name: string): Promise<void> {
    const session = this.#sessions.get(sessionName);
    const person = session?.people.get(name);
    if (!session || !person) return;
    session.people.delete(name);
    await this.#endPerson(session, person, "removed");
    showAll(session.people);
  }

  async close(name: string): Promise<void> {
    const session = this.#sessions.get(name);
    if (!session) return;
    this.#sessions.delete(name);
    await Promise.all([...session.people.values()].map((person) => this.#endPerson(session, person, "closed")));
    await Promise.all([session.recorder?.close(), this.#input.transport.close(name)]);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#sessions.keys()].map((name) => this.close(name)));
  }

  #session(name: string): Session {
    const session = this.#sessions.get(name);
    if (!session) throw new ServiceError("not_found", "The session is not open.");
    return session;
  }

  async #breakOff(session: Session, why: string): Promise<void> {
    if (this.#sessions.get(session.name) !== session) return;
    await this.close(session.name);
    this.#input.emit({ kind: "broken", session: session.name, why });
  }

  async #endPublishing(session: Session, person: Person, cause: EndCause): Promise<void> {
    const { publishing } = person;
    if (!publishing) return;
    person.publishing = null;
    person.hasJoined = false;
    session.recorder?.endTake(person.name, cause, this.#input.now());
    this.#input.emit({ kind: "left", session: session.name, person: person.name, cause });
    await publishing.close();
  }

  async #endPerson(session: Session, person: Person, cause: EndCause): Promise<void> {
    await Promise.all([this.#endPublishing(session, person, cause), this.#receivers.end(session, person, cause)]);
  }

  #packet(session: Session, person: Person, media: Media, rtp: RtpPacket): void {
    const { now, emit, transport } = this.#input;
    const { sequenceNumber: sequence, timestamp, marker } = rtp.header;
    const at = now();
    if (!countPacket(person, media, { sequence, bytes: rtp.payload.length, at })) {
      if (!transport.dropsPackets && person.counted.dropped > maxDropped) void this.#fail(session, person);
      return;
    }
    // Media that are not recorded are not forwarded either.
    if (session.recorder && !session.recorder.records(person.name, media)) return;
    if (!person.hasJoined) {
      person.hasJoined = true;
      emit({ kind: "joined", session: session.name, person: person.name });
    }
    session.recorder?.packet(person.name, media, { sequence, timestamp, marker, payload: rtp.payload }, at);
    for (const other of session.people.values())
      if (other !== person || person.allowed.loop) other.subscription?.send(person.name, media, rtp);
  }

  async #publish(session: Session, person: Person, sdp: unknown): Promise<ServerMessage[]> {
    const { now, transport } = this.#input;
    const { offer, kinds } = readOffer(sdp, person.allowed);
    if (isOneTooMany(person, "publish", now())) throw new BusyError("Too many offers in a minute. Try again later.");
    const fingerprint = fingerprintIn(offer);
    const before = person.publishing;
    if (before?.fingerprint === fingerprint) {
      const answer = await before.again(offer);
      // The offer may have replaced a track, so the receivers are notified.
      tellContinued(session.people, person);
      this.#recordKinds(session, person, kinds);
      return [{ kind: "publish", sdp: answer }];
    }
    await this.#endPublishing(session, person, "replaced");
    let publishing: Person["publishing"] = null;
    const isCurrent = () => publishing !== null && person.publishing === publishing;
    const own = await transport.publish({
      session: session.name,
      person: person.name,
      offer,
      onPacket: (media, rtp) => {
        if (isCurrent()) this.#packet(session, person, media, rtp);
      },
      onReport: (media, report) => {
        if (isCurrent()) session.recorder?.report(person.name, media, report);
      },
      onEnd: () => {
        if (isCurrent()) void this.#fail(session, person);
      },
    });
    publishing = { ...own, fingerprint };
    // While the offer was being answered, another connection may have replaced this one, or the session may have ended.
    if (this.#isOver(session, person) || person.publishing) {
      await own.close();
      throw replaced();
    }
    person.publishing = publishing;
    person.lastPacketAt = now();
    person.lastSequence = null;
    this.#recordKinds(session, person, kinds);
    tellContinued(session.people, person);
    showAll(session.people);
    return [{ kind: "publish", sdp: own.answer }];
  }

  /** A take contains only the kinds of media that its connection sends. If these kinds change, a new take begins. */
  #recordKinds({ recorder }: Session, person: Person, kinds: Kinds): void {
    const { now } = this.#input;
    if (!recorder || (["audio", "video"] as const).every((kind) => recorder.records(person.name, kind) === kinds[kind]))
      return;
    recorder.endTake(person.name, "replaced", now());
    recorder.beginTake(person.name, kinds, () => askForKeyFrame(person, now()), now());
    askForKeyFrame(person, now());
  }

  /**
   * Ends the connection on which a participant sends, because it has failed.
   * @param isUnseen true if the browser does not notice by itself that its connection has failed
   */
  async #fail(session: Session, person: Person, isUnseen = !this.#input.transport.dropsPackets): Promise<void> {
    await this.#endPublishing(session, person, "failed");
    showAll(session.people);
    if (isUnseen) this.#input.emit({ kind: "cut", session: session.name, person: person.name });
  }

  #isOver(session: Session, person: Person): boolean {
    return this.#sessions.get(session.name) !== session || session.people.get(person.name) !== person;
  }

  #tick(): void {
    const { now, emit } = this.#input;
    for (const session of this.#sessions.values()) {
      session.ticks++;
      session.recorder?.tick(now());
      const isSecond = session.ticks % (secondMs / tickMs) === 0;
      const isKeyTime = session.ticks % (keyFrameMs / tickMs) === 0;
      for (const person of session.people.values()) {
        if (isSecond) this.#receivers.cutUnanswered(session, person);
        if (!person.publishing) continue;
        if (isKeyTime) person.publishing.askForKeyFrame();
        else askIfDue(person, now());
        if (!isSecond) continue;
        pauseSilent(session.people, person, session.recorder, now());
        emit({ kind: "quality", session: session.name, ...qualityOf(person, now(), session.recorder) });
        const maxMs = person.hasJoined ? deadMs : connectMs;
        if (silenceOf(person, now()) > maxMs) void this.#fail(session, person, true);
      }
    }
  }
}
