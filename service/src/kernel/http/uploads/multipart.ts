import type { IncomingMessage } from "node:http";
import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { freeMemory } from "../../platform/bounds/free-memory.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { stopwatch } from "../../platform/stopwatch.ts";
import { principalOf } from "../authentication.ts";
import { maxFieldBytes, maxUploadBytes, type PartRules, readParts, type Upload } from "./multipart-parts.ts";
import type { UploadHolder, UploadPlaces } from "./upload-places.ts";

export { maxUploadBytes, type Upload };

// The largest Content-Length of an accepted form: the largest file, and 1 MiB for part headers and text fields.
const maxBodyBytes = maxUploadBytes + 1024 * 1024;
const maxFields = 100;
/** The most memory that one form reserves, in bytes: for its file, and for the data appended to the file. */
export const maxReservedBytes = maxBodyBytes;
// If an upload takes longer than this, the caller is authenticated again, because the credential may have been revoked.
const trustedMs = 1000;

export type Form = {
  fields: ReadonlyMap<string, string>;
  /** The uploaded file; null when the form has none. */
  upload: Upload | null;
  /** Releases the upload's memory. Call it after the last use of the bytes, because their memory is reused. */
  release: () => void;
};

export type FormRules = PartRules & {
  places: UploadPlaces;
  messages: { notMultipart: string };
  /** The firm and environment for whose upload memory is reserved; by default, those of the request's principal. */
  holder?: UploadHolder;
  /** Runs the route's authentication hook again, for a form whose upload took longer than `trustedMs`. */
  authenticate: (request: FastifyRequest) => Promise<void>;
};

const multipartType = "multipart/form-data";

/**
 * Ignores multipart bodies, except in a scope that accepts them.
 * @param pace the minimum pace at which a discarded body must arrive; a slower connection is closed
 */
export function ignoreMultipart(app: FastifyInstance, pace: BodyPace = bodyPace): void {
  app.addContentTypeParser(multipartType, (_request, _body, done) => done(null));
  app.addHook("onResponse", (request, _reply, done) => {
    const { raw } = request;
    if (!raw.complete) watchBody(raw, pace, () => raw.socket.destroy());
    done();
  });
}

/**
 * Accepts multipart forms. The plugin adds hooks for each request of its scope, so it is registered only in this scope.
 */
export async function acceptMultipart(scope: FastifyInstance): Promise<void> {
  scope.removeContentTypeParser(multipartType);
  await scope.register(multipart, {
    // The parser's limit must be one byte above the largest file accepted. Otherwise the parser would report a file of
    // exactly that size as truncated.
    limits: {
      fileSize: maxUploadBytes + 1,
      fields: maxFields,
      fieldSize: maxFieldBytes,
      fieldNameSize: 100,
      parts: maxFields + 2,
      headerPairs: 100,
    },
    throwFileSizeLimit: false,
    // Treats a text part that is labeled as JSON as a file. Otherwise the plugin would parse it as JSON; it never
    // parses files.
    isPartAFile: (_name, contentType, filename) =>
      filename !== undefined || contentType === "application/octet-stream" || contentType === "application/json",
  });
}

/**
 * Reads a form with at most one file. The file is hashed as it arrives and is held once, in reserved memory. The memory
 * is reserved for the request's principal, or for the holder that the caller passes.
 * @throws ServiceError `validation` for a malformed form, or one that is cut off, too slow, too large, or has a second
 * file; `unavailable` when too many forms wait. Also throws the errors of `authenticateAgain`.
 */
export async function readForm(request: FastifyRequest, rules: FormRules, pace: BodyPace = bodyPace): Promise<Form> {
  const { messages } = rules;
  if (!request.isMultipart()) throw invalid(messages.notMultipart);
  if (!hasGoodBoundary(request)) throw invalid(messages.incomplete);
  const declared = Number(request.headers["content-length"] ?? maxBodyBytes);
  const tooLong = declared > maxBodyBytes;
  if (tooLong && !(rules.typed && declared <= pace.maxBytes)) throw invalid(messages.tooLarge);
  const capacity = tooLong ? null : Math.min(declared, maxUploadBytes);
  const bytes = capacity === null ? maxFields * maxFieldBytes : capacity + (rules.spareBytes ?? 0);
  const elapsedMs = stopwatch();
  const release = await rules.places.reserve(rules.holder ?? principalOf(request), bytes);
  let upload: Upload | null = null;
  const releaseAll = () => {
    if (upload) freeMemory(upload.bytes.buffer);
    release();
  };
  try {
    const parts = await readInPace(request, rules, capacity, pace);
    ({ upload } = parts);
    if (tooLong) throw invalid(messages.tooLarge);
    if (elapsedMs() > trustedMs) await authenticateAgain(request, rules);
    return { ...parts, release: releaseAll };
  } catch (error) {
    releaseAll();
    throw error;
  }
}

