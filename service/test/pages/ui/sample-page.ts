import type { Assets } from "../../../src/pages/ui/assets/assets.ts";
import { card, codeText, emptyState, facts, notice, timeline } from "../../../src/pages/ui/components.ts";
import { shortTime, time } from "../../../src/pages/ui/format.ts";
import { layout } from "../../../src/pages/ui/layout.ts";
import { records } from "../../../src/pages/ui/records.ts";
import { html } from "../../../src/pages/ui/render.ts";
import { claimList, verdictBanner } from "../../../src/pages/verify/verdict.ts";

const sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/** The components that the order's page does not use, combined as on a verification page. */
export const samplePage = (assets: Assets): string =>
  layout(assets, {
    title: "Sample",
    scripts: ["copy.js"],
    body: html`<div class="stack">
${verdictBanner("verified", "This document is unchanged since it was sealed", "It is, byte for byte, the one that was sealed.")}
${verdictBanner("refuted", "This document was changed", "It is not the one that was sealed.")}
${verdictBanner("unknown", "This document is not known here", "Nothing can be said about it.")}
${notice("info", "A test document", "It was sealed with a test key and proves nothing.")}
${notice("attention", "The time stamp is pending", "Come back in a few hours.")}
${card(
  "claims",
  "What was checked",
  claimList([
    { name: "Digest", state: "holds", why: "The bytes are those that were sealed." },
    { name: "Time stamp", state: "fails", why: "The authority's certificate lacks the timeStamping usage." },
    { name: "Bitcoin", state: "unchecked", why: "No block header was given." },
  ]),
)}
${card(
  "hash",
  "Evidence",
  facts([
    ["SHA-256", codeText(sha256, "SHA-256")],
    ["Sealed", time(new Date(1e12))],
  ]),
)}
${card(
  "history",
  "History",
  timeline([
    { at: new Date(0), text: "Sealed" },
    { at: new Date(1e12), text: "Anchored" },
  ]),
)}
${card(
  "orders",
  "Orders",
  records(
    "Orders",
    [{ label: "Order" }, { label: "Placed", utc: true }],
    [["18 Maple Court", shortTime(new Date(1e12))]],
  ),
)}
${emptyState("No orders yet", "Orders appear here when they are attached.")}
</div>`,
  });
