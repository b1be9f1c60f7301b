import { createHash } from "node:crypto";
import { raw } from "hono/html";
import type { Assets } from "../ui/assets/assets.ts";
import { html, render } from "../ui/render.ts";
import { verifyBody } from "./page.ts";

const sha256 = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** A notice on a saved page, because a saved file can't know which certificates were retired later. */
const trustAtSaving = html`<p class="quiet">This file knows the service’s certificates as they were when it was saved. Whether one was retired since, only a newer file or the service’s own page can tell.</p>`;

/**
 * The verification page as one file that works from disk, without a network: its own policy forbids loading and sending
 * anything.
 * @param sealCertificates trust list, or PEM of seal certificates, that the file should contain; empty for none
 * @throws Error when the script or the style contains text that would end its HTML element
 */
export function standaloneVerifier({ bytes }: Pick<Assets, "bytes">, sealCertificates: string): string {
  const [page, verify, copy, style] = [
    bytes("page.js").toString(),
    bytes("verify.js").toString(),
    bytes("copy.js").toString(),
    `${bytes("site.css")}${bytes("more.css")}`,
  ];
  for (const text of [page, verify, copy, style]) {
    if (/<\/?(?:script|style)|<!--/i.test(text)) throw new Error("a script or style would end its own element");
  }
  const policy = [
    "default-src 'none'",
    `script-src ${[page, verify, copy].map(sha256).join(" ")}`,
    `style-src ${sha256(style)}`,
    "img-src data:",
    "worker-src blob:",
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
  const mark = `data:image/svg+xml;base64,${bytes("mark.svg").toString("base64")}`;
  return render(html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>Verify a document · SignSealShip</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="${mark}">
<style>${raw(style)}</style>
<script>${raw(page)}</script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="site-header"><div class="wrap"><span class="wordmark"><img src="${mark}" alt="" width="32" height="32">SignSealShip</span></div></header>
<main id="main" class="wrap" tabindex="-1">
${verifyBody({ sealCertificates, firm: null, proof: null, closing: null }, sealCertificates === "" ? "" : trustAtSaving)}
</main>
<footer class="site-footer"><div class="wrap"><p>This page is a single file. It works without a network, and its security policy keeps it from using one.</p></div></footer>
<script>${raw(copy)}</script>
<script>${raw(verify)}</script>
</body>
</html>
`);
}