/**
 * True unless the form's boundary has more than 70 characters (RFC 2046, section 5.1.1). The parser itself reports a
 * missing boundary.
 */
function hasGoodBoundary({ headers }: FastifyRequest): boolean {
  const found = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;\s]*))/i.exec(headers["content-type"] ?? "");
  return (found?.[1] ?? found?.[2] ?? "").length <= 70;
}

async function readInPace(request: FastifyRequest, rules: FormRules, capacity: number | null, pace: BodyPace) {
  const { messages } = rules;
  const { raw } = request;
  // The sender may have disconnected while the form was queued for memory.
  if (raw.destroyed) throw invalid(messages.incomplete);
  const parts = readParts(request, rules, capacity);
  // If the body is too slow or too long, an error is emitted on the body's stream. That stops the parser, but keeps the
  // connection open for the response.
  const stop = watchBody(raw, pace, (fault) =>
    raw.emit("error", invalid(fault === "stalled" ? messages.incomplete : messages.tooLarge)),
  );
  return parts.finally(stop);
}

/**
 * Authenticates the caller again.
 * @throws the errors of `authenticate`; ServiceError `conflict` when the caller's firm or environment has changed
 */
async function authenticateAgain(request: FastifyRequest, { authenticate, holder }: FormRules): Promise<void> {
  // A route that passes a holder has no principal, so its `authenticate` compares the holders itself.
  if (holder) return authenticate(request);
  const before = principalOf(request);
  await authenticate(request);
  const { partnerId, environment } = principalOf(request);
  if (partnerId === before.partnerId && environment === before.environment) return;
  throw new ServiceError("conflict", "You switched firm or environment while the form was on its way. Send it again.");
}

/** The minimum pace at which a body must arrive. It also applies to the discarded rest of a refused body. */
export type BodyPace = {
  /**
   * The length of a time window. At least `minBytes` must arrive in the first window; the minimum doubles with each
   * window, up to a limit.
   */
  windowMs: number;
  minBytes: number;
  minBytesAtMost: number;
  /** The most bytes of a body that are read, including the discarded rest. */
  maxBytes: number;
};

// The pace that applies by default. Because the minimum doubles, an attacker who wants to occupy reserved memory for
// minutes must send megabytes.
const bodyPace: BodyPace = {
  windowMs: 30_000,
  minBytes: 64 * 1024,
  minBytesAtMost: 1024 * 1024,
  maxBytes: 64 * 1024 * 1024,
};

const looksPerWindow = 30;

/**
 * Watches a body until its end, counting the bytes that arrived on its connection.
 * @param ended is called at most once: when the body is too slow or too long, or when nothing more can be sent on its
 * connection
 * @returns a function that stops watching
 */
function watchBody(
  message: IncomingMessage,
  { windowMs, minBytes, minBytesAtMost, maxBytes }: BodyPace,
  ended: (fault: "stalled" | "too large") => void,
): () => void {
  const { socket } = message;
  const bytesBefore = socket.bytesRead;
  let atWindow = bytesBefore;
  let due = minBytes;
  let looks = 0;
  const timer = setInterval(() => {
    const fault = faultNow();
    if (fault || message.complete || message.destroyed) stop();
    if (fault) ended(fault);
  }, windowMs / looksPerWindow).unref();
  const stop = () => clearInterval(timer);
  return stop;

  function faultNow() {
    if (message.complete || message.destroyed) return null;
    // The server has already refused the request, so further bytes have no use.
    if (!socket.writable) return "stalled";
    const now = socket.bytesRead;
    if (now - bytesBefore > maxBytes) return "too large";
    looks += 1;
    if (looks % looksPerWindow !== 0) return null;
    if (now - atWindow < due) return "stalled";
    atWindow = now;
    due = Math.min(2 * due, minBytesAtMost);
    return null;
  }
}
