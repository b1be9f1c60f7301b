import multipart from "@fastify/multipart";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { freeMemory } from "../../platform/bounds/free-memory.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { principalOf } from "../authentication.ts";
import { type BodyPace, bodyPace, watchBody } from "./body-pace.ts";
import { maxFieldBytes, maxUploadBytes, type PartRules, readParts, type Upload } from "./multipart-parts.ts";
import type { UploadHolder, UploadPlaces } from "./upload-places.ts";

export { maxUploadBytes, type Upload };

// Room for part headers and text fields around the file.
const maxBodyBytes = maxUploadBytes + 1024 * 1024;
const maxFields = 100;
/** The most that one form reserves: its file, and what will be appended to it. */
export const maxReservedBytes = maxBodyBytes;
// An upload that took longer outlived, perhaps, the right to make it.
const trustedMs = 1000;

export type Form = {
  fields: ReadonlyMap<string, string>;
  /** The file part, when one came. */
  upload: Upload | null;
  /** Gives the memory of the upload back; call it when nothing reads the bytes any more: they are gone then. */
  release: () => void;
};

export type FormRules = PartRules & {
  places: UploadPlaces;
  messages: { notMultipart: string };
  /** Whose upload it is; the request's principal by default. */
  holder?: UploadHolder;
  /** Finds the request's principal anew, by the hook that found it; for a form that was long on its way. */
  authenticate: (request: FastifyRequest) => Promise<void>;
};

const multipartType = "multipart/form-data";

/**
 * A multipart body counts as none, where a scope below does not accept it.
 * @param pace that bodies which were not read to their end must keep to until then; one that does not loses its connection.
 */
export function ignoreMultipart(app: FastifyInstance, pace: BodyPace = bodyPace): void {
  app.addContentTypeParser(multipartType, (_request, _body, done) => done(null));
  app.addHook("onResponse", (request, _reply, done) => {
    const { raw } = request;
    if (!raw.complete) watchBody(raw, pace, () => raw.socket.destroy());
    done();
  });
}

/** Takes multipart forms in this scope alone, for the plugin has hooks on each request. */
export async function acceptMultipart(scope: FastifyInstance): Promise<void> {
  scope.removeContentTypeParser(multipartType);
  await scope.register(multipart, {
    // One byte over the limit must be seen, or a file of exactly the limit would look like a cut one.
    limits: {
      fileSize: maxUploadBytes + 1,
      fields: maxFields,
      fieldSize: maxFieldBytes,
      fieldNameSize: 100,
      parts: maxFields + 2,
      headerPairs: 100,
    },
    throwFileSizeLimit: false,
    // The plugin would parse text parts that are labelled as JSON; as files they come as they were sent.
    isPartAFile: (_name, contentType, filename) =>
      filename !== undefined || contentType === "application/octet-stream" || contentType === "application/json",
  });
}

/**
 * Reads a form with at most one file. The file is hashed as it arrives and held once, in memory reserved before. Needs a principal, or a holder.
 * @throws ServiceError `validation` for a body that is no such form, is cut off, too slow, too large or holds a second file; what
 * `authenticate` throws.
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
  const begun = performance.now();
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
    if (performance.now() - begun > trustedMs) await authenticateAgain(request, rules);
    return { ...parts, release: releaseAll };
  } catch (error) {
    releaseAll();
    throw error;
  }
}

/** RFC 2046, section 5.1.1: a boundary has at most 70 characters. What is none at all is for the parser to say. */
function hasGoodBoundary({ headers }: FastifyRequest): boolean {
  const found = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)|([^;\s]*))/i.exec(headers["content-type"] ?? "");
  return (found?.[1] ?? found?.[2] ?? "").length <= 70;
}

async function readInPace(request: FastifyRequest, rules: FormRules, capacity: number | null, pace: BodyPace) {
  const { messages } = rules;
  const { raw } = request;
  // The sender may have gone while the form waited for memory.
  if (raw.destroyed) throw invalid(messages.incomplete);
  const parts = readParts(request, rules, capacity);
  // As an error of the stream the parser hears of it and ends what it is about; the connection stays, for the answer.
  const stop = watchBody(raw, pace, (fault) =>
    raw.emit("error", invalid(fault === "stalled" ? messages.incomplete : messages.tooLarge)),
  );
  return parts.finally(stop);
}

/** @throws ServiceError when the caller may not send this any more, or has become another. */
async function authenticateAgain(request: FastifyRequest, { authenticate, holder }: FormRules): Promise<void> {
  // Whoever names the holder has no principal, and compares for itself.
  if (holder) return authenticate(request);
  const before = principalOf(request);
  await authenticate(request);
  const { partnerId, environment } = principalOf(request);
  if (partnerId === before.partnerId && environment === before.environment) return;
  throw new ServiceError("conflict", "You switched firm or environment while the form was on its way. Send it again.");
}
