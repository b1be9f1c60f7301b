/** The live sessions in this process's engine: who is present, the messages for their pages, and their tickets. */
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { ClientMessage, MediaEngine, MediaEvent, ServerMessage, Ticket } from "../../../providers/providers.ts";
import type { Message } from "../recordings/messages.ts";
import type { RecordingHead, Recordings } from "../recordings/recordings.ts";
import { type AskingPage, type Connected, type Holder, hold } from "./holders.ts";
import { newPresence, notaryName, type Presence, phaseOf } from "./interruption.ts";
import { msToFence, type OwnLease } from "./lease.ts";
import { type LedPage, PageStreams, type RoomNotification } from "./page-streams.ts";
import { type Of, Tickets } from "./tickets.ts";

/**
 * `isHere`: an observer's browser receives the session now. `isNoted`: the value of `isHere` that the last event
 * recorded.
 */
type Observing = { isHere: boolean; isNoted: boolean };

export type Room = {
  readonly session: string;
  readonly orderId: number;
  readonly liveAt: number;
  /** The notary and all admitted people except observers, by their names in the media engine. */
  readonly people: Map<string, Presence>;
  /** The observers who were admitted and got a ticket. They send no media, so the session does not wait for them. */
  readonly observers: Map<string, Observing>;
  /** For each person, the page with the media connection. */
  readonly holders: Map<string, Holder>;
  /** The people whose video was recorded since the media engine last opened the session. */
  readonly recorded: Set<string>;
  /** The signer whose turn it is to read and sign, and the token of the signing pages; null between turns. */
  turn: { person: string; token: string } | null;
  /** Why the media engine can no longer record; null while it can. */
  broken: string | null;
  /** Consecutive failures to open the session again in a restarted engine. */
  failedResumes: number;
  led: LedPage | null;
  /** For how many minutes the disk still has space to record, if the disk is nearly full; otherwise null. */
  minutesLeft: number | null;
  /** The state of the order's identity checks that the notary's page shows; null before it was read. */
  checks: string | null;
  /** This node's lease on the session. `setLease` changes it. */
  lease: OwnLease;
};

type RoomsDeps = { engine: MediaEngine; recordings: Recordings; now: () => number };

export class LiveRooms extends PageStreams {
  readonly #deps: RoomsDeps;
  readonly #rooms = new Map<string, Room>();
  readonly #tickets: Tickets;
  readonly #opening = new Map<string, Promise<void>>();
  /** The sessions whose recording this node is still closing. This node can't open them again before that is done. */
  readonly leaving = new Set<string>();
  /** Called when a room's lease was not renewed in time. */
  onLapse: (room: Room) => void = () => {};
  /** Called when the media engine can no longer record a room. */
  onBroken: (room: Room) => void = () => {};
  readonly #lapses = new Map<string, NodeJS.Timeout>();
  #isStopped = false;
  readonly stop: () => void;

