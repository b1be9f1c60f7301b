import { hash } from "node:crypto";
import { firstOfBoth, type StoredBlobs } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { eventRow } from "../../kernel/events/events.ts";
import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { BlobUse } from "../../kernel/platform/blobs/cipher.ts";
import type { Sql, Tx } from "../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sealed, sql } from "../../kernel/platform/database/sql.ts";
import { documentNameColumn } from "../../kernel/platform/document-name.ts";
import type { MacTable } from "../../kernel/platform/protected-data.ts";
import type { Members, RowMac } from "../../kernel/platform/row-mac.ts";
import { deletedAt } from "../../kernel/retention/retention.ts";
import { type Anchor, type AnchorFacts, anchorMembers, anchorRow, leftJoinAnchor } from "../anchoring/anchoring.ts";
import { joinChain, leftJoinRetiredChain, type SealChain, sealChainRow, type TimeStamp } from "../seals/seals.ts";
import { type LoggedRows, queueEntry } from "../transparency-log/transparency-log.ts";

export type AnchorStatus = "pending" | "confirmed";

/** The facts that a passport records of a document, and its owner. */
export type PassportFacts = {
  id: string;
  verifyCode: string;
  partnerId: string;
  environment: Environment;
  docSha256: string;
  sealedSha256: string;
  createdAt: Date;
};

export type NewPassport = PassportFacts & {
  /** The encrypted name of the document. */
  name: Buffer | null;
  blobKey: string | null;
  /** Length of the sealed PDF. */
  bytes: number;
  chain: SealChain;
  timeStamp: TimeStamp | null;
  anchor: Anchor | null;
};

/** The identity of the blob that contains a passport's sealed PDF. */
export const passportUse = ({ id, sealedSha256 }: Pick<PassportFacts, "id" | "sealedSha256">): BlobUse => ({
  kind: "proof passport",
  owner: id,
  sha256: sealedSha256,
});

export const storedPassports: StoredBlobs = (partnerId) =>
  sql`SELECT blob_key, bytes FROM passports WHERE partner_id = ${partnerId}`;

/** The time when the firm `p` sealed its first passport. */
export const firstPassport: Statement = firstOfBoth(sql`passports`);

/** The transparency log's lines for passports and for their certificates. */
export const loggedPassports: LoggedRows = (environment) => sql`
  SELECT 'seal/v1 ' || sealed_sha256 AS line, 'passport ' || id AS row, created_at AS at
  FROM passports WHERE environment = ${environment}
  UNION ALL
  SELECT 'seal/v1 ' || c.sha256, 'certificate of passport ' || p.id, c.created_at
  FROM proof_certificates c JOIN passports p ON p.id = c.passport_id WHERE p.environment = ${environment}`;

/** The facts that the MAC of a passport covers. Hashes are lowercase hex SHA-256. */
export type WholePassport = PassportFacts & {
  blobKey: string | null;
  /** Hash of the PEM text of the seal's certificates. */
  sealChain: string;
  tokenSha256: string | null;
  authority: string | null;
  stampedAt: Date | null;
  anchored: boolean;
};

function passportMembers(row: WholePassport): Members {
  const { id, verifyCode, partnerId, environment, docSha256, sealedSha256, createdAt, blobKey, sealChain } = row;
  const { tokenSha256, authority, stampedAt, anchored } = row;
  const facts = { id, verifyCode, partnerId, environment, docSha256, sealedSha256, createdAt };
  return { ...facts, blobKey, sealChain, tokenSha256, authority, stampedAt, anchored };
}

const macOf = (rowMac: RowMac, { chain, timeStamp, anchor, ...passport }: NewPassport): Buffer =>
  rowMac.of(
    "passports",
    passportMembers({
      ...passport,
      sealChain: chain.sha256,
      tokenSha256: timeStamp && hash("sha256", timeStamp.token),
      authority: timeStamp?.authority ?? null,
      stampedAt: timeStamp?.genTime ?? null,
      anchored: anchor !== null,
    }),
  );

/**
 * Writes in one statement: the passport, its anchor, its line for the transparency log, the audit line and the event.
 * @param actor for the audit log
 */
