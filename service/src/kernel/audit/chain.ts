import { hash } from "node:crypto";
import type { Clock } from "../platform/clock.ts";
import type { Database, Sql, Tx } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import type { Log } from "../platform/logs.ts";
import type { Members, RowMac } from "../platform/row-mac.ts";

/** A line as the chain has it: every column as the database writes it. */
export type ChainLine = {
  id: number;
  occurredAt: string;
  action: string;
  actor: string;
  partnerId: string | null;
  orderId: number | null;
  roomId: string | null;
  fromStatus: string | null;
  toStatus: string | null;
  detail: string | null;
};

/** Columns of `audit_log` for a `ChainLine`. */
export const lineColumns = sql`id,
  to_char(occurred_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') AS "occurredAt", action, actor,
  partner_id AS "partnerId", order_id AS "orderId", room_id AS "roomId", from_status AS "fromStatus",
  to_status AS "toStatus", detail::text AS detail`;

type Link = { position: number; sha256: string };

/**
 * A place in the chain: `position` from 1 on; `sha256` in hex, over the line and the place before it. `placedAt` shows a line that was
 * added with an earlier time; earlier releases did not record it.
 */
export type Place = Link & { placedAt: Date | null };

export const beginning: Link = { position: 0, sha256: "" };

/** The place of the line that follows `before`. */
export function placeAfter(before: Link, line: ChainLine): Link {
  const { id, occurredAt, action, actor, partnerId, orderId, roomId, fromStatus, toStatus, detail } = line;
  const position = before.position + 1;
  const said = [id, occurredAt, action, actor, partnerId, orderId, roomId, fromStatus, toStatus, detail];
  const text = JSON.stringify([before.sha256, position, ...said]);
  return { position, sha256: hash("sha256", text) };
}

export const placeMembers = ({ position, sha256, placedAt }: Place): Members =>
  placedAt ? { position, sha256, placedAt } : { position, sha256 };

/** Columns of `audit_log` for a place and its MAC. */
export const placeColumns = sql`chain_position AS position, encode(chain_sha256, 'hex') AS sha256,
  chain_placed_at AS "placedAt", row_mac AS mac`;

// One number for all nodes: the holder chains, the others come again.
const advisoryLock = 7_246_004;
const batch = 1_000;

type ChainDeps = { db: Database; rowMac: RowMac; clock: Clock; log: Log };

/** Gives the lines that are not in the chain yet their places, in the order of their ids. */
export async function chainAuditLines(deps: ChainDeps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await hasUnchained(deps.db))) {
    const chained = await deps.db.transaction((tx) => chainBatch(tx, deps));
    if (chained < batch) return;
  }
}

async function hasUnchained(db: Sql): Promise<boolean> {
  const [found] = await db.query<{ some: boolean }>(sql`
    SELECT EXISTS (SELECT FROM audit_log WHERE chain_position IS NULL) AS some`);
  return found?.some === true;
}

async function chainBatch(tx: Tx, { rowMac, clock, log }: ChainDeps): Promise<number> {
  const [lock] = await tx.query<{ ours: boolean }>(sql`SELECT pg_try_advisory_xact_lock(${advisoryLock}) AS ours`);
  if (!lock?.ours) return 0;
  const [head] = await tx.query<Place & { mac: Buffer }>(sql`
    SELECT ${placeColumns} FROM audit_log WHERE chain_position IS NOT NULL ORDER BY chain_position DESC LIMIT 1`);
  if (head && !rowMac.holds("audit_log", placeMembers(head), head.mac))
    log.error({ position: head.position }, "the last line of the audit log is not what was written");
  const lines = await tx.query<ChainLine>(sql`
    SELECT ${lineColumns} FROM audit_log WHERE chain_position IS NULL ORDER BY audit_log.id LIMIT ${batch}`);
  const placedAt = clock();
  let link: Link = head ?? beginning;
  const places = lines.map((line): Place => {
    link = placeAfter(link, line);
    return { ...link, placedAt };
  });
  await tx.query(sql`
    UPDATE audit_log a SET chain_position = n.position, chain_sha256 = decode(n.sha256, 'hex'), chain_placed_at = ${placedAt}, row_mac = n.mac
    FROM unnest(${lines.map(({ id }) => id)}::bigint[], ${places.map(({ position }) => position)}::bigint[],
      ${places.map(({ sha256 }) => sha256)}::text[],
      ${places.map((one) => rowMac.of("audit_log", placeMembers(one)))}::bytea[]) AS n (id, position, sha256, mac)
    WHERE a.id = n.id`);
  return lines.length;
}
