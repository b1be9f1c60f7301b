import type { RefundDeps, RefundRequest } from "../../../refunds/refunds.ts";
import { card, emptyState, pageHead } from "../../ui/components.ts";
import { shortCode, shortTime } from "../../ui/format.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { soloBanner, stateBadge, sums } from "./words.ts";

type Lists = { open: readonly RefundRequest[]; ended: readonly RefundRequest[] };

/** What waits for a decision, and what was decided lately. */
export const listBody = ({ open, ended, ...deps }: Lists & Pick<RefundDeps, "refundApproval">): Html =>
  html`${pageHead("Refunds", "One person asks, another approves. The money goes back through the payment processor.")}
${soloBanner(deps)}
<div class="panels">
${card("waiting", "Waiting for a decision", open.length === 0 ? emptyState("Nothing waits", "Refunds are asked for on the page of an order.") : openTable(open))}
${card("ended", "Decided lately", ended.length === 0 ? emptyState("None yet", "What was decided is shown here.") : endedTable(ended))}
</div>`;

const orderLink = ({ id, orderCode, payments }: RefundRequest): Html =>
  html`<a href="/operator/refunds/${id}">${sums(payments)} of order ${shortCode(orderCode)}</a>`;

const openTable = (open: readonly RefundRequest[]): Html =>
  records(
    "Refunds that wait, the oldest first",
    [
      { label: "Refund" },
      { label: "Firm" },
      { label: "Reason" },
      { label: "Asked for by" },
      { label: "On", utc: true },
    ],
    open.map((each) => [
      orderLink(each),
      html`<span class="breakable">${each.firmName}</span>`,
      html`<span class="breakable">${each.reason}</span>`,
      html`<span class="breakable">${each.requestedByName}</span>`,
      shortTime(each.requestedAt),
    ]),
  );

const endedTable = (ended: readonly RefundRequest[]): Html =>
  records(
    "Refunds that were decided, the latest first",
    [{ label: "Refund" }, { label: "Result" }, { label: "By" }, { label: "On", utc: true }],
    ended.map((each) => [
      orderLink(each),
      stateBadge(each.state),
      html`<span class="breakable">${each.decidedByName ?? "Nobody"}</span>`,
      each.decidedAt ? shortTime(each.decidedAt) : "",
    ]),
  );
