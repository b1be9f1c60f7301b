/** When a person's address was corrected, replaces the links to the notary that were mailed to the earlier address. */
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { nullIfAltered } from "../../../kernel/platform/database/state-mac.ts";
import type { Jobs } from "../../../kernel/platform/jobs/jobs.ts";
import type { SecretBytes } from "../../../kernel/platform/secrets.ts";
import { type CorrectedPeople, notaryAgainQueue } from "../../../orders/order/order.ts";
import type { DeskDeps } from "../claims/claims.ts";
import { peopleOf } from "../claims/orders.ts";
import { checksOf, expireCheck } from "../identity/store.ts";
import { personName } from "../sessions/interruption.ts";
import { liveMail } from "../sessions/mail.ts";
import { appendEvent, livePeople, liveSessionsOf, lockLive, unbound, updatePerson } from "../sessions/store.ts";
import { endWithoutAct } from "../sheets/room.ts";
import { ensureLink, type InviteDeps } from "./links.ts";
import { mailNewLink } from "./mail.ts";

type Mac = DeskDeps["rowMac"];

/**
 * Ends the links of an order's people whose email address was corrected: links to appointments, and to open identity
 * checks. Notaries ask again for the identity checks. Links to rooms stay, but `leaveRoom` unbinds the rooms.
 *
 * People who had an appointment link get another. It is mailed at once if the order waits for a notary, otherwise when
 * it waits again (`appointmentJobs`). The transaction must have locked the order.
 */
export async function renewNotaryLinks(
  tx: Tx,
  { desk: { rowMac }, secrets }: { desk: { rowMac: Mac }; secrets: SecretBytes },
  orderId: number,
  { names, email }: CorrectedPeople,
  at: Date,
): Promise<void> {
  const order = await peopleOf({ db: tx, rowMac }, orderId);
  if (!order) return;
  const { signers, partnerId, status } = order;
  // An altered check opens for nobody, so it must not prevent the correction.
  const checks = (await checksOf(tx, orderId).catch(nullIfAltered)) ?? [];
  for (const [index, signer] of signers.entries()) {
    if (signer.email.toLowerCase() !== email.toLowerCase() || !names.has(signer.name)) continue;
    const person = index + 1;
    for (const check of checks.filter((each) => each.person === person && each.state === "asked"))
      await expireCheck(tx, check, { partnerId, at });
    await leaveRoom(tx, rowMac, { orderId, person }, at);
    const ended = await tx.query(
      sql`DELETE FROM appointment_links WHERE order_id = ${orderId} AND person = ${person} RETURNING id`,
    );
    if (ended.length === 0) continue;
    await ensureLink(tx, secrets, { orderId, person, at });
    if (status === "NotarizationPending") await mailNewLink(tx, { orderId, person, at });
  }
}

type WaitsAgain = { orderId: number; at: string };

/**
 * While an order doesn't wait for a notary, mails with links are dropped. When the order waits again, mails the links
 * that were created but not mailed.
 */
export function appointmentJobs(jobs: Jobs, { desk: { db } }: Pick<InviteDeps, "desk">): void {
  jobs.work<WaitsAgain>(notaryAgainQueue, async ({ orderId, at }) => {
    const links = await db.query<{ person: number }>(sql`
      SELECT person FROM appointment_links WHERE order_id = ${orderId} AND created_at < ${at} AND NOT is_mailed`);
    await db.transaction(async (tx) => {
      for (const { person } of links) await mailNewLink(tx, { orderId, person, at: new Date(at) });
    });
  });
}

/**
 * Call this after a person's address was corrected. Unbinds the person's room from the browser in which a code was
 * entered. The code went to the earlier address, so a stranger may have entered it.
 *
 * If the notary has admitted that browser, the session ends. Otherwise the person is mailed the link of the room. Once
 * the notary has signed, nothing changes. An altered session or person stays unchanged, because it opens for nobody.
 */
async function leaveRoom(
  tx: Tx,
  rowMac: Mac,
  { orderId, person: n }: { orderId: number; person: number },
  at: Date,
): Promise<void> {
  const sessions = (await liveSessionsOf(tx, orderId).catch(nullIfAltered)) ?? [];
  const open = sessions.find(({ state }) => state !== "ended" && state !== "signed");
  const session = open && (await lockLive(tx, open.id));
  const people = (session && (await livePeople(tx, session.id).catch(nullIfAltered))) ?? [];
  const person = people.find((each) => each.n === n);
  if (!session || !person) return;
  const by = "system";
  await updatePerson(tx, person.id, unbound);
  await appendEvent(tx, rowMac, session, { at, name: "released", by, person: personName(n), detail: null });
  if (person.admittedAt !== null) return endWithoutAct(tx, rowMac, session, "abandoned", { by, at });
  await liveMail.enqueue(tx, { personId: person.id, codeId: null, at: at.toISOString() });
}
