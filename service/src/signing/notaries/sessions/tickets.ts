/** The tickets by which pages use the media engine, in a session or to test a connection. */
import { minuteMs } from "../../../kernel/platform/clock.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import type { MediaEngine, Ticket } from "../../../providers/providers.ts";

/** Identifies a person within a session or a connection test. */
export type Of = { session: string; person: string };

const maxChecks = 50;
const checkMs = minuteMs;

export class Tickets {
  readonly #engine: MediaEngine;
  /** The owner of each ticket. `request`: the number of the request for the ticket; later requests have higher ones. */
  readonly #owners = new Map<string, Of & { request: number }>();
  #requests = 0;
  /** The running connection tests, by the engine's session: the tester, and the timer that ends the test. */
  readonly #checks = new Map<string, Of & { timer: NodeJS.Timeout }>();

  constructor(engine: MediaEngine) {
    this.#engine = engine;
  }

  /**
   * Admits a person to a session of the engine. If several requests of the person succeed, only the ticket of the
   * latest request works. The order in which the engine answers them doesn't matter.
   */
  async give({ session, person }: Of, allowed: Parameters<MediaEngine["admit"]>[2]): Promise<Ticket> {
    const request = ++this.#requests;
    const ticket = await this.#engine.admit(session, person, allowed);
    const isReplaced = [...this.#owners.values()].some(
      (owner) => owner.session === session && owner.person === person && owner.request > request,
    );
    if (isReplaced) return ticket;
    this.end(session, person);
    this.#owners.set(ticket.ticket, { session, person, request });
    return ticket;
  }

  /** True if a ticket works: it has not ended, and no later one has replaced it. */
  has = (ticket: string): boolean => this.#owners.has(ticket);

  /** Ends the tickets of a person, or of everybody in the session. */
  end(session: string, person?: string): void {
    for (const [ticket, owner] of this.#owners)
      if (owner.session === session && (person === undefined || owner.person === person)) this.#owners.delete(ticket);
  }

  /**
   * Requires that the ticket was issued to this person.
   * @throws ServiceError `not_found` otherwise
   */
  require(ticket: string, of: Of): void {
    const held = this.#owners.get(ticket);
    const owner = held && (this.#checks.get(held.session) ?? held);
    if (owner?.session !== of.session || owner.person !== of.person)
      throw new ServiceError("not_found", "This connection has ended.");
  }

  /** The person who runs a connection test; undefined for another session of the media engine. */
  tester = (session: string): Of | undefined => this.#checks.get(session);

  /**
   * Starts a connection test, which sends a person's own media back. Nothing is recorded, and the test ends after a
   * minute.
   */
  async check({ session, person }: Of): Promise<Ticket> {
    for (const [check, owner] of this.#checks)
      if (owner.session === session && owner.person === person) await this.#endCheck(check);
    if (this.#checks.size >= maxChecks)
      throw new ServiceError("unavailable", "Too many checks run now. Try again soon.");
    const check = `check-${newUuid()}`;
    const timer = setTimeout(() => void this.#endCheck(check).catch(() => {}), checkMs).unref();
    this.#checks.set(check, { session, person, timer });
    await this.#engine.open(check, null);
    return this.give({ session: check, person }, { audio: true, video: true, loop: true });
  }

  async #endCheck(check: string): Promise<void> {
    clearTimeout(this.#checks.get(check)?.timer);
    this.#checks.delete(check);
    this.end(check);
    await this.#engine.close(check);
  }

  /** Stops the timers. The media engine ends its sessions itself. */
  stop(): void {
    for (const { timer } of this.#checks.values()) clearTimeout(timer);
  }
}
