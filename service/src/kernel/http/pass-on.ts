/** Forwards requests to another node of the service, and receives requests that another node has forwarded. */
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as overHttp,
} from "node:http";
import { request as overTls } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { minuteMs } from "../platform/clock.ts";
import { BusyError, invalid, ServiceError } from "../platform/errors.ts";
import { type NodeAddress, nodeHeader, type OwnNode } from "../platform/nodes.ts";
import { clientAddress } from "./client-address.ts";

declare module "fastify" {
  interface FastifyRequest {
    /**
     * True if another node has forwarded this request. The other node has then already counted it for the client's rate
     * limits.
     */
    isPassedOn: boolean;
  }
}

/** The time limit for a connection to the other node. The other machine may be down and never answer. */
const connectMs = 3_000;
/** The longest time without new bytes in a response. Event streams send a ping every 15 seconds. */
const pauseMs = 20_000;
/** The most requests that this node forwards at the same time. Each open page's event stream is one of them. */
const maxPassed = 500;

const limitsOfPassing = {
  /** The longest time without new bytes in a request's body. The upload as a whole may take longer. */
  bodyMs: 10_000,
  /**
   * The time limit from the end of the request to the start of the response. Some requests contain a document, which
   * takes time to check.
   */
  answerMs: minuteMs,
  /**
   * The most simultaneous requests from one page of a live session. Each participant's link counts as one page, and so
   * does the notary. A participant may have six event streams open.
   */
  ofPage: 8,
  /** The most simultaneous requests for one live session, from all of its pages together. */
  ofSession: 100,
};
type Limits = typeof limitsOfPassing;

/**
 * Another node, and the `id` of the live session or device test that it serves. `page` is the page that sent the
 * request.
 */
type Holder = NodeAddress & { readonly id: string; readonly page: string };

/** A request that is being forwarded. */
type Passed = {
  readonly end: (why: Error) => void;
  readonly hasBody: boolean;
  /** True once the whole body was sent. From then on, the other node may be acting on the request. */
  isWhole: boolean;
  state: "asks" | "answers" | "streams";
};

/**
 * The methods whose requests have a body. For other methods, the body is dropped along with the headers that describe
 * it. If the body were sent without its length, the other node would parse it as the next request (request smuggling).
 */
const methodsWithBody = new Set(["POST", "PUT", "PATCH"]);
const ofBody = ["content-length", "content-type", "content-encoding"];

/** Hop-by-hop headers, which a proxy must not forward (RFC 9110, section 7.6.1). */
const ofConnection = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  nodeHeader,
]);

const withoutConnection = (headers: IncomingHttpHeaders, others: readonly string[] = []): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name) && !others.includes(name)));

/**
 * Authenticates requests that other nodes have forwarded, on all routes. A request with a forged header is refused. Add
 * this hook before the rate limits, which skip forwarded requests.
 */
export function acceptPassedOn(app: FastifyInstance, own: OwnNode): void {
  app.decorateRequest("isPassedOn", false);
  app.addHook("onRequest", async (request, reply) => {
    const header = request.headers[nodeHeader];
    if (header === undefined) return;
    const { method, url = "" } = request.raw;
    const read = typeof header === "string" ? own.readHeader(header, { method: method ?? "", path: url }) : null;
    if (read === null) throw invalid("This request was not passed on by a node of this service.");
    if (read === "stale") {
      if (typeof header === "string") reply.header(nodeHeader, own.answerTo(header));
      throw unreached();
    }
    request.isPassedOn = true;
    request.clientAddress = read.client;
  });
}

const unreached = (options?: ErrorOptions) =>
  new ServiceError(
    "unavailable",
    "The server that has this session does not answer. Try again in some seconds.",
    options,
  );

const busy = () => new BusyError("Too many requests are passed on to other servers now. Try again.");

/**
 * Ends one request of a page, so that a new one can be forwarded. Ends the oldest request without a body or, if there
 * is none, the oldest whose body is not completely sent. Of the requests without a body, those without a response so
 * far end first.
 *
 * Requests are forwarded before the other node checks the link's code. Without this function, a stranger with a
 * person's link, but without the code, could use up the page's requests and lock the person out.
 *
 * Never ends an open event stream, because only a browser that sent the right code gets one. Never ends a request whose
 * whole body was sent: the other node may have acted on it, and the caller would not learn the result.
 */
function endOldest(passed: Set<Passed>): void {
  const all = [...passed];
  const oldest =
    all.find(({ hasBody, state }) => !hasBody && state === "asks") ??
    all.find(({ hasBody, state }) => !hasBody && state === "answers") ??
    all.find(({ hasBody, isWhole, state }) => hasBody && !isWhole && state !== "streams");
  if (!oldest) return;
  passed.delete(oldest);
  oldest.end(busy());
}

/** Forwards requests to other nodes. A request that was forwarded to this node is never forwarded again. */
export class Passing {
  readonly #own: OwnNode;
  readonly #limits: Limits;
  #open = 0;
  /** The open requests, by live session and page. The requests of a page are in the order in which they began. */
  readonly #openOf = new Map<string, Map<string, Set<Passed>>>();

  /**
   * Creates an object that forwards this node's requests.
   * @param limits shorter limits, for tests
   */
  constructor(own: OwnNode, limits: Partial<Limits> = {}) {
    this.#own = own;
    this.#limits = { ...limitsOfPassing, ...limits };
  }

