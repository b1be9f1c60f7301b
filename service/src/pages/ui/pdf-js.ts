import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, extname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Asset } from "./assets/asset.ts";

/** The files of pdf.js as its authors publish them. Each is read at the first request, and then kept in memory. */
export type PdfJs = {
  /** The URL of the folder with its files, which changes with the version. */
  folder: string;
  find: (path: string) => Promise<Asset | undefined>;
};

/**
 * The content security policy of the worker's script. A worker has the policy of its own script, not the policy of the
 * page.
 */
export const pdfJsPolicy = "default-src 'none'; script-src 'self'; connect-src 'self'";

// The files of pdf.js that a browser may request.
const served =
  /^(?:build\/pdf(?:\.worker)?\.min\.mjs|cmaps\/[\w-]+\.bcmap|standard_fonts\/\w+\.(?:pfb|ttf)|iccs\/\w+\.icc|wasm\/\w+\.(?:js|wasm))$/;

const mediaTypes: Readonly<Record<string, string>> = {
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
};

const compress = promisify(gzip);

export function openPdfJs(): PdfJs {
  const packageFile = createRequire(import.meta.url).resolve("pdfjs-dist/package.json");
  const { version } = JSON.parse(readFileSync(packageFile, "utf8")) as { version: string };
  const cached = new Map<string, Asset>();
  return {
    folder: `/assets/pdfjs-${version}/`,
    async find(path) {
      if (!served.test(path)) return undefined;
      const asset = cached.get(path) ?? (await assetOf(join(dirname(packageFile), path)));
      if (asset) cached.set(path, asset);
      return asset;
    },
  };
}

async function assetOf(file: string): Promise<Asset | undefined> {
  const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (!bytes) return undefined;
  const hash = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const mediaType = mediaTypes[extname(file)] ?? "application/octet-stream";
  return { bytes, gzipped: await compress(bytes), brotli: null, mediaType, hash };
}
