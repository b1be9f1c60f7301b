import { part } from "../../ui/browser/parts.ts";
import type { SigningConfig } from "./config.ts";
import type { DocumentBytes } from "./document-bytes.ts";
import { typedValues } from "./own-key.ts";
import { guardPresses } from "./press-guard.ts";
import { show } from "./viewer.ts";

/** Serves a document from memory. */
const inMemory = (bytes: Uint8Array): DocumentBytes => ({
  failed: new Promise<never>(() => {}),
  serve(transport) {
    transport.requestDataRange = (begin: number, end: number) => transport.onDataRange(begin, bytes.slice(begin, end));
  },
});

// The sender tries the fields here. Nothing is sent, and links are disabled.
document.addEventListener("submit", (event) => event.preventDefault(), true);
document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("a[href]:not([href^='#'])")) event.preventDefault();
});
// The preview is an iframe, so the surrounding page doesn't receive its key presses. Escape asks that page to close the
// preview, unless a sheet (a dialog for one value) is open.
document.addEventListener("keydown", ({ key }) => {
  if (key === "Escape" && !document.querySelector("dialog[open]"))
    parent.postMessage({ kind: "close-preview" }, self.origin);
});

// Sends the typed values to the surrounding page. When that page previews the turn of a later signer, it shows these
// values in the document.
addEventListener("input", () => {
  const form = document.getElementById("sign-form");
  if (!(form instanceof HTMLFormElement)) return;
  parent.postMessage({ kind: "tried", tried: Object.fromEntries(typedValues(form, new Set())) }, self.origin);
});

guardPresses();

let isShown = false;
// An `about:` document has the origin of the surrounding page. `self.origin` contains this origin, and `location` does
// not.
addEventListener("message", ({ source, origin, data }: MessageEvent<{ document?: unknown } | null>) => {
  if (source !== parent || origin !== self.origin || isShown) return;
  const bytes = data?.document;
  if (!(bytes instanceof Uint8Array)) return;
  isShown = true;
  const config = JSON.parse(part("signing-config").textContent ?? "") as SigningConfig;
  const host = part("viewer");
  host.hidden = false;
  show(config, host, inMemory(bytes)).catch(() => {
    host.textContent = config.words.failed;
  });
});
