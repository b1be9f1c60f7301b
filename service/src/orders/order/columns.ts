import type { Principal } from "../../kernel/identity/identity.ts";
import { listed, nothing, quoted, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { BoughtServices, CarrierRate, Priced } from "../pricing/pricing.ts";
import type { OrderForm } from "./form/form.ts";
import { type SenderTexts, senderTextNames, senderTexts } from "./form/sender-texts.ts";

/** The facts from which the columns of a new order are made. */
type NewOrderFacts = BoughtServices &
  SenderTexts &
  Priced["quote"] & {
    principal: Pick<Principal, "partnerId" | "environment">;
    form: OrderForm;
    status: string;
    customerEmail: string;
    faxTo: string | null;
    /** The carrier's rate on which the postage line is based; null without one. */
    carrierRate: CarrierRate | null;
    priceBookVersion: number;
  };

type InsertedColumn = {
  readonly name: string;
  readonly read: (order: NewOrderFacts) => unknown;
  /** The SQL cast of the inserted value; empty for none. */
  readonly cast: Statement;
};

const column = (name: string, read: InsertedColumn["read"], cast = nothing): InsertedColumn => ({
  name,
  read,
  cast,
});
const json = sql`::jsonb`;

/**
 * The columns that are filled when an order is inserted. They come first in the data that the order's state MAC covers,
 * in this sequence. `order-mac.ts` has the columns after them.
 */
const insertedColumns: readonly InsertedColumn[] = [
  column("partner_id", ({ principal }) => principal.partnerId, sql`::uuid`),
  column("environment", ({ principal }) => principal.environment),
  column("status", (order) => order.status),
  column("status_before_hold", () => null),
  column("sign", (order) => order.sign),
  column("notarize", (order) => order.notarize),
  column("ship", (order) => order.ship),
  column("fax", (order) => order.fax),
  ...senderTextNames.map((name) => column(name, (order) => order[senderTexts[name].member])),
  column("customer_email", (order) => order.customerEmail),
  column("customer_name", ({ form }) => form.name),
  column("doc_slug", ({ form }) => form.docSlug),
  column("signer_state", ({ form }) => form.signerState),
  column("dest_state", ({ form }) => form.destState),
  column("ship_method", ({ form }) => form.shipMethod),
  column("ship_to", ({ form }) => form.shipTo, json),
  column("ship_from", ({ form }) => form.shipFrom, json),
  column("fax_to", (order) => order.faxTo),
  column("lines", (order) => order.lines, json),
  column("subtotal_cents", (order) => order.subtotalCents),
  column("discount_cents", (order) => order.discountCents),
  column("total_cents", (order) => order.totalCents),
  column("price_book_version", (order) => order.priceBookVersion),
  column("carrier_rate", (order) => order.carrierRate, json),
  column("pay_by", ({ form }) => form.payBy),
];

export const insertedNames = listed(insertedColumns.map(({ name }) => quoted(name)));

export const insertedValues = (order: NewOrderFacts): Statement =>
  listed(
    insertedColumns.map(({ read, cast }) => {
      const value = read(order);
      return sql`${cast === json && value !== null ? JSON.stringify(value) : value}${cast}`;
    }),
  );

/** The values of a new order's inserted columns, with which the data of its MAC begins. */
export const coveredValues = (order: NewOrderFacts): unknown[] => insertedColumns.map(({ read }) => read(order));

/**
 * SQL: the same columns of a stored order, with which the data of its MAC begins. Further columns follow
 * (`order-mac.ts`).
 * @param missing columns that the MACs of an earlier release did not cover
 */
export const coveredColumns = (row: Statement, missing: readonly string[] = []): Statement =>
  listed(insertedColumns.flatMap(({ name }) => (missing.includes(name) ? [] : sql`${row}.${quoted(name)}`)));
