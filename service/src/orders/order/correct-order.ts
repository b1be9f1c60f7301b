/**
 * Changes to the facts of a placed order. The caller must have locked the order, and must record the earlier values.
 */
import { lastActor } from "../../kernel/audit/audit.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { writeStateMacs } from "../../kernel/platform/database/state-mac.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { Address } from "../pricing/pricing.ts";
import { correctionsOf, currentEmail } from "./corrections.ts";
import { type DocumentOwner, documentMembers } from "./documents.ts";
import type { Payer } from "./form/form.ts";
import type { RequestedField } from "./form/requested-field.ts";
import { type OrderSigner, signersOf } from "./form/signers.ts";
import { isHandedIn, orderState, verifiedOrders } from "./order-mac.ts";
import { orderNotFound } from "./own-order.ts";
import { readSigning, type SigningFacts, signingMembers } from "./signing-row.ts";
import type { OriginalDocument } from "./store.ts";

/** The facts of a placed order that its firm may correct. */
export type Correctable = {
  email: string;
  /** The client's name. */
  name: string | null;
  shipTo: Address | null;
  faxTo: string | null;
};

export async function readCorrectable(tx: Tx, orderId: number): Promise<Correctable> {
  const [order] = await tx.query<Correctable>(sql`
    SELECT customer_email AS email, customer_name AS name, ship_to AS "shipTo", fax_to AS "faxTo", ${verifiedOrders} FROM orders WHERE id = ${orderId}`);
  if (!order) throw orderNotFound();
  return order;
}

/**
 * The correction of an email address. People who share a mailbox are told apart by their names. `name`: the person
 * whose address is corrected; null for everybody who has the address.
 */
export type EmailMove = { from: string; to: string; name: string | null };

/**
 * The result of a correction in rooms. `isMoved`: true if somebody had the earlier address. `isUnmailed`: true if a
 * link to a room or its documents was not mailed to the new address, because of a daily limit.
 */
export type MovedInRooms = { isMoved: boolean; isUnmailed: boolean };

/** A person's name for comparisons: trimmed, in Unicode form NFC, and in lower case. */
const comparable = (name: string): string => name.trim().normalize("NFC").toLowerCase();

/**
 * True if the correction applies to this person. Ignores the letter case of the name and the address. A person whose
 * name is only the email address is included in every correction of that address.
 */
export const hasEmailOf = ({ from, name }: EmailMove, person: { name: string; email: string }): boolean =>
  person.email.toLowerCase() === from.toLowerCase() &&
  (name === null || [name, from].some((each) => comparable(person.name) === comparable(each)));

/**
 * The result of a corrected address in one order. `client`: true if the client's address changed. `signers`: the
 * signers whose address changed. `left`: the names of the signers who keep the earlier address.
 */
export type MovedPeople = { client: boolean; signers: readonly { n: number; name: string }[]; left: readonly string[] };

/**
 * The people of an order whose address was corrected to `email`, by their names. A client without a name is named by
 * that address. People who had this address before are not included.
 */
export type CorrectedPeople = { names: ReadonlySet<string>; email: string };

/**
 * Replaces an email address in an order, for the client and the signers to whom the correction applies. While an
 * envelope is open, all signers keep their addresses here, because the caller changes the envelope. They also keep them
 * after they have signed; `currentEmail` then returns the corrected address.
 *
 * A document that an operator took in, or that only the sandbox completed, counts as signed by nobody.
 */
export async function moveEmail(tx: Tx, rowMac: RowMac, orderId: number, move: EmailMove): Promise<MovedPeople> {
  const order = await readSigning(tx, rowMac, orderId);
  const isFixed = await areSignersFixed(tx, orderId);
  const corrections = await correctionsOf(tx, orderId);
  // After an address was corrected, its signer's signature may have been discarded. The order then still has the
  // earlier address, and pages show the corrected one. The next correction may name either address.
  const had = (person: { name: string; email: string }) =>
    hasEmailOf(move, { ...person, email: currentEmail(corrections, person) }) || (!isFixed && hasEmailOf(move, person));
  const client = isClientMoved(order, move);
  const found = signersOf(order).flatMap((each, index) => (had(each) ? [{ n: index + 1, name: each.name }] : []));
  if (!client && found.length === 0) return { client, signers: [], left: [] };
  const follow = (signer: OrderSigner) => (had(signer) ? { ...signer, email: move.to } : signer);
  const signers = isFixed ? signersOf(order) : (order.signers?.map(follow) ?? null);
  const customerEmail = client ? move.to : order.customerEmail;
  const mac = rowMac.of("orders", signingMembers({ ...order, customerEmail, signers }));
  const list = signers && JSON.stringify(signers);
  await tx.query(sql`
    UPDATE orders SET customer_email = ${customerEmail}, signers = ${list}::jsonb, row_mac = ${mac} WHERE id = ${orderId}`);
  await writeStateMacs(tx, orderState, sql`id = ${orderId}`);
  return isFixed ? { client, signers: [], left: found.map(({ name }) => name) } : { client, signers: found, left: [] };
}

/**
 * True if the order must keep the addresses of its signers: people sign with this service now, or have signed with it
 * or in a notary's presence.
 */