export async function insertPassport(
  { db, rowMac }: { db: Sql; rowMac: RowMac },
  passport: NewPassport,
  actor: string,
): Promise<void> {
  const { id, verifyCode, partnerId, environment, createdAt: at, chain, timeStamp, anchor } = passport;
  const action = "passport.sealed";
  await db.query(sql`
WITH chain AS (
  ${sealChainRow(rowMac, chain, at)}
), passport AS (
  INSERT INTO passports (id, verify_code, partner_id, environment, doc_sha256, sealed_sha256, created_at, seal_chain, row_mac,
    document_name, blob_key, bytes, rfc3161_token, rfc3161_authority, rfc3161_at)
  VALUES (${id}, ${sealed("proof", verifyCode)}, ${partnerId}, ${environment}, ${passport.docSha256}, ${passport.sealedSha256}, ${at},
    ${chain.sha256}, ${macOf(rowMac, passport)}, ${passport.name}, ${passport.blobKey}, ${passport.bytes}, ${timeStamp?.token},
    ${timeStamp?.authority}, ${timeStamp?.genTime})
)${anchor ? sql`, anchor AS (${anchorRow(rowMac, id, anchor)})` : nothing}, logged AS (
  ${queueEntry(environment, { kind: "seal/v1", sealedSha256: passport.sealedSha256 }, at)}
), audit AS (
  ${auditLine({ at, action, actor, partnerId, detail: { passportId: id } })}
)
${eventRow({ at, topic: action, eventId: id, partnerId, environment, subject: id })}`);
}

/** A passport with its time stamp and anchor. */
export type PassportRow = WholePassport & {
  /** The encrypted name of the document. */
  name: Buffer | null;
  mac: Buffer;
  /** The time when the retention plan deleted the sealed PDF; null when it did not. */
  deletedAt: Date | null;
  calendar: string | null;
  submittedAt: Date | null;
  anchorStatus: AnchorStatus | null;
  blockHeight: number | null;
  proofSha256: string | null;
  anchorMac: Buffer | null;
};

const passportColumns = sql`id, verify_code AS "verifyCode@proof", partner_id AS "partnerId", environment, doc_sha256 AS "docSha256",
  sealed_sha256 AS "sealedSha256", created_at AS "createdAt", blob_key AS "blobKey", seal_chain AS "sealChain",
  encode(sha256(rfc3161_token), 'hex') AS "tokenSha256", rfc3161_authority AS authority, rfc3161_at AS "stampedAt",
  passport_id IS NOT NULL AS anchored, passports.row_mac AS mac, ${deletedAt(sql`passports.blob_key`)},
  document_name AS name, calendar, submitted_at AS "submittedAt", status AS "anchorStatus", block_height AS "blockHeight",
  encode(sha256(proof), 'hex') AS "proofSha256", passport_anchors.row_mac AS "anchorMac"`;

const fromPassports = sql`FROM passports ${leftJoinAnchor(sql`id`)}`;

export const passportRows: MacTable<WholePassport> = {
  table: sql`passports`,
  key: sql`id`,
  mac: sql`passports.row_mac`,
  rows: sql`SELECT id AS key, ${passportColumns} ${fromPassports}`,
  members: passportMembers,
  ciphers: [{ use: documentNameColumn, column: sql`document_name`, context: sql`id::text` }],
  texts: [{ kind: "proof", column: sql`verify_code`, constraint: "passports_verify_code_sealed" }],
  blobs: { columns: sql`id, sealed_sha256 AS "sealedSha256"`, useOf: passportUse },
};

/** True if the sealed PDF was stored, and the retention plan has not deleted it. */
export const isDocumentStored = ({ blobKey, deletedAt }: PassportRow): boolean =>
  blobKey !== null && deletedAt === null;

/** True if the MACs of the passport and its anchor are valid. */
export function rowHolds(rowMac: RowMac, row: PassportRow): boolean {
  const { calendar, submittedAt, anchorStatus: status, blockHeight, proofSha256 } = row;
  if (!rowMac.holds("passports", passportMembers(row), row.mac)) return false;
  if (!row.anchored) return true;
  if (calendar === null || submittedAt === null || status === null || proofSha256 === null) return false;
  const facts: AnchorFacts = { passportId: row.id, calendar, submittedAt, status, blockHeight, proofSha256 };
  return rowMac.holds("passport_anchors", anchorMembers(facts), row.anchorMac);
}

