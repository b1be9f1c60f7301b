import type { FaxAttempt } from "../../../delivery/faxing/faxing.ts";
import { type AcceptanceRequest, addressLines, type Finishing } from "../../../delivery/paper/paper.ts";
import type { ShownLabel } from "../../../delivery/shipping/shipping.ts";
import type { Operator } from "../../../firms/operators/operators.ts";
import { taskWords } from "../../../kernel/tasks/tasks.ts";
import { serviceFlags } from "../../../orders/order/order.ts";
import { type LossToBook, type OutsideWay, outsideWays, type PayAgain } from "../../../orders/payments/payments.ts";
import { bookerNeeded } from "../../../orders/refunds/refunds.ts";
import type { OrderDocument, SignerState } from "../../../signing/envelopes/envelopes.ts";
import type { InPersonRequest } from "../../../signing/notaries/notaries.ts";
import type { ConsoleMove, OrderRecord } from "../../../upkeep/console/console.ts";
import {
  card,
  codeText,
  emptyState,
  facts,
  moneyTable,
  notice,
  pageHead,
  progressSteps,
  statusBadge,
} from "../../ui/components.ts";
import { money, shortCode, time } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, textArea } from "../../ui/forms/fields.ts";
import { documentList } from "../../ui/orders/document-list.ts";
import { isSimulated, signerWords } from "../../ui/orders/signer-words.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { lostStep, orderSteps } from "../../ui/orders/steps.ts";
import { type Html, html } from "../../ui/render.ts";
import { missingForMoney } from "../frame/passkey-first.ts";
import { acceptancePart, finishedForm } from "./finished-forms.ts";
import { inPersonOfOrder } from "./in-person.ts";
import { handOverOf, labelList } from "./labels.ts";
import { hasLossForms, lossPart } from "./loss-forms.ts";
import { isDangerous, labelOf, moveForm, type Typed, undoForm } from "./move-forms.ts";
import { faxList, letterList } from "./sent-lists.ts";
import { timelinePart } from "./timeline.ts";

export type OrderView = {
  operator: Operator;
  now: Date;
  record: OrderRecord;
  signers: readonly SignerState[];
  documents: readonly OrderDocument[];
  faxAttempts: readonly FaxAttempt[];
  labels: readonly ShownLabel[];
  /** Describes a provider's act that may still be in progress and that blocks manual work; null for none. */
  underWay: string | null;
  /** The moves that the operator may make now, the most likely first, and the moves that only others may make. */
  moves: readonly ConsoleMove[];
  movesOfOthers: readonly ConsoleMove[];
  /** The acts (signing, notarizing) for which the operator may now hand in a document that was signed elsewhere. */
  finishingsNow: readonly Finishing[];
  /** A notarized document that a second person must still approve. */
  acceptance: AcceptanceRequest | undefined;
  /** The latest request to do the act on paper; null when there is none. */
  inPerson: InPersonRequest | null;
  mayWorkSigners: boolean;
  mayNote: boolean;
  mayRequestRefund: boolean;
  /** The amount that a bank reversed and that could be paid again. Null for none, and if a row about it was altered. */
  payAgain: PayAgain | null;
  mayDecideMoney: boolean;
  /**
   * False for an operator who signed in by a link from the command line, because bookings need a person with a name.
   */
  mayBookMoney: boolean;
  /** The order's payments of which a bank took money back; null if a row about one was altered. */
  losses: readonly LossToBook[] | null;
  /** True if the operator may print or fax the order's document now, because no provider sends it. */
  mayPrint: boolean;
  typed?: Typed | undefined;
  error?: string | undefined;
};