async function areSignersFixed(tx: Tx, orderId: number): Promise<boolean> {
  const fixed = await tx.query(sql`
    SELECT FROM envelopes WHERE order_id = ${orderId} AND (ended_at IS NULL OR outcome = 'Completed')
    UNION ALL SELECT FROM documents d JOIN orders o ON o.id = d.order_id
    WHERE d.order_id = ${orderId} AND d.kind = 'notarized' AND NOT ${isHandedIn(sql`d.kind`)}
      AND ${lastActor(sql`o.id`, "NotarizationComplete")} IS DISTINCT FROM 'sandbox' LIMIT 1`);
  return fixed.length > 0;
}

/**
 * True if the correction also changes the client's address. For a client without a name, the correction must apply to
 * every signer who has the same address.
 */
function isClientMoved(order: SigningFacts, move: EmailMove): boolean {
  const { customerName, customerEmail: email } = order;
  if (!hasEmailOf({ ...move, name: null }, { name: "", email })) return false;
  if (customerName !== null) return hasEmailOf(move, { name: customerName, email });
  return signersOf(order).every((each) => !hasEmailOf({ ...move, name: null }, each) || hasEmailOf(move, each));
}

/**
 * Changes the parcel's destination. The carrier's rate was for the earlier destination, so it is removed. The label is
 * bought at a new rate.
 */
export async function setShipTo(tx: Tx, orderId: number, shipTo: Address): Promise<void> {
  await tx.query(sql`
    UPDATE orders SET ship_to = ${JSON.stringify(shipTo)}::jsonb, carrier_rate = NULL,
      dest_state = CASE WHEN dest_state IS NOT NULL THEN ${shipTo.state} END
    WHERE id = ${orderId}`);
  await writeStateMacs(tx, orderState, sql`id = ${orderId}`);
}

export async function setFaxTo(tx: Tx, orderId: number, faxTo: string): Promise<void> {
  await tx.query(sql`UPDATE orders SET fax_to = ${faxTo} WHERE id = ${orderId}`);
  await writeStateMacs(tx, orderState, sql`id = ${orderId}`);
}

export async function setPayer(tx: Tx, orderId: number, payBy: Payer): Promise<void> {
  await tx.query(sql`UPDATE orders SET pay_by = ${payBy} WHERE id = ${orderId}`);
  await writeStateMacs(tx, orderState, sql`id = ${orderId}`);
}

/** The `kind` of an original document after another one has replaced it. The earlier document stays stored. */
const replacedKind = "original_replaced";

/** The original document of an order. */
type Original = { id: number; sha256: string; blobKey: string; mac: Buffer | null };

/** Reads the order's original document with its signers and fields, for comparing and replacing the document. */
export async function readOriginal(
  tx: Tx,
  rowMac: RowMac,
  orderId: number,
  owner: DocumentOwner,
): Promise<Original & SigningFacts> {
  const [original] = await tx.query<Original>(sql`
    SELECT id, sha256, blob_key AS "blobKey", row_mac AS mac FROM documents
    WHERE order_id = ${orderId} AND kind = 'original'`);
  if (!original) throw orderNotFound();
  const { sha256, blobKey, mac } = original;
  rowMac.verify("documents", documentMembers({ ...owner, kind: "original", sha256, blobKey }), mac);
  return { ...original, ...(await readSigning(tx, rowMac, orderId)) };
}

export type NewOriginal = {
  document: OriginalDocument;
  /** The encrypted name that the firm gave the document; null to keep the present one. */
  name: Buffer | null;
  /**
   * The encrypted file name. It becomes the document's name if the order has neither a name nor a type for the
   * document.
   */
  fileName: Buffer | null;
  notices: Buffer | null;
  fields: readonly RequestedField[] | null;
};

/**
 * Replaces an order's original document, and its notices and fields. The earlier document stays stored under another
 * `kind`.
 */
export async function replaceOriginal(
  tx: Tx,
  rowMac: RowMac,
  { orderId, owner, at }: { orderId: number; owner: DocumentOwner; at: Date },
  { document, name, fileName, notices, fields }: NewOriginal,
): Promise<void> {
  const before = await readOriginal(tx, rowMac, orderId, owner);
  const macOf = (kind: string, { sha256, blobKey }: { sha256: string; blobKey: string }) =>
    rowMac.of("documents", documentMembers({ ...owner, kind, sha256, blobKey }));
  await tx.query(sql`
    UPDATE documents SET kind = ${replacedKind}, row_mac = ${macOf(replacedKind, before)} WHERE id = ${before.id}`);
  const { sha256, bytes, pages, blobKey } = document;
  await tx.query(sql`
    INSERT INTO documents (order_id, kind, sha256, bytes, pages, blob_key, created_at, row_mac)
    VALUES (${orderId}, 'original', ${sha256}, ${bytes}, ${pages}, ${blobKey}, ${at}, ${macOf("original", document)})`);
  const mac = rowMac.of("orders", signingMembers({ ...before, fields }));
  await tx.query(sql`
    UPDATE orders SET document_name = coalesce(${name}::bytea, document_name, CASE WHEN doc_slug IS NULL THEN ${fileName}::bytea END), document_notices = ${notices}::bytea,
      signature_fields = ${fields && JSON.stringify(fields)}::jsonb, row_mac = ${mac},
      envelope_status = CASE status WHEN 'EsignPending' THEN 'Sent' ELSE envelope_status END
    WHERE id = ${orderId}`);
  await writeStateMacs(tx, orderState, sql`id = ${orderId}`);
}
