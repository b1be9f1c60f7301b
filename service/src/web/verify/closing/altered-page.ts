import type { ClosingRecord } from "../../../closing-passports/closing-passports.ts";
import type { RetentionPlan } from "../../../retention/retention.ts";
import { accentStripe, attribution } from "../../ui/accent.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { facts, notice } from "../../ui/components.ts";
import { clientNav, layout } from "../../ui/layout.ts";
import { html } from "../../ui/render.ts";
import { technicalDetails, technicalPart } from "../technical-details.ts";
import { type ClaimLine, claimList, resultCard, verdictBanner } from "../verdict.ts";
import { chainPart, claimsOf, sealedFacts } from "./claims.ts";
import { closingSummary } from "./summary.ts";

const unreadable: ClaimLine = {
  name: "The manifest can be read",
  state: "fails",
  why: "What is stored in its place is not a manifest, so what was sealed cannot be shown.",
};

/** `/v/room/{verifyCode}` of a version whose stored manifest was altered until it was none. */
export function alteredClosingPage(
  assets: Pick<Assets, "url">,
  { record, retention, baseUrl }: { record: ClosingRecord; retention: RetentionPlan; baseUrl: string },
): string {
  const { branding, partnerName } = record;
  return layout(assets, {
    title: "A closing passport that failed the check",
    credential: true,
    headerNav: clientNav,
    scripts: ["copy.js"],
    body: html`<div class="stack verify">
<div class="room-head">${accentStripe(branding?.accentColor)}${attribution(partnerName, branding)}</div>
${resultCard(
  verdictBanner(
    "refuted",
    "This closing passport failed the check",
    "What is stored is not what was sealed. Do not rely on it.",
  ),
  closingSummary(record, new URL(baseUrl).host),
)}
${notice("info", "Do you have the certificate?", html`The sealed manifest is attached to it: <a href="/verify">check the file itself</a>.`)}
${technicalDetails(html`
${technicalPart("What was checked", claimList([unreadable, ...claimsOf(record)]))}
${technicalPart("What is on record", facts(sealedFacts(record, retention)))}
${chainPart(record)}`)}
</div>`,
  });
}
