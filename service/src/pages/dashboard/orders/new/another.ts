import type { FastifyRequest } from "fastify";
import { roomsOfOrder } from "../../../../closing/rooms/rooms.ts";
import { principalOf } from "../../../../kernel/http/authentication.ts";
import type { Database } from "../../../../kernel/platform/database/database.ts";
import { type SameClient, sameClient, type TitleOf } from "../../../../orders/order/order.ts";
import type { Address } from "../../../../orders/pricing/pricing.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";
import { ownOrder } from "../own-order.ts";
import { orderName } from "../words.ts";
import { rowField } from "./signer-rows.ts";

/** The URL of the form that places one more order for the same client. */
export const anotherPath = (code: string): string => `/dashboard/orders/new?like=${code}`;

/** The order from which a new one is copied: its code, its name, and the values that the form copies. */
export type ModelOrder = { code: string; name: string; values: FormValues };

/**
 * The order and the values that the form copies from it.
 * @throws ServiceError for an order that does not belong to the firm
 */
export async function modelOrder(
  { db, titleOf }: { db: Database; titleOf: TitleOf },
  request: FastifyRequest,
  code: string,
): Promise<ModelOrder> {
  const principal = principalOf(request);
  const order = await ownOrder(db, request, code);
  const [same, rooms] = await Promise.all([
    sameClient(db, order.code, principal),
    roomsOfOrder(db, order.code, principal),
  ]);
  const room = rooms.findLast(({ status }) => status === "open")?.code ?? "";
  const name = orderName({ order, title: titleOf(order) });
  return { code: order.code, name, values: { ...(same && valuesOf(same)), room, pay_by: order.payBy } };
}

/**
 * The form values that are copied from an existing order. Access codes are not stored, so the form asks for them again.
 */
function valuesOf(order: SameClient): FormValues {
  const { signers } = order;
  const rows = (signers ?? []).map(({ name, email, phone, routing, language, auth }, index) => {
    const members = { name, email, phone: phone ?? "", routing: String(routing), language, auth };
    return Object.entries(members).map(([member, text]) => [rowField(index + 1, member as keyof typeof members), text]);
  });
  return {
    email: order.customerEmail,
    name: order.customerName ?? "",
    signer_state: order.signerState ?? "",
    external_reference: order.externalReference ?? "",
    ...addressOf("ship", order.shipTo),
    ...addressOf("from", order.shipFrom),
    ...(signers && { svc_sign: "on", signer_rows: String(signers.length), ...Object.fromEntries(rows.flat()) }),
  };
}

const addressOf = (prefix: "ship" | "from", address: Address | null): FormValues =>
  Object.fromEntries(Object.entries(address ?? {}).map(([part, text]) => [`${prefix}_${part}`, text ?? ""]));
