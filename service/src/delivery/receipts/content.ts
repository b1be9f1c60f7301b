import type { Sql } from "../platform/database/database.ts";
import type { RawEvent } from "../providers/providers.ts";
import type { ReceiptKind } from "./enqueue.ts";

/** What a receipt says. */
export type ReceiptContent = {
  title: string;
  /** What happened, and by whose word. */
  sentence: string;
  rows: readonly (readonly [label: string, value: string])[];
  /** Ids of rows of `provider_events`, whose bytes and signature headers are attached. */
  events: readonly number[];
};

/** Reads what a receipt of the kind says. Null: there is nothing to say any more. */
export type ReceiptSource = (db: Sql, orderId: number, subject: number) => Promise<ReceiptContent | null>;

/** What a receipt is drawn from. */
export type DrawnReceipt = Omit<ReceiptContent, "events"> & {
  kind: ReceiptKind;
  /** Its first six characters: the whole code opens the order. */
  order: string;
  firmName: string;
  environment: "live" | "test";
  madeAt: Date;
  events: readonly (RawEvent & { providerName: string })[];
};

/** How the heading calls it. */
export const receiptNames: Readonly<Record<ReceiptKind, string>> = {
  delivery_receipt: "Delivery receipt",
  mail_receipt: "Mail receipt",
  fax_certificate: "Fax certificate",
};

/** The name of an event's attached bytes; those of its headers follow it in the order of names. */
export const eventFile = (index: number): string => `event-${String(index + 1).padStart(2, "0")}.json`;
export const headersFile = (index: number): string => `event-${String(index + 1).padStart(2, "0")}.headers.json`;
