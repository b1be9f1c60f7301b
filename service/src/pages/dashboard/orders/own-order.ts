import type { FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { findOrder, findOwnOrder, orderNotFound, type PublicOrderRow } from "../../../orders/order/order.ts";

/**
 * Reads an order of the firm, in the environment (live or test) that the member has chosen.
 * @throws ServiceError; the error is the same for an unknown code and for an order of another firm or environment
 */
export async function ownOrder(db: Sql, request: FastifyRequest, code: string): Promise<PublicOrderRow> {
  const own = isCode(code) && (await findOwnOrder(db, code, principalOf(request)));
  const order = own ? await findOrder(db, code) : undefined;
  if (!order) throw orderNotFound();
  return order;
}
