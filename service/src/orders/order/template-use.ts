/** The template version from which an order was placed. Templates themselves are a separate feature. */
import type { Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { AlteredRecordError } from "../../kernel/platform/errors.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { verifiedOrder } from "./order-mac.ts";

export type TemplateUse = { readonly templateId: string; readonly version: number };

type UseFacts = TemplateUse & { orderCode: string };

const useMembers = ({ orderCode, templateId, version }: UseFacts): Members => ({ orderCode, templateId, version });

export const macOfUse = (rowMac: RowMac, orderCode: string, use: TemplateUse): Buffer =>
  rowMac.of("order_templates", useMembers({ orderCode, ...use }));

export const templateUseRows: MacTable<UseFacts> = {
  table: sql`order_templates`,
  key: sql`order_id`,
  keyInRows: sql`t.order_id`,
  mac: sql`t.row_mac`,
  rows: sql`SELECT t.order_id AS key, o.code AS "orderCode@order", t.template_id AS "templateId", t.version, t.row_mac AS mac
FROM order_templates t JOIN orders o ON o.id = t.order_id`,
  members: useMembers,
};

/**
 * The template version from which an order was placed, with the order's owner; undefined for an order without a
 * template.
 * @throws AlteredRecordError
 */
export async function readTemplateUse(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  orderId: number,
): Promise<(TemplateUse & { owner: Owner }) | undefined> {
  const [row] = await db.query<UseFacts & Owner & { mac: Buffer }>(sql`
    SELECT o.code AS "orderCode@order", o.partner_id AS "partnerId", o.environment, t.template_id AS "templateId", t.version,
      t.row_mac AS mac, ${verifiedOrder}
    FROM order_templates t JOIN orders o ON o.id = t.order_id WHERE o.id = ${orderId}`);
  if (!row) return undefined;
  const { partnerId, environment, templateId, version, mac } = row;
  const altered = () => new AlteredRecordError(`the template of order ${orderId}`);
  rowMac.verify("order_templates", useMembers(row), mac, { altered });
  return { templateId, version, owner: { partnerId, environment } };
}

/**
 * Builds the INSERT that records from which template an order was placed, as a part of the statement that writes the
 * order.
 */
export const insertTemplateUse = (
  { templateId, version, rowMac }: TemplateUse & { rowMac: Buffer },
  newOrder: Statement,
): Statement => sql`
  INSERT INTO order_templates (order_id, template_id, version, row_mac)
  SELECT ${newOrder}.id, ${templateId}::uuid, ${version}, ${rowMac}::bytea FROM ${newOrder}`;

/** SQL expression: an order's `TemplateUse`; null for an order without a template. */
export const templateOf = (orderId: Statement): Statement => sql`(
  SELECT jsonb_build_object('templateId', t.template_id, 'version', t.version) FROM order_templates t
  WHERE t.order_id = ${orderId})`;

/** SQL condition: true if an order was placed from this version of a template. Both members are SQL columns. */
export const isOrdered = ({ templateId, version }: Record<keyof TemplateUse, Statement>): Statement =>
  sql`EXISTS (SELECT FROM order_templates u WHERE u.template_id = ${templateId} AND u.version = ${version})`;