/** The page of an order, with its full record and its actions. */
export function orderBody(view: OrderView): Html {
  const { record, signers, documents } = view;
  const { order, history } = record;
  const path = `/operator/orders/${order.code}`;
  const reason = view.typed?.move === "in-person" ? view.typed.values["reason"] : undefined;
  const inPerson = inPersonOfOrder({ ...view, reason });
  return html`${pageHead(`Order ${shortCode(order.code)}`, `${record.firmName}, ${order.environment}`, html`<a href="/operator/orders">All orders</a>`)}
${errorSummary(view.error)}
<div class="order">
<div class="order-main">
${statusCard(view, path)}
${view.acceptance && card("taking-in", "Waits for a second person", acceptancePart(order.code, view.acceptance, view))}
${inPerson && card("in-person", "In person, in ink", inPerson)}
${card("progress", "Progress", progressSteps(orderSteps(order, undefined, view.payAgain ? lostStep(view.payAgain.cents) : undefined)))}
${record.tasks.length > 0 && card("tasks", "Tasks", taskList(view))}
${signers.length > 0 && card("signers", "Signers", signerList({ path, signers, mayWork: view.mayWorkSigners && order.status === "EsignPending" }))}
${card("documents", "Documents", html`${documentList({ path: `${path}/documents`, hasView: true, isSimulated: isSimulated(signers) }, documents)}<p class="quiet">The audit log records each document that you read.</p>`)}
${record.letters.length > 0 && card("letters", "Letters", letterList(record.letters))}
${history.shipments.length > 0 && card("shipments", "Shipments", shipments(history.shipments))}
${view.labels.length > 0 && card("labels", "Carrier’s labels", labelList(view.labels, `/operator/paper/${order.code}`))}
${history.faxes.length + view.faxAttempts.length > 0 && card("faxes", "Faxes", faxList(history.faxes, view.faxAttempts))}
${card("money", "Payments", payments(view))}
${card("notes", "Notes", notes(view, path))}
${card("timeline", "Timeline", timelinePart(record))}
</div>
<div class="order-side">
${card("quote", "Quote", moneyTable("All amounts in US dollars", order, order.status === "ManualQuoteRequired" ? "Total so far" : "Total"))}
${card("details", "Details", details(record))}
</div>
</div>`;
}

function statusCard(view: OrderView, path: string): Html {
  const { moves, movesOfOthers, finishingsNow, mayPrint, typed, labels, underWay, now } = view;
  const { order } = view.record;
  const { tone, label, summary } = statusWords(order.status);
  const [first] = moves.filter((move) => !isDangerous(move));
  const more = moves.filter((move) => move !== first);
  const others = movesOfOthers.map((move) => labelOf(move, order));
  return html`<section class="card status-card ${tone}" aria-labelledby="status-title">
<p>${statusBadge(tone, label)}</p>
<h2 id="status-title" class="headline">${label}</h2>
<p class="lead">${summary}</p>
${order.manualQuoteReason !== null && html`<p>${order.manualQuoteReason}</p>`}
${underWay !== null && html`<p>${underWay} <a href="/operator/acts/${order.code}">What providers were asked to do</a></p>`}
${first && html`<h3>${labelOf(first, order)}</h3>${moveForm(path, first, order, typed ?? handOverOf(labels), now)}`}
${mayPrint && html`<div class="form-actions"><a class="button quiet-button" href="/operator/paper/${order.code}">Print the packet</a></div>`}
${!first && html`<p class="quiet">Nothing waits for you here.</p>`}
${more.map(
  (move) =>
    html`<details class="ask"${typed?.move === move && html` open`}><summary>${labelOf(move, order)}</summary>${moveForm(path, move, order, typed, now)}</details>`,
)}
${finishingsNow.map((on) => finishedForm(order.code, on, view))}
${others.length > 0 && html`<p class="quiet">For other roles: ${others.join(", ")}.</p>`}
</section>`;
}