/**
 * Of these passports, those whose rows have a valid MAC. The MAC covers the owner, and the time when the PDF was
 * sealed.
 */
export async function authenticAmong(db: Sql, rowMac: RowMac, ids: readonly string[]): Promise<string[]> {
  const rows = await db.query<PassportRow>(
    sql`SELECT ${passportColumns} ${fromPassports} WHERE id = ANY (${ids}::uuid[])`,
  );
  return rows.filter((row) => rowMac.holds("passports", passportMembers(row), row.mac)).map(({ id }) => id);
}

const hasCode = (verifyCode: string): Statement => isSealed(sql`verify_code`, "proof", verifyCode);

const ownedBy = ({ partnerId, environment }: Owner): Statement =>
  sql`partner_id = ${partnerId} AND environment = ${environment}`;

export async function selectOwnPassport(db: Sql, id: string, owner: Owner): Promise<PassportRow | undefined> {
  const [passport] = await db.query<PassportRow>(
    sql`SELECT ${passportColumns} ${fromPassports} WHERE id = ${id} AND ${ownedBy(owner)}`,
  );
  return passport;
}

export const selectOwnPassports = (db: Sql, ids: readonly string[], owner: Owner): Promise<PassportRow[]> =>
  db.query<PassportRow>(
    sql`SELECT ${passportColumns} ${fromPassports} WHERE id = ANY (${ids}::uuid[]) AND ${ownedBy(owner)}`,
  );

/** The retirement of the sealing certificate; both are null unless the certificate was retired. */
type SealRetirement = { retiredAt: Date | null; retirementReason: string | null };

/**
 * The query that finds the passport of a verify code. Exported so that a benchmark can run only the query.
 */
export const passportStatement = (verifyCode: string): Statement => sql`
SELECT ${passportColumns}, retired_at AS "retiredAt", retirement_reason AS "retirementReason"
${fromPassports} ${leftJoinRetiredChain(sql`seal_chain`)}
WHERE ${hasCode(verifyCode)}`;

export type PublicPassport = PassportRow & SealRetirement;

export async function selectPassportByCode(db: Sql, verifyCode: string): Promise<PublicPassport | undefined> {
  const [passport] = await db.query<PublicPassport>(passportStatement(verifyCode));
  return passport;
}

const olderThan = (id: string): Statement =>
  sql`AND (created_at, id) < (SELECT created_at, id FROM passports WHERE id = ${id})`;

/** The query for one page of the list. Exported so that tests can check its query plan. */
export const passportListStatement = (owner: Owner, limit: number, after: string | null): Statement => sql`
SELECT ${passportColumns} ${fromPassports}
WHERE ${ownedBy(owner)} ${after === null ? nothing : olderThan(after)}
ORDER BY created_at DESC, id DESC LIMIT ${limit}`;

/**
 * The owner's passports, newest first.
 * @param after the id of the previous page's last passport, or null
 */
export const selectPassports = (db: Sql, owner: Owner, limit: number, after: string | null) =>
  db.query<PassportRow>(passportListStatement(owner, limit, after));

/** A passport with its time-stamp token, its OpenTimestamps proof, and the certificates of its seal. */
export type EvidenceRow = PassportRow & { chainPem: string; token: Buffer | null; proof: Buffer | null };

export async function selectEvidence(db: Sql, verifyCode: string): Promise<EvidenceRow | undefined> {
  const [row] = await db.query<EvidenceRow>(sql`
SELECT ${passportColumns}, pem AS "chainPem", rfc3161_token AS token, proof
${fromPassports} ${joinChain(sql`seal_chain`)} WHERE ${hasCode(verifyCode)}`);
  return row;
}

/** Deletes the names of passports whose sealed PDFs are deleted. */
export async function forgetPassportNames(tx: Tx, blobKeys: readonly string[]): Promise<void> {
  await tx.query(sql`
    UPDATE passports SET document_name = NULL
    WHERE blob_key = ANY (${blobKeys}::text[]) AND document_name IS NOT NULL`);
}
