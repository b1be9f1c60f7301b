import { actorOf, type Principal } from "../../../../kernel/identity/identity.ts";
import { invalid } from "../../../../kernel/platform/errors.ts";
import type { OrderDeps, PricedOrder } from "../../../../orders/order/order.ts";
import { activeMethod, expectedRefusal, methodName } from "../../../../orders/payments/payments.ts";
import { money } from "../../../ui/format.ts";
import { hiddenFields } from "../../../ui/forms/button-form.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import type { Html } from "../../../ui/render.ts";
import { shownCents } from "../firm-pays.ts";

/** The charge to the firm's payment method, as a form showed it before it was sent. */
export type ShownCharge = {
  /** The final price, in cents; undefined if the form showed none. */
  cents: number | undefined;
  /** The highest price that may be charged, in cents, if the form showed a price that was not final. */
  mostCents: number | undefined;
  /**
   * The id of the payment method in the form, or `none` if the form stated that nobody is charged; undefined if it
   * stated nothing.
   */
  method: string | undefined;
  /**
   * True if the member agreed that an operator sets the price first. The firm then sees that price before it is
   * charged.
   */
  isPriceFirst: boolean;
};

/**
 * The form's fields about the charge. They are ignored in the deduplication of orders: a form that is sent twice places
 * one order, even if its displayed price changed in between.
 */
export const chargeFields: readonly string[] = ["total_cents", "most_cents", "charged_method", "price_first"];

/** The value of the form's field `charged_method` if the form stated that nobody is charged. */
export const noMethod = "none";

/**
 * True if the member agreed that a person may set the price first. The form asks for this only after it was rejected
 * because the order has no automatic price.
 */
export const isPriceFirst = (values: FormValues): boolean => values["price_first"] === "on";

/** @throws ServiceError naming `total_cents` or `most_cents` */
export const shownChargeOf = (values: FormValues): ShownCharge => ({
  cents: values["total_cents"] === undefined ? undefined : shownCents(values),
  mostCents: values["most_cents"] === undefined ? undefined : shownCents(values, "most_cents"),
  method: values["charged_method"],
  isPriceFirst: isPriceFirst(values),
});

/** The hidden fields by which a form sends back the displayed charge. */
export const shownChargeFields = (shown: { cents: number; isFinal: boolean; method: string }): Html =>
  hiddenFields({ [shown.isFinal ? "total_cents" : "most_cents"]: String(shown.cents), charged_method: shown.method });

const nothingDone = "Nothing was placed, and nobody was charged.";

/**
 * Finds the payment method that may be charged automatically for orders that the firm pays.
 *
 * @returns the id of the method; null if the orders are placed without a charge, for example because the price is above
 * `mostCents`
 * @throws ServiceError naming the field or the difference, if the charge would differ from the one that the form showed
 */
export async function methodToCharge(
  deps: Pick<OrderDeps, "db" | "clock" | "rowMac">,
  principal: Principal,
  shown: ShownCharge,
  orders: readonly PricedOrder[],
): Promise<string | null> {
  const { cents, method } = shown;
  if (shown.isPriceFirst) return null;
  const reasons = new Set(orders.flatMap(({ manualQuoteReason }) => manualQuoteReason ?? []));
  if (reasons.size > 0) {
    if (cents === undefined && (method ?? noMethod) === noMethod) return null;
    throw invalid(
      `price_first must be ticked: a person has to set the price. ${[...reasons].join(" ")} ${nothingDone}`,
    );
  }
  const amounts = orders.map(({ totalCents }) => totalCents);
  const totalCents = amounts.reduce((sum, each) => sum + each, 0);
  if (cents !== undefined && totalCents !== cents)
    throw invalid(`The price is ${money(totalCents)} now, not ${money(cents)}. ${nothingDone}`);
  // Without JavaScript the order form shows no charge, so the member has agreed to none.
  if (method === undefined) return null;
  const active = await activeMethod(deps.db, principal);
  const spending = { spender: actorOf(principal), amounts };
  const refusal = active ? await expectedRefusal(deps.db, deps, principal, spending) : null;
  const change = changeOf({
    shown: method,
    active: active?.id,
    isRefused: refusal !== null,
    isFinal: cents !== undefined,
  });
  const agreedCents = cents ?? shown.mostCents ?? -1;
  if (change === null) return method === noMethod || totalCents > agreedCents ? null : method;
  const name = active ? methodName(active) : "";
  throw invalid(`The charge is not the one that the form showed: ${changes[change](name)} ${nothingDone}`);
}

type Compared = { shown: string; active: string | undefined; isRefused: boolean; isFinal: boolean };

/**
 * Compares the charge that is possible now with the displayed one. Returns the kind of difference; null if there is
 * none. A spending limit that stops the charge is a difference only if the displayed price was final.
 */
function changeOf({ shown, active, isRefused, isFinal }: Compared): keyof typeof changes | null {
  if (shown === noMethod) return active !== undefined && !isRefused ? "charged" : null;
  if (active === undefined) return "removed";
  if (active !== shown) return "replaced";
  return isRefused && isFinal ? "refused" : null;
}

const changes = {
  charged: (name: string) => `${name} would be charged now.`,
  replaced: (name: string) => `${name} is on file now.`,
  removed: () => "your firm has no card or bank account on file any more.",
  refused: (name: string) => `your limit does not allow you to charge ${name} any more.`,
} as const;
