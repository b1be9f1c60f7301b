import type { FastifyInstance } from "fastify";
import type { MemberDeps } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { isPayable, type Payer, payers } from "../../../orders/order/order.ts";
import {
  activeMethod,
  type CheckoutDeps,
  chargeByMember,
  chargesOfCode,
  checkoutUrl,
  type FirmCharge,
  isOpenCharge,
  isOverdueCharge,
  letClientPay,
  methodName,
  type PaymentMethod,
  type SpendingRefusal,
} from "../../../orders/payments/payments.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { money } from "../../ui/format.ts";
import { askFirst, type Question } from "../../ui/forms/ask-first.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { leavingPage } from "../../ui/leaving-page.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { chargeText } from "../billing/payments-part.ts";
import { done } from "../flash-messages.ts";

/**
 * How the firm pays an order: its payment method, and its latest charge for the order. Null for an order that its
 * client pays.
 */
export type FirmPays = {
  method: PaymentMethod | undefined;
  latest: FirmCharge | undefined;
  /** True if the payment processor or the bank has not answered the latest charge for too long. */
  isOverdue: boolean;
} | null;

type Shown = { code: string; payBy: string; partnerId: string; environment: "live" | "test" };

export async function readFirmPays(db: Sql, order: Shown, now: Date): Promise<FirmPays> {
  if (order.payBy !== "firm") return null;
  const [method, [latest]] = await Promise.all([activeMethod(db, order), chargesOfCode(db, order.code)]);
  return { method, latest, isOverdue: latest !== undefined && isOverdueCharge(latest, now) };
}

/** True if the firm's payment for the order is in progress. */
export const isBeingCharged = (firmPays: FirmPays): boolean =>
  firmPays?.latest !== undefined && isOpenCharge(firmPays.latest);

/**
 * The state of the firm's payment, and the ways to pay now: the button that charges the firm, or hints about other
 * ways.
 * @param payable true if the order can be paid now
 * @param hasCheckout true if it can be paid by the hosted checkout; otherwise it is paid in the sandbox
 */
export function firmPaysPart(
  { code, status, dueCents }: { code: string; status: string; dueCents: number },
  firmPays: FirmPays,
  { payable, hasCheckout }: { payable: boolean; hasCheckout: boolean },
): Html {
  if (firmPays === null) return html``;
  const { method, latest } = firmPays;
  // A charge that has ended is shown only while the order can be paid. One that succeeded is not shown, because it paid
  // an earlier amount.
  const showsLatest = latest && (isOpenCharge(latest) || (payable && latest.state !== "succeeded"));
  const otherWay = hasCheckout ? "open the checkout" : "pay it in the sandbox below";
  // The bank requires that the card holder confirms the payment, so another charge without a person would be declined
  // as well.
  const needsPerson = latest?.reason === "authentication_required" && latest.methodId === method?.id;
  // The processor charges nothing for an order of $0.00; its checkout completes the order.
  const chargeable = payable && dueCents > 0;
  return html`${showsLatest && html`<p>Your firm’s payment: ${chargeText(latest)}${latest.state === "pending" && ". That takes up to 4 business days"}</p>`}
${
  chargeable &&
  method &&
  latest?.reason === "expired_card" &&
  latest.methodId === method.id &&
  html`<p>Charging ${methodName(method)} again would fail again. <a href="/dashboard/billing#method">Replace the card under Billing</a>, and then charge the order here.</p>`
}
${
  chargeable &&
  latest &&
  latest.groupId !== null &&
  html`<p>It was one payment for several orders, and none of them was charged. <a href="/dashboard/orders/${code}/closing">Open the closing</a> to charge them together, or charge this order alone here.</p>`
}
${chargeable && method && isAboveLimit(latest) && html`<p>An owner of your firm can charge it here. After a limit was raised under Billing, charge it again here: it is not tried again by itself. Anybody of your firm can ${otherWay}.</p>`}
${chargeable && method && needsPerson && html`<p>Charging the card again would fail again. To have a person confirm the payment, ${otherWay}.</p>`}
${chargeable && method && !needsPerson && buttonForm(`/dashboard/orders/${code}/charge`, `Charge ${money(dueCents)} to ${methodName(method)}`, { fields: { total_cents: String(dueCents), charged_method: method.id } })}
${payable && !chargeable && html`<p>Your firm pays this order. It costs $0.00, and nothing is charged: to complete it, ${otherWay}.</p>`}
${chargeable && !method && html`<p>Your firm pays this order. <a href="/dashboard/billing">Add a card or bank account</a>, or ${otherWay}.</p>`}
${payable && isPayable(status) && clientPaysQuestion(`/dashboard/orders/${code}/client-pays`, "The client")}`;
}

