/** Passes requests on to another node of the service, and takes requests that another node has passed on. */
import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as overHttp,
} from "node:http";
import { request as overTls } from "node:https";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { BusyError, invalid, ServiceError } from "../platform/errors.ts";
import { type NodeAddress, nodeHeader, type OwnNode } from "../platform/nodes.ts";
import { clientAddress } from "./client-address.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Whether another node has passed this request on. That node has counted it against the client's limits. */
    isPassedOn: boolean;
  }
}

/** How long the other node may take to accept a connection: its machine may be gone. */
const connectMs = 3_000;
/** How long an answer may pause. Events are sent at least every 15 seconds. */
const pauseMs = 20_000;
/** The most requests that this node passes on at the same time. An open page holds one for its events. */
const mostPassed = 500;

const limitsOfPassing = {
  /** How long a request's body may pause. A whole upload may take longer: people have slow lines. */
  bodyMs: 10_000,
  /**
   * How long the other node may take to begin its answer once it has the whole request. Some requests carry a document,
   * which is checked.
   */
  answerMs: 60_000,
  /**
   * The most requests at a time for one page: a person's link, or the notary's page. A person may have six event
   * streams open.
   */
  ofPage: 8,
  /** The most requests at a time for one session, which has at most eleven pages. */
  ofSession: 100,
};
type Limits = typeof limitsOfPassing;

/** A session, the node that has it, and the page of the session that a request belongs to. */
type Holder = NodeAddress & { readonly id: string; readonly page: string };

/** A request that is being passed on. */
type Passed = {
  readonly end: (why: Error) => void;
  readonly hasBody: boolean;
  /** Whether the whole body was sent, so that the other node may already be acting on it. */
  isWhole: boolean;
  state: "asks" | "answers" | "streams";
};

/**
 * The methods whose requests have a body. For other methods the body is not passed on: the head would state no length,
 * so the other node would read the body as the next request.
 */
const methodsWithBody = new Set(["POST", "PUT", "PATCH"]);
const ofBody = ["content-length", "content-type", "content-encoding"];

/** RFC 9110, section 7.6.1: these belong to one connection, so a proxy must not pass them on. */
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
 * Takes requests that other nodes have passed on, on all routes. A request with a forged header is refused. The hook
 * must be added before the rate limits, which don't count passed requests again.
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
 * Ends the oldest request of a page, so that a new one can be passed on. Requests are passed on before anybody checks
 * the code of a link, so a stranger with a person's link could otherwise shut that person out. Event streams are kept,
 * because only a browser that has passed the code gets one. A request whose whole body was sent is kept too: the other
 * node may already have acted on it, and the caller would not learn the result.
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

/** Passes requests on to other nodes. A request that was passed on to this node is never passed on again. */
export class Passing {
  readonly #own: OwnNode;
  readonly #limits: Limits;
  #open = 0;
  /** The requests by session and page, each page's oldest first. */
  readonly #openOf = new Map<string, Map<string, Set<Passed>>>();

  /** @param limits a test sets shorter ones */
  constructor(own: OwnNode, limits: Partial<Limits> = {}) {
    this.#own = own;
    this.#limits = { ...limitsOfPassing, ...limits };
  }

  /**
   * Answers a request with the answer of another node. Must run before the body is read.
   * @param onOpen gets a function that ends the call early, and returns a function that is called when the call has
   * ended
   * @throws ServiceError `unavailable` while the other node does not answer; `validation` when the body stops coming
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
    if (this.#open >= mostPassed || ofSession >= this.#limits.ofSession) throw busy();
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
      ...{ protocol: url.protocol, hostname: url.hostname.replace(/^\[|\]$/g, ""), port: url.port, method, path },
      // One connection for each request: a connection that was kept may have been closed by the other node.
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

/** Sends a request's body to the other node. The call ends when no bytes come for some time. */
function sendBody(body: IncomingMessage, call: ClientRequest, mostMs: number): void {
  const stalled = () => call.destroy(invalid("The body of this request has stopped coming."));
  const timer = setTimeout(stalled, mostMs).unref();
  body.on("data", () => timer.refresh());
  for (const end of ["finish", "close"]) call.once(end, () => clearTimeout(timer));
  // Discards the rest of a body that the other node refused. Otherwise the connection could not be used again, and its
  // end would go unnoticed.
  call.once("close", () => body.resume());
  body.pipe(call);
}

/** @throws ServiceError when the node does not begin an answer in time */
function answerOf(call: ClientRequest, answerMs: number): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const late = (ms: number) => setTimeout(() => call.destroy(new Error(`no answer within ${ms} ms`)), ms).unref();
    const connecting = late(connectMs);
    let answering: NodeJS.Timeout | undefined;
    let hasAnswered = false;
    const connected = call.protocol === "https:" ? "secureConnect" : "connect";
    call.once("socket", (socket) => socket.once(connected, () => clearTimeout(connecting)));
    // The other node may answer before it has read the whole body, for example to refuse the request.
    call.once("finish", () => {
      if (!hasAnswered) answering = late(answerMs);
    });
    // After the answer has begun, an error shows as the answer's early end.
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

/** Sends the other node's answer. When it breaks off, this node's answer breaks off too. */
function send(reply: FastifyReply, answer: IncomingMessage): Promise<void> {
  const { raw } = reply;
  const headers = { ...reply.getHeaders(), ...withoutConnection(answer.headers) } as OutgoingHttpHeaders;
  return new Promise((resolve) => {
    answer.setTimeout(pauseMs, () => answer.destroy());
    raw.writeHead(answer.statusCode ?? 502, headers);
    // A proxy or browser sees the events only when the head has been sent.
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
    // The client may have gone while the other node worked.
    if (raw.destroyed) end();
  });
}
