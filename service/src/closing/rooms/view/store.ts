import { joinFirm, verifiedFirm } from "../../../firms/partners/partners.ts";
import type { Owner } from "../../../kernel/identity/identity.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { isoTime, isSealed, nothing, type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type Marked, marked, markedAll, verifiedAll } from "../../../kernel/platform/database/state-mac.ts";
import {
  hasDocument,
  isHandedIn,
  isSigningSimulated,
  joinOrder,
  latestFirst,
  markedSigners,
  type OrderStatus,
  orderState,
  type Payer,
  type SigningFacts,
  shipmentState,
  type Titled,
  verifiedSignersOf,
} from "../../../orders/order/order.ts";
import {
  type ChargeOfOrder,
  type FirmMethod,
  firmPaysColumns,
  mayBeRefused,
  supplementCents,
  supplementReplacesLoss,
  verifiedSupplementsOf,
} from "../../../orders/payments/payments.ts";
import type { BoughtServices } from "../../../orders/pricing/pricing.ts";
import {
  documentsOfOrder,
  markedEnvelopes,
  type StoredOrderDocument,
  verifiedEnvelopesOf,
} from "../../../signing/envelopes/envelopes.ts";
import { type StoredSigningAgain, signingAgainOf } from "../../../signing/notaries/notaries.ts";
import type { Participant } from "../participants/schemas.ts";
import { type RoomState, roomState, verifiedRoom } from "../store.ts";
import { activity, recent } from "./activity.ts";
import type { ActivityItem, PassportPointer } from "./schemas.ts";

export type CardRow = BoughtServices & {
  code: string;
  label: string | null;
  status: string;
  statusBeforeHold: string | null;
  /**
   * The signers of the latest envelope; without these, the signers that the order names. Null if the order includes no
   * signing, or no signers are known.
   */
  signers: { name: string; email: string; routing: number; signed?: boolean }[] | null;
  /** The fields and the MAC that verify the order's signers; null for an envelope's signers, or if nobody signs. */
  named: { fields: SigningFacts["fields"]; mac: string | null } | null;
  customerName: string | null;
  customerEmail: string;
  hasSealed: boolean;
  /** True if an operator handed in a sealed or a notarized document, because it was finished elsewhere. */
  takenIn: boolean;
  /** True if the sandbox completed the signing, so that nobody's signature is in the document. */
  isSimulated: boolean;
  /** The carrier and tracking number of the latest shipment, which is a label or a letter. */
  carrier: string | null;
  trackingNumber: string | null;
  attachedAt: string;
};

export type RoomRow = {
  /** Identifies the view's state: the room's and the firm's change counters, as `12.3`. Compare only for equality. */
  version: string;
  code: string;
  name: string;
  reference: string | null;
  status: RoomState;
  createdAt: Date;
  updatedAt: Date;
  partnerName: string;
  brandName: string | null;
  accentColor: string | null;
  logoUrl: string | null;
  cards: CardRow[];
  activity: ActivityItem[];
  participants: Participant[];
  passport: PassportPointer | null;
};

/** An order that was placed by the firm whose room this is. */
export type OwnOrder = Titled &
  Owner & {
    id: number;
    status: OrderStatus;
    statusBeforeHold: OrderStatus | null;
    sign: boolean;
    notarize: boolean;
    externalReference: string | null;
    payBy: Payer;
    totalCents: number;
    /** The supplement that is due now: an amount in addition to the order's total. Null for none. */
    supplementCents: number | null;
    /** True if the supplement replaces a payment that a bank took back; null when no supplement is due. */
    replacesLoss: boolean | null;
    /** True if something other than a charge in progress may prevent a payment of the order. */
    mayBeRefused: boolean;
    documents: StoredOrderDocument[];
    signingAgain: StoredSigningAgain;
  };

export type SealedVersion = PassportPointer & { manifestSha256: string };

