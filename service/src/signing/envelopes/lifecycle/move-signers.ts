import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import { type LockedOrder, replaceSigner as replaceInOrder } from "../../../orders/order/order.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Envelope, findOpenEnvelope, findSigners, lockEnvelope, type Signer } from "../records/envelope.ts";
import { endAccess } from "../records/sessions.ts";
import { appendToTrail } from "../records/trail.ts";
import { issueLink } from "./issue-link.ts";
import { resetSigner } from "./replace.ts";
import { closeUnlocking } from "./unlock.ts";

type Opened = { envelope: Envelope; movers: Signer[]; signed: string[] };

/**
 * By the order's id: the names of the signers whose address was changed, and of those who had already signed with the
 * earlier address.
 */
export type MovedSigners = ReadonlyMap<number, { moved: readonly string[]; signed: readonly string[] }>;

/**
 * Changes the email address of a person in the open envelopes of several orders that the person has not signed. The
 * person's earlier links, open pages, codes and sessions stop working at once. A person who had a link is mailed a new
 * one. The caller must have locked the orders, so a concurrent signature finishes first or is rejected.
 * @throws ServiceError `invalid` when the person at the new address signs an order already
 */
export async function moveSigners(
  deps: Pick<EnvelopeDeps, "rowMac" | "reach">,
  tx: Tx,
  orders: readonly LockedOrder[],
  { from, to }: { from: string; to: string },
  by: { actor: string; at: Date },
): Promise<MovedSigners> {
  const all = new Map<number, Opened>();
  // All envelopes are locked before any session, as in every transaction, to avoid deadlocks.
  for (const { id } of orders) {
    const open = await findOpenEnvelope(tx, id);
    const envelope = open && !open.isInRoom ? await lockEnvelope(tx, open.id) : undefined;
    if (envelope && envelope.endedAt === null)
      all.set(id, opened(envelope, await findSigners(tx, envelope.id), from, to));
  }
  const movers = [...all.values()].flatMap((each) => each.movers);
  for (const { id, lockedAt } of movers)
    if (lockedAt !== null) await closeUnlocking(tx, id, { at: by.at, by: by.actor, outcome: "replaced" });
  await endAccess(
    tx,
    deps.reach.links,
    movers.map(({ id }) => id),
  );
  for (const { envelope, movers } of all.values())
    for (const signer of movers) await move(deps, tx, { envelope, signer, to }, by);
  return new Map([...all].map(([id, { movers, signed }]) => [id, { moved: movers.map(({ name }) => name), signed }]));
}

function opened(envelope: Envelope, signers: readonly Signer[], from: string, to: string): Opened {
  const having = (email: string) => signers.filter((each) => each.email.toLowerCase() === email.toLowerCase());
  const movers = having(from).filter(({ signedAt }) => signedAt === null);
  const others = from.toLowerCase() === to.toLowerCase() ? [] : having(to);
  const twice = movers.find(({ name }) => others.some((other) => other.name.toLowerCase() === name.toLowerCase()));
  if (twice) throw invalid(`email must be another one: ${twice.name} signs with it already.`);
  const signed = having(from).filter(({ signedAt }) => signedAt !== null);
  return { envelope, movers, signed: signed.map(({ name }) => name) };
}

async function move(
  deps: Pick<EnvelopeDeps, "rowMac" | "reach">,
  tx: Tx,
  { envelope, signer, to }: { envelope: Envelope; signer: Signer; to: string },
  { actor, at }: { actor: string; at: Date },
): Promise<void> {
  const { n, name, email, auth, language } = signer;
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
