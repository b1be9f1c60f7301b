import { createHash } from "node:crypto";
import { basename, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build, stop } from "esbuild";
import { openPdfJs, type PdfJs } from "../pdf-js.ts";
import { type Asset, brotliOf } from "./asset.ts";
import { trimmedPico } from "./pico.ts";

const webFolder = fileURLToPath(new URL("../..", import.meta.url));

/** The source files of the pages' assets, keyed by the name that the code uses for the asset. */
const sources = {
  "site.css": "./ui/styles/site.css",
  "more.css": "./ui/styles/more.css",
  "desk.css": "./ui/styles/desk.css",
  "fonts.css": "./ui/styles/fonts.css",
  "sans.woff2": "@fontsource-variable/source-sans-3/files/source-sans-3-latin-wght-normal.woff2",
  "sans-ext.woff2": "@fontsource-variable/source-sans-3/files/source-sans-3-latin-ext-wght-normal.woff2",
  "sans-vi.woff2": "@fontsource-variable/source-sans-3/files/source-sans-3-vietnamese-wght-normal.woff2",
  "serif.woff2": "@fontsource/source-serif-4/files/source-serif-4-latin-600-normal.woff2",
  "serif-ext.woff2": "@fontsource/source-serif-4/files/source-serif-4-latin-ext-600-normal.woff2",
  "serif-vi.woff2": "@fontsource/source-serif-4/files/source-serif-4-vietnamese-600-normal.woff2",
  "htmx.js": "htmx.org/dist/htmx.min.js",
  "brand.js": "./dashboard/settings/browser/brand.ts",
  "page.js": "./ui/browser/page.ts",
  "copy.js": "./ui/browser/copy.ts",
  "guides.js": "./guides/browser/guides.ts",
  "notary-sign.js": "./operator/browser/notary-sign.ts",
  "notary-room.js": "./live/browser/notary-room.ts",
  "own-device.js": "./live/browser/own-device.ts",
  "keys.js": "./operator/browser/keys.ts",
  "recording.js": "./operator/browser/recording.ts",
  "passkey.js": "./ui/browser/passkey.ts",
  "preview.js": "./ui/browser/preview.ts",
  "recaptcha.js": "./visitor/browser/recaptcha.ts",
  "seal.js": "./dashboard/passports/browser/seal.ts",
  "new-closing.js": "./dashboard/closings/browser/new-closing.ts",
  "new-order.js": "./dashboard/orders/browser/new-order.ts",
  "template.js": "./dashboard/templates/browser/template.ts",
  "fill.js": "./client/browser/fill.ts",
  "embed.js": "./signing/browser/embed.ts",
  "act-check.js": "./signing/browser/act-check.ts",
  "document-text.js": "./signing/browser/document-text.ts",
  "field-rules.js": "./signing/browser/field-rules.ts",
  "sign.js": "./signing/browser/sign.ts",
  "signing-preview.js": "./signing/browser/signing-preview.ts",
  "verify.js": "./verify/browser/verify.ts",
  "mark.svg": "./ui/mark.svg",
  "touch-icon.png": "./ui/pictures/touch-icon.png",
  "link-picture.png": "./ui/pictures/link-picture.png",
} as const;

export type AssetName = keyof typeof sources;

const mediaTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

export type Assets = {
  /** The URL of an asset, which changes with the content. */
  url: (name: AssetName) => string;
  /** The asset with this file name (the last part of its URL); undefined for an unknown name. */
  find: (file: string) => Asset | undefined;
  bytes: (name: AssetName) => Buffer;
  pdfJs: PdfJs;
};

/**
 * Builds the assets in memory: scripts and styles are bundled and minified for browsers. Equal sources give equal
 * bytes. Only one build at a time may run in a process, because a build that ends stops the bundler.
 * @throws Error when a source is missing or malformed
 */
export async function buildAssets(): Promise<Assets> {
  const { outputFiles } = await build({
    absWorkingDir: webFolder,
    entryPoints: Object.entries(sources).map(([name, source]) => ({ in: source, out: basename(name, extname(name)) })),
    outdir: "assets",
    bundle: true,
    minify: true,
    format: "iife",
    target: "es2022",
    // Pictures, fonts and minified files of other projects are copied unchanged.
    loader: { ".min.js": "copy", ".svg": "copy", ".png": "copy", ".woff2": "copy" },
    plugins: [trimmedPico],
    external: ["/assets/*"],
    legalComments: "inline",
    write: false,
    logLevel: "silent",
  });
  // Without this call, the bundler's process would run as long as this process.
  stop();
  const byName = new Map(outputFiles.map(({ path, contents }) => [basename(path), assetOf(path, contents)]));
  const named = (name: string): Asset => {
    const asset = byName.get(name);
    if (!asset) throw new Error(`no asset ${name}`);
    return asset;
  };
  const fileOf = (name: string, { hash }: Asset) => name.replace(".", `.${hash}.`);
  // The style sheet contains the source names of the font files. They are replaced by the names in the URLs, which
  // contain a hash.
  const addressed = named("fonts.css")
    .bytes.toString()
    .replace(/(?<=\/assets\/)[\w.-]+/g, (name) => fileOf(name, named(name)));
  byName.set("fonts.css", assetOf("fonts.css", Buffer.from(addressed)));
  const byFile = new Map([...byName].map(([name, asset]) => [fileOf(name, asset), asset]));
  return {
    url: (name) => `/assets/${fileOf(name, named(name))}`,
    find: (file) => byFile.get(file),
    bytes: (name) => named(name).bytes,
    pdfJs: openPdfJs(),
  };
}

let loading: Promise<Assets> | undefined;

/** The assets of this process, built on the first call. */
export function openAssets(): Promise<Assets> {
  loading ??= buildAssets();
  return loading;
}

function assetOf(path: string, contents: Uint8Array): Asset {
  const bytes = Buffer.from(contents);
  let gzipped: Buffer | undefined;
  return {
    bytes,
    // Assets are not compressed at the start, because most of them are requested late or never.
    get gzipped() {
      gzipped ??= gzipSync(bytes, { level: 9 });
      return gzipped;
    },
    brotli: brotliOf(bytes),
    mediaType: mediaTypes[extname(path)] ?? "application/octet-stream",
    hash: createHash("sha256").update(bytes).digest("hex").slice(0, 12),
  };
}
