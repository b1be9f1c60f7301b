import type { Owner } from "../../identity/identity.ts";
import type { Sql } from "../../platform/database.ts";

export type RoomOfOrder = { code: string; name: string; status: string };

/** The owner's rooms that the order is in, at most 100, in the order in which it came to them. */
export const roomsOfOrder = (sql: Sql, orderCode: string, { partnerId, environment }: Owner) =>
  sql.rows<RoomOfOrder>(
    `SELECT r.code, r.name, r.status FROM orders o JOIN room_orders a ON a.order_id = o.id JOIN rooms r ON r.id = a.room_id
     WHERE o.code = $1 AND r.partner_id = $2 AND r.environment = $3 ORDER BY a.attached_at, a.position
     LIMIT 100`,
    [orderCode, partnerId, environment],
  );
