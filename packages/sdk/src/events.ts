import { ConnectionError, ServiceRefusal } from "./errors.ts";
import type { ChainedEvent } from "./event-chain.ts";
import type { Transport } from "./transport.ts";
import type { WebhookEvent } from "./webhook-events.ts";

/** An event of the feed. `payload` is the body that a webhook is sent; null when the record it was about is gone. */
export type FeedEvent = ChainedEvent & { occurredAtUtc: string; payload: WebhookEvent | null };

export type EventFeed = {
  events: FeedEvent[];
  /** For the next call; there always is one. */
  cursor: string;
  requestId: string;
};

export type EventQuery = {
  /** `cursor` of the answer before; `latest` for what comes from now on; left out: from the first event. */
  cursor?: string | undefined;
  /** Left out: all. */
  topics?: readonly string[] | undefined;
};

const longestWaitSeconds = 25;
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Whether it may be another answer in a while: what was cut off or took too long, and what the service asks to try again. */
const mayPass = (error: unknown): boolean =>
  error instanceof ServiceRefusal ? error.status === 429 || error.status >= 500 : error instanceof ConnectionError;

export function eventsOf({ json, timeoutMs, isEnded, pause }: Transport) {
  // The answer must come before the client gives up waiting for it.
  const waitSeconds = Math.floor(Math.max(0, Math.min(longestWaitSeconds, timeoutMs / 1000 - 5)));

  /** One page of the firm's events in the key's environment, oldest first. @param page.wait seconds to wait for one, at most 25 */
  const list = ({
    topics,
    ...page
  }: EventQuery & { limit?: number | undefined; wait?: number | undefined } = {}): Promise<EventFeed> =>
    json("GET", "/api/partner/events", { query: { ...page, topics: topics?.join(",") } });

  /**
   * Every event as it comes, without end; no webhook is needed. The service may be away for a while: it goes on where it was. Keep
   * the `position` of what you have worked on: as `cursor` it is where a new start goes on.
   * @throws ServiceRefusal for a key or a query that is refused
   */
  async function* follow({ cursor, topics }: EventQuery = {}): AsyncGenerator<FeedEvent, void, undefined> {
    let pauseMs = firstPauseMs;
    let next = cursor;
    for (;;) {
      const started = Date.now();
      let feed: EventFeed;
      try {
        // Where the first wait begins is settled before it: what comes between two calls is not missed.
        feed = await list({ cursor: next, topics, limit: 100, wait: next === "latest" ? 0 : waitSeconds });
      } catch (error) {
        if (isEnded() || !mayPass(error)) throw error;
        await pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
        continue;
      }
      yield* feed.events;
      // A service that did not wait, as too many do already, is not asked again at once.
      if (feed.events.length === 0 && next !== "latest" && Date.now() - started < firstPauseMs)
        await pause(firstPauseMs);
      pauseMs = firstPauseMs;
      next = feed.cursor;
    }
  }

  return { list, follow };
}
