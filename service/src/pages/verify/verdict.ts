import { type IconName, icon } from "../ui/icons.ts";
import { type Html, html } from "../ui/render.ts";
import { plainWords } from "./plain-words.ts";
import { type Summary, summaryView } from "./summary.ts";

/** The overall result of a verification. */
export type VerdictTone = "verified" | "refuted" | "unknown";

const verdictIcons: Readonly<Record<VerdictTone, IconName>> = {
  verified: "done",
  refuted: "failed",
  unknown: "unchecked",
};

/** The top of a verification page: the verdict as a heading, and one sentence about its meaning. */
export const verdictBanner = (
  tone: VerdictTone,
  title: string,
  text: Html | string,
  level: "h1" | "h2" = "h1",
): Html => {
  const heading = level === "h1" ? html`<h1>${title}</h1>` : html`<h2>${title}</h2>`;
  return html`<div class="verdict ${tone}">${icon(verdictIcons[tone])}<div>${heading}<p>${text}</p></div></div>`;
};

/** A verdict with its summary lines. */
export const resultCard = (verdict: Html, summary: Summary): Html =>
  html`<section class="result" aria-label="Result">${verdict}${summaryView(summary)}</section>`;

/** One claim as the verifier states it. */
export type ClaimLine = { name: string; state: "holds" | "fails" | "unchecked"; why: string };

const claimLooks = {
  holds: { shape: "done", words: "Passed" },
  fails: { shape: "failed", words: "Failed" },
  unchecked: { shape: "unchecked", words: "Not checked" },
} as const;

/** The claims behind a verdict, one by one; `titleOf` returns a claim's name in plain words. */
export const claimList = (claims: readonly ClaimLine[], titleOf: (name: string) => string = (name) => name): Html =>
  html`<ul class="claims">${claims.map(({ name, state, why }) => {
    const { shape, words } = claimLooks[state];
    return html`<li class="${state}">${icon(shape)}<div><p><span class="claim-state">${words}</span> ${titleOf(name)}</p><p class="claim-why">${plainWords(why)}</p></div></li>`;
  })}</ul>`;
