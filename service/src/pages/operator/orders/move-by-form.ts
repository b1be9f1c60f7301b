import type { Operator } from "../../../firms/operators/operators.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { businessDay, businessNoon } from "../../../kernel/tasks/tasks.ts";
import { faxStatusOf, type MoveDeps, moveOrder } from "../../../orders/fulfilment/fulfilment.ts";
import { faxesAhead, type OrderState, statusLabel, targetOf } from "../../../orders/order/order.ts";
import { isDay } from "../../../signing/notaries/notaries.ts";
import { type ConsoleMove, isConsoleMove, mayMove } from "../../../upkeep/console/console.ts";

type Asked = { move: string; form: Readonly<Record<string, string>>; operator: Operator };

/**
 * Moves an order as a form of the console specifies.
 * @throws ServiceError naming the field and its rule, or the reason why the move is not possible now; `not_found` for
 * an unknown move; `role_required` for a move that the operator may not make
 */
export async function moveByForm(
  deps: MoveDeps,
  order: OrderState & { code: string },
  { move, form, operator }: Asked,
) {
  if (!isConsoleMove(move)) throw new ServiceError("not_found", "No such move.");
  if (!mayMove(operator, move)) throw new ServiceError("role_required", "Your roles do not permit this.");
  const request = { code: order.code, to: statusBy(order, move), actor: operator.actor, document: null };
  if (move === "priced" && (form["amount"] ?? "").trim() === "" && form["nothing"] !== "on")
    throw invalid("Amount must be given, or it must be confirmed that nothing is to be added.");
  const deliveredAt = move === "delivered" ? arrivalOf(form["arrived_on"], deps.clock()) : undefined;
  await moveOrder(deps, { ...request, facts: { ...factsOf(form), deliveredAt } });
}

/**
 * The status that a move sets; null when it ends a hold.
 * @throws ServiceError when the status table no longer allows the move
 */
function statusBy(order: OrderState, move: ConsoleMove): string | null {
  const to = targetOf(order, move) ?? (faxesAhead(order) ? (faxStatusOf(move) ?? null) : null);
  if (to === null)
    throw new ServiceError("conflict", `The order is “${statusLabel(order.status)}” now: this can’t be done any more.`);
  return move === "released" ? null : to;
}

/** The values that were typed into the form of a move. @throws ServiceError naming the field and its rule */
function factsOf({
  reason = "",
  carrier = "",
  tracking = "",
  untracked = "",
  amount = "",
  label = "",
}: Readonly<Record<string, string>>) {
  const texts = {
    Reason: [reason, 500],
    Carrier: [carrier, 80],
    "Tracking number": [tracking, 80],
    "What it is for": [label, 120],
  };
  for (const [name, [text, max]] of Object.entries(texts) as [string, [string, number]][])
    if (text.length > max || text.includes("\0")) throw invalid(`${name} must have at most ${max} characters.`);
  const optionalText = (text: string) => text.trim() || undefined;
  return {
    reason: optionalText(reason),
    carrier: optionalText(carrier),
    trackingNumber: trackingNumberOf(carrier, tracking.trim()),
    untracked: untracked === "on",
    adjustment: adjustmentOf(amount.trim(), label.trim()),
  };
}

/**
 * How the carriers write their tracking numbers: letters and digits without the spaces in which people group them.
 * Sources: USPS Publication 199 (IMpb) and UPU standard S10; the tracking help of UPS and FedEx.
 */
const carriers = [
  {
    name: /\b(?:usps|u\.?s\.? post)/i,
    numbers: /^(?:\d{20}|\d{22}|\d{26}|\d{30}|\d{34}|[A-Z]{2}\d{9}[A-Z]{2})$/,
    rule: "one of USPS has 20, 22, 26, 30 or 34 digits, or is like EA123456785US",
  },
  {
    name: /\bups\b/i,
    numbers: /^(?:1Z[A-Z0-9]{16}|T\d{10}|\d{9}|\d{12}|\d{22}|\d{26})$/,
    rule: "one of UPS begins with 1Z and has 18 letters and digits",
  },
  {
    name: /\bfed\s?ex\b/i,
    numbers: /^(?:\d{12}|\d{15}|\d{20}|\d{22}|\d{34})$/,
    rule: "one of FedEx has 12, 15, 20 or 22 digits",
  },
];

/**
 * Checks the typed tracking number against its carrier's format, because clients are emailed the number. The number of
 * a carrier outside the list above is not checked. Undefined for an empty one.
 * @throws ServiceError naming the field and its rule
 */
function trackingNumberOf(carrier: string, typed: string): string | undefined {
  if (typed === "") return undefined;
  const number = typed.replaceAll(/[ -]/g, "").toUpperCase();
  const format = carriers.find(({ name }) => name.test(carrier));
  if (format && !format.numbers.test(number)) throw invalid(`Tracking number is mistyped: ${format.rule}.`);
  return typed;
}

/**
 * Noon of the typed day; undefined for today, which is recorded with the present time.
 * @throws ServiceError naming the field and its rule
 */
function arrivalOf(typed: string | undefined, now: Date): Date | undefined {
  // A page that was opened before the field existed sends no date.
  if (typed === undefined) return undefined;
  const [day, today] = [typed.trim(), businessDay(now)];
  if (!isDay(day)) throw invalid(`Date of arrival must be a day like ${today}.`);
  if (day > today) throw invalid(`Date of arrival must not be after today, ${today}.`);
  return day === today ? undefined : businessNoon(day);
}

function adjustmentOf(amount: string, label: string): { amountCents: number; label: string } | undefined {
  if (amount === "") {
    if (label !== "") throw invalid("Amount must be given with what it is for.");
    return undefined;
  }
  const [, sign, dollars, cents = "00"] = /^([-−]?)\$?(\d{1,6})(?:\.(\d{2}))?$/.exec(amount) ?? [];
  if (dollars === undefined) throw invalid("Amount must be US dollars and cents, like 45.00.");
  if (label === "") throw invalid("What it is for must be given with an amount.");
  return { amountCents: (sign ? -1 : 1) * (Number(dollars) * 100 + Number(cents)), label };
}
