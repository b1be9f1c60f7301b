import { ConnectionError, ServiceRefusal } from "./errors.ts";
import type { ChainedEvent } from "./event-chain.ts";
import type { Transport } from "./transport.ts";
import type { WebhookEvent } from "./webhook-events.ts";

/** An event of the feed. `payload` is the webhook body; null when the record it describes was deleted. */
export type FeedEvent = ChainedEvent & { occurredAtUtc: string; payload: WebhookEvent | null };

export type EventFeed = {
  events: FeedEvent[];
  /** The cursor for the next call. Present even when there are no events. */
  cursor: string;
  requestId: string;
};

export type EventQuery = {
  /**
   * The `cursor` of the previous answer. `latest` starts with new events. Without a cursor, the feed starts with the
   * first event.
   */
  cursor?: string | undefined;
  /** The topics; default: all topics. */
  topics?: readonly string[] | undefined;
};

const maxWaitSeconds = 25;
const firstPauseMs = 1_000;
const maxPauseMs = 30_000;

/**
 * True if a retry may succeed: the request was cut off or timed out, or the service answered with status 429, or 500 or
 * higher.
 */
const mayPass = (error: unknown): boolean =>
  error instanceof ServiceRefusal ? error.status === 429 || error.status >= 500 : error instanceof ConnectionError;

export function eventsOf({ json, timeoutMs, isEnded, pause }: Transport) {
  // How long the service waits for an event. It must answer before the client's own timeout ends the request.
  const waitSeconds = Math.floor(Math.max(0, Math.min(maxWaitSeconds, timeoutMs / 1000 - 5)));

  /**
   * Returns one page of the firm's events in the key's environment, oldest first.
   * @param page.wait how many seconds to wait for an event if there is none yet, at most 25
   */
  const list = ({
    topics,
    ...page
  }: EventQuery & { limit?: number | undefined; wait?: number | undefined } = {}): Promise<EventFeed> =>
    json("GET", "/api/partner/events", { query: { ...page, topics: topics?.join(",") } });

  /**
   * Streams all events by repeated requests, and never ends by itself. After an outage, the stream resumes where it
   * stopped. Store the `position` of the last event that you processed: pass it as text in `cursor` to resume after a
   * restart.
   * @throws ServiceRefusal with a status other than 429 and below 500; the abort reason of the client's signal
   */
  async function* follow({ cursor, topics }: EventQuery = {}): AsyncGenerator<FeedEvent, void, undefined> {
    let pauseMs = firstPauseMs;
    let next = cursor;
    for (;;) {
      const started = Date.now();
      let feed: EventFeed;
      try {
        // With `latest`, the first call does not wait but only fetches the starting position. Otherwise an event
        // between the first two calls would be missed.
        feed = await list({ cursor: next, topics, limit: 100, wait: next === "latest" ? 0 : waitSeconds });
      } catch (error) {
        if (isEnded() || !mayPass(error)) throw error;
        await pause(pauseMs);
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
        continue;
      }
      yield* feed.events;
      // The service answers at once when too many callers already wait. Pause before the next request.
      if (feed.events.length === 0 && next !== "latest" && Date.now() - started < firstPauseMs)
        await pause(firstPauseMs);
      pauseMs = firstPauseMs;
      next = feed.cursor;
    }
  }

  return { list, follow };
}
