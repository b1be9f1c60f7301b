import { type AnchorFacts, anchorMembers } from "./anchoring/anchoring.ts";
import { type Place, placeColumns, placeMembers } from "./audit/audit.ts";
import { storedColumns, type VersionFacts, versionMembers } from "./closing-passports/closing-passports.ts";
import { type TrailFacts, trailMembers } from "./envelopes/envelopes.ts";
import { membersRows } from "./members/members.ts";
import { type JournalFacts, journalMembers } from "./notaries/notaries.ts";
import { operatorRows } from "./operators/operators.ts";
import {
  type DocumentFacts,
  documentMembers,
  documentOwnerColumns,
  type FillFacts,
  fillColumns,
  fillMembers,
  orderState,
  type SigningFacts,
  signingColumns,
  signingMembers,
} from "./orders/orders.ts";
import { type KeyFacts, keyMembers } from "./partners/partners.ts";
import { sql } from "./platform/database/sql.ts";
import { digestOf, type StateMac, stateMembers } from "./platform/database/state-mac.ts";
import type { MacTable } from "./platform/row-mac.ts";
import {
  fromPassports,
  passportColumns,
  passportMembers,
  type WholePassport,
} from "./proof-passports/proof-passports.ts";
import { type Mark, markMembers } from "./retention/retention.ts";
import { type ChainRow, chainColumns, chainMembers } from "./seals/seals.ts";

export const chainRows: MacTable<ChainRow> = {
  table: sql`seal_chains`,
  key: sql`sha256`,
  mac: sql`row_mac`,
  rows: sql`SELECT sha256 AS key, ${chainColumns}, row_mac AS mac FROM seal_chains`,
  members: chainMembers,
};

export const passportRows: MacTable<WholePassport> = {
  table: sql`passports`,
  key: sql`id`,
  mac: sql`passports.row_mac`,
  rows: sql`SELECT id AS key, ${passportColumns} ${fromPassports}`,
  members: passportMembers,
};

export const anchorRows: MacTable<AnchorFacts> = {
  table: sql`passport_anchors`,
  key: sql`passport_id`,
  mac: sql`row_mac`,
  rows: sql`
SELECT passport_id AS key, passport_id AS "passportId", encode(sha256(proof), 'hex') AS "proofSha256", calendar,
  submitted_at AS "submittedAt", status, block_height AS "blockHeight", row_mac AS mac
FROM passport_anchors`,
  members: anchorMembers,
};

export const documentRows: MacTable<DocumentFacts> = {
  table: sql`documents`,
  key: sql`id`,
  keyInRows: sql`d.id`,
  mac: sql`d.row_mac`,
  rows: sql`
SELECT d.id AS key, ${documentOwnerColumns}, d.kind, d.sha256, d.blob_key AS "blobKey", d.row_mac AS mac
FROM documents d JOIN orders o ON o.id = d.order_id`,
  members: documentMembers,
};

/** Rows whose MAC covers a digest that PostgreSQL computes. */
function stateRows(state: StateMac): MacTable<{ digest: Buffer }> {
  const { table, key, mac: column } = state;
  return {
    table,
    key,
    mac: column,
    column,
    rows: sql`SELECT ${key} AS key, ${digestOf(state, table)} AS digest, ${column} AS mac FROM ${table}`,
    members: ({ digest }) => stateMembers(digest.toString("hex")),
  };
}

/** Orders: whose they are, where they stand, what they cost and where their documents go. */
export const orderRows = stateRows(orderState);

export const versionRows: MacTable<VersionFacts> = {
  table: sql`closing_passports`,
  key: sql`verify_code`,
  keyInRows: sql`c.verify_code`,
  mac: sql`c.row_mac`,
  rows: sql`SELECT c.verify_code AS key, ${storedColumns} FROM closing_passports c JOIN rooms r ON r.id = c.room_id`,
  members: versionMembers,
};

export const fillRows: MacTable<FillFacts> = {
  table: sql`fill_documents`,
  key: sql`token_sha256`,
  mac: sql`row_mac`,
  rows: sql`SELECT token_sha256 AS key, ${fillColumns}, row_mac AS mac FROM fill_documents`,
  members: fillMembers,
};

/** The records that rows of earlier releases got their MACs: the first said nothing of which rows. */
export const backfillRows: MacTable<{ filled: string; doneAt: Date }> = {
  table: sql`row_mac_backfill`,
  key: sql`filled`,
  mac: sql`row_mac`,
  rows: sql`SELECT filled AS key, filled, done_at AS "doneAt", row_mac AS mac FROM row_mac_backfill`,
  members: ({ filled, doneAt }) => (filled === "evidence" ? { doneAt } : { filled, doneAt }),
};

/** What orders say of their signers. */
export const signingRows: MacTable<SigningFacts> = {
  table: sql`orders`,
  key: sql`id`,
  keyInRows: sql`o.id`,
  mac: sql`o.row_mac`,
  rows: sql`SELECT o.id AS key, ${signingColumns} FROM orders o`,
  members: signingMembers,
};

/** Places in the chain of the audit log. */
export const auditRows: MacTable<Place> = {
  table: sql`audit_log`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`SELECT id AS key, ${placeColumns} FROM audit_log`,
  members: placeMembers,
};

/** Marks of the blobs that the retention plan deleted. */
export const markRows: MacTable<Mark> = {
  table: sql`deleted_blobs`,
  key: sql`blob_key`,
  mac: sql`row_mac`,
  rows: sql`
SELECT blob_key AS key, blob_key AS "blobKey", rule, deleted_at AS "deletedAt", row_mac AS mac FROM deleted_blobs`,
  members: markMembers,
};

/** Records of the trails of envelopes. */
export const trailRows: MacTable<TrailFacts> = {
  table: sql`envelope_events`,
  key: sql`id`,
  keyInRows: sql`t.id`,
  mac: sql`t.row_mac`,
  rows: sql`
SELECT t.id AS key, e.verify_code AS "verifyCode@envelope", t.position, t.sha256, t.row_mac AS mac
FROM envelope_events t JOIN envelopes e ON e.id = t.envelope_id`,
  members: trailMembers,
};

/** Keys of firms; one that is revoked bears none. */
export const partnerKeyRows: MacTable<KeyFacts> = {
  table: sql`partner_keys`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`
SELECT id AS key, id AS "keyId", partner_id AS "partnerId", environment, key_sha256 AS sha256, scopes,
  expires_at AS "expiresAt", row_mac AS mac FROM partner_keys`,
  members: keyMembers,
};

/** Entries of the journals of notaries. */
export const journalRows: MacTable<JournalFacts> = {
  table: sql`notary_journal`,
  key: sql`id`,
  mac: sql`row_mac`,
  rows: sql`
SELECT id AS key, notary_id AS "notaryId", position, sha256, row_mac AS mac FROM notary_journal`,
  members: journalMembers,
};

/** Rows that say who may open what. */
export const peopleRows: readonly MacTable<unknown>[] = [...membersRows, operatorRows];
