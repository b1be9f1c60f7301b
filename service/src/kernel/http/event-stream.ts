import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply } from "fastify";

const pingMs = 15_000;

/** Sends one event to the page. */
type SendEvent = (data: unknown) => void;

/**
 * Begins a subscription for one page. It must return before it calls `send`, because the head of the response is
 * written only after the return.
 * @param end ends the page's stream
 * @returns a function that ends the subscription
 */
type Subscribe = (send: SendEvent, end: () => void) => () => void;

/**
 * Server-sent events for the routes of a Fastify scope (HTML, section 9.2). All streams end when the service stops;
 * otherwise the stop would wait until every page had closed its stream.
 * @returns a function that responds with a stream; if `subscribe` throws, no stream begins
 */
export function eventStreams(scope: FastifyInstance) {
  const open = new Set<ServerResponse>();
  scope.addHook("preClose", async () => {
    for (const raw of open) raw.end();
  });
  return (reply: FastifyReply, subscribe: Subscribe): void => {
    const { raw } = reply;
    // If the page has already disconnected, no stream begins. Its "close" event has fired, so nothing would end a new
    // subscription.
    if (raw.destroyed) return void reply.hijack();
    const unsubscribe = subscribe(
      (data) => void raw.write(`data: ${JSON.stringify(data)}\n\n`),
      () => void raw.end(),
    );
    reply.hijack();
    raw.writeHead(200, {
      ...(reply.getHeaders() as Record<string, string>),
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      // Tells nginx not to buffer events.
      "x-accel-buffering": "no",
    });
    raw.write("retry: 2000\n\n");
    open.add(raw);
    // Proxies close connections on which no data arrive for about a minute.
    const ping = setInterval(() => void raw.write(":\n\n"), pingMs).unref();
    raw.on("close", () => {
      clearInterval(ping);
      open.delete(raw);
      unsubscribe();
    });
  };
}
