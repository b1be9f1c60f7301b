/** Which version of a template an order was placed from. The templates themselves are a feature of their own. */
import { type Statement, sql } from "../../kernel/platform/database/sql.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";

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

/** The insert of an order's use, as a part of the order's statement. */
export const insertTemplateUse = (
  { templateId, version, rowMac }: TemplateUse & { rowMac: Buffer },
  newOrder: Statement,
): Statement => sql`
  INSERT INTO order_templates (order_id, template_id, version, row_mac)
  SELECT ${newOrder}.id, ${templateId}::uuid, ${version}, ${rowMac}::bytea FROM ${newOrder}`;

/** An order's `TemplateUse`, or null: a part of a statement. */
export const templateOf = (orderId: Statement): Statement => sql`(
  SELECT jsonb_build_object('templateId', t.template_id, 'version', t.version) FROM order_templates t
  WHERE t.order_id = ${orderId})`;
