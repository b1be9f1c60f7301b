import { storage } from "../../ui/browser/parts.ts";
import { forgetOthersSignature, forgetSignature } from "./kept-signature.ts";
import { guardPresses } from "./press-guard.ts";
import { startViewer } from "./viewer.ts";

const config = document.getElementById("signing-config");
if (config) {
  forgetOthersSignature();
  guardPresses();
  void startViewer(JSON.parse(config.textContent ?? ""));
} else forgetSignature();

const lookMs = 2_000;

/**
 * Loads the page again once the signer may sign. The session may have been on hold when the signer pressed the button,
 * and nobody acts on this page when the session goes on.
 */
function waitForTurn(page: string): void {
  window.setTimeout(async () => {
    if (document.hidden) return waitForTurn(page);
    const answer = await fetch(page, { headers: { accept: "text/html" } }).catch(() => null);
    // The turn has ended.
    if (answer && answer.status >= 400 && answer.status < 500 && answer.status !== 429) return;
    const html = answer?.ok ? await answer.text().catch(() => null) : null;
    const next = html === null ? null : new DOMParser().parseFromString(html, "text/html");
    if (next && !next.getElementById("notary-step")) location.replace(page);
    else waitForTurn(page);
  }, lookMs);
}

const waiting = document.getElementById("notary-step");
if (waiting) waitForTurn(waiting.dataset["page"] ?? location.href);

/** Remembers for the tab whether the signer opened or folded the TEST banner, and restores that on every page. */
function keepFold(banner: HTMLDetailsElement): void {
  const item = "test-banner";
  const storedState = storage((tab) => tab.getItem(item)) ?? null;
  if (storedState !== null) banner.open = storedState === "open";
  // The event `toggle` also fires for the page's own changes, which are not the signer's choice.
  banner.querySelector("summary")?.addEventListener("click", () => {
    storage((tab) => tab.setItem(item, banner.open ? "folded" : "open"));
  });
}

const banner = document.querySelector<HTMLDetailsElement>("#test-banner");
if (banner) keepFold(banner);
