import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { FastifyInstance } from "fastify";
import { ServiceError } from "../platform/errors.ts";

const own = (name: string) => new URL(`./static/${name}`, import.meta.url);
const dependency = (specifier: string) => new URL(import.meta.resolve(specifier));

// Each is served as one file; ours is written in parts, and their order is the cascade's.
const sources = {
  "pico.css": () => [dependency("@picocss/pico")],
  "site.css": () => ["base", "frame", "components", "lists", "pages", "media"].map((part) => own(`site/${part}.css`)),
  "htmx.js": () => [dependency("htmx.org/dist/htmx.min.js")],
  "copy.js": () => [own("copy.js")],
  "mark.svg": () => [own("mark.svg")],
} as const;

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".svg": "image/svg+xml",
};

export type AssetName = keyof typeof sources;

type Asset = { bytes: Buffer; gzipped: Buffer; mediaType: string; etag: string };

export type Assets = {
  /** The address of an asset; it changes with the content. */
  url: (name: AssetName) => string;
  find: (file: string) => Asset | undefined;
};

/** Reads every asset into memory, once, at the start. @throws when a file is missing. */
export function loadAssets(): Assets {
  const files = new Map<string, Asset>();
  const urls = new Map<string, string>();
  for (const [name, locate] of Object.entries(sources)) {
    const bytes = Buffer.concat(locate().map((part) => readFileSync(fileURLToPath(part))));
    const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
    const extension = extname(name);
    const file = `${name.slice(0, -extension.length)}.${hash}${extension}`;
    const mediaType = mediaTypes[extension] ?? "application/octet-stream";
    files.set(file, { bytes, gzipped: gzipSync(bytes, { level: 9 }), mediaType, etag: hash });
    urls.set(name, `/assets/${file}`);
  }
  return { url: (name) => urls.get(name) ?? "", find: (file) => files.get(file) };
}

/** `GET /assets/:file`: content that never changes under its address, from memory, compressed for who takes it. */
export function assetRoutes(app: FastifyInstance, assets: Assets): void {
  app.get<{ Params: { file: string } }>("/assets/:file", { schema: { hide: true } }, async (request, reply) => {
    const asset = assets.find(request.params.file);
    if (!asset) throw new ServiceError("not_found", "Not found.");
    const gzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers["accept-encoding"] ?? "");
    // The compressed form is another representation, so it has another tag (RFC 9110, section 8.8.3.3).
    const etag = gzip ? `"${asset.etag}-gzip"` : `"${asset.etag}"`;
    reply.headers({ "Cache-Control": "public, max-age=31536000, immutable", ETag: etag, Vary: "Accept-Encoding" });
    if (isUnchanged(request.headers["if-none-match"], etag)) return reply.code(304).send();
    if (gzip) reply.header("Content-Encoding", "gzip");
    return reply.type(asset.mediaType).send(gzip ? asset.gzipped : asset.bytes);
  });
}

/** RFC 9110, section 13.1.2: a list of tags, compared weakly, or `*`. */
function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}
