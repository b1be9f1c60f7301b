import { STATUS_CODES } from "node:http";
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { invalid, ServiceError } from "../platform/errors.ts";
import { newUuid } from "../platform/ids.ts";
import { type Log, maskCodes } from "../platform/logs.ts";
import type { Metrics } from "../platform/metrics.ts";
import { forwardedAddresses, loggedNetwork } from "../platform/network.ts";
import { clientAddress } from "./client-address.ts";
import { HttpError } from "./errors/http-error.ts";
import { wireError } from "./errors/wire-errors.ts";
import { maxBodyBytes } from "./openapi/around.ts";
import { pageHeaders, securityHeaders } from "./security-headers.ts";

export type ServerOptions = {
  log: Log;
  metrics: Metrics;
  baseUrl: string;
  trustProxy: string[];
  /**
   * The page to send for a request that no route matches: an unknown URL, or a method that the URL doesn't support.
   * Null when the caller gets JSON instead.
   */
  unmatchedPage: (
    request: FastifyRequest,
    isSomeRoute: boolean,
  ) => { page: string; headers: Record<string, string> } | null;
  /**
   * Closes the socket when nothing of a response could be sent for this many milliseconds. This frees the memory that
   * the response occupies.
   */
  stalledMs?: number;
};

// Disables Fastify's compiled validators and serializers, which would double the startup time. They are not needed: the
// domain checks requests with the contract's messages, and the type checker checks responses. Set on the server,
// because each scope with schemas would otherwise create its own compilers.
const uncompiled: object = { buildValidator: () => () => () => true, buildSerializer: () => () => JSON.stringify };

const unlogged = new Set(["/healthz", "/readyz", "/metrics"]);

/** A server without routes, with the parts that every request needs: id, headers, errors, log line and metrics. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { log, metrics, baseUrl, trustProxy, unmatchedPage, stalledMs = 30_000 } = options;
  const app: FastifyInstance = fastify({
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newUuid,
    // Uses one logger for all requests: the log lines contain the request's id already. A logger for each request would
    // cost more time than writing its lines.
    childLoggerFactory: (logger) => logger,
    trustProxy: trustProxy.length > 0 ? trustProxy : false,
    bodyLimit: maxBodyBytes,
    requestTimeout: 300_000,
    // The time limit for adding the routes, during which esbuild bundles scripts. On a busy machine that takes longer
    // than Fastify's default of 10 s. A start that hangs still ends with an error.
    pluginTimeout: 120_000,
    forceCloseConnections: "idle",
    rewriteUrl: ({ url = "/" }) => decodable(url),
    http: { requireHostHeader: false },
    // A path parameter may be as long as the longest request line. So even a code that is too long reaches its route
    // and gets that route's own 404.
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: true },
    frameworkErrors: (error, request, reply) => wireError(error, request, reply as FastifyReply),
    schemaController: { compilersFactory: uncompiled },
    clientErrorHandler: answerBrokenRequest,
  });
  const headers = securityHeaders(baseUrl);
  // Removes Fastify's parser for text/plain, so that such a body is refused instead of treated as empty. A browser's
  // fetch sends this type when a script sets none.
  app.removeContentTypeParser("text/plain");
  app.server.on("checkExpectation", (_request, response) => {
    response.writeHead(417, {
      ...headers,
      "content-type": "application/json; charset=utf-8",
      "request-id": newUuid(),
    });
    response.end('{"error":"Expectation failed."}');
  });
  // By default, Fastify reads the body of a QUERY request, and refuses a body without a type before it looks for a
  // route. No route accepts QUERY, so the request must be refused for its method instead.
  app.addHttpMethod("QUERY", { overrideExisting: true });
  app.decorateRequest("principal", null);
  app.decorateRequest("session", null);
  app.decorateRequest("clientAddress", null);
  app.addHook("onRequest", (request, reply, done) => {
    const forwarded = request.headers["x-forwarded-for"];
    if (typeof forwarded === "string") request.raw.headers["x-forwarded-for"] = forwardedAddresses(forwarded);
    reply.headers(headers);
    reply.header("Request-Id", request.id);
    // API responses are private to the holder of a key or code, so caches must not store them.
    if (request.url.startsWith("/api/")) reply.header("Cache-Control", "no-store");
    done(namesOneHost(request) ? undefined : invalid("A request must have exactly one Host header."));
  });
  app.addHook("onSend", (_request, reply, payload, done) => {
    // This time-out applies until the response is sent. For the next request on the connection, the server sets its own
    // time-out.
    reply.raw.setTimeout(stalledMs, () => reply.raw.destroy());
    done(null, payload);
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { url: route = "unmatched" } = request.routeOptions;
    const { elapsedTime } = reply;
    metrics.observe(request.method, route, reply.statusCode, elapsedTime / 1000);
    if (!unlogged.has(route)) logAccess(log, accessLine(request, reply.statusCode, elapsedTime));
    done();
  });
  app.setErrorHandler(wireError);
  answerUnmatched(app, unmatchedPage);
  return app;
}

/**
 * True if a request has exactly one Host header (RFC 9112, section 3.2), or is HTTP/1.0 and has none. Any other request
 * gets a 400.
 */