export type OwnRoomRow = RoomRow & {
  roomId: string;
  /** The day on which the closing is due; null for none. */
  closesOn: string | null;
  /** The state of the automatic seal, with times as ISO 8601; null when it is off. */
  sealWish: {
    sealedAt: string | null;
    sealedVersion: number | null;
    problem: string | null;
    nextTryAt: string | null;
  } | null;
  /** The encrypted name of the document is in hex. */
  ownOrders: (Omit<OwnOrder, "documentName"> & { documentName: string | null })[];
  versions: SealedVersion[];
  /** The owner's payment method that can be charged. `charges`: the charges of the owner's orders, newest first. */
  firmMethod: FirmMethod;
  charges: ChargeOfOrder[];
};

const hasCode = (code: string): Statement => isSealed(sql`r.code`, "room", code);

const version = sql`r.view_version || '.' || p.view_version AS version`;

/**
 * The SQL statement for the present version of a room's view. Building it is separate from running it, so that tests
 * can check its query plan.
 */
export const versionStatement = (code: string): Statement =>
  sql`SELECT ${version} FROM rooms r ${joinFirm(sql`r.partner_id`)} WHERE ${hasCode(code)}`;

/** The present version of the view, with one indexed read of two rows; undefined for an unknown code. */
export async function findViewVersion(db: Sql, code: string): Promise<string | undefined> {
  const [row] = await db.query<{ version: string }>(versionStatement(code));
  return row?.version;
}

// If a signed document was taken in, it lacks the signatures of an envelope that was not completed. Then the card shows
// the signers that the order names. This applies even while the envelope is open: when it ends later, nothing increases
// `view_version`.
const cards = sql`
  SELECT coalesce(json_agg(json_build_object('code', o.code, 'label', a.label, 'status', o.status,
    'statusBeforeHold', o.status_before_hold,
    'sign', o.sign, 'notarize', o.notarize, 'ship', o.ship, 'fax', o.fax,
    'signers', CASE WHEN o.sign THEN coalesce(envelope.signers, o.signers) END,
    'named', CASE WHEN o.sign AND envelope.signers IS NULL
      THEN json_build_object('fields', o.signature_fields, 'mac', encode(o.row_mac, 'hex')) END, 'customerName', o.customer_name, 'customerEmail', o.customer_email,
    'takenIn', o.taken_in <> '{}',
    'isSimulated', ${isSigningSimulated},
    'hasSealed', ${hasDocument(sql`o.id`, "sealed", "notarized")},
    'carrier', parcel.carrier, 'trackingNumber', parcel.tracking_number,
    'attachedAt', ${isoTime(sql`a.attached_at`)}) ORDER BY a.position), '[]') AS list
  FROM attached a ${joinOrder(sql`a.order_id`)}
  LEFT JOIN LATERAL (
    SELECT carrier, tracking_number FROM shipments s WHERE s.order_id = o.id ORDER BY s.id DESC LIMIT 1
  ) parcel ON o.ship
  LEFT JOIN LATERAL (
    SELECT jsonb_agg(jsonb_build_object('name', s.name, 'email', s.email, 'routing', s.routing,
      'signed', s.signed_at IS NOT NULL) ORDER BY s.n) AS signers
    FROM envelope_signers s JOIN (
      SELECT e.id, e.outcome FROM envelopes e WHERE e.order_id = o.id ORDER BY ${latestFirst(sql`e`)} LIMIT 1
    ) latest ON latest.id = s.envelope_id
    WHERE NOT ${isHandedIn(sql`'sealed'`)} OR latest.outcome = 'Completed'
  ) envelope ON o.sign`;

const participants = sql`
  SELECT coalesce(json_agg(json_build_object('participantId', p.id, 'name', p.name, 'email', p.email, 'role', p.role,
    'createdAt', ${isoTime(sql`p.created_at`)}) ORDER BY p.created_at, p.id), '[]') AS list
  FROM room JOIN room_participants p ON p.room_id = room."roomId" AND p.removed_at IS NULL`;