  constructor(deps: RoomsDeps) {
    super();
    this.#deps = deps;
    this.#tickets = new Tickets(deps.engine);
    const end = deps.engine.listen((event) => this.#hear(event));
    this.stop = () => {
      this.#isStopped = true;
      end();
      this.#tickets.stop();
    };
  }

  rooms = (): Room[] => [...this.#rooms.values()];
  roomOf = (session: string): Room | undefined => this.#rooms.get(session);
  headOf = (session: string): RecordingHead | null => this.#deps.recordings.headOf(session);

  /**
   * Runs `open` for a session. If another call is already opening the session, waits for that one instead.
   * @throws ServiceError `unavailable` after `stop`; otherwise as `open`
   */
  async openOnce(session: string, open: () => Promise<void>): Promise<void> {
    if (this.#isStopped) throw new ServiceError("unavailable", "This server is stopping. Try again in some seconds.");
    const opening = this.#opening.get(session) ?? open().finally(() => this.#opening.delete(session));
    this.#opening.set(session, opening);
    await opening;
  }

  /** Resolves when no session is being opened. */
  async opened(): Promise<void> {
    await Promise.allSettled(this.#opening.values());
  }

  add(session: string, orderId: number, liveAt: Date, people: readonly string[], lease: OwnLease): Room {
    const room: Room = {
      session,
      orderId,
      liveAt: liveAt.getTime(),
      people: new Map(),
      observers: new Map(),
      holders: new Map(),
      recorded: new Set(),
      turn: null,
      broken: null,
      failedResumes: 0,
      led: null,
      minutesLeft: null,
      checks: null,
      lease,
    };
    for (const person of people) this.#expect(room, person, false);
    this.#rooms.set(session, room);
    this.setLease(room, lease);
    return room;
  }

  /** Sets the lease of a room. Its timer calls `onLapse` unless the lease is renewed first. */
  setLease(room: Room, lease: OwnLease): void {
    room.lease = lease;
    clearTimeout(this.#lapses.get(room.session));
    this.#lapses.set(room.session, setTimeout(() => this.onLapse(room), msToFence(lease)).unref());
  }

  /**
   * Marks an admitted person as expected: until the person arrives, nothing can be marked or signed. Otherwise an act
   * could name a person who never joined.
   */
  async expect(session: string, person: string): Promise<void> {
    await this.#opening.get(session)?.catch(() => {});
    const room = this.#rooms.get(session);
    if (room) this.#expect(room, person, true);
  }

  #expect({ people }: Room, person: string, isAwaited: boolean): void {
    if (!people.has(person)) people.set(person, newPresence(this.#deps.now(), isAwaited));
  }

  remove(session: string): void {
    this.#rooms.delete(session);
    clearTimeout(this.#lapses.get(session));
    this.#lapses.delete(session);
    this.#tickets.end(session);
    this.tell(session, { kind: "changed" });
  }

  /**
   * Issues an admitted person a ticket to connect. An earlier ticket of the same person stops working. Of a person's
   * pages, only the one on which the person acted last gets the connection. The other pages are notified, because pages
   * that each reconnect would disconnect each other in an endless loop.
   * @throws ServiceError `conflict` when this node does not have the session; otherwise as the engine. An earlier
   * ticket of the person still works then
   */
  async connect(session: string, person: string, asking: AskingPage | null, isObserver = false): Promise<Connected> {
    const room = this.#rooms.get(session);
    if (!room) throw new ServiceError("conflict", "The session is not live.");
    const isNewest = () => asking === null || room.holders.get(person)?.page === asking.page;
    const giveBack = asking ? hold(room.holders, person, asking, this.#deps.now()) : () => {};
    if (!isNewest()) return { isElsewhere: true };
    if (!isObserver) this.#expect(room, person, true);
    else if (!room.observers.has(person)) room.observers.set(person, { isHere: false, isNoted: false });
    const allowed = { audio: !isObserver, video: !isObserver };
    const ticket = await this.#tickets.give({ session, person }, allowed).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    this.#tellHolder(room, person);
    return isNewest() ? ticket : { isElsewhere: true };
  }

  /** Notifies a person's pages which of them has the connection. */
  #tellHolder({ session, holders }: Room, person: string): void {
    const holder = holders.get(person);
    if (holder) this.tellOne(session, person, { kind: "taken", page: holder.page });
  }

  /**
   * True if this node's room has the person. An admitted person is in the room; an observer is in it only with a
   * ticket.
   */
  hasIn(session: string, person: string): boolean {
    const room = this.#rooms.get(session);
    return room !== undefined && (room.people.has(person) || room.observers.has(person));
  }

  /** Closes the connection of a person who may not connect, unless a later request has replaced its ticket. */
  async revoke(session: string, person: string, connected: Connected): Promise<void> {
    if ("ticket" in connected && this.#tickets.has(connected.ticket)) await this.disconnect(session, person);
  }

  /** Closes a person's media connection and the event streams of the person's pages. */
  async disconnect(session: string, person: string): Promise<void> {
    this.endPagesOf(session, person);
    this.#tickets.end(session, person);
    const room = this.#rooms.get(session);
    room?.holders.delete(person);
    if (room?.people.delete(person) || room?.observers.delete(person)) await this.#deps.engine.remove(session, person);
  }

  /** Starts a test of a person's device and connection. */
  check = (of: Of): Promise<Ticket> => this.#tickets.check(of);

  /**
   * Passes a message from a person's page to the media engine, and returns the engine's messages for the page.
   * @throws ServiceError `not_found` for another person's ticket, and for a ticket that has ended
   */
  async signal(ticket: string, of: Of, message: ClientMessage): Promise<readonly ServerMessage[]> {
    this.#tickets.require(ticket, of);
    return this.#deps.engine.signal(ticket, message);
  }

  /** Sends a written message to everybody in the room, but not to the waiting room. */
  pass(session: string, written: Message): void {
    const room = this.#rooms.get(session);
    for (const person of room ? [...room.people.keys(), ...room.observers.keys()] : [])
      this.tellOne(session, person, { kind: "written", written });
  }

  /** Notifies everybody in the room, except observers, which page the notary shows. */
  lead(session: string, led: LedPage): void {
    const room = this.#rooms.get(session);
    if (!room) return;
    room.led = led;
    for (const person of room.people.keys()) this.tellOne(session, person, { kind: "page", ...led });
  }

  tellNotary = (session: string, notification: RoomNotification): void =>
    this.tellOne(session, notaryName, notification);

  /** For the notary and each admitted person but observers: the milliseconds since their last whole frames arrived. */
  silences(room: Room): Map<string, number> {
    const now = this.#deps.now();
    return new Map([...room.people].map(([person, { lastAt }]) => [person, Math.max(0, now - lastAt)]));
  }

  /** The first of these people (by their names in the media engine) who is absent now; null when all are present. */
  absent(session: string, people: readonly string[]): string | null {
    const room = this.#rooms.get(session);
    const isHere = (person: string) => {
      const present = room?.people.get(person);
      return present?.hasJoined && phaseOf(this.#deps.now() - present.lastAt) === "here";
    };
    return people.find((person) => !isHere(person)) ?? null;
  }

  #hear(event: MediaEvent): void {
    if (event.kind === "lost") {
      for (const session of event.sessions) {
        const room = this.#rooms.get(session);
        if (!room) continue;
        room.broken ??= "engine";
        this.onBroken(room);
        for (const observer of room.observers.values()) observer.isHere = false;
      }
      return;
    }
    const room = this.#rooms.get(event.session);
    if (event.kind === "message") {
      const check = this.#tickets.tester(event.session);
      const { session, person } = check ?? event;
      this.tellOne(session, person, { kind: "message", isCheck: check !== undefined, message: event.message });
      return;
    }
    if (event.kind === "cut") this.tellOne(event.session, event.person, { kind: "media" });
    if (!room) return;
    if (event.kind === "broken") {
      room.broken = event.why;
      this.onBroken(room);
    }
    if (event.kind === "joined") this.#tellHolder(room, event.person);
    // Another page may connect now. If the page that left joins again, `#tellHolder` above notifies the pages.
    if (event.kind === "left" && event.cause !== "replaced")
      this.tellOne(event.session, event.person, { kind: "free" });
    const observer = "person" in event ? room.observers.get(event.person) : undefined;
    if (observer && (event.kind === "joined" || event.kind === "left")) observer.isHere = event.kind === "joined";
    if (event.kind === "chunk" && room.people.get(event.line.person)?.hasPicture) room.recorded.add(event.line.person);
    const presence = "person" in event ? room.people.get(event.person) : undefined;
    if (!presence) return;
    if (event.kind === "incomplete") presence.isIncomplete = true;
    if (event.kind === "quality") {
      presence.lost = event.lost;
      presence.hasPicture = event.picture !== null;
      if (event.unseenMs === null) return;
      presence.lastAt = Math.max(presence.lastAt, this.#deps.now() - event.unseenMs);
      if (presence.hasJoined) return;
      presence.hasJoined = true;
      this.tell(event.session, { kind: "changed" });
    }
  }
}
