import { carryEntries } from "../../ui/browser/entries.ts";
import { part, storage } from "../../ui/browser/parts.ts";
import type { SigningConfig } from "./config.ts";
import { guardPresses, leadTo, settle } from "./press-guard.ts";
import { forgetOthersSignature, forgetSignature } from "./stored-signature.ts";
import { continueViewer, startViewer } from "./viewer.ts";

const config = document.getElementById("signing-config");
if (config) {
  forgetOthersSignature();
  guardPresses();
  void startViewer(JSON.parse(config.textContent ?? ""));
} else forgetSignature();

const lookMs = 2_000;

/**
 * Polls until the signer may continue. If the session with the notary was on hold, no event tells this page that the
 * hold has ended.
 */
function waitForTurn(step: HTMLElement): void {
  const page = step.dataset["page"] ?? location.href;
  window.setTimeout(async () => {
    if (document.hidden) return waitForTurn(step);
    const answer = await fetch(page, { headers: { accept: "text/html" } }).catch(() => null);
    // The signer's turn to sign has ended, so polling stops.
    if (answer && answer.status >= 400 && answer.status < 500 && answer.status !== 429) return;
    const html = answer?.ok ? await answer.text().catch(() => null) : null;
    const next = html === null ? null : new DOMParser().parseFromString(html, "text/html");
    if (!next || next.getElementById("notary-step")) return waitForTurn(step);
    const [form, config] = [next.getElementById("sign-step"), next.getElementById("signing-config")];
    if (form && config) showForm(step, form, config.textContent ?? "");
    else location.replace(page);
  }, lookMs);
}

/**
 * Replaces the waiting step by the signing form, and places the fields on the document. If the signer is reading the
 * document, the page does not scroll; otherwise it scrolls to the form. If the form was rejected while the session was
 * on hold, its values are restored.
 */
function showForm(step: HTMLElement, next: HTMLElement, configText: string): void {
  const form = document.importNode(next, true);
  const refused = step.querySelector("template")?.content;
  // The hidden field `revision` keeps the value of the newly loaded page, so it is not copied.
  if (refused) carryEntries(refused, form, ({ name }) => name !== "revision");
  const refusal = document.querySelector(".form-errors");
  const { activeElement: focused, body } = document;
  // True if the person has focused nothing outside the step. Focus on the error message is ignored, because the page
  // itself moved it there.
  const isFree = focused === body || focused === refusal || step.contains(focused);
  const { top, bottom } = step.getBoundingClientRect();
  const isInWindow = top < innerHeight && bottom > 0;
  refusal?.remove();
  step.replaceWith(form);
  part("signing-config").textContent = configText;
  part("turn-said").textContent = part("turn-said").dataset["turn"] ?? "";
  void continueViewer(JSON.parse(configText) as SigningConfig);
  const title = form.querySelector<HTMLElement>("h2");
  if (title && isFree && (isInWindow || scrollY === 0)) {
    title.tabIndex = -1;
    leadTo(title, { block: "start" });
  } else settle();
}

const waiting = document.getElementById("notary-step");
if (waiting) waitForTurn(waiting);

/** Stores for the tab whether the signer opened or folded the TEST banner, and restores that state on every page. */
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
