import { addressLines, type PaperOrder } from "../../../delivery/paper/paper.ts";
import type { LetterOnRecord, ShownLabel } from "../../../delivery/shipping/shipping.ts";
import { faxesAhead } from "../../../orders/order/order.ts";
import type { ConsoleMove } from "../../../upkeep/console/console.ts";
import { card, facts, pageHead, statusBadge } from "../../ui/components.ts";
import { shortCode } from "../../ui/format.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { type Html, html } from "../../ui/render.ts";
import { addressDoubt, buyForm, handOverOf, hasLabelForNow, labelList } from "../orders/labels.ts";
import { isDangerous, labelOf, moveForm, type Typed } from "../orders/move-forms.ts";
import { letterList } from "../orders/sent-lists.ts";

export type PaperView = {
  order: PaperOrder;
  moves: readonly ConsoleMove[];
  /** Describes a provider's act that may still be in progress. */
  underWay: string | null;
  labels: readonly ShownLabel[];
  letters: readonly LetterOnRecord[];
  /** True if the operator may accept postage far above the quoted price. */
  mayExceed: boolean;
  typed?: Typed | undefined;
  error?: string | undefined;
};

/**
 * The page of an order whose document people print and send. They record the facts of the shipment on the same page.
 */
export function paperBody(
  { order, moves, underWay, labels, letters, mayExceed, typed, error }: PaperView,
  now: Date,
): Html {
  const path = `/operator/paper/${order.code}`;
  const { tone, label } = statusWords(order.status);
  const [first, ...more] = [...moves].sort((one, other) => Number(isDangerous(one)) - Number(isDangerous(other)));
  const sides = isFax(order)
    ? "Print on one side: a fax machine feeds one."
    : "Print on both sides, flipped on the long edge; the document starts on a new sheet.";
  return html`${pageHead(`Order ${shortCode(order.code)}`, order.firmName, html`<a href="/operator">Today</a>`)}
${errorSummary(error)}
<div class="panels">
${underWay !== null && card("under-way", "Under way", html`<p>${underWay} <a href="/operator/acts/${order.code}">What providers were asked to do</a></p>`)}
${letters.length > 0 && card("letters", "Letters by Lob", letterList(letters))}
${card(
  "print",
  "Print",
  html`<p>${statusBadge(tone, label)}</p>
<ol class="plain-steps"><li><a href="${path}/packet.pdf" download>The packet</a>: ${sheetWords(order, hasLabelForNow(labels))}, then the document.</li></ol>
${mayFaxAhead(order) && html`<p>The fax need not wait for the parcel: <a href="${path}/fax.pdf" download>its cover sheet with the document</a>, printed on one side.</p>`}
<p>${sides} Or print <a href="${path}/sheets.pdf" download>the sheets</a> and <a href="${path}/document.pdf" download>the document</a> by themselves.</p>`,
)}
${labels.length > 0 && card("labels", "Carrier’s label", html`${labelList(labels, path)}${order.addressProblem !== null && addressDoubt(order.addressProblem)}${underWay === null && order.status === "ShippingPending" && buyForm(labels, path, mayExceed)}`)}
${card(
  "where",
  "Where it goes",
  facts([
    [
      "Address",
      order.shipTo && !isFax(order) ? html`${addressLines(order.shipTo).map((line) => html`${line}<br>`)}` : null,
    ],
    [
      "Return to",
      order.shipFrom && !isFax(order) ? html`${addressLines(order.shipFrom).map((line) => html`${line}<br>`)}` : null,
    ],
    ["Fax", isFax(order) || mayFaxAhead(order) ? order.faxTo : null],
    ["Reference", order.externalReference],
  ]),
)}
${
  isFax(order) &&
  card(
    "report",
    "The machine’s report",
    html`<form class="form" method="post" action="${path}/report" enctype="multipart/form-data">
<div class="form-field"><label for="report-document">A scan of what the machine printed</label>
<p class="hint" id="report-hint">A PDF of at most 35 MB. It is kept with the order, under its hash.</p>
<input type="file" id="report-document" name="document" accept="application/pdf,.pdf" required aria-describedby="report-hint"></div>
<div class="form-actions"><button type="submit" class="quiet-button">Keep the report</button></div></form>`,
  )
}
${first && card("record", labelOf(first, order), moveForm(path, first, order, typed ?? handOverOf(labels), now))}
${more.map((move) => card(`record-${move}`, labelOf(move, order), moveForm(path, move, order, typed, now)))}
</div>`;
}

const mayFaxAhead = (order: PaperOrder): boolean => faxesAhead(order) && order.environment === "live";

const isFax = ({ status }: PaperOrder): boolean => status.startsWith("Fax");

function sheetWords(order: PaperOrder, hasLabel: boolean): string {
  if (isFax(order)) return "the cover sheet";
  if (order.shipMethod === "print_mail") return "the address sheet";
  return hasLabel ? "the packing sheet" : "the address label, the packing sheet";
}
