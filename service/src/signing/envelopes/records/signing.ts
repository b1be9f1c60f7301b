import type { Environment, Owner } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { nothing, sql } from "../../../kernel/platform/database/sql.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import {
  fromOrders,
  hasOrderCode,
  isHandedIn,
  isSigningSimulated,
  latestFirst,
  type OrderSigner,
  requireSigners,
  type SigningFacts,
  signersHold,
  signersOf,
  signingColumns,
  verifiedOrder,
  verifiedSigner,
} from "../../../orders/order/order.ts";
import { areCodesUsedUp } from "./code-requests.ts";
import type { Reach } from "./deps.ts";
import { type Auth, type Envelope, findEnvelope, isLocked, type Signer, verifiedEnvelope } from "./envelope.ts";
import { placesOfEnvelope } from "./sessions.ts";
import { isPaperWish } from "./trail.ts";

export const signerStatuses = ["pending", "sent", "viewed", "signed", "declined", "locked"] as const;

/** The state of a signer. */
export type SignerState = Pick<
  Signer,
  "n" | "name" | "email" | "language" | "routing" | "issuedAt" | "openedAt" | "signedAt" | "proposal"
> & {
  auth: Auth;
  status: (typeof signerStatuses)[number];
  /**
   * True if an operator uploaded the document because it was signed elsewhere, and this person did not sign it here.
   */
  takenIn: boolean;
  /** True if this person ended the signing in order to sign on paper. `status` is then `declined`. */
  wantsPaper: boolean;
  /** True if the sandbox completed the signing. If this person had signed, the signature was discarded. */
  isSimulated: boolean;
  /** The signer's link, for tests; null for live orders, before the link is issued, and once it opens no document. */
  signingUrl: string | null;
};

type EnvelopeState = Pick<Envelope, "id" | "attempt" | "verifyCode" | "expiresAt" | "outcome" | "endedAt">;

type Order = SigningFacts & {
  mac: Buffer | null;
  id: number;
  environment: Environment;
  sign: boolean;
  /** True if the sandbox completed the signing, so that nobody's signature is in the document. */
  isSimulated: boolean;
  /** True if an operator uploaded the order's document because it was signed elsewhere. */
  takenIn: boolean;
};

/** The data about the signing of an order: the order with the signers that it names, and its latest envelope. */
export type Signing = { order: Order; envelope: EnvelopeState | null };

/**
 * The data about the signing of an order.
 * @param owner the firm that requests the data; null for a holder of the order's code
 * @returns undefined for an unknown order, and for one of another firm or environment
 */
export async function findSigning(db: Sql, orderCode: string, owner: Owner | null): Promise<Signing | undefined> {
  const isOwn = owner && sql`AND o.partner_id = ${owner.partnerId} AND o.environment = ${owner.environment}`;
  const [row] = await db.query<Order & Omit<EnvelopeState, "id"> & { envelopeId: number | null }>(sql`
    SELECT o.id, o.environment, o.sign, ${isSigningSimulated} AS "isSimulated", ${signingColumns},
      ${isHandedIn(sql`'sealed'`)} AS "takenIn", e.id AS "envelopeId", e.attempt,
      e.verify_code AS "verifyCode@envelope", e.expires_at AS "expiresAt", e.outcome, e.ended_at AS "endedAt", ${verifiedEnvelope}, ${verifiedOrder}
    ${fromOrders} LEFT JOIN LATERAL (
      SELECT * FROM envelopes WHERE order_id = o.id ORDER BY ${latestFirst(sql`envelopes`)} LIMIT 1
    ) e ON true WHERE ${hasOrderCode(orderCode)} ${isOwn ?? nothing}`);
  if (!row) return undefined;
  const { envelopeId, attempt, verifyCode, expiresAt, outcome, endedAt, ...order } = row;
  const envelope = envelopeId === null ? null : { id: envelopeId, attempt, verifyCode, expiresAt, outcome, endedAt };
  return { order, envelope };
}

