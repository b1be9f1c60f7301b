import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import { type ClientMail, type SentAgain, sendAgain } from "../../../orders/fulfilment/fulfilment.ts";
import type { MailMoment, PublicOrderRow } from "../../../orders/order/order.ts";
import type { AcceptsPayment } from "../../../orders/payments/payments.ts";
import type { SignerState } from "../../../signing/envelopes/envelopes.ts";
import { codeText, timeline } from "../../ui/components.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { doOnce } from "../submit-once.ts";
import { ownOrder } from "./own-order.ts";

export type MailsView = {
  submission: string;
  order: Pick<PublicOrderRow, "code" | "customerEmail" | "environment">;
  /** The mails that were sent to the client, the latest first. */
  mails: readonly ClientMail[];
  /**
   * The signers of the order. If the client is one of them, a request to sign may be a separate mail, which `mails`
   * doesn't contain.
   */
  signers: readonly Pick<SignerState, "email" | "issuedAt">[];
  /** The mails that can be resent in the order's current state. */
  sendable: readonly SentAgain[];
};

const momentWords: Readonly<Record<MailMoment, string>> = {
  quote_ready: "Quote, with the link to pay",
  payment_received: "Payment received",
  payment_failed: "Payment failed",
  supplement_due: "Additional amount, with the link to pay",
  pay_again: "Request to pay again, with the link",
  signed: "Signed, with the link to the documents",
  shipped: "On its way, with the tracking number",
  ready_for_pickup: "Ready for pickup",
  delivered: "Delivered",
  fax_delivered: "Fax delivered",
  fax_failed: "Fax not delivered",
  on_hold: "On hold",
  completed: "Complete, with the link to the documents",
  cancelled: "Canceled",
  paid_late: "A payment after the cancellation is being returned",
  refunded_part: "Payment refunded in part",
  payment_returned: "A payment was sent back",
  refund_failed: "A refund came back",
  refunded: "Payment refunded",
};

const sendWords: Readonly<Record<SentAgain, string>> = {
  quote_ready: "Send the payment link",
  supplement_due: "Send the payment link",
  pay_again: "Send the payment link",
  shipped: "Send the tracking number",
  completed: "Send the documents",
};

/**
 * The label of the button that sends a mail to the client. It ends with "again" if the mail was sent before. In a
 * closing, the service does not send some mails by itself, so the button may send one for the first time.
 */
const sendLabel = (moment: SentAgain, mails: MailsView["mails"]): string =>
  mails.some((mail) => mail.moment === moment) ? `${sendWords[moment]} again` : sendWords[moment];

/** The mails to the client about the order, and those that can be resent. */
export function mailsPart({ submission, order, mails, signers, sendable }: MailsView): Html {
  const isClient = ({ email }: { email: string }) => email.toLowerCase() === order.customerEmail.toLowerCase();
  const asking = mails.find(({ asksToSign }) => asksToSign);
  const isInAsking = (issuedAt: Date) => asking !== undefined && issuedAt.getTime() <= asking.sentAt.getTime();
  const isAsked = signers.some((signer) => signer.issuedAt !== null && isClient(signer) && isInAsking(signer.issuedAt));
  const sent = [
    ...mails.map(({ moment, sentAt, asksToSign }) => ({
      at: sentAt,
      text: asksToSign && isAsked ? `${momentWords[moment]}, with the link to sign` : momentWords[moment],
    })),
    ...signers.flatMap(({ issuedAt, ...signer }) =>
      issuedAt !== null && isClient(signer) && !isInAsking(issuedAt)
        ? [{ at: issuedAt, text: "The link to sign was made" }]
        : [],
    ),
  ].sort((a, b) => b.at.getTime() - a.at.getTime());
  const to = html`<span class="breakable">${order.customerEmail}</span>`;
  return html`${
    sent.length === 0 ? html`<p>No email to ${to} is on record yet.</p>` : html`<p>To ${to}</p>${timeline(sent)}`
  }${
    sendable.length > 0 &&
    html`<div class="button-row">${sendable.map((moment) => buttonForm(`/dashboard/orders/${order.code}/mails`, sendLabel(moment, mails), { fields: { moment, submission }, kind: "quiet-button" }))}</div>
<p class="form-note">${order.environment === "test" ? "In test the email is kept in the outbox, and sent to nobody." : "At most 5 in 24 hours."}</p>`
  }`;
}

const asksForMoney: ReadonlySet<SentAgain> = new Set(["quote_ready", "supplement_due", "pay_again"] as const);

/** Says how the client learns the price, and shows the link to pay, so that the firm can also forward the link. */
export const clientPaysPart = ({ clientUrl, hasCheckout, sendable }: ClientPaysView): Html =>
  // If a bank reversed the firm's payment, no mail asks the client for the amount. The sentence then says that the firm
  // has to pay again.
  hasCheckout && !sendable.some((moment) => asksForMoney.has(moment))
    ? html`<p>The payment was your firm’s, so the client is not asked for it. Open the checkout to pay it again.</p>`
    : html`<p>${
        hasCheckout
          ? "The client is emailed the link to pay; “Emails to the client” lists when. Open the checkout yourself only to pay for the client: the receipts are then your firm’s."
          : "This service takes no payments for test orders. Pay in the sandbox below."
      } To pass the link on yourself: ${codeText(clientUrl, "link to pay")}</p>`;

type ClientPaysView = Pick<MailsView, "sendable"> & { clientUrl: string; hasCheckout: boolean };

export type MailFormDeps = { db: Database; clock: Clock; limits: RateLimits; acceptsPayment: AcceptsPayment };

type Form = Pick<PageRoute<string>, "method" | "policy"> & {
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

export function mailForm(forms: FastifyInstance, deps: MailFormDeps, form: Form): void {
  pageRoute(forms, deps, {
    ...form,
    url: "/dashboard/orders/:code/mails",
    handle: doOnce(deps, async ({ params, form: typed, request }) => {
      const { code } = await ownOrder(deps.db, request, params.code);
      await sendAgain(deps, principalOf(request), { orderCode: code, moment: typed["moment"] ?? "" });
      return done(`/dashboard/orders/${code}#mails-title`, "order-mail-sent");
    }),
  });
}
