import type { Corrected } from "../../../orders/corrections/corrections.ts";
import type { OrderHistory } from "../../../orders/fulfilment/fulfilment.ts";
import type { SignerState } from "../../../signing/envelopes/envelopes.ts";
import { timeline } from "../../ui/components.ts";
import { money } from "../../ui/format.ts";
import { isSimulated } from "../../ui/orders/signer-words.ts";
import { statusWords } from "../../ui/orders/status-words.ts";
import { type Html, html } from "../../ui/render.ts";
import { simulatedLabel } from "./words.ts";

type Line = OrderHistory["history"][number];
type Correction = Corrected["corrections"][number];

const maxShown = 100;

/**
 * Words for the actions that a firm sees besides changes of status and corrections. Other actions, such as internal
 * ones of the service's staff, are not shown.
 */
const actionWords: Readonly<Record<string, string>> = {
  "order.not_arrived": "Reported as not arrived",
  "order.created": "Order placed",
  "order.documents_asked_for": "Documents mailed to the client again, as somebody with the order’s link asked",
  "order.payer_changed": "The client pays in place of the firm",
  "order.mail_sent_again": "Email sent to the client again",
  "document.added": "Document added",
  "documents.deleted": "Documents deleted, as the retention plan says",
  "label.bought": "Shipping label bought",
  "letter.accepted": "Letter accepted for printing",
  "refund.requested": "Refund requested; another person decides",
  "refund.approved": "Refund approved",
  "refund.refused": "Refund refused",
  "refund.closed": "Refund not made",
  "refund.withdrawn": "Request for the refund withdrawn",
  "notary.appointment": "Notary’s appointment sent",
  "notary.in_person_requested": "A notary asked to act in person, in ink",
  "notary.in_person_agreed": "Act in person, in ink, agreed to",
  "notary.in_person_declined": "Act in person, in ink, declined",
};

/** Words for each kind of correction that a firm can make. */
const correctionWords: Readonly<Record<string, string>> = {
  document: "Document replaced",
  email: "Client’s email corrected",
  address: "Parcel’s address corrected",
  fax: "Fax number corrected",
  signer: "Signer replaced",
  refund: "Refund asked for",
};

/**
 * Describes the failure or the retry of a fax that is sent early, while the order has the status Shipped. Undefined for
 * any other line. Other faxes change the order's status, and that change has its own line.
 */
const earlyFaxWords = ({ action, detail }: Line): string | undefined => {
  if (action !== "fax.ahead") return undefined;
  const { on } = detail as { on?: string };
  return on === "fax_failed"
    ? "The fax did not go through"
    : on === "fax_retried"
      ? "The fax is sent again"
      : undefined;
};

/** The activity of an order, newest first, with its actors. */
export function activityPart(
  { history, payments }: Pick<OrderHistory, "history" | "payments">,
  names: ReadonlyMap<string, string>,
  signers: readonly Pick<SignerState, "isSimulated" | "signedAt">[],
  corrections: readonly Correction[],
): Html {
  const readdressed = new Set(corrections.filter(isOfAddress).map(({ at }) => at.getTime()));
  const amounts = { requested: requestedAmounts(history), refunded: refundedAmount(payments) };
  const simulated = isSimulated(signers) ? simulatedWords(signers) : null;
  // The retry of a failed step is left out, because another line already shows it: the change of the order's status, or
  // the early fax.
  const isAgain = ({ detail }: Line) => (detail as { kind?: string } | null)?.kind === "again";
  const listed = history.filter(
    (line) =>
      line.action === "order.transition" ||
      (line.action === "order.corrected" && !isAgain(line)) ||
      earlyFaxWords(line) !== undefined ||
      Object.hasOwn(actionWords, line.action),
  );
  // The transition to Created is left out, because the order is priced at the same moment, and the line about the price
  // covers both.
  const lines = listed.filter(({ fromStatus, toStatus }) => fromStatus !== null || toStatus !== "Created").reverse();
  const steps = lines.slice(0, maxShown).map((line) => ({
    at: new Date(line.occurredAt),
    text: textOf(line, names, { ...amounts, simulated, readdressed }),
  }));
  return html`${timeline(steps)}${lines.length > maxShown && html`<p class="quiet">The latest ${maxShown} of ${lines.length} lines are shown.</p>`}`;
}