/** Of these orders, the ones whose latest signing was ended by a signer who wants to sign on paper. */
export async function paperWishes(db: Sql, orderIds: readonly number[]): Promise<ReadonlySet<number>> {
  const rows = await db.query<{ orderId: number }>(sql`
    SELECT o.id AS "orderId" FROM unnest(${orderIds}::bigint[]) AS o (id) CROSS JOIN LATERAL (
      SELECT id FROM envelopes e WHERE e.order_id = o.id ORDER BY ${latestFirst(sql`e`)} LIMIT 1
    ) e WHERE EXISTS (SELECT FROM envelope_events t WHERE t.envelope_id = e.id AND ${isPaperWish(sql`t.record`)})`);
  return new Set(rows.map(({ orderId }) => orderId));
}

/** How many of an open envelope's signers have signed. */
export type SignedHere = { signed: number; of: number };

/** How many signers of the order's open envelope have signed; null when no envelope is open. */
export async function signedHere(db: Sql, orderCode: string): Promise<SignedHere | null> {
  const [found] = await db.query<SignedHere>(sql`
    SELECT (count(s.signed_at))::int AS signed, (count(*))::int AS of
    ${fromOrders} JOIN envelopes e ON e.order_id = o.id JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE ${hasOrderCode(orderCode)} AND e.ended_at IS NULL GROUP BY e.id`);
  return found ?? null;
}

/** The place of a signer's field, including fields whose value the sender set. */
export type SignerPlace = {
  signer: number;
  kind: string;
  /** The page, counted from 1. */
  page: number;
  /** True if the service added this page for signatures. */
  isAdded: boolean;
};

/**
 * The places for signers in the prepared document. Without a prepared document, the places that the order lists; null
 * if it lists none, or if the MAC of the order's signers is invalid.
 */
export async function signerPlaces(
  { db, rowMac }: Pick<SigningReadDeps, "db" | "rowMac">,
  { order, envelope }: Signing,
): Promise<SignerPlace[] | null> {
  const isCurrent = envelope !== null && (envelope.endedAt === null || envelope.outcome === "Completed");
  const prepared = isCurrent ? await findEnvelope(db, envelope.id) : undefined;
  if (!prepared) return signersHold(rowMac, order) ? listedPlaces(order) : null;
  const { fields, hasSignaturePage, pages } = prepared;
  // A radio or multiple choice is listed once, although each of its options is a field. All its options have the same
  // `group`.
  const choices = new Set<string>();
  return fields.flatMap(({ signer, kind, page, group }) => {
    if (group !== undefined && choices.has(group)) return [];
    if (group !== undefined) choices.add(group);
    const isAdded = hasSignaturePage && page + 1 === pages;
    return [{ signer, kind: kind === "mark" ? "signature" : kind, page: page + 1, isAdded }];
  });
}

const listedPlaces = ({ fields }: Order): SignerPlace[] | null =>
  fields?.map(({ signer, kind, page }) => ({ signer, kind, page, isAdded: false })) ?? null;

type Row = Omit<SignerState, "status" | "signingUrl" | "takenIn" | "wantsPaper" | "isSimulated"> & {
  id: number;
  linkId: string | null;
  tokenSha256: Buffer | null;
  lockedAt: Date | null;
  codesRequested: number;
  declined: boolean;
  wantsPaper: boolean;
};

/** The dependencies of the functions that read a signing. */
export type SigningReadDeps = { db: Sql; clock: Clock; rowMac: RowMac; reach: Pick<Reach, "links"> };

/**
 * The signers and their states. Before an envelope exists, these are the signers that the order names. If the last
 * envelope ended without completion, a signer may have been replaced since. The list then has the new signer, whom the
 * order names. Empty when the order includes no signing.
 */
