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
import type { NodeAddress, OwnNode } from "../platform/nodes.ts";
import { clientAddress } from "./client-address.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Whether another node has passed this request on. That node has counted it against the client's limits. */
    isPassedOn: boolean;
  }
}

const headerName = "signsealship-node";

/** How long the other node may take to accept a connection: its machine may be gone. */
const connectMs = 3_000;
/** How long the other node may take to begin its answer. Some requests carry a document, which is checked. */
const answerMs = 60_000;
/** How long an answer may pause. Events are sent at least every 15 seconds. */
const pauseMs = 20_000;
/** The most requests that this node passes on at the same time. An open page holds one for its events. */
const mostPassed = 500;

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
  headerName,
]);

const withoutConnection = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.has(name)));

/**
 * Takes requests that other nodes have passed on, on all routes. A request with a forged header is refused. The hook must
 * be added before the rate limits, which don't count passed requests again.
 */
export function takePassedOn(app: FastifyInstance, own: OwnNode): void {
  app.decorateRequest("isPassedOn", false);
  app.addHook("onRequest", async (request) => {
    const header = request.headers[headerName];
    if (header === undefined) return;
    const { method, url = "" } = request.raw;
    const read = typeof header === "string" ? own.readHeader(header, { method: method ?? "", path: url }) : null;
    if (read === null) throw invalid("This request was not passed on by a node of this service.");
    if (read === "stale") throw unreached();
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

/** Passes requests on to other nodes. A request that was passed on to this node is never passed on again. */
export class Passing {
  readonly #own: OwnNode;
  #open = 0;

  constructor(own: OwnNode) {
    this.#own = own;
  }

  /**
   * Answers a request with the answer of another node. Must run before the body is read.
   * @param onBegun gets a function that ends the call early; returns what to call when it has ended
   * @throws ServiceError `unavailable` while the other node does not answer
   */
  async pass(
    request: FastifyRequest,
    reply: FastifyReply,
    to: NodeAddress,
    onBegun: (end: () => void) => () => void,
  ): Promise<void> {
    if (request.isPassedOn) throw unreached();
    if (this.#open >= mostPassed)
      throw new BusyError("Too many requests are passed on to other servers now. Try again.");
    this.#open++;
    const call = this.#callOf(request, to);
    const ended = onBegun(() => call.destroy(new Error("another node has the session now")));
    try {
      request.raw.pipe(call);
      const answer = await answerOf(call);
      reply.hijack();
      await send(reply, answer);
    } finally {
      this.#open--;
      ended();
    }
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
        ...withoutConnection(headers),
        "x-forwarded-for": client,
        [headerName]: this.#own.headerFor(to, { method, path, client }),
      },
    });
    request.raw.on("close", () => {
      if (!request.raw.complete) call.destroy();
    });
    return call;
  }
}

/** @throws ServiceError when the node does not begin an answer in time */
function answerOf(call: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const late = (ms: number) => setTimeout(() => call.destroy(new Error(`no answer within ${ms} ms`)), ms).unref();
    const connecting = late(connectMs);
    const answering = late(answerMs);
    call.once("socket", (socket) => socket.once("connect", () => clearTimeout(connecting)));
    // After the answer has begun, an error shows as the answer's early end.
    call.on("error", (error) => reject(unreached({ cause: error })));
    call.once("response", (answer) => {
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
