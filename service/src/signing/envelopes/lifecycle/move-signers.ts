import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import {
  correctionsOf,
  currentEmail,
  type EmailMove,
  hasEmailOf,
  type LockedOrder,
  replaceSigner as replaceInOrder,
} from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Envelope, findSigners, lockEnvelope, type Signer } from "../records/envelope.ts";
import { leaveSession, renewLinks } from "../records/sessions.ts";
import { appendToTrail } from "../records/trail.ts";
import { issueCopyLink, mailCopiesAgain } from "./copy-links.ts";
import { issueLink } from "./issue-link.ts";
import { resetSigner } from "./replace.ts";
import { closeUnlocking } from "./unlock.ts";

/**
 * An envelope with the signers who have the earlier email address. `movers` get the new address; `signed` keep the
 * earlier one in what they signed.
 */
type Opened = { envelope: Envelope; movers: Signer[]; signed: Signer[] };

export type MovedSigners = {
  /**
   * For each order, by its id. `moved`: the names of the signers who got the new email address. `signed`: the names of
   * the signers who had signed with the earlier one.
   */
  people: ReadonlyMap<number, { moved: readonly string[]; signed: readonly string[] }>;
  /** The ids of the orders in which nobody was changed, because a row about their signers was altered. */
  altered: ReadonlySet<number>;
};

type Deps = Pick<EnvelopeDeps, "rowMac" | "reach">;
type By = { actor: string; at: Date };

/**
 * Gives people another email address in several orders. All earlier links, open pages, codes and browser sessions of
 * these people stop working at once.
 *
 * In the `movable` orders, people who have not signed will sign under the new address. They are mailed a new link if
 * they had one. In other orders, and in an envelope in a notary's presence, nothing changes for people who have not
 * signed.
 *
 * People who have signed keep the earlier address in what they signed. If they had a link, they are mailed a new one to
 * the finished documents.
 *
 * The caller must have locked the orders, so no signature can be added during this change. The caller must also record
 * the corrected address of people who have signed, because their mails go there.
 *
 * If an earlier link also opens documents of orders outside `orders`, it still opens those documents.
 * @param orders `movable`: the ids of the orders in which people who have not signed get the new address
 * @throws ServiceError `validation` when the person at the new address already signs an order
 */
export async function moveSigners(
  deps: Deps,
  tx: Tx,
  { orders, movable }: { orders: readonly LockedOrder[]; movable: ReadonlySet<number> },
  move: EmailMove,
  by: By,
): Promise<MovedSigners> {
  const all: Opened[] = [];
  const altered = new Set<number>();
  // Every transaction locks all its envelopes before any session, to avoid deadlocks.
  for (const { id } of orders) {
    const opened = await lockPeople(tx, id, move, movable.has(id)).catch(nullIfAltered);
    if (opened === null) altered.add(id);
    else all.push(...opened);
  }
  const people = all.flatMap(({ movers, signed }) => [...movers, ...signed]);
  for (const { id, lockedAt } of people)
    if (lockedAt !== null) await closeUnlocking(tx, id, { at: by.at, by: by.actor, outcome: "replaced" });
  const ids = people.map(({ id }) => id);
  await leaveWiderSessions(
    tx,
    ids,
    orders.map(({ id }) => id),
  );
  await renewLinks(tx, deps.reach.links, ids);
  for (const { envelope, movers, signed } of all) {
    for (const signer of movers) await moveSigner(deps, tx, { envelope, signer, to: move.to }, by);
    for (const signer of signed)
      if (signer.issuedAt !== null) await issueCopyLink(tx, deps.reach, { envelope, signer }, by);
  }
  await mailCopiesAgain(
    tx,
    all.flatMap(({ signed }) => signed.map(({ id }) => id)),
  );
  return { people: namesOf(all), altered };
}

/**
 * Removes signers from sessions that also open documents of orders outside `orderIds`. An order can be in two rooms,
 * but a session belongs to only one room.
 */
const leaveWiderSessions = (tx: Tx, signerIds: readonly number[], orderIds: readonly number[]) =>
  tx.query(sql`
    DELETE FROM session_signers m WHERE m.signer_id = ANY (${signerIds}::bigint[]) AND EXISTS (
      SELECT FROM session_signers other JOIN envelope_signers s ON s.id = other.signer_id
        JOIN envelopes e ON e.id = s.envelope_id
      WHERE other.session_id = m.session_id AND NOT e.order_id = ANY (${orderIds}::bigint[]))`);

function namesOf(all: readonly Opened[]): MovedSigners["people"] {
  const names = new Map<number, { moved: string[]; signed: string[] }>();
  for (const { envelope, movers, signed } of all) {
    const { moved, signed: before } = names.get(envelope.orderId) ?? { moved: [], signed: [] };
    names.set(envelope.orderId, {
      moved: [...moved, ...movers.map(({ name }) => name)],
      signed: [...new Set([...before, ...signed.map(({ name }) => name)])],
    });
  }
  return names;
}

/**
 * Locks the open and completed envelopes of a locked order, and finds the people who have the email address. Leaves out
 * an envelope that people are signing in a notary's presence, because the notary identifies them by that address.
 */
async function lockPeople(tx: Tx, orderId: number, move: EmailMove, isMovable: boolean): Promise<Opened[]> {
  const ids = await tx.query<{ id: number }>(sql`
    SELECT id FROM envelopes WHERE order_id = ${orderId} AND (ended_at IS NULL OR outcome = 'Completed') ORDER BY id`);
  const corrections = await correctionsOf(tx, orderId);
  const all: Opened[] = [];
  for (const { id } of ids) {
    const envelope = await lockEnvelope(tx, id);
    if (!envelope || (envelope.endedAt === null && envelope.isInRoom)) continue;
    const signers = await findSigners(tx, id);
    const isSigned = ({ signedAt }: Signer) => signedAt !== null || envelope.endedAt !== null;
    const having = signers.filter((each) =>
      hasEmailOf(move, { ...each, email: isSigned(each) ? currentEmail(corrections, each) : each.email }),
    );
    const movers = isMovable ? having.filter((each) => !isSigned(each)) : [];
    requireOthers(movers, signers, move);
    all.push({ envelope, movers, signed: having.filter(isSigned) });
  }
  return all;
}

function requireOthers(movers: readonly Signer[], signers: readonly Signer[], { from, to }: EmailMove): void {
  if (from.toLowerCase() === to.toLowerCase()) return;
  const others = signers.filter(({ email }) => email.toLowerCase() === to.toLowerCase());
  const twice = movers.find(({ name }) => others.some((other) => other.name.toLowerCase() === name.toLowerCase()));
  if (twice) throw invalid(`email must be another one: ${twice.name} signs with it already.`);
}

async function moveSigner(
  deps: Deps,
  tx: Tx,
  { envelope, signer, to }: { envelope: Envelope; signer: Signer; to: string },
  { actor, at }: By,
): Promise<void> {
  const { n, name, email, auth, language } = signer;
  await leaveSession(tx, signer.id);
  await resetSigner(tx, signer.id, sql`email = ${to}`);
  await replaceInOrder(tx, deps.rowMac, envelope.orderId, n, { email: to });
  await appendToTrail(tx, deps.rowMac, envelope, "replaced", at, {
    by: actor,
    before: { email, name },
    now: { auth, email: to, language, name },
    signer: n,
  });
  const { partnerId, orderId } = envelope;
  await tx.query(auditLine({ at, action: "signer.replaced", actor, partnerId, orderId, detail: { signer: n } }));
  if (signer.issuedAt !== null) await issueLink(tx, deps, envelope, signer, { at, actor });
}
