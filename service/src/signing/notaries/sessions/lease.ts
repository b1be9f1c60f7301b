/** Leases on live sessions. Only the node that holds a session's lease may have the session's media. */

import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { NodeAddress, OwnNode } from "../../../kernel/platform/nodes.ts";
import { tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { monotonicMs } from "../../../kernel/platform/stopwatch.ts";
import { orderIdOf } from "../../../orders/order/order.ts";
import type { DeskDeps } from "../claims/claims.ts";
import type { LiveSession } from "./store.ts";

/**
 * How long a lease is valid. It is short, because after a crash people can reconnect only when the lease has expired.
 */
export const leaseMs = 9_000;
/** A lease is renewed when this much of it is left. */
export const renewMs = 6_000;
/** A node stops the media this long before its lease ends, because closing them takes time. */
const fenceMs = 1_500;
/** A signer's turn ends this long before the media stop, because no signature may be accepted without them. */
const turnMarginMs = 1_000;

/**
 * A lease of this node. `until` is the end of the lease by the database's clock, because the nodes' clocks may differ.
 * `since` is a time by `monotonicMs` that is not after the lease's start.
 */
export type OwnLease = { until: number; since: number };

/** The milliseconds that are certainly left of a lease. In the database, the lease may end a little later. */
export const msLeft = ({ since }: OwnLease): number => since + leaseMs - monotonicMs();

/** Milliseconds until this node stops the media, unless it renews the lease. */
export const msToFence = (lease: OwnLease): number => Math.max(0, msLeft(lease) - fenceMs);

/** The end of a signer's turn by the database's clock, unless the lease is renewed. */
export const turnEndOf = ({ until }: OwnLease): Date => new Date(until - fenceMs - turnMarginMs);

/** Milliseconds until a signer's turn ends. */
export const msToTurnEnd = (lease: OwnLease): number => Math.max(0, msLeft(lease) - fenceMs - turnMarginMs);

type Lease = {
  id: string;
  state: LiveSession["state"];
  node: string | null;
  url: string | null;
  mac: Buffer | null;
  /** Milliseconds left of the lease; 0 or less without a valid lease. */
  left: number;
};

type LeaseDeps = { own: OwnNode; sheets: { desk: Pick<DeskDeps, "db"> } };

async function leasesWhere(db: Sql, where: Statement): Promise<Lease[]> {
  return db.query<Lease>(sql`
    SELECT l.id, l.state, l.node, l.node_url AS url, l.node_url_mac AS mac,
      CASE WHEN l.node IS NULL OR l.lease_until IS NULL THEN 0
        ELSE extract(epoch FROM l.lease_until - clock_timestamp())::float8 * 1000 END AS left
    FROM live_sessions l WHERE l.state <> 'ended' AND ${where} ORDER BY l.opened_at DESC`);
}

export const leasesOf = (db: Sql, sessions: readonly string[]): Promise<Lease[]> =>
  leasesWhere(db, sql`l.id = ANY(${sessions})`);

/** True if any node has a valid lease on the session. False for a session without a row. */
export async function isLeased(db: Sql, session: string): Promise<boolean> {
  const rows = await db.query(sql`
    SELECT 1 FROM live_sessions WHERE id::text = ${session} AND node IS NOT NULL AND lease_until > clock_timestamp()`);
  return rows.length === 1;
}

/** The nodes that hold a valid lease on any session now, with their URLs. */
export async function nodesWithSessions(db: Sql): Promise<{ node: string; url: string | null }[]> {
  const leases = await leasesWhere(db, sql`l.node IS NOT NULL AND l.lease_until > clock_timestamp()`);
  const found = new Map(leases.map(({ node, url }) => [node ?? "", url]));
  return [...found].map(([node, url]) => ({ node, url }));
}

/**
 * Acquires or renews this node's lease on a session.
 * @returns null while another node holds it, and after the session has ended
 */
export async function renewLease(
  { own, sheets: { desk } }: LeaseDeps,
  id: string,
  db: Pick<Tx, "query"> = desk.db,
): Promise<OwnLease | null> {
  const address = own.addressFor(id);
  const since = monotonicMs();
  const [row] = await db.query<{ until: Date }>(sql`
    UPDATE live_sessions SET node = ${own.id}, node_url = ${address?.url ?? null}, node_url_mac = ${address?.mac ?? null},
      lease_until = clock_timestamp() + make_interval(secs => ${leaseMs / 1000})
    WHERE id = ${id} AND state <> 'ended' AND (node IS NULL OR node = ${own.id} OR lease_until < clock_timestamp())
    RETURNING lease_until AS until`);
  // The database may have read its clock at any time between the query and its answer. So the whole wait is subtracted
  // from `until`: the lease then never looks longer than it is.
  return row ? { until: row.until.getTime() - (monotonicMs() - since), since } : null;
}

/**
 * Acquires or renews this node's lease on a session.
 * @throws ServiceError `unavailable` where `renewLease` returns null
 */
export async function leaseOf(deps: LeaseDeps, id: string, db?: Pick<Tx, "query">): Promise<OwnLease> {
  const lease = await renewLease(deps, id, db);
  if (lease === null) throw elsewhere();
  return lease;
}

const elsewhere = () =>
  new ServiceError(
    "unavailable",
    "Another server has this session, and this one can’t pass requests on to it: set NODE_URL on each server. Or try again in some seconds.",
  );

/**
 * Throws while another node has a valid lease on the session. An expired lease is not renewed here, because its end
 * shows how long people were away.
 * @throws ServiceError `unavailable` while another node has the session
 */
export async function requireHere({ own }: Pick<LeaseDeps, "own">, id: string, tx: Tx): Promise<void> {
  const rows = await tx.query(
    sql`SELECT 1 FROM live_sessions WHERE id = ${id} AND node <> ${own.id} AND lease_until >= clock_timestamp()`,
  );
  if (rows.length === 1) throw elsewhere();
}

/**
 * Requires that this node has a valid lease on the session. Locks the session's row, so that no other node gets a lease
 * before the transaction ends.
 * @throws ServiceError `unavailable` when this node has no valid lease
 */
export async function requireLease({ own }: Pick<LeaseDeps, "own">, id: string, tx: Tx): Promise<void> {
  // Waits for the lock first. The clock is read only in the next statement, because the lease may expire during the
  // wait.
  await tx.query(sql`SELECT 1 FROM live_sessions WHERE id = ${id} FOR NO KEY UPDATE`);
  const rows = await tx.query(
    sql`SELECT 1 FROM live_sessions WHERE id = ${id} AND node = ${own.id} AND lease_until > clock_timestamp()`,
  );
  if (rows.length === 0) throw notHere();
}

export const notHere = () =>
  new ServiceError("unavailable", "This server does not have the session now. Try again in some seconds.");

/**
 * Ends the leases of this process on the sessions that `which` selects, so that another process can take them over at
 * once.
 * @param msAgo how long ago this process left the sessions
 */
export const releaseLeases = (db: Sql, node: string, msAgo: number, which: Statement) =>
  db.query(sql`
    UPDATE live_sessions SET node = NULL, lease_until = clock_timestamp() - make_interval(secs => ${msAgo / 1000})
    WHERE node = ${node} AND state <> 'ended' AND ${which}`);

/**
 * Milliseconds since the service process that had the session was last known to run. For a process that crashed, they
 * count from the last renewal of its lease. Null when no process has had the session.
 */
export async function msSinceLeft(db: Sql, id: string): Promise<number | null> {
  const [row] = await db.query<{ ended: number | null; isKilled: boolean }>(sql`
    SELECT extract(epoch FROM clock_timestamp() - lease_until)::float8 * 1000 AS ended, node IS NOT NULL AS "isKilled"
    FROM live_sessions WHERE id = ${id}`);
  if (!row) throw new Error(`there is no live session ${id}`);
  return row.ended === null ? null : Math.round(row.ended) + (row.isKilled ? leaseMs : 0);
}

/** Identifies the session of a page: by the person's link, or by the order of the notary's page. */
export type SessionOfPage = { token: string } | { code: string };

const pageSession = (of: SessionOfPage): Statement =>
  "token" in of
    ? sql`l.id = (SELECT session_id FROM live_people WHERE token_sha256 = ${tokenSha256(of.token)})`
    : sql`l.order_id = ${orderIdOf(of.code)}`;

/**
 * The other node to which a page's requests must be forwarded, because it holds the session's lease. Null when this
 * node answers them itself.
 *
 * Before the session begins, the first node that receives a request acquires the lease, if the other nodes can reach
 * that node. So all pages of the session use one node.
 */
export async function otherHolder(deps: LeaseDeps, of: SessionOfPage): Promise<(NodeAddress & { id: string }) | null> {
  const { own, sheets } = deps;
  for (let attempt = 0; attempt < 2; attempt++) {
    const [lease] = await leasesWhere(sheets.desk.db, pageSession(of));
    if (!lease) return null;
    const { left } = lease;
    if (left > 0 && lease.node !== own.id) return addressOf(own, lease);
    const isDue = lease.state === "open" && own.url !== null && left < renewMs;
    if (!isDue || (await renewLease(deps, lease.id)) !== null) return null;
  }
  return null;
}

/** The verified address of the node that holds a session's lease; null when the row has no address or a forged one. */
export function addressOf(own: OwnNode, { id, node, url, mac }: Lease): (NodeAddress & { id: string }) | null {
  if (node === null || url === null || mac === null) return null;
  return own.isAddressOf(id, { node, url }, mac) ? { id, node, url } : null;
}
