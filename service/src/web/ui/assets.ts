import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ServiceError } from "../../platform/errors.ts";
import { bundle } from "./bundle.ts";

const own = (name: string) => new URL(`./static/${name}`, import.meta.url);
const dependency = (specifier: string) => new URL(import.meta.resolve(specifier));

const read = (...urls: URL[]): Buffer => Buffer.concat(urls.map((url) => readFileSync(fileURLToPath(url))));
// Written in parts; their order is the cascade's.
const siteParts = [
  "base",
  "frame",
  "components",
  "lists",
  "forms",
  "pages",
  "verify",
  "rooms",
  "dashboard",
  "records",
  "orders",
  "own-rooms",
  "sealing",
  "webhooks",
  "charts",
  "operator",
  "media",
];

const sources = {
  "pico.css": () => read(dependency("@picocss/pico")),
  "site.css": () => read(...siteParts.map((part) => own(`site/${part}.css`))),
  "htmx.js": () => read(dependency("htmx.org/dist/htmx.min.js")),
  "copy.js": () => read(own("copy.js")),
  "recaptcha.js": () => read(own("recaptcha.js")),
  "seal.js": () => Buffer.from(bundle(new URL("../dashboard/passports/browser/seal.ts", import.meta.url))),
  "verify.js": () => Buffer.from(bundle(new URL("../verify/browser/verify.ts", import.meta.url))),
  "mark.svg": () => read(own("mark.svg")),
} as const;

// Putting a script together takes a while: it is done when a page first needs it.
const later: ReadonlySet<string> = new Set<AssetName>(["seal.js", "verify.js"]);

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

/** The content of an asset. @throws when a file is missing. */
export const assetBytes = (name: AssetName): Buffer => sources[name]();

/** Reads the assets into memory, once, at the start. @throws when a file is missing. */
export function loadAssets(): Assets {
  const loaded = new Map<string, Asset>();
  const load = (name: AssetName): Asset => {
    const known = loaded.get(name);
    if (known) return known;
    const bytes = assetBytes(name);
    const asset = {
      bytes,
      gzipped: gzipSync(bytes, { level: 9 }),
      mediaType: mediaTypes[extname(name)] ?? "application/octet-stream",
      etag: createHash("sha256").update(bytes).digest("hex").slice(0, 12),
    };
    loaded.set(name, asset);
    return asset;
  };
  for (const name of Object.keys(sources)) if (isAsset(name) && !later.has(name)) load(name);
  return {
    url: (name) => `/assets/${name.replace(".", `.${load(name).etag}.`)}`,
    find(file) {
      const [, stem = "", hash = "", extension = ""] = /^([a-z]+)\.([0-9a-f]{12})(\.[a-z]+)$/.exec(file) ?? [];
      const name = stem + extension;
      if (!isAsset(name)) return undefined;
      const asset = load(name);
      return asset.etag === hash ? asset : undefined;
    },
  };
}

const isAsset = (name: string): name is AssetName => Object.hasOwn(sources, name);

/** `GET /assets/:file`: content that never changes under its address, from memory, compressed for who takes it. */
export function assetRoutes(app: FastifyInstance, assets: Assets): void {
  app.get<{ Params: { file: string } }>("/assets/:file", { schema: { hide: true } }, async (request, reply) => {
    const asset = assets.find(request.params.file);
    if (!asset) throw new ServiceError("not_found", "Not found.");
    return send(request, reply, asset, "public, max-age=31536000, immutable");
  });
  // Browsers ask for it where no page names an icon.
  app.get("/favicon.ico", { schema: { hide: true } }, async (request, reply) => {
    const mark = assets.find(assets.url("mark.svg").slice("/assets/".length));
    if (!mark) throw new ServiceError("not_found", "Not found.");
    return send(request, reply, mark, "public, max-age=86400");
  });
}

function send(request: FastifyRequest, reply: FastifyReply, asset: Asset, cacheControl: string): FastifyReply {
  const gzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers["accept-encoding"] ?? "");
  // The compressed form is another representation, so it has another tag (RFC 9110, section 8.8.3.3).
  const etag = gzip ? `"${asset.etag}-gzip"` : `"${asset.etag}"`;
  reply.headers({ "Cache-Control": cacheControl, ETag: etag, Vary: "Accept-Encoding" });
  if (isUnchanged(request.headers["if-none-match"], etag)) return reply.code(304).send();
  if (gzip) reply.header("Content-Encoding", "gzip");
  return reply.type(asset.mediaType).send(gzip ? asset.gzipped : asset.bytes);
}

/** RFC 9110, section 13.1.2: a list of tags, compared weakly, or `*`. */
function isUnchanged(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = (ifNoneMatch ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return tags.includes(etag) || tags.includes("*");
}