function namesOneHost({ raw: { rawHeaders, httpVersion } }: FastifyRequest): boolean {
  let hosts = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) if (rawHeaders[n]?.toLowerCase() === "host") hosts++;
  return hosts === 1 || (hosts === 0 && httpVersion === "1.0");
}

/** The part of a URL before its query. */
function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

/**
 * The URL, in a form that the router can decode. If its percent-encoding is broken, all its percent signs are encoded.
 * It then matches no resource and gets a normal 404.
 */
function decodable(url: string): string {
  const path = pathOf(url);
  if (!path.includes("%")) return url;
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll("%", "%25") + url.slice(path.length);
  }
}

/** Decodes percent-encoded characters, so that `maskCodes` recognizes a code in any spelling. */
function readable(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

// The statuses of refusals that can show that somebody guesses keys or links, or exceeds rate limits.
const securityStatuses: ReadonlySet<number> = new Set([401, 403, 429]);

function accessLine(request: FastifyRequest, status: number, elapsedTime: number): AccessLine {
  const { id, method, url, principal } = request;
  return {
    requestId: id,
    method,
    path: readable(pathOf(url)),
    status,
    ms: Math.round(elapsedTime * 10) / 10,
    partnerId: principal?.partnerId,
    source: securityStatuses.has(status) ? loggedNetwork(clientAddress(request)) : undefined,
  };
}

/**
 * Responds to a request that the HTTP parser refused, or that arrived too slowly. No route sees such a request, so the
 * parser's error is converted to the service's error format here.
 */
function answerBrokenRequest(error: Error & { code?: string }, socket: import("node:net").Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return;
  const status = error.code === "HPE_HEADER_OVERFLOW" ? 431 : error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? 408 : 400;
  const body = JSON.stringify({ error: `${STATUS_CODES[status]}.` });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nRequest-Id: ${newUuid()}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/**
 * Adds the response to a request that no route matches: 405 with `Allow` if the path has other methods, otherwise 404.
 */
function answerUnmatched(app: FastifyInstance, unmatchedPage: ServerOptions["unmatchedPage"]): void {
  const patterns = new Map<string, { matches: RegExp; methods: Set<string> }>();
  app.addHook("onRoute", ({ url, method }) => {
    const matches = new RegExp(
      `^${url
        .replace(/[.+?^${}()|[\]\\]/g, "\\$&")
        .replace(/:[^/]+/g, "[^/]+")
        .replace("*", ".*")}/?$`,
    );
    const pattern = patterns.get(url) ?? { matches, methods: new Set() };
    for (const each of [method].flat()) pattern.methods.add(each);
    patterns.set(url, pattern);
  });
  app.setNotFoundHandler(async (request, reply) => {
    const path = pathOf(request.url);
    // A literal path has priority: /webhooks/deliveries is its own resource, not a webhook with the id "deliveries".
    const literal = patterns.get(path);
    const matching = literal ? [literal] : [...patterns.values()].filter(({ matches }) => matches.test(path));
    const allowed = matching.flatMap(({ methods }) => [...methods]);
    const answer = unmatchedPage(request, allowed.length > 0);
    if (allowed.length > 0) reply.header("Allow", [...new Set(allowed)].join(", "));
    if (answer !== null)
      return reply
        .code(allowed.length > 0 ? 405 : 404)
        .type("text/html; charset=utf-8")
        .headers({ ...pageHeaders, ...answer.headers, "cache-control": "no-store" })
        .send(answer.page);
    if (allowed.length > 0) throw new HttpError("method_not_allowed", "Method not allowed.");
    throw new ServiceError("not_found", "Not found.");
  });
}

/** The log line of a request. It contains no IP address, query or body. `logAccess` masks codes in the path. */
export type AccessLine = {
  requestId: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  partnerId: string | undefined;
  /** The network of a caller that was refused with 401, 403 or 429. */
  source?: string | undefined;
};

export const logAccess = (log: Log, line: AccessLine): void =>
  log.info({ ...line, path: maskCodes(line.path) }, "request");