const passport = sql`
  SELECT json_build_object('version', c.version, 'verifyCode', c.verify_code, 'createdAt', ${isoTime(sql`c.created_at`)})
  FROM closing_passports c WHERE c.room_id = room."roomId" ORDER BY c.version DESC LIMIT 1`;

const ofOwner = sql`attached a ${joinOrder(sql`a.order_id`)} AND o.partner_id = room."partnerId"`;

const ownCharges = firmPaysColumns(
  {
    partnerId: sql`room."partnerId"`,
    environment: sql`(SELECT r.environment FROM rooms r WHERE r.id = room."roomId")`,
  },
  ofOwner,
);

/** Columns of the owner's view alone: charges, due day, automatic seal, orders, and sealed versions, newest first. */
const ownColumns = sql`, ${ownCharges}, (SELECT r.closes_on::text FROM rooms r WHERE r.id = room."roomId") AS "closesOn", (
    SELECT json_build_object('sealedAt', ${isoTime(sql`s.sealed_at`)}, 'sealedVersion', s.sealed_version, 'problem', s.problem,
      'nextTryAt', CASE WHEN isfinite(s.next_try_at) THEN ${isoTime(sql`s.next_try_at`)} END)
    FROM closing_seals s WHERE s.room_id = room."roomId") AS "sealWish", (
    SELECT coalesce(json_agg(json_build_object('id', o.id, 'code', o.code, 'partnerId', o.partner_id,
      'environment', o.environment, 'status', o.status, 'statusBeforeHold', o.status_before_hold,
      'sign', o.sign, 'notarize', o.notarize,
      'documentName', encode(o.document_name, 'hex'), 'docSlug', o.doc_slug, 'externalReference', o.external_reference,
      'payBy', o.pay_by, 'totalCents', o.total_cents, 'supplementCents', ${supplementCents},
      'replacesLoss', ${supplementReplacesLoss}, 'mayBeRefused', ${mayBeRefused},
      'documents', ${documentsOfOrder}, 'signingAgain', ${signingAgainOf}) ORDER BY a.position), '[]')
    FROM ${ofOwner}) AS "ownOrders@order.code", ${verifiedSupplementsOf(ofOwner)}, ${verifiedEnvelopesOf(sql`SELECT o.id FROM ${ofOwner}`)}, (
    SELECT coalesce(json_agg(json_build_object('version', c.version, 'verifyCode', c.verify_code,
      'manifestSha256', c.manifest_sha256, 'createdAt', ${isoTime(sql`c.created_at`)}) ORDER BY c.version DESC), '[]')
    FROM closing_passports c WHERE c.room_id = room."roomId") AS "versions@closing.verifyCode"`;

/**
 * Everything that the view of a room shows, in one snapshot. Each table that is read here needs a trigger that
 * increases `view_version` (migrations); otherwise cached views become stale.
 * @param owner null for the public view; otherwise finds only a room of this owner, with `ownColumns`
 * @param without ids of orders that are left out
 */
