import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type TObject, Type } from "typebox";
import { type ByteRange, type StoredFile, wholeOf } from "../platform/blobs/stored-file.ts";
import type { Access } from "./access.ts";
import { contentDisposition } from "./content-disposition.ts";
import { type JsonRoute, jsonRoute, type RouteDeps, type RouteRequest } from "./route.ts";
import { uncached } from "./verdicts.ts";

/** A file to send, and the name under which the browser saves it. */
export type FileAnswer = {
  name: string;
  /** `inline`: the browser shows the file. `attachment`: the browser saves it. */
  disposition: "inline" | "attachment";
  content: Buffer | StoredFile;
};

type NoSchema = ReturnType<typeof Type.Unsafe<never>>;
type Frame = "tag" | "operationId" | "summary" | "description" | "url" | "policy" | "refusals" | "otherAnswers";

export type FileRoute<P extends TObject> = Pick<JsonRoute<P, TObject, NoSchema>, Frame> &
  Access & {
    params: P;
    media: "application/pdf" | "application/zip" | "application/octet-stream" | "text/plain";
    handle: (request: RouteRequest<P, TObject>) => Promise<FileAnswer>;
  };

/** Adds a route that sends a file unchanged and forbids caching it. */
export function fileRoute<P extends TObject>(
  app: FastifyInstance,
  deps: RouteDeps,
  { media, handle, ...route }: FileRoute<P>,
): void {
  const content = { [media]: { schema: { type: "string", format: "binary" } } };
  jsonRoute<P, TObject, NoSchema>(app, deps, {
    ...route,
    method: "GET",
    answer: Type.Unsafe<never>({ description: "The bytes.", content }),
    async handle(request, reply) {
      const { name, disposition, content } = await handle(request);
      reply.type(media).headers({ ...uncached, "Content-Disposition": contentDisposition(disposition, name) });
      const body = await bodyOf(reply, content);
      return { sent: reply.send(body) };
    },
  });
}

/** Headers that describe the file. A refusal must not have them, because a browser would save it as the file. */
const fileHeaders = ["Content-Disposition", "Accept-Ranges", "ETag"];

/** The content of a file. A stored file is streamed at the pace of the caller's connection. */
export async function bodyOf(
  reply: FastifyReply,
  content: Buffer | StoredFile,
  range?: ByteRange,
): Promise<Buffer | Readable> {
  const { first, last } = range ?? wholeOf(content.length);
  if (Buffer.isBuffer(content)) return content.subarray(first, last + 1);
  // Without this check, a HEAD request would make the server read the whole file.
  const isHead = reply.request.method === "HEAD";
  const body = await (isHead
    ? Readable.from([])
    : content.body({ first, last }).catch((error: unknown) => {
        for (const header of fileHeaders) reply.removeHeader(header);
        throw error;
      }));
  reply.header("Content-Length", last + 1 - first);
  return body;
}

/**
 * Sends a stored file, or the part that the `Range` header asks for: 200, 206 or 416 (RFC 9110, sections 15.3.7 and
 * 15.5.17). Sends the whole file for an `If-Range` that does not match (section 13.1.5).
 * @param etag a strong validator of the file
 */
export async function sendRange(
  reply: FastifyReply,
  file: StoredFile,
  { range: header, "if-range": condition }: IncomingHttpHeaders,
  etag: string | null = null,
): Promise<FastifyReply> {
  const range = condition === undefined || condition === etag ? byteRange(header, file.length) : null;
  reply.header("Accept-Ranges", "bytes");
  if (etag !== null) reply.header("ETag", etag);
  if (range === "none") return reply.code(416).header("Content-Range", `bytes */${file.length}`).send();
  const body = await bodyOf(reply, file, range ?? undefined);
  if (range) reply.code(206).header("Content-Range", `bytes ${range.first}-${range.last}/${file.length}`);
  return reply.send(body);
}

/**
 * Parses a single byte range (RFC 9110, section 14).
 * @returns null for the whole file, also when the header is invalid or names several ranges; "none" for a range that
 * contains no byte of the file
 */
function byteRange(header: string | undefined, length: number): ByteRange | "none" | null {
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(header ?? "") ?? [];
  if (from === "" && to === "") return null;
  if (from === "") return Number(to) === 0 ? "none" : { first: Math.max(0, length - Number(to)), last: length - 1 };
  const first = Number(from);
  const last = to === "" ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== "" && Number(to) < first) return null;
  return first < length ? { first, last } : "none";
}