/**
 * `requested`: the amount of each refund request, keyed by the request's id. `refunded`: the refunded amount of the
 * whole order.
 */
type Amounts = { requested: ReadonlyMap<unknown, string>; refunded: string | null };

/** True if a correction changed the email address of a signer, who stays the same person. */
const isOfAddress = ({ kind, before, after }: Correction): boolean =>
  kind === "signer" && before["name"] === after["name"];

/** Describes a signing that the sandbox completed, with the number of signatures that it discarded. */
function simulatedWords(signers: readonly Pick<SignerState, "signedAt">[]): string {
  const discarded = signers.filter(({ signedAt }) => signedAt !== null).length;
  const count = discarded === 1 ? "1 signature was" : `${discarded} signatures were`;
  return `${simulatedLabel}${discarded > 0 ? `; ${count} discarded` : ""}`;
}

type Detail = {
  requestId?: unknown;
  payments?: readonly { amountCents?: unknown; currency?: unknown }[];
} | null;

/** The sum of payments in dollars. Null without a payment, and if any payment is in another currency. */
function sumOf(payments: NonNullable<Detail>["payments"] = []): string | null {
  if (payments.length === 0 || payments.some(({ currency }) => String(currency).toLowerCase() !== "usd")) return null;
  return money(payments.reduce((sum, { amountCents }) => sum + Number(amountCents), 0));
}

/** The amount of each refund request, by the request's id. Later lines about the decision contain only that id. */
function requestedAmounts(history: readonly Line[]): ReadonlyMap<unknown, string> {
  const requests = history.filter(({ action }) => action === "refund.requested");
  return new Map(
    requests.flatMap(({ detail }) => {
      const { requestId, payments } = (detail as Detail) ?? {};
      const sum = sumOf(payments);
      return sum === null ? [] : [[requestId, sum] as const];
    }),
  );
}

const refundedAmount = (payments: OrderHistory["payments"]): string | null =>
  sumOf(payments.filter(({ refundedAt }) => refundedAt !== null));

type Special = {
  /** The words for a signing that the sandbox completed; null without one. */
  simulated: string | null;
  /** The times of corrections that changed a signer's email address. */
  readdressed: ReadonlySet<number>;
};

function wordsOf(line: Line, { simulated, readdressed }: Special): string {
  const { action, fromStatus, toStatus, detail } = line;
  const { kind = "" } = (detail as { kind?: string } | null) ?? {};
  const isReaddressed = kind === "signer" && readdressed.has(new Date(line.occurredAt).getTime());
  const corrected = isReaddressed ? "Signer’s email corrected" : correctionWords[kind];
  if (action === "order.corrected" && corrected) return corrected;
  if (fromStatus === "Created") return "Order placed";
  if (toStatus === "EsignComplete" && simulated !== null) return simulated;
  return earlyFaxWords(line) ?? actionWords[action] ?? statusWords(toStatus ?? "").headline;
}

const textOf = (
  line: Line,
  names: ReadonlyMap<string, string>,
  { requested, refunded, ...special }: Amounts & Special,
): Html => {
  const { action, actor, toStatus, detail } = line;
  // The service's staff write the reasons of refunds for each other, so they are not shown to the firm.
  const reason = action.startsWith("refund.") ? null : (detail as { reason?: unknown } | null)?.reason;
  const isRefund = action === "order.transition" && toStatus === "Refunded";
  const amount = isRefund ? refunded : (requested.get((detail as Detail)?.requestId) ?? null);
  return html`${wordsOf(line, special)}${amount !== null && `: ${amount}`}<br><span class="second-line">${whoIs(actor, names)}${typeof reason === "string" && html` · ${reason}`}</span>`;
};

const actors: Readonly<Record<string, string>> = {
  processor: "Payment processor",
  system: "Automatically",
  sandbox: "Sandbox",
  operator: "SignSealShip",
};

/** The actor of an order's change, by the name that the firm knows: a person, an API key or a system. */
export function whoIs(actor: string, names: ReadonlyMap<string, string>): string {
  const [kind = ""] = actor.split(":");
  const former = { member: "A former member", key: "A former API key" } as Readonly<Record<string, string>>;
  return names.get(actor) ?? actors[actor] ?? former[kind] ?? (kind === "signer" ? "A signer" : "SignSealShip");
}
