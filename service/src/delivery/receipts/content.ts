import type { Sql } from "../../kernel/platform/database/database.ts";
import type { RawEvent } from "../../providers/providers.ts";
import type { ReceiptKind } from "./enqueue.ts";

export type ReceiptContent = {
  title: string;
  /** One or two sentences that state the reported event, and who reported it. */
  sentence: string;
  rows: readonly (readonly [label: string, value: string])[];
  /** Ids of `provider_events` rows. The receipt attaches the events' bytes and signature headers. */
  events: readonly number[];
};

/** Reads the content of a receipt; null when the reported event no longer applies. */
export type ReceiptSource = (db: Sql, orderId: number, subject: number) => Promise<ReceiptContent | null>;

/** The input of the task that draws a receipt. */
export type DrawnReceipt = Omit<ReceiptContent, "events"> & {
  kind: ReceiptKind;
  /** The first six characters of the order's code. The whole code grants access to the order, so it isn't printed. */
  order: string;
  firmName: string;
  environment: "live" | "test";
  createdAt: Date;
  events: readonly (RawEvent & { providerName: string })[];
};

/** The names of receipts in their headings. */
export const receiptNames: Readonly<Record<ReceiptKind, string>> = {
  delivery_receipt: "Delivery receipt",
  mail_receipt: "Mail receipt",
  fax_certificate: "Fax certificate",
};

/**
 * The file name of an event's attached bytes. In a list of attachments by name, the event's headers are right before
 * its bytes.
 */
export const eventFile = (index: number): string => `event-${String(index + 1).padStart(2, "0")}.json`;
export const headersFile = (index: number): string => `event-${String(index + 1).padStart(2, "0")}.headers.json`;