export async function signerStates(
  { db, clock, rowMac, reach }: SigningReadDeps,
  { order, envelope }: Signing,
): Promise<SignerState[]> {
  if (!order.sign) return [];
  const { takenIn, isSimulated } = order;
  if (!envelope) requireSigners(rowMac, order);
  if (!envelope) return signersOf(order).map((signer, index) => unsent(signer, index + 1, { isSimulated, takenIn }));
  const rows = await db.query<Row>(sql`
    SELECT id, n, name, email, language, routing, auth, issued_at AS "issuedAt", opened_at AS "openedAt",
      signed_at AS "signedAt", proposal, link_id AS "linkId", token_sha256 AS "tokenSha256", locked_at AS "lockedAt",
      codes_requested AS "codesRequested",
      EXISTS (SELECT FROM envelope_events t WHERE t.envelope_id = s.envelope_id
        AND t.record::jsonb @> jsonb_build_object('event', 'declined', 'signer', s.n)) AS declined,
      EXISTS (SELECT FROM envelope_events t WHERE t.envelope_id = s.envelope_id AND ${isPaperWish(sql`t.record`)}
        AND (t.record::json ->> 'signer')::int = s.n) AS "wantsPaper", ${verifiedSigner}
    FROM envelope_signers s WHERE envelope_id = ${envelope.id} ORDER BY n`);
  const at = clock();
  const next = nextSigners(rowMac, order, envelope);
  // True if an operator took the document in, and no envelope for a notarial act has followed.
  const signedElsewhere = takenIn && envelope.outcome !== null && envelope.outcome !== "Completed";
  // The links of a voided envelope open no document.
  const hasUrls = order.environment === "test" && !signedElsewhere && envelope.outcome !== "Voided";
  const urlOf = ({ linkId, tokenSha256 }: Pick<Row, "linkId" | "tokenSha256">) =>
    hasUrls && linkId && tokenSha256 ? reach.links.urlOf(linkId, tokenSha256) : null;
  const places = order.environment === "test" ? await placesOfEnvelope(db, envelope.id) : [];
  return rows.map(({ id, linkId, tokenSha256, lockedAt, codesRequested, declined, wantsPaper, ...signer }) => {
    const named = next[signer.n - 1];
    // A document that was taken in is not signed again. So the same name with another email address is the same signer,
    // whose address was corrected.
    const isCorrected = signedElsewhere && named?.name === signer.name;
    if (named && !isCorrected && (named.name !== signer.name || named.email !== signer.email))
      return unsent(named, signer.n, { isSimulated, takenIn });
    // The document that was taken in does not contain this person's signature of the discarded round.
    const signedAt = signedElsewhere ? null : signer.signedAt;
    const hasLock =
      isLocked({ lockedAt, auth: signer.auth }, envelope, at) ||
      (envelope.endedAt === null && areCodesUsedUp({ codesRequested, lockedAt }, envelope));
    const status = statusOf({ ...signer, signedAt, hasLock, declined }, { isSimulated, signedElsewhere });
    return {
      ...signer,
      email: named?.email ?? signer.email,
      signedAt,
      status,
      wantsPaper: wantsPaper && status === "declined",
      takenIn: takenIn && signedAt === null,
      isSimulated,
      // A signer in a session gets the session's link, which also opens the person's other documents.
      signingUrl: urlOf(places.find(({ signerId }) => signerId === id) ?? { linkId, tokenSha256 }),
    };
  });
}

/**
 * The signers of the next envelope, after an envelope that ended without completion. They are read from the order,
 * because a person may have been replaced since.
 */
function nextSigners(rowMac: RowMac, order: Signing["order"], envelope: NonNullable<Signing["envelope"]>) {
  if (envelope.outcome === null || envelope.outcome === "Completed") return [];
  requireSigners(rowMac, order);
  return signersOf(order);
}

function statusOf(
  {
    signedAt,
    declined,
    hasLock,
    openedAt,
    issuedAt,
  }: Pick<Row, "signedAt" | "declined" | "openedAt" | "issuedAt"> & {
    hasLock: boolean;
  },
  { isSimulated, signedElsewhere }: { isSimulated: boolean; signedElsewhere: boolean },
): SignerState["status"] {
  if (signedAt !== null || isSimulated) return "signed";
  if (declined) return "declined";
  if (signedElsewhere) return "pending";
  if (hasLock) return "locked";
  if (openedAt !== null) return "viewed";
  return issuedAt === null ? "pending" : "sent";
}

const unsent = (
  { name, email, language, routing, auth }: OrderSigner,
  n: number,
  { isSimulated, takenIn }: Pick<Order, "isSimulated" | "takenIn">,
): SignerState => ({
  n,
  name,
  email,
  language,
  routing,
  auth,
  status: isSimulated ? "signed" : "pending",
  wantsPaper: false,
  takenIn,
  isSimulated,
  issuedAt: null,
  openedAt: null,
  signedAt: null,
  proposal: null,
  signingUrl: null,
});
