import { type AssetName, buildAssets } from "../service/src/pages/ui/assets/assets.ts";

const names: readonly AssetName[] = [
  "site.css",
  "more.css",
  "desk.css",
  "sign.js",
  "act-check.js",
  "field-rules.js",
  "document-text.js",
  "fonts.css",
  "sans.woff2",
  "serif.woff2",
  "verify.js",
  "seal.js",
  "htmx.js",
  "copy.js",
  "passkey.js",
  "recaptcha.js",
];

const assets = await buildAssets();
for (const name of names) {
  const asset = assets.find(assets.url(name).slice("/assets/".length));
  console.log(`${name.padEnd(14)} ${asset?.bytes.length} bytes, ${asset?.gzipped.length} compressed`);
}
