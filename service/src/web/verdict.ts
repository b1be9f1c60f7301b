import { type IconName, icon } from "./icons.ts";
import { type Html, html } from "./render.ts";

/** What a verification came to, as a whole. */
export type VerdictTone = "verified" | "refuted" | "unknown";

const verdictIcons: Readonly<Record<VerdictTone, IconName>> = {
  verified: "done",
  refuted: "failed",
  unknown: "unchecked",
};

/** The first thing on a verification page: the verdict as its heading, and one sentence of what it means. */
export const verdictBanner = (tone: VerdictTone, title: string, text: Html | string): Html =>
  html`<div class="verdict ${tone}">${icon(verdictIcons[tone])}<div><h1>${title}</h1><p>${text}</p></div></div>`;

/** One claim as the verifier states it. */
export type ClaimLine = { name: string; state: "holds" | "fails" | "unchecked"; why: string };

const claimLooks = {
  holds: { shape: "done", words: "Holds" },
  fails: { shape: "failed", words: "Fails" },
  unchecked: { shape: "unchecked", words: "Not checked" },
} as const;

/** The verdict claim by claim; `titles` gives a claim's name in plain words, and unknown names stand as they are. */
export const claimList = (claims: readonly ClaimLine[], titles: Readonly<Record<string, string>> = {}): Html =>
  html`<ul class="claims">${claims.map(({ name, state, why }) => {
    const { shape, words } = claimLooks[state];
    return html`<li class="${state}">${icon(shape)}<div><p><span class="claim-state">${words}</span> ${titles[name] ?? name}</p><p class="claim-why">${why}</p></div></li>`;
  })}</ul>`;
