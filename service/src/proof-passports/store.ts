import type { Anchor } from "../anchoring/store.ts";
import { actorOf, type Environment, type Principal } from "../identity/identity.ts";
import type { Sql } from "../platform/database.ts";
import type { PassportFacts } from "./row-integrity.ts";

export type AnchorStatus = "pending" | "confirmed";

export type NewPassport = PassportFacts & {
  rowMac: Buffer;
  blobKey: string | null;
  chain: { sha256: string; pem: string };
  timeStamp: { token: Uint8Array; authority: string; genTime: Date } | null;
  anchor: Anchor | null;
};

const insertion = `
WITH chain AS (
  INSERT INTO seal_chains (sha256, pem, first_used_at) VALUES ($8, $9, $7) ON CONFLICT DO NOTHING
), passport AS (
  INSERT INTO passports (id, verify_code, partner_id, environment, doc_sha256, sealed_sha256, created_at, seal_chain, row_mac,
    blob_key, rfc3161_token, rfc3161_authority, rfc3161_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $10, $11, $12, $13, $14)
), anchor AS (
  INSERT INTO passport_anchors (passport_id, proof, calendar, submitted_at, status, next_look_at)
  SELECT $1, $15::bytea, $16, $17, 'pending', $18::timestamptz WHERE $15::bytea IS NOT NULL
), audit AS (
  INSERT INTO audit_log (occurred_at, action, actor, partner_id, detail)
  VALUES ($7, 'passport.sealed', $19, $3, jsonb_build_object('passportId', $1::uuid))
)
INSERT INTO events (occurred_at, topic, event_id, partner_id, environment, subject)
VALUES ($7, 'passport.sealed', $1::uuid::text, $3, $4, $1::uuid::text)`;

/** Writes the passport, its anchor, audit line and event in one statement. */
export async function insertPassport(sql: Sql, passport: NewPassport, principal: Principal): Promise<void> {
  const { chain, timeStamp, anchor } = passport;
  await sql.rows(insertion, [
    passport.id,
    passport.verifyCode,
    passport.partnerId,
    passport.environment,
    passport.docSha256,
    passport.sealedSha256,
    passport.createdAt,
    chain.sha256,
    chain.pem,
    passport.rowMac,
    passport.blobKey,
    timeStamp?.token ?? null,
    timeStamp?.authority ?? null,
    timeStamp?.genTime ?? null,
    anchor?.proof ?? null,
    anchor?.calendar ?? null,
    anchor?.submittedAt ?? null,
    anchor?.nextUpgradeAt ?? null,
    actorOf(principal),
  ]);
}

export type PassportRow = PassportFacts & { rowMac: Buffer; blobKey: string | null };

const columns = `id, verify_code AS "verifyCode", partner_id AS "partnerId", environment, doc_sha256 AS "docSha256",
  sealed_sha256 AS "sealedSha256", created_at AS "createdAt", row_mac AS "rowMac", blob_key AS "blobKey"`;
const selectOwn = `SELECT ${columns} FROM passports WHERE id = $1 AND partner_id = $2 AND environment = $3`;
const selectByCode = `SELECT ${columns} FROM passports WHERE verify_code = $1`;

/** A passport of this partner in this environment, or undefined. */
export async function selectOwnPassport(sql: Sql, id: string, of: { partnerId: string; environment: Environment }) {
  const [passport] = await sql.rows<PassportRow>(selectOwn, [id, of.partnerId, of.environment]);
  return passport;
}

/** The one read of a verification; apart from its running, so that a bench can run it bare. */
export const passportStatement = (verifyCode: string) => ({ text: selectByCode, values: [verifyCode] });

/** The passport of a verify code, or undefined. */
export async function selectPassportByCode(sql: Sql, verifyCode: string) {
  const { text, values } = passportStatement(verifyCode);
  const [passport] = await sql.rows<PassportRow>(text, values);
  return passport;
}

export type ListedPassportRow = PassportRow & { stampedAt: Date | null; anchorStatus: AnchorStatus | null };

const selectPage = (after: boolean) => `
SELECT ${columns}, rfc3161_at AS "stampedAt", status AS "anchorStatus"
FROM passports LEFT JOIN passport_anchors ON passport_id = id WHERE partner_id = $1 AND environment = $2
${after ? "AND (created_at, id) < (SELECT created_at, id FROM passports WHERE id = $4)" : ""}
ORDER BY created_at DESC, id DESC LIMIT $3`;
const selectFirst = selectPage(false);
const selectAfter = selectPage(true);

/** Statement and values of a page; apart from its running, so that its plan can be looked at. */
export const passportListStatement = (
  of: { partnerId: string; environment: Environment },
  limit: number,
  after: string | null,
) =>
  after === null
    ? { text: selectFirst, values: [of.partnerId, of.environment, limit] }
    : { text: selectAfter, values: [of.partnerId, of.environment, limit, after] };

/** The partner's passports, newest first. @param after id of the passport before the first one wanted, or null */
export function selectPassports(
  sql: Sql,
  of: { partnerId: string; environment: Environment },
  limit: number,
  after: string | null,
) {
  const { text, values } = passportListStatement(of, limit, after);
  return sql.rows<ListedPassportRow>(text, values);
}

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

const selectEvidence = `
SELECT pem AS "chainPem", rfc3161_token AS token, rfc3161_authority AS authority, rfc3161_at AS "stampedAt",
  proof, calendar, submitted_at AS "submittedAt", status AS "anchorStatus"
FROM passports JOIN seal_chains ON sha256 = seal_chain LEFT JOIN passport_anchors ON passport_id = id
WHERE id = $1`;

/** @throws Error when there is no such passport. */
export async function evidenceOf(sql: Sql, id: string): Promise<EvidenceRow> {
  const [row] = await sql.rows<EvidenceRow>(selectEvidence, [id]);
  if (!row) throw new Error(`no passport ${id}`);
  return row;
}
