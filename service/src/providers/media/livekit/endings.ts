/** Ends rooms and participants on a LiveKit server, and retries until the server confirms it. */
import { minuteMs } from "../../../kernel/platform/clock.ts";
import { type Asked, call, listRooms } from "./server.ts";
import type { LivekitKey } from "./token.ts";

const firstWaitMs = 250;
const maxWaitMs = 15_000;
/**
 * Until the server confirms a request, LiveKit may forward media that nobody records. So an operator is warned after
 * this time.
 */
const lateMs = minuteMs;
/**
 * The most participants of a room whose end the server has not confirmed. While the server is unreachable, each attempt
 * of a page to join adds a participant. Above this number the whole room is ended, and its pages join again.
 */
const maxOfRoom = 50;

type EndingsInput = {
  readonly livekit: LivekitKey;
  readonly now: () => number;
  /** Called once a minute while requests have been open for too long. */
  readonly onLate: (message: string) => void;
};

/** The name of a session's room. `opening` differs for each opening of the session. */
export const roomOf = (session: string, opening: string): string => `${session}.${opening}`;

/**
 * The rooms and participants that must still be removed from the LiveKit server, and the sessions whose earlier rooms
 * must still be removed. After a node has died, LiveKit still forwards media between the browsers in its rooms, and
 * nobody records them. So a request stays open until the server confirms that the room or participant is gone.
 */
export class Endings {
  readonly #input: EndingsInput;
  readonly #sessions = new Set<string>();
  /** The rooms that are to be ended as a whole. */
  readonly #rooms = new Set<string>();
  readonly #participants = new Map<string, Set<string>>();
  #waitMs = firstWaitMs;
  #timer: NodeJS.Timeout | null = null;
  /** The time since which there have been unconfirmed requests; null while there are none. */
  #openSince: number | null = null;
  #lateAt = 0;

  constructor(input: EndingsInput) {
    this.#input = input;
  }

  /** The number of requests to end media that the server has not confirmed. */
  get open(): number {
    const participants = [...this.#participants.values()].reduce((sum, { size }) => sum + size, 0);
    return this.#sessions.size + this.#rooms.size + participants;
  }

  /**
   * Ends everybody's connections to a room. Resolves after the first attempt, or at once while earlier requests are
   * unconfirmed.
   */
  async room(room: string): Promise<void> {
    this.#rooms.add(room);
    this.#participants.delete(room);
    await this.#attempt(() => this.#endRoom(room));
  }

  /**
   * Ends a participant's media: LiveKit may forward them for a while after the participant's signalling has ended.
   * Resolves after the first attempt, or at once while earlier requests are unconfirmed.
   */
  async participant(room: string, identity: string): Promise<void> {
    if (this.#rooms.has(room)) return;
    const waiting = this.#participants.get(room) ?? new Set();
    this.#participants.set(room, waiting.add(identity));
    if (waiting.size > maxOfRoom) return this.room(room);
    await this.#attempt(() => this.#endParticipant(room, identity));
  }

  /**
   * Ends all rooms of a session that has ended. Resolves after the first attempt, or at once while earlier requests are
   * unconfirmed.
   */
  async earlierRooms(session: string): Promise<void> {
    this.#sessions.add(session);
    await this.#attempt(() => this.#endSession(session));
  }

  /**
   * Before a session is opened: ends the rooms that another node, or this one before its restart, opened for it.
   * @throws BusyError when the server doesn't list its rooms
   */
  async beforeOpening(session: string): Promise<void> {
    this.#sessions.delete(session);
    const { livekit, now } = this.#input;
    await Promise.all((await this.#roomsOf(livekit, session, now())).map((room) => this.room(room)));
  }

  /**
   * Sends a request at once if no earlier request is unconfirmed. Otherwise the next round sends it together with the
   * earlier ones.
   */
  async #attempt(work: () => Promise<boolean>): Promise<void> {
    this.#openSince ??= this.#input.now();
    if (this.#timer === null) await work();
    this.#schedule();
  }

  #schedule(): void {
    if (this.open === 0) {
      this.#openSince = null;
      this.#waitMs = firstWaitMs;
      return;
    }
    if (this.#timer !== null) return;
    this.#timer = setTimeout(() => void this.#round(), this.#waitMs).unref();
    this.#waitMs = Math.min(maxWaitMs, this.#waitMs * 2);
  }

  /** Sends all open requests, and stops at the first one without a response. */
  async #round(): Promise<void> {
    const works = [
      ...[...this.#sessions].map((session) => () => this.#endSession(session)),
      ...[...this.#rooms].map((room) => () => this.#endRoom(room)),
      ...[...this.#participants].flatMap(([room, waiting]) =>
        [...waiting].map((identity) => () => this.#endParticipant(room, identity)),
      ),
    ];
    for (const work of works) if (!(await work())) break;
    this.#timer = null;
    this.#tellIfLate();
    this.#schedule();
  }

  #tellIfLate(): void {
    const now = this.#input.now();
    if (this.open === 0 || this.#openSince === null || now - Math.max(this.#openSince, this.#lateAt) < lateMs) return;
    this.#lateAt = now;
    const seconds = Math.round((now - this.#openSince) / 1_000);
    this.#input.onLate(`LiveKit has not ended media for ${seconds} s; open requests: ${this.open}`);
  }

  async #endSession(session: string): Promise<boolean> {
    const { livekit, now } = this.#input;
    const rooms = await this.#roomsOf(livekit, session, now()).catch(() => null);
    if (rooms === null) return false;
    // If the session was opened again, it has a new room, which must not be ended.
    if (!this.#sessions.delete(session)) return true;
    for (const room of rooms) this.#rooms.add(room);
    for (const room of rooms) if (!(await this.#endRoom(room))) return false;
    return true;
  }

  async #endRoom(room: string): Promise<boolean> {
    const status = await this.#request("DeleteRoom", { room });
    if (isDone(status)) this.#rooms.delete(room);
    return status !== null;
  }

  async #endParticipant(room: string, identity: string): Promise<boolean> {
    const waiting = this.#participants.get(room);
    if (!waiting?.has(identity)) return true;
    const status = await this.#request("RemoveParticipant", { room, identity });
    if (isDone(status)) waiting.delete(identity);
    if (waiting.size === 0 && this.#participants.get(room) === waiting) this.#participants.delete(room);
    return status !== null;
  }

  /**
   * Sends one request to the LiveKit server.
   * @returns the status of the response; null without a response
   */
  async #request(method: "DeleteRoom" | "RemoveParticipant", asked: Asked) {
    const answer = await call(this.#input.livekit, method, asked, this.#input.now()).catch(() => null);
    await answer?.body?.cancel().catch(() => {});
    return answer?.status ?? null;
  }

  async #roomsOf(livekit: LivekitKey, session: string, at: number): Promise<string[]> {
    return (await listRooms(livekit, at)).filter((name) => name.startsWith(roomOf(session, "")));
  }
}

const isDone = (status: number | null): boolean => status === 200 || status === 404;