export const viewStatement = (
  code: string,
  owner: Owner | null = null,
  without: readonly number[] = [],
): Statement => sql`
  WITH room AS (
    SELECT ${version}, r.id AS "roomId", r.code AS "code@room", r.name, r.reference, r.status, r.created_at AS "createdAt", r.updated_at AS "updatedAt",
      p.id AS "partnerId", p.name AS "partnerName", p.brand_name AS "brandName", p.accent_color AS "accentColor", p.logo_url AS "logoUrl",
      ${verifiedFirm}, ${verifiedRoom}
    FROM rooms r ${joinFirm(sql`r.partner_id`)} WHERE ${hasCode(code)} ${
      owner ? sql`AND r.partner_id = ${owner.partnerId} AND r.environment = ${owner.environment}` : nothing
    }
  ), attached AS (
    SELECT o.code, a.* FROM room JOIN room_orders a ON a.room_id = room."roomId" ${joinOrder(sql`a.order_id`)}
    ${without.length > 0 ? sql`WHERE a.order_id <> ALL (${without}::bigint[])` : nothing}
  ), cards AS (${cards}), recent AS (${recent}), activity AS (${activity}), participants AS (${participants})
  SELECT room.*, cards.list AS "cards@order.code", activity.list AS "activity@order.orderCode", participants.list AS participants,
    (${passport}) AS "passport@closing.verifyCode",
    ${verifiedAll(orderState, sql`o`, sql`FROM attached a ${joinOrder(sql`a.order_id`)}`)},
    ${verifiedSignersOf(sql`attached a ${joinOrder(sql`a.order_id`)}`)},
    ${verifiedAll(shipmentState, sql`s`, sql`FROM attached a JOIN shipments s ON s.order_id = a.order_id`)}${owner ? ownColumns : nothing}
  FROM room, cards, activity, participants`;

/** The room's record and its version; undefined for an unknown code. */
export async function selectRoomRow(db: Sql, code: string): Promise<RoomRow | undefined> {
  const [row] = await db.query<RoomRow>(viewStatement(code));
  return row;
}

/**
 * The record of the owner's room; undefined for an unknown code, and for a room of another owner.
 * @param without ids of orders that are left out
 */
export async function selectOwnRoom(
  db: Sql,
  code: string,
  owner: Owner,
  without: readonly number[] = [],
): Promise<OwnRoomRow | undefined> {
  const [row] = await db.query<OwnRoomRow>(viewStatement(code, owner, without));
  return row;
}

/**
 * A document in a room. `isAuthentic` is false if the order's row, one of its shipments, or a row about its signing was
 * altered. `isOwn` is true for an order of the room's owner.
 */
export type RoomDocument = Titled & Marked & { id: number; label: string | null; isOwn: boolean };

/**
 * The owner's room with its present participants and all its documents, including those of other firms, which
 * `roomDocuments` leaves out. `isAuthentic` is about the room's own record.
 */
export type RoomDocuments = Marked & {
  id: string;
  roomCode: string;
  name: string;
  participants: Pick<Participant, "name" | "email">[];
  documents: RoomDocument[];
};

/** Reads the same room as `selectOwnRoom`, for pages that must open even if some of the room's records were altered. */
export async function selectRoomDocuments(db: Sql, code: string, owner: Owner): Promise<RoomDocuments | undefined> {
  const [found] = await db.query<Omit<RoomDocuments, "roomCode" | "documents"> & { code: string }>(sql`
    SELECT r.id, r.code AS "code@room", r.name, (
      SELECT coalesce(json_agg(json_build_object('name', p.name, 'email', p.email) ORDER BY p.created_at, p.id), '[]')
      FROM room_participants p WHERE p.room_id = r.id AND p.removed_at IS NULL) AS participants, ${marked(roomState, sql`r`)}
    FROM rooms r WHERE ${hasCode(code)} AND r.partner_id = ${owner.partnerId} AND r.environment = ${owner.environment}`);
  if (!found) return undefined;
  const { code: roomCode, ...room } = found;
  const documents = await db.query<RoomDocument>(sql`
    SELECT o.id, o.code AS "code@order", o.document_name AS "documentName", o.doc_slug AS "docSlug", a.label,
      o.partner_id = ${owner.partnerId} AS "isOwn", ${marked(orderState, sql`o`)}, ${markedEnvelopes}, ${markedSigners},
      ${markedAll(shipmentState, sql`s`, sql`FROM shipments s WHERE s.order_id = o.id`)}
    FROM room_orders a ${joinOrder(sql`a.order_id`)}
    WHERE a.room_id = ${room.id} ORDER BY a.position`);
  return { roomCode, ...room, documents };
}
