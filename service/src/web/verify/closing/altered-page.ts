import type { ClosingRecord } from "../../../closing-passports/closing-passports.ts";
import type { RetentionPlan } from "../../../retention/retention.ts";
import { accentStripe, attribution } from "../../ui/accent.ts";
import type { Assets } from "../../ui/assets.ts";
import { card, facts, notice } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { layout } from "../../ui/layout.ts";
import { html } from "../../ui/render.ts";
import { type ClaimLine, claimList, verdictBanner } from "../verdict.ts";
import { chainCard, claimsOf, ownOf, sealedFacts } from "./claims.ts";

const unreadable: ClaimLine = {
  name: "The manifest can be read",
  state: "fails",
  why: "What is stored in its place is not a manifest, so what was sealed cannot be shown.",
};

/** `/v/room/{verifyCode}` of a version whose stored manifest was altered until it was none. */
export function alteredClosingPage(
  assets: Pick<Assets, "url">,
  { record, retention }: { record: ClosingRecord; retention: RetentionPlan },
): string {
  const { branding, partnerName } = record;
  const own = ownOf(record);
  return layout(assets, {
    title: "A closing passport that does not verify",
    credential: true,
    scripts: ["copy.js"],
    body: html`<div class="stack verify">
<div class="room-head">${accentStripe(branding?.accentColor)}${attribution(partnerName, branding)}</div>
${verdictBanner("refuted", "This closing passport does not verify", "What is stored is not what was sealed. Do not rely on it.")}
${card("claims", "What was checked", claimList([unreadable, ...claimsOf(record)]))}
${card("facts", "What is on record", facts([["Version", String(own.version)], ["Sealed", time(own.createdAt)], ...sealedFacts(record, retention)]))}
${notice("info", "Do you have the certificate?", html`The sealed manifest is attached to it: <a href="/verify">check the file itself</a>.`)}
${chainCard(record)}
</div>`,
  });
}