const taskList = ({ record: { tasks, names }, now }: OrderView): Html =>
  html`<ul class="plain-list">${tasks.map(({ kind, state, dueAt, endedAt, outcome, claimedBy, reason }) => {
    const isOpen = state === "open" || state === "claimed";
    const overdue = dueAt <= now && html` ${statusBadge("attention", "Overdue")}`;
    const claim = claimedBy === null ? "open" : `claimed by ${names.get(claimedBy) ?? claimedBy}`;
    const why = reason !== null && html`<br><span class="quiet">${reason}</span>`;
    return html`<li><strong>${taskWords[kind]}</strong>: ${
      isOpen
        ? html`due ${time(dueAt)}${overdue}, ${claim}${why}`
        : html`${state} ${endedAt && time(endedAt)}${outcome !== null && html`: ${outcome}`}`
    }</li>`;
  })}</ul>`;

const shipments = (rows: OrderRecord["history"]["shipments"]): Html =>
  html`<ul class="plain-list">${rows.map(({ status, carrier, trackingNumber, shippedAt, deliveredAt }) => {
    const tracking =
      trackingNumber === null ? "without a tracking number" : html`<span class="breakable">${trackingNumber}</span>`;
    const delivered = deliveredAt !== null && html`, delivered ${time(new Date(deliveredAt))}`;
    return html`<li>${carrier} ${tracking}: ${status}, handed over ${time(new Date(shippedAt))}${delivered}</li>`;
  })}</ul>`;

/** The amount that a bank reversed, and the button that allows the payer to pay it again. */
const payAgainPart = (path: string, { cents, refusal }: PayAgain, mayAllow: boolean): Html =>
  html`<p>A bank took back ${money(cents)} of the price, and nobody has paid it again. ${refusal}</p>
${mayAllow && refusal === null && buttonForm(`${path}/pay-again`, "Let it be paid again", { kind: "quiet-button", about: `for ${money(cents)}` })}`;

type Booking = { document: number; way: OutsideWay; cents: number };

/**
 * The form that reverses an entry in the books, if an operator wrongly recorded that money was paid back outside the
 * processor.
 */
const undoPaidBackForm = (path: string, { document, way, cents }: Booking, typed: Typed | undefined): Html =>
  undoForm(
    {
      form: `undo-${document}`,
      action: `${path}/paid-back/${document}/undo`,
      summary: `Correct “${money(cents)} paid back ${outsideWays[way]}”`,
      label: "What is wrong with this booking",
      hint: "A reversing entry follows, and the firm gets a mail. A task to find out whether the money went back opens.",
    },
    typed,
  );

const alteredReceipts = notice(
  "stopped",
  "A receipt was altered in the database",
  "The list leaves out what went back. “doctor” names the record: restore it from a backup.",
);

function payments(view: OrderView): Html {
  const { operator, mayRequestRefund, payAgain, mayDecideMoney, mayBookMoney, losses, typed } = view;
  const { order, history } = view.record;
  const path = `/operator/orders/${order.code}`;
  const none = emptyState("No payment", "What the payment processor reports appears here.");
  const list = html`<ul class="plain-list">${history.payments.map(
    ({ amountCents, currency, simulated, receivedAt, refundedAt, returnedCents, paidOutside }) => {
      const amount = `${money(amountCents)} ${currency.toUpperCase()}${simulated ? " (simulated)" : ""}`;
      const returned =
        refundedAt !== null
          ? html`, refunded ${time(new Date(refundedAt))}`
          : returnedCents > 0 && `, of which ${money(returnedCents)} went back`;
      const outside = paidOutside.map(
        ({ way, cents, at }) => html`; ${money(cents)} paid back ${outsideWays[way]}, ${time(new Date(at))}`,
      );
      const undoForms = mayBookMoney && paidOutside.map((booking) => undoPaidBackForm(path, booking, typed));
      return html`<li>${amount}, received ${time(new Date(receivedAt))}${returned}${outside}${undoForms}</li>`;
    },
  )}</ul>`;
  const hasBookings = hasLossForms(losses) || history.payments.some((each) => each.paidOutside.length > 0);
  const hasDecisions = hasBookings || (payAgain?.refusal === null && !mayDecideMoney);
  const refundLink =
    mayRequestRefund &&
    html`<div class="form-actions"><a class="button quiet-button" href="/operator/refunds/new?order=${order.code}">Ask for a refund</a></div>`;
  return html`${!history.areReceiptsAuthentic && alteredReceipts}${history.payments.length === 0 ? none : list}
${payAgain && payAgainPart(path, payAgain, mayDecideMoney)}
${lossPart(losses, { path, mayBook: mayBookMoney, typed })}
${hasDecisions && missingForMoney(operator, bookerNeeded)}${refundLink}`;
}

