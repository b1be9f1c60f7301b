import type { FastifyInstance } from "fastify";
import type { MemberDeps } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import {
  activeMethod,
  type CheckoutDeps,
  chargeByMember,
  chargesOfCode,
  type FirmCharge,
  isOpenCharge,
  methodName,
  type PaymentMethod,
} from "../../../orders/payments/payments.ts";
import { done } from "../../ui/flash-messages.ts";
import { money } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { chargeText } from "../billing/body.ts";

/** How the firm pays an order by its own method; null for an order that its client pays. */
export type FirmPays = { method: PaymentMethod | undefined; latest: FirmCharge | undefined } | null;

type Shown = { code: string; payBy: string; partnerId: string; environment: "live" | "test" };

export const readFirmPays = async (db: Sql, order: Shown): Promise<FirmPays> =>
  order.payBy === "firm"
    ? { method: await activeMethod(db, order), latest: (await chargesOfCode(db, order.code))[0] }
    : null;

/** Whether the firm's payment for the order is under way. */
export const isBeingCharged = (firmPays: FirmPays): boolean =>
  firmPays?.latest !== undefined && isOpenCharge(firmPays.latest);

/**
 * The state of the firm's payment, and the button that charges again.
 * @param payable whether the order can be paid now
 */
export function firmPaysPart(
  { code, dueCents }: { code: string; dueCents: number },
  firmPays: FirmPays,
  payable: boolean,
): Html {
  if (firmPays === null) return html``;
  const { method, latest } = firmPays;
  const isTold = latest && (isOpenCharge(latest) || payable);
  // A charge without a person would be refused again.
  const needsPerson = latest?.reason === "authentication_required" && latest.methodId === method?.id;
  return html`${isTold && html`<p>Your firm’s payment: ${chargeText(latest)}</p>`}
${payable && method && needsPerson && html`<p>Open the checkout: there a person can confirm the payment.</p>`}
${payable && method && !needsPerson && buttonForm(`/dashboard/orders/${code}/charge`, `Charge ${money(dueCents)} to ${methodName(method)}`)}
${payable && !method && html`<p>Your firm pays this order. <a href="/dashboard/billing">Add a card or bank account</a>, or open the checkout.</p>`}`;
}

type OrderCall = PageCall<{ code: string }>;
type Deps = { members: MemberDeps; checkout: CheckoutDeps; limits: RateLimits };

/** Adds the form with which a member charges the firm's payment method for an order. */
export function chargeForm(
  forms: FastifyInstance,
  { members, checkout, limits }: Deps,
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
      handle: async ({ params, request }) => {
        await chargeByMember({ ...checkout, rowMac }, principalOf(request), params.code);
        return done(`/dashboard/orders/${params.code}`, "order-charged");
      },
    },
  );
}
