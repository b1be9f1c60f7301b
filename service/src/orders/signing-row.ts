import { canonicalJson } from "@signsealship/evidence/manifest";
import { type Statement, sql } from "../platform/database/sql.ts";
import type { Members } from "../platform/row-mac.ts";
import type { RequestedField } from "./form/requested-fields.ts";
import { type OrderSigner, signersOf } from "./form/signers.ts";

/** What an order says of its signers: to whom links will be mailed, and what they sign where. */
export type SigningFacts = {
  orderCode: string;
  /** Null: the client signs. */
  signers: readonly OrderSigner[] | null;
  customerName: string | null;
  customerEmail: string;
  /** Null: the document says it. */
  fields: readonly RequestedField[] | null;
};

/** What the row's MAC is over: who can write the database alone can't have a document signed by somebody else. */
export const signingMembers = ({ orderCode, fields, ...order }: SigningFacts): Members => ({
  orderCode,
  signers: canonicalJson(signersOf(order)),
  fields: canonicalJson(fields?.map(withExactMeasures) ?? null),
});

/** Canonical JSON has no fractions: a measure that is one is the text that JavaScript writes of it. */
const withExactMeasures = ({ x, y, width, height, ...field }: RequestedField) => ({
  ...field,
  ...Object.fromEntries(
    Object.entries({ x, y, width, height }).map(([name, value]) => [
      name,
      Number.isInteger(value) ? value : `${value}`,
    ]),
  ),
});

/** Columns of `orders o` for its facts and their MAC. */
export const signingColumns: Statement = sql`o.code AS "orderCode", o.signers, o.customer_name AS "customerName",
  o.customer_email AS "customerEmail", o.signature_fields AS fields, o.row_mac AS mac`;
