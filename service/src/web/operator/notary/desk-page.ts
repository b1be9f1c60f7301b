import {
  type EligibleOrder,
  expiriesOf,
  expiringWords,
  modeWords,
  type Notary,
  stageOf,
} from "../../../notaries/notaries.ts";
import { card, emptyState, notice, pageHead } from "../../ui/components.ts";
import { shortCode, shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { orderPath } from "./order-page.ts";

type Desk = { notary: Notary; open: readonly EligibleOrder[]; mine: readonly EligibleOrder[]; now: Date };

/** What a notary may take, and has taken. */
export function deskBody({ notary, open, mine, now }: Desk, problem?: string): Html {
  return html`${pageHead("Notary’s desk", `${notary.commissionName}, ${notary.county}, ${notary.state}`)}
${errorSummary(problem)}
${expiriesOf(notary).map((expiry) => {
  const stage = stageOf(expiry, now);
  const words = stage === "expired" ? "expired on" : "expires on";
  return (
    stage !== "later" &&
    notice(
      "attention",
      `Your ${expiringWords[expiry.what]} ${words} ${expiry.expiresOn}`,
      stage === "expired"
        ? "Acts that need it are not open to you. An administrator enters the new one."
        : "Have an administrator enter the new one in time.",
    )
  );
})}
<div class="panels">
${card("mine", "In your hands", mine.length === 0 ? emptyState("Nothing", "Orders that you claim are here.") : table("Orders in your hands", mine, (order) => html`<a href="${orderPath(order.code)}">Open <span class="visually-hidden">order ${shortCode(order.code)}</span></a>`))}
${card("open", "Waiting for a notary", open.length === 0 ? emptyState("Nothing", "No order waits that you may take.") : table("Orders that wait for a notary", open, (order) => buttonForm(`/operator/notary/tasks/${order.taskId}/claim`, "Claim", { about: `order ${shortCode(order.code)}` })))}
</div>`;
}

const table = (
  caption: string,
  orders: readonly EligibleOrder[],
  action: (order: EligibleOrder["order"]) => Html,
): Html =>
  records(
    caption,
    ["Order", "Firm", "People", "How", "Due", "Action"].map((label) => ({ label, utc: label === "Due" })),
    orders.map(({ order, eligibility }) => [
      shortCode(order.code),
      order.firmName,
      String(order.signers.length),
      eligibility.modes.map((mode) => modeWords[mode]).join("; "),
      shortTime(order.dueAt),
      action(order),
    ]),
  );
