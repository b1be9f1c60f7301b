import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { namedQuality } from "../../../kernel/http/accept.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { pdfJsPolicy } from "../pdf-js.ts";
import type { Asset } from "./asset.ts";
import type { Assets } from "./assets.ts";

const forever = "public, max-age=31536000, immutable";

/**
 * `GET /assets/:file`, and the files of pdf.js. The content of a URL never changes. It is served from memory, and
 * compressed for clients that accept this.
 */
export function assetRoutes(app: FastifyInstance, assets: Pick<Assets, "find" | "url" | "pdfJs">): void {
  app.get<{ Params: { file: string } }>("/assets/:file", { schema: { hide: true } }, (request, reply) =>
    send(request, reply, assets.find(request.params.file), forever),
  );
  app.get<{ Params: { "*": string } }>(
    `${assets.pdfJs.folder}*`,
    { schema: { hide: true } },
    async (request, reply) => {
      reply.header("Content-Security-Policy", pdfJsPolicy);
      return send(request, reply, await assets.pdfJs.find(request.params["*"]), forever);
    },
  );
  // Browsers request `/favicon.ico` when a page names no icon.
  const mark = assets.find(assets.url("mark.svg").slice("/assets/".length));
  app.get("/favicon.ico", { schema: { hide: true } }, (request, reply) =>
    send(request, reply, mark, "public, max-age=86400"),
  );
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  asset: Asset | undefined,
  cacheControl: string,
): Promise<FastifyReply> {
  if (!asset) throw new ServiceError("not_found", "Not found.");
  const isSmaller = asset.gzipped.length < asset.bytes.length;
  const accepts = (coding: string) => isSmaller && (namedQuality(request.headers["accept-encoding"], coding) ?? 0) > 0;
  const brotli = accepts("br") ? asset.brotli : null;
  const coding = brotli ? "br" : accepts("gzip") ? "gzip" : null;
  // A compressed response is another representation than the uncompressed one, so it has another ETag (RFC 9110,
  // section 8.8.3.3).
  const etag = coding ? `"${asset.hash}-${coding}"` : `"${asset.hash}"`;
  reply.headers({ "Cache-Control": cacheControl, ETag: etag, Vary: "Accept-Encoding" });
  if (isUnchanged(request.headers["if-none-match"], etag)) return reply.code(304).send();
  if (coding) reply.header("Content-Encoding", coding);
  const bytes = brotli ? await brotli() : coding ? asset.gzipped : asset.bytes;
  return reply.type(asset.mediaType).send(bytes);
}

/**
 * True if an If-None-Match header matches the asset's ETag. The header is a list of tags, which are compared weakly, or
 * `*` (RFC 9110, section 13.1.2).
 */
function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}