  /**
   * Answers a request with the response of another node. Must run before the request's body is read.
   * @param onOpen called once the forwarded call is open, with a function that ends the call early. `onOpen` returns a
   * function to run after the call has ended.
   * @throws ServiceError `unavailable` when the other node can't be reached or doesn't respond in time, when too many
   * requests are open, or when another node has forwarded this request. `validation` when the body stalls
   */
  async pass(
    request: FastifyRequest,
    reply: FastifyReply,
    to: Holder,
    onOpen: (end: () => void) => () => void,
  ): Promise<void> {
    if (request.isPassedOn) throw unreached();
    const pages = this.#openOf.get(to.id) ?? new Map<string, Set<Passed>>();
    const own = pages.get(to.page) ?? new Set();
    const ofSession = [...pages.values()].reduce((count, { size }) => count + size, 0);
    if (this.#open >= maxPassed || ofSession >= this.#limits.ofSession) throw busy();
    if (own.size >= this.#limits.ofPage) endOldest(own);
    if (own.size >= this.#limits.ofPage) throw busy();
    const call = this.#callOf(request, to);
    const end = (why: Error) => void call.destroy(why);
    const passed: Passed = { state: "asks", end, hasBody: hasBody(request.raw), isWhole: false };
    call.once("finish", () => {
      passed.isWhole = true;
    });
    this.#openOf.set(to.id, pages.set(to.page, own.add(passed)));
    this.#open++;
    const ended = onOpen(() => call.destroy(new Error("another node has the session now")));
    try {
      if (passed.hasBody) sendBody(request.raw, call, this.#limits.bodyMs);
      else call.end();
      const answer = await answerOf(call, this.#limits.answerMs);
      passed.state = answer.headers["content-type"]?.startsWith("text/event-stream") ? "streams" : "answers";
      reply.hijack();
      await send(reply, answer);
    } finally {
      this.#forget(to, own, passed);
      ended();
    }
  }

  #forget({ id, page }: Holder, own: Set<Passed>, passed: Passed): void {
    this.#open--;
    own.delete(passed);
    const pages = this.#openOf.get(id);
    if (own.size === 0 && pages?.get(page) === own) pages.delete(page);
    if (pages?.size === 0) this.#openOf.delete(id);
  }

  #callOf(request: FastifyRequest, to: NodeAddress): ClientRequest {
    const { method = "GET", headers, url: path = "/" } = request.raw;
    const client = clientAddress(request);
    const url = new URL(to.url);
    const call = (url.protocol === "https:" ? overTls : overHttp)({
      protocol: url.protocol,
      hostname: url.hostname.replace(/^\[|\]$/g, ""),
      port: url.port,
      method,
      path,
      // Opens a new connection for each request. A pooled connection may have been closed by the other node already.
      agent: false,
      setHost: false,
      headers: {
        ...withoutConnection(headers, hasBody(request.raw) ? [] : ofBody),
        "x-forwarded-for": client,
        [nodeHeader]: this.#own.headerFor(to, { method, path, client }),
      },
    });
    request.raw.on("close", () => {
      if (!request.raw.complete) call.destroy();
    });
    return call;
  }
}

const hasBody = ({ method = "GET" }: IncomingMessage): boolean => methodsWithBody.has(method);

/** Sends a request's body to the other node. The call ends after `maxMs` without new bytes. */
function sendBody(body: IncomingMessage, call: ClientRequest, maxMs: number): void {
  const stalled = () => call.destroy(invalid("The body of this request has stopped coming."));
  const timer = setTimeout(stalled, maxMs).unref();
  body.on("data", () => timer.refresh());
  for (const end of ["finish", "close"]) call.once(end, () => clearTimeout(timer));
  // Discards the rest of a body that the other node refused. Unread data would block the client's connection, and the
  // node would not notice when the client closes it.
  call.once("close", () => body.resume());
  body.pipe(call);
}

/**
 * Resolves with the other node's response as soon as it begins.
 * @throws ServiceError when no response begins in time, or the connection fails
 */
function answerOf(call: ClientRequest, answerMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const late = (ms: number) => setTimeout(() => call.destroy(new Error(`no answer within ${ms} ms`)), ms).unref();
    const connecting = late(connectMs);
    let answering: NodeJS.Timeout | undefined;
    let hasAnswered = false;
    const connected = call.protocol === "https:" ? "secureConnect" : "connect";
    call.once("socket", (socket) => socket.once(connected, () => clearTimeout(connecting)));
    // The time limit starts at the end of the request, unless the response has already begun. The other node may
    // respond early, for example to refuse a long body.
    call.once("finish", () => {
      if (!hasAnswered) answering = late(answerMs);
    });
    // Before the response begins, an error rejects the promise. After that, the response itself ends early.
    call.on("error", (error) => reject(error instanceof ServiceError ? error : unreached({ cause: error })));
    call.once("response", (answer) => {
      hasAnswered = true;
      clearTimeout(answering);
      resolve(answer);
    });
    call.once("close", () => {
      clearTimeout(connecting);
      clearTimeout(answering);
    });
  });
}

/** Streams the other node's response. If that response breaks off, this node's response breaks off as well. */
function send(reply: FastifyReply, answer: IncomingMessage): Promise<void> {
  const { raw } = reply;
  const headers = { ...reply.getHeaders(), ...withoutConnection(answer.headers) } as OutgoingHttpHeaders;
  return new Promise((resolve) => {
    answer.setTimeout(pauseMs, () => answer.destroy());
    raw.writeHead(answer.statusCode ?? 502, headers);
    // Sends the head at once: without it, a proxy or browser doesn't process the events that follow.
    raw.flushHeaders();
    answer.pipe(raw);
    answer.on("close", () => {
      if (!answer.complete) raw.destroy();
    });
    answer.on("error", () => raw.destroy());
    const end = () => {
      answer.destroy();
      resolve();
    };
    raw.on("close", end);
    // The client may have disconnected while the other node worked.
    if (raw.destroyed) end();
  });
}
