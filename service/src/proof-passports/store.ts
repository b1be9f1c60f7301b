import type { Anchor } from "../anchoring/anchoring.ts";
import { auditLine } from "../audit/audit.ts";
import { eventRow } from "../events/events.ts";
import type { Owner } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";
import { nothing, type Statement, sql } from "../platform/sql.ts";
import { type SealChain, sealChainRow, type TimeStamp } from "../seals/seals.ts";
import type { PassportFacts } from "./row-integrity.ts";

export type AnchorStatus = "pending" | "confirmed";

export type NewPassport = PassportFacts & {
  rowMac: Buffer;
  blobKey: string | null;
  chain: SealChain;
  timeStamp: TimeStamp | null;
  anchor: Anchor | null;
};

const insertAnchor = (id: string, { proof, calendar, submittedAt, nextUpgradeAt }: Anchor): Statement => sql`
  INSERT INTO passport_anchors (passport_id, proof, calendar, submitted_at, status, next_look_at)
  VALUES (${id}, ${proof}, ${calendar}, ${submittedAt}, 'pending', ${nextUpgradeAt})`;

/** Writes the passport, its anchor, audit line and event in one statement. @param actor who had it sealed */
export async function insertPassport(db: Sql, passport: NewPassport, actor: string): Promise<void> {
  const { id, verifyCode, partnerId, environment, createdAt: at, chain, timeStamp, anchor } = passport;
  const action = "passport.sealed";
  await db.query(sql`
WITH chain AS (
  ${sealChainRow(chain, at)}
), passport AS (
  INSERT INTO passports (id, verify_code, partner_id, environment, doc_sha256, sealed_sha256, created_at, seal_chain, row_mac,
    blob_key, rfc3161_token, rfc3161_authority, rfc3161_at)
  VALUES (${id}, ${verifyCode}, ${partnerId}, ${environment}, ${passport.docSha256}, ${passport.sealedSha256}, ${at},
    ${chain.sha256}, ${passport.rowMac}, ${passport.blobKey}, ${timeStamp?.token}, ${timeStamp?.authority},
    ${timeStamp?.genTime})
)${anchor ? sql`, anchor AS (${insertAnchor(id, anchor)})` : nothing}, audit AS (
  ${auditLine({ at, action, actor, partnerId, detail: { passportId: id } })}
)
${eventRow({ at, topic: action, eventId: id, partnerId, environment, subject: id })}`);
}

export type PassportRow = PassportFacts & { rowMac: Buffer; blobKey: string | null };

const columns = sql`id, verify_code AS "verifyCode", partner_id AS "partnerId", environment, doc_sha256 AS "docSha256",
  sealed_sha256 AS "sealedSha256", created_at AS "createdAt", row_mac AS "rowMac", blob_key AS "blobKey"`;

const ownedBy = ({ partnerId, environment }: Owner): Statement =>
  sql`partner_id = ${partnerId} AND environment = ${environment}`;

/** A passport of this owner, or undefined. */
export async function selectOwnPassport(db: Sql, id: string, owner: Owner): Promise<PassportRow | undefined> {
  const [passport] = await db.query<PassportRow>(
    sql`SELECT ${columns} FROM passports WHERE id = ${id} AND ${ownedBy(owner)}`,
  );
  return passport;
}

/** The one read of a verification; apart from its running, so that a bench can run it bare. */
export const passportStatement = (verifyCode: string): Statement =>
  sql`SELECT ${columns} FROM passports WHERE verify_code = ${verifyCode}`;

/** The passport of a verify code, or undefined. */
export async function selectPassportByCode(db: Sql, verifyCode: string): Promise<PassportRow | undefined> {
  const [passport] = await db.query<PassportRow>(passportStatement(verifyCode));
  return passport;
}

export type ListedPassportRow = PassportRow & { stampedAt: Date | null; anchorStatus: AnchorStatus | null };

const olderThan = (id: string): Statement =>
  sql`AND (created_at, id) < (SELECT created_at, id FROM passports WHERE id = ${id})`;

/** A page's statement; apart from its running, so that its plan can be looked at. */
export const passportListStatement = (owner: Owner, limit: number, after: string | null): Statement => sql`
SELECT ${columns}, rfc3161_at AS "stampedAt", status AS "anchorStatus"
FROM passports LEFT JOIN passport_anchors ON passport_id = id
WHERE ${ownedBy(owner)} ${after === null ? nothing : olderThan(after)}
ORDER BY created_at DESC, id DESC LIMIT ${limit}`;

/** The owner's passports, newest first. @param after id of the passport before the first one wanted, or null */
export const selectPassports = (db: Sql, owner: Owner, limit: number, after: string | null) =>
  db.query<ListedPassportRow>(passportListStatement(owner, limit, after));

/** What was gathered about a passport's time, and the certificates of its seal. */
export type EvidenceRow = {
  chainPem: string;
  token: Buffer | null;
  authority: string | null;
  stampedAt: Date | null;
  proof: Buffer | null;
  calendar: string | null;
  submittedAt: Date | null;
  anchorStatus: AnchorStatus | null;
};

/** @throws Error when there is no such passport. */
export async function evidenceOf(db: Sql, id: string): Promise<EvidenceRow> {
  const [row] = await db.query<EvidenceRow>(sql`
SELECT pem AS "chainPem", rfc3161_token AS token, rfc3161_authority AS authority, rfc3161_at AS "stampedAt",
  proof, calendar, submitted_at AS "submittedAt", status AS "anchorStatus"
FROM passports JOIN seal_chains ON sha256 = seal_chain LEFT JOIN passport_anchors ON passport_id = id
WHERE id = ${id}`);
  if (!row) throw new Error(`no passport ${id}`);
  return row;
}
