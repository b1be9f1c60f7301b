import type { ShippingDeps } from "../deps.ts";

export type LabelDeps = Omit<ShippingDeps, "lob" | "workers" | "baseUrl" | "receipts">;

/** Who moves orders by what EasyPost says, for the audit log. */
export const easypostActor = "provider:easypost";
