// Draws the pictures that pages reference and browsers can't draw themselves: bin/run tools/draw-pictures.ts
import { fileURLToPath } from "node:url";
import { chromiumPath } from "@signsealship/testing/tools/tools";
import { chromium } from "playwright-core";
import { type AssetName, buildAssets } from "../service/src/pages/ui/assets/assets.ts";
import { html, raw, render } from "../service/src/pages/ui/render.ts";
import { productPicture } from "../service/src/pages/visitor/home-page.ts";

const assets = await buildAssets();
const data = (name: AssetName, type: string) => `data:${type};base64,${assets.bytes(name).toString("base64")}`;
const face = (family: string, name: AssetName) =>
  `@font-face { font-family: "${family}"; font-weight: 200 900; src: url("${data(name, "font/woff2")}"); }`;
const mark = html`<img src="${data("mark.svg", "image/svg+xml")}" alt="">`;

const linkPicture = html`<div class="ours"><div class="wordmark">${mark}SignSealShip</div>
<h1>Documents signed, sealed, and shipped. Proof included.</h1></div>${productPicture}`;
const linkStyle = `${assets.bytes("site.css")}${assets.bytes("more.css")}${assets.bytes("desk.css")}
${face("Source Serif 4", "serif.woff2")}${face("Source Sans 3", "sans.woff2")}
body { display: grid; grid-template-columns: 1fr 480px; gap: 64px; align-items: center; width: 1200px; height: 630px; padding: 64px; }
.wordmark { margin-bottom: 40px; font-size: 30px; }
.wordmark img { width: 56px; }
h1 { margin: 0; font-size: 54px; }`;
// The icon has square corners, because phones round off the corners of icons themselves.
const iconStyle = "body { margin: 0; background: #1f3d6d; } img { width: 180px; display: block; }";

const browser = await chromium.launch({ executablePath: chromiumPath() ?? "chromium", args: ["--no-sandbox"] });

async function draw(name: string, width: number, height: number, style: string, body: ReturnType<typeof html>) {
  const page = await browser.newPage({ viewport: { width, height } });
  await page.setContent(render(html`<!doctype html><style>${raw(style)}</style>${body}`));
  await page.evaluate("document.fonts.ready");
  await page.screenshot({ path: fileURLToPath(new URL(`../service/src/pages/ui/pictures/${name}`, import.meta.url)) });
  await page.close();
}

await draw("link-picture.png", 1200, 630, linkStyle, linkPicture);
await draw("touch-icon.png", 180, 180, iconStyle, mark);
await browser.close();
