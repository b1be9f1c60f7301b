import type { Owner } from "../../kernel/identity/identity.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";

/** The refusal of an order that doesn't exist or is another firm's: the answer must not tell these two apart. */
export const orderNotFound = (): ServiceError => new ServiceError("not_found", "Order not found.");

/** True if an order is this firm's, in the same environment. */
export const isOrderOf = ({ partnerId, environment }: Owner, order: Owner): boolean =>
  order.partnerId === partnerId && order.environment === environment;