function notes({ record: { notes: all, names }, mayNote, typed }: OrderView, path: string): Html {
  const list = html`<ul class="plain-list">${all.map(
    ({ author, text, createdAt }) =>
      html`<li><p class="as-typed">${text}</p><p class="quiet">${names.get(author) ?? author}, ${time(createdAt)}</p></li>`,
  )}</ul>`;
  return html`${all.length > 0 && list}
${mayNote ? noteForm(path, typed) : all.length === 0 && html`<p class="quiet">No notes.</p>`}`;
}

function noteForm(path: string, typed: Typed | undefined): Html {
  const own = typed?.move === "note" ? typed : undefined;
  return html`<form class="form" method="post" action="${path}/notes">
${textArea({
  form: "note",
  name: "note",
  label: "Add a note",
  required: true,
  rows: 3,
  maxLength: 4000,
  value: own ? own.values["note"] : "",
  error: own?.error,
  hint: "Notes stay: nobody can change or delete them.",
})}
<div class="form-actions"><button type="submit" class="quiet-button">Add the note</button></div></form>`;
}

const methods: Readonly<Record<string, string>> = { label: "Prepaid carrier label", print_mail: "Print and mail" };

const details = ({
  order,
  firmName,
  partnerId,
  customerName,
  signerState,
  shipMethod,
  shipTo,
  shipFrom,
  addressProblem,
  isRush,
}: OrderRecord): Html =>
  facts([
    ["Firm", html`<a href="/operator/orders?partner=${partnerId}">${firmName}</a>`],
    ["Client", customerName],
    ["Email", html`<span class="breakable">${order.customerEmail}</span>`],
    ["Reference", order.externalReference],
    ["Services", serviceFlags(order) || "None"],
    ["Rush", isRush ? "Yes" : null],
    ["Signer’s state", signerState],
    ["Shipping", order.ship ? (methods[shipMethod ?? "label"] ?? null) : null],
    ["Ship to", shipTo && addressLines(shipTo).join(", ")],
    ["Doubt about it", addressProblem],
    ["Ship from", shipFrom && addressLines(shipFrom).join(", ")],
    ["Fax", order.faxTo],
    ["Placed", time(order.createdAt)],
    ["Order code", codeText(order.code, "order code")],
    ["Client’s page", html`<a href="/orders/${order.code}">Open</a>`],
  ]);

/** The signers of an order with their states, and the actions on their links. */
const signerList = ({
  path,
  signers,
  mayWork,
}: {
  path: string;
  signers: readonly SignerState[];
  mayWork: boolean;
}): Html =>
  html`<ul class="plain-list">${signers.map((signer) => {
    const { n, name, email, status, signedAt } = signer;
    const { tone, label } = signerWords(signer);
    const about = `to ${name}`;
    const canRemind = mayWork && (status === "sent" || status === "viewed");
    return html`<li><strong>${name}</strong> <span class="breakable">${email}</span> ${statusBadge(tone, label)}${signedAt && !signer.isSimulated && html` ${time(signedAt)}`}
${canRemind && buttonForm(`${path}/signers/${n}/remind`, "Send the link again", { kind: "quiet-button", about })}
${mayWork && status === "locked" && buttonForm(`${path}/signers/${n}/unlock`, "Unlock and send a new link", { kind: "quiet-button", about })}</li>`;
  })}</ul>`;
