import type { Environment } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { nothing, sql } from "../../../kernel/platform/database/sql.ts";
import { isCode, isUuid } from "../../../kernel/platform/text.ts";
import { orderCodes, orderIdOf } from "../../../orders/order/order.ts";

/** A recording, as a list shows it. */
export type RecordingOnList = {
  id: string;
  notaryId: string;
  notary: string;
  code: string | null;
  people: number;
  bytes: number;
  startedAt: Date;
  endedAt: Date | null;
  keepUntil: string | null;
  isHeld: boolean;
  deletedAt: Date | null;
};

type Which = {
  environment: Environment;
  /** The id of the notary whose recordings are listed; null for those of all notaries. */
  notaryId: string | null;
  /** The code of the order whose recordings are listed; null for those of all orders. */
  orderCode: string | null;
};

const maxRecordingsShown = 200;

/** The newest 200 recordings of an environment. `which` can limit them to a notary, to an order, or to both. */
export async function listRecordings(db: Sql, which: Which): Promise<RecordingOnList[]> {
  const { environment, notaryId, orderCode } = which;
  if ((notaryId !== null && !isUuid(notaryId)) || (orderCode !== null && !isCode(orderCode))) return [];
  const rows = await db.query<Omit<RecordingOnList, "code"> & { orderId: number | null }>(sql`
    SELECT r.id, r.notary_id AS "notaryId", n.commission_name AS notary, r.order_id AS "orderId",
      jsonb_array_length(r.people) AS people, r.started_at AS "startedAt", r.ended_at AS "endedAt",
      r.keep_until::text AS "keepUntil", r.is_held AS "isHeld", r.deleted_at AS "deletedAt",
      (SELECT coalesce(sum(bytes), 0)::float8 FROM recording_parts p WHERE p.recording_id = r.id) AS bytes
    FROM recordings r JOIN notaries n ON n.id = r.notary_id
    WHERE r.environment = ${environment}
      ${notaryId === null ? nothing : sql`AND r.notary_id = ${notaryId}`}
      ${orderCode === null ? nothing : sql`AND r.order_id = ${orderIdOf(orderCode)}`}
    ORDER BY r.started_at DESC, r.id LIMIT ${maxRecordingsShown}`);
  const codes = await orderCodes(
    db,
    rows.flatMap(({ orderId }) => orderId ?? []),
  );
  return rows.map(({ orderId, ...row }) => ({ ...row, code: orderId === null ? null : (codes.get(orderId) ?? null) }));
}
