import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply } from "fastify";
import { type TObject, Type } from "typebox";
import type { Access } from "./access.ts";
import { type JsonRoute, jsonRoute, type RouteDeps, type RouteRequest, type Sent } from "./route.ts";
import { uncached } from "./verdicts.ts";

/** Bytes that are made as the caller takes them. */
export type FileChunks = { chunks: Iterable<Uint8Array>; length: number };

/** A file that is sent under a name. */
export type FileAnswer = {
  name: string;
  /** Whether a browser shows it or saves it. */
  disposition: "inline" | "attachment";
  content: Buffer | FileChunks;
};

type NoSchema = ReturnType<typeof Type.Unsafe<never>>;
type Frame = "tag" | "operationId" | "summary" | "description" | "url" | "policy" | "refusals" | "otherAnswers";

export type FileRoute<P extends TObject> = Pick<JsonRoute<P, TObject, NoSchema>, Frame> &
  Access & {
    params: P;
    media: "application/pdf" | "application/zip";
    handle: (request: RouteRequest<P, TObject>) => Promise<FileAnswer>;
  };

/** Adds a route that answers a file, byte for byte, which no cache keeps. */
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
    handle: async (request, reply) => sendFile(reply, media, await handle(request)),
  });
}

function sendFile(reply: FastifyReply, media: string, { name, disposition, content }: FileAnswer): Sent {
  reply.type(media).headers({ ...uncached, "Content-Disposition": `${disposition}; filename="${name}"` });
  if (Buffer.isBuffer(content)) return { sent: reply.send(content) };
  return { sent: reply.header("Content-Length", content.length).send(Readable.from(content.chunks)) };
}
