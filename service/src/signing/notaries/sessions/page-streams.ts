/**
 * The pages of live sessions that are connected to this node: their event streams, and the answers of other nodes that
 * this node proxies.
 */
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { ServerMessage } from "../../../providers/providers.ts";
import type { Message } from "../recordings/messages.ts";

/** The page of the document that the notary shows to the signers. The hash identifies the document. */
export type LedPage = { page: number; sha256: string };

/**
 * A notification for a page:
 * - `changed`: the page's content is outdated.
 * - `media`: the page must reconnect its media.
 * - `message`: from the media engine.
 * - `taken`: of the person's pages, only `page` has the media connection now.
 * - `free`: none of the person's pages has the media connection.
 * - `written`: a person's message.
 * - `page`: the notary asks signers to open a page.
 * - `reads`: a signer or a witness reads a page.
 */
export type RoomNotification =
  | { kind: "changed" }
  | { kind: "media" }
  | { kind: "taken"; page: string }
  | { kind: "free" }
  | { kind: "message"; isCheck: boolean; message: ServerMessage }
  | { kind: "written"; written: Message }
  | ({ kind: "page" } & LedPage)
  | { kind: "reads"; person: string; page: number; pages: number; isFollowing: boolean };

/** An open page of a person: it receives notifications by `hear`, and can be closed. */
type Listener = { readonly hear: (notification: RoomNotification) => void; readonly end: () => void };

/** The answer of another node to a page's request, which this node forwards to the page. */
type Passed = { readonly node: string; readonly end: () => void };

const maxStreams = 6;

export class PageStreams {
  readonly #streams = new Map<string, Set<Listener>>();
  /** The answers of other nodes that this node is forwarding to pages, by session. */
  readonly #passed = new Map<string, Set<Passed>>();

  /** Ends the event streams of a person's pages. */
  endPagesOf(session: string, person: string): void {
    const key = `${session} ${person}`;
    for (const { end } of this.#streams.get(key) ?? []) end();
    this.#streams.delete(key);
  }

  /**
   * Adds a page as a listener to a person's notifications.
   * @returns a function that removes the listener
   * @throws ServiceError `rate_limited` when one person has too many pages open
   */
  listen(session: string, person: string, listener: Listener): () => void {
    const key = `${session} ${person}`;
    const heard = this.#streams.get(key) ?? new Set();
    if (heard.size >= maxStreams) throw new ServiceError("rate_limited", "This room is open in too many tabs.");
    this.#streams.set(key, heard.add(listener));
    return () => {
      heard.delete(listener);
      if (heard.size === 0 && this.#streams.get(key) === heard) this.#streams.delete(key);
    };
  }

  /**
   * Registers that this node forwards another node's answer to a page of the session.
   * @returns a function to call when the answer has ended
   */
  passing(session: string, passed: Passed): () => void {
    const all = this.#passed.get(session) ?? new Set();
    this.#passed.set(session, all.add(passed));
    return () => {
      all.delete(passed);
      if (all.size === 0 && this.#passed.get(session) === all) this.#passed.delete(session);
    };
  }

  /** The sessions whose pages are connected to this node. */
  sessionsOfPages = (): string[] => [
    ...new Set([...[...this.#streams.keys()].map((key) => key.split(" ", 1)[0] ?? ""), ...this.#passed.keys()]),
  ];

  /** True if a page of the session has an event stream at this node. */
  isHeard = (session: string): boolean => [...this.#streams.keys()].some((key) => key.startsWith(`${session} `));

  /** Ends the event streams of a session's pages at this node. The pages connect again. */
  endStreams(session: string): void {
    for (const [key, listeners] of this.#streams)
      if (key.startsWith(`${session} `)) for (const { end } of listeners) end();
  }

  /**
   * Ends the answers that this node forwards for a session, unless they come from the node that holds the session's
   * lease.
   */
  endPassed(session: string, holder: string | null): void {
    for (const { node, end } of this.#passed.get(session) ?? []) if (node !== holder) end();
  }

  /** Sends a notification to all pages of a session that are connected to this node. */
  tell(session: string, notification: RoomNotification): void {
    for (const [key, listeners] of this.#streams)
      if (key.startsWith(`${session} `)) for (const { hear } of listeners) hear(notification);
  }

  /** Sends a notification to the pages of one person. */
  tellOne(session: string, person: string, notification: RoomNotification): void {
    for (const { hear } of this.#streams.get(`${session} ${person}`) ?? []) hear(notification);
  }
}
