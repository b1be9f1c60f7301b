/**
 * Which node has a live session, and until when. That node alone has the session's media and the pages' event streams.
 */
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { NodeAddress, OwnNode } from "../../../kernel/platform/nodes.ts";
import type { DeskDeps } from "../desk/desk.ts";
import { type LiveSession, sha256Of } from "./store.ts";

/** After a process was killed, people can come back only once the process's lease has ended, so the lease is short. */
export const leaseMs = 9_000;
/** How much of a lease is left when it is renewed. */
export const renewMs = 6_000;
/** How long before its lease ends a node stops the media: closing them takes a moment, and clocks differ. */
const fenceMs = 1_500;
/** How long before that a signer's turn ends: no signature may be accepted after the media have stopped. */
const turnMarginMs = 1_000;

/** A lease of this node: until when, by the clock, and since when, by `performance.now()`, which never jumps. */
export type OwnLease = { until: number; since: number };

/** In how many milliseconds this node stops the media, unless it renews the lease. */
export const msToFence = ({ since }: OwnLease): number => Math.max(0, since + leaseMs - fenceMs - performance.now());

/** When a signer's turn ends, unless the lease is renewed. */
export const turnEndOf = ({ until }: OwnLease): Date => new Date(until - fenceMs - turnMarginMs);

type Lease = {
  id: string;
  state: LiveSession["state"];
  node: string | null;
  url: string | null;
  mac: Buffer | null;
  until: Date | null;
};

type LeaseDeps = { own: OwnNode; sheets: { desk: Pick<DeskDeps, "db" | "clock"> } };

async function leasesWhere(db: Sql, where: Statement): Promise<Lease[]> {
  return db.query<Lease>(sql`
    SELECT l.id, l.state, l.node, l.node_url AS url, l.node_url_mac AS mac, l.lease_until AS until
    FROM live_sessions l WHERE l.state <> 'ended' AND ${where} ORDER BY l.opened_at DESC`);
}

export const leasesOf = (db: Sql, sessions: readonly string[]): Promise<Lease[]> =>
  leasesWhere(db, sql`l.id = ANY(${sessions})`);

/** Takes or renews a lease. @returns false while another node has a valid one, and for a session that has ended */
async function leaseSession(db: Pick<Tx, "query">, id: string, own: OwnNode, now: Date, until: Date): Promise<boolean> {
  const address = own.addressFor(id);
  const rows = await db.query(sql`
    UPDATE live_sessions SET node = ${own.id}, node_url = ${address?.url ?? null}, node_url_mac = ${address?.mac ?? null}, lease_until = ${until}
    WHERE id = ${id} AND state <> 'ended' AND (node IS NULL OR node = ${own.id} OR lease_until < ${now}) RETURNING 1`);
  return rows.length === 1;
}

/**
 * Takes or renews this node's lease on a session. @returns null while another node has the session, and after the
 * session has ended
 */
export async function renewLease(
  { own, sheets: { desk } }: LeaseDeps,
  id: string,
  db: Pick<Tx, "query"> = desk.db,
): Promise<OwnLease | null> {
  const since = performance.now();
  const now = desk.clock();
  const until = new Date(now.getTime() + leaseMs);
  return (await leaseSession(db, id, own, now, until)) ? { until: until.getTime(), since } : null;
}

/** Like `renewLease`, but never returns null. @throws ServiceError `unavailable` instead */
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
 * Refuses while another node has a valid lease on the session. A lease that has ended is not renewed here, because its
 * end shows how long people were away.
 * @throws ServiceError `unavailable` while another node has the session
 */
export async function requireHere({ own, sheets: { desk } }: LeaseDeps, id: string, tx: Tx): Promise<void> {
  const rows = await tx.query(
    sql`SELECT 1 FROM live_sessions WHERE id = ${id} AND node <> ${own.id} AND lease_until >= ${desk.clock()}`,
  );
  if (rows.length === 1) throw elsewhere();
}

/**
 * Requires that this node has a valid lease on the session. Locks the session's row, so that no other node gets a lease
 * before the transaction ends.
 * @throws ServiceError `unavailable` otherwise
 */
export async function requireLease({ own, sheets: { desk } }: LeaseDeps, id: string, tx: Tx): Promise<void> {
  const rows = await tx.query(sql`
    SELECT 1 FROM live_sessions WHERE id = ${id} AND node = ${own.id} AND lease_until > ${desk.clock()} FOR UPDATE`);
  if (rows.length === 0) throw notHere();
}

export const notHere = () =>
  new ServiceError("unavailable", "This server does not have the session now. Try again in some seconds.");

/** Ends leases of this process, so that another process can take over the sessions at once. */
export const releaseLeases = (db: Sql, node: string, now: Date, which: Statement) =>
  db.query(sql`
    UPDATE live_sessions SET node = NULL, lease_until = ${now} WHERE node = ${node} AND state <> 'ended' AND ${which}`);

/** The session that requests of a page belong to: the person's link, or the order of the notary's page. */
export type SessionOfPage = { token: string } | { code: string };

const pageSession = (of: SessionOfPage): Statement =>
  "token" in of
    ? sql`l.id = (SELECT session_id FROM live_people WHERE token_sha256 = ${sha256Of(of.token)})`
    : sql`l.order_id = (SELECT o.id FROM orders o WHERE ${isSealed(sql`o.code`, "order", of.code)})`;

/**
 * The other node that has the session of a page, if requests have to be passed on to it. Null when this node answers
 * them itself. Before the session begins, no node has it. Then the first node that is asked takes it, if the others can
 * reach that node, so that all its pages hear of each other.
 */
export async function otherHolder(deps: LeaseDeps, of: SessionOfPage): Promise<(NodeAddress & { id: string }) | null> {
  const { own, sheets } = deps;
  const { db, clock } = sheets.desk;
  for (let attempt = 0; attempt < 2; attempt++) {
    const [lease] = await leasesWhere(db, pageSession(of));
    if (!lease) return null;
    const left = leftOf(lease, clock());
    if (left > 0 && lease.node !== own.id) return addressOf(own, lease);
    const isDue = lease.state === "open" && own.url !== null && left < renewMs;
    if (!isDue || (await renewLease(deps, lease.id)) !== null) return null;
  }
  return null;
}

/** How long the lease of a session goes on, in milliseconds; 0 without one, negative after it has ended. */
export const leftOf = ({ node, until }: Lease, now: Date): number =>
  node === null || until === null ? 0 : until.getTime() - now.getTime();

/** Where the node that has a session is reached; null when no node has written that. */
export function addressOf(own: OwnNode, { id, node, url, mac }: Lease): (NodeAddress & { id: string }) | null {
  if (node === null || url === null || mac === null) return null;
  return own.isAddressOf(id, { node, url }, mac) ? { id, node, url } : null;
}