/** The form that makes the client pay instead of the firm; it asks for confirmation first. */
export const clientPaysQuestion = (
  action: string,
  who: "The client" | "Each client",
  more: Pick<Question, "details" | "fields"> = {},
): Html =>
  askFirst({
    ...more,
    label: "Let the client pay instead",
    text: `${who} gets the price and the link to pay by email. Your firm is not charged any more, and its receipts are the client’s. You can’t change it back here.`,
    confirm: "Let the client pay",
    action,
  });

const aboveLimit: ReadonlySet<string> = new Set<SpendingRefusal>([
  "no_limit",
  "above_order_limit",
  "above_month_limit",
]);

export const isAboveLimit = (latest: Pick<FirmCharge, "state" | "reason"> | undefined): boolean =>
  latest?.state === "refused" && aboveLimit.has(latest.reason ?? "");

type OrderCall = PageCall<{ code: string }>;
type Deps = { members: MemberDeps; checkout: CheckoutDeps; limits: RateLimits; assets: Assets };

/**
 * Reads from the form the amount, in cents, that the page showed.
 * @throws ServiceError for a form without it
 */
export function shownCents(form: FormValues, name = "total_cents"): number {
  const shown = wholeNumberIn(form[name], 0, 999_999_999_999);
  if (shown === undefined) throw invalid(`${name} must be the sum that the page shows, in cents.`);
  return shown;
}

/**
 * Reads from the form the amount and the payment method that the page's button named.
 * @throws ServiceError for a form without one of them
 */
export function shownCharge(form: FormValues): { cents: number; methodId: string } {
  const cents = shownCents(form);
  const { charged_method: methodId = "" } = form;
  if (methodId === "")
    throw new ServiceError("conflict", "The page was out of date. Nothing was charged: look at it again.");
  return { cents, methodId };
}

/**
 * Reads from the form the payer that the page showed.
 * @throws ServiceError for a form without one
 */
function shownPayer(form: FormValues): Payer {
  const shown = payers.find((each) => each === form["pay_by"]);
  if (shown === undefined) throw invalid("pay_by must be the payer that the page shows: client or firm.");
  return shown;
}

/**
 * Adds three forms: one charges the firm's payment method for an order, one opens a checkout for the firm, and one
 * makes the client pay the order instead.
 */
export function firmPaysForms(
  forms: FastifyInstance,
  { members, checkout, limits, assets }: Deps,
  form: Pick<PageRoute<"/dashboard/orders/:code">, "method" | "policy"> & {
    refused: (call: OrderCall, error: string) => Promise<string>;
  },
): void {
  const { rowMac } = members;
  pageRoute(
    forms,
    { limits },
    {
      ...form,
      url: "/dashboard/orders/:code/charge",
      handle: async ({ params, form, request }) => {
        await chargeByMember({ ...checkout, rowMac }, principalOf(request), params.code, shownCharge(form));
        return done(`/dashboard/orders/${params.code}`, "order-charged");
      },
    },
  );
  pageRoute(
    forms,
    { limits },
    {
      ...form,
      url: "/dashboard/orders/:code/checkout",
      handle: async ({ params, form, request }) => {
        const firmPays = { shown: shownPayer(form) };
        return leavingPage(assets, null, await checkoutUrl(checkout, params.code, principalOf(request), firmPays));
      },
    },
  );
  pageRoute(
    forms,
    { limits },
    {
      ...form,
      url: "/dashboard/orders/:code/client-pays",
      handle: async ({ params, request }) => {
        await letClientPay(checkout, principalOf(request), params.code);
        return done(`/dashboard/orders/${params.code}`, "client-pays");
      },
    },
  );
}
