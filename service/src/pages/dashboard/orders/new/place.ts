import type { FastifyRequest } from "fastify";
import { principalOf } from "../../../../kernel/http/authentication.ts";
import type { Form } from "../../../../kernel/http/uploads/multipart.ts";
import type { Principal } from "../../../../kernel/identity/identity.ts";
import { invalid, ServiceError } from "../../../../kernel/platform/errors.ts";
import type { FillDeps } from "../../../../orders/fills/fills.ts";
import {
  type Answering,
  type OrderDeps,
  type PlacementResult,
  type PricedOrder,
  placeOrder,
  type TitleOf,
} from "../../../../orders/order/order.ts";
import type { PageAnswer } from "../../../ui/page/route.ts";
import { done } from "../../flash-messages.ts";
import type { DashboardFrame } from "../../page-shell.ts";
import { inOurWords, requireSameEnvironment, submissionKey } from "../../submit-once.ts";
import { attachTitled } from "../attach.ts";
import { zipFaults } from "../zip-faults.ts";
import { anotherPath } from "./another.ts";
import { chargeFields, methodToCharge, shownChargeOf } from "./shown-charge.ts";
import { withSigners } from "./signer-rows.ts";

export type OrderNewDeps = { frame: DashboardFrame; orders: OrderDeps; titleOf: TitleOf; fills: FillDeps };

export const path = "/dashboard/orders";

/** Places the order that the form describes, and attaches it to the chosen room. */
export async function place(deps: OrderNewDeps, request: FastifyRequest, sent: Form): Promise<PageAnswer> {
  // Browsers send an empty file when no file is chosen.
  const upload = sent.upload?.bytes.length === 0 ? null : sent.upload;
  // These fields are not part of the deduplication key, so that a form that is sent twice places one order. If the form
  // has a newly chosen file, the token of the stored file is also left out.
  const unmeant = ["next", ...chargeFields, ...(upload === null ? [] : ["fill_token"])];
  const fields = new Map([...sent.fields].filter(([name]) => !unmeant.includes(name)));
  requireSameEnvironment(request, fields.get("environment"));
  const [fault] = shippedFaults(deps.orders.offer.pricing, fields);
  if (fault !== undefined) throw invalid(fault);
  const mayAddPage = fields.get("page_added") !== "ask";
  // If the firm pays, the charge that the form showed; it is compared with the order's price. For an order that the
  // client pays, no comparison is needed, because the client sees the price before paying.
  const shown = fields.get("pay_by") === "firm" ? shownChargeOf(Object.fromEntries(sent.fields)) : null;
  let isUncharged = false;
  const agree = async (order: PricedOrder) => {
    const method = shown && (await methodToCharge(deps.orders, principalOf(request), shown, [order]));
    isUncharged = method === null;
    return method;
  };
  const documentName = fields.get("document_name");
  const form = { fields: withSigners(fields), upload, documentName, mayAddPage, ...(shown && { agree }) };
  const idempotencyKey = submissionKey(fields, upload?.sha256 ?? null);
  const wanted = { principal: principalOf(request), sent: form, route: `POST ${path}/new`, idempotencyKey };
  const { result } = await placeOrder(deps.orders, wanted, answering).catch(
    inOurWords("This order is already being placed. Check your orders in a moment."),
  );
  const { orderCode, checkoutUrl } = result;
  const lacksCheckout = fields.get("create_checkout") === "on" && checkoutUrl === null;
  const isInRoom = await putIntoRoom(deps, principalOf(request), fields.get("room") ?? "", orderCode);
  const usual = isUncharged ? "order-placed-uncharged" : "order-placed";
  const message = lacksCheckout ? "order-placed-unpayable" : usual;
  const after = sent.fields.get("next") === "another" ? anotherPath(orderCode) : `${path}/${orderCode}`;
  return done(after, isInRoom ? message : "order-placed-outside");
}

/** The reasons to refuse the form's postal addresses. Empty without shipping, because only shipping uses them. */
export const shippedFaults: typeof zipFaults = (pricing, fields) =>
  ["on", "true"].includes(fields.get("svc_ship") ?? "") ? zipFaults(pricing, fields) : [];

/**
 * Attaches the order to the chosen room. If that fails, the order stays placed.
 * @returns false if the order could not be attached; true also if no room was chosen
 */
async function putIntoRoom(
  deps: OrderNewDeps,
  principal: Principal,
  room: string,
  orderCode: string,
): Promise<boolean> {
  if (room === "") return true;
  try {
    await attachTitled({ ...deps.orders, titleOf: deps.titleOf }, principal, room, { orderCode });
    return true;
  } catch (error) {
    if (!(error instanceof ServiceError))
      deps.orders.log.error({ err: error }, "a placed order was not put into its room");
    return false;
  }
}

const answering: Answering<PlacementResult> = {
  status: 303,
  resultOf: ({ code }) => ({ orderCode: code, checkoutUrl: null }),
  readText(text) {
    const [orderCode = "", checkoutUrl = null] = text.split(" ");
    return { orderCode, checkoutUrl };
  },
};
