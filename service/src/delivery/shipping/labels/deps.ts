import type { ShippingDeps } from "../deps.ts";

export type LabelDeps = Omit<ShippingDeps, "lob" | "workers" | "baseUrl" | "receipts">;

/** The actor of moves caused by EasyPost, for the audit log. */
export const easypostActor = "provider:easypost";
