import { knownChains } from "../../evidence/seals/seals.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import {
  type KeptRevocation,
  keptRevocations,
  readRevocationsFile,
  revocationId,
  revocationsFile,
} from "../../kernel/platform/revocations.ts";
import type { Examined } from "./finding.ts";

const shown = 5;

/**
 * Compares the four records of revoked keys and seal certificates: the rows of revocations, the file next to the keys,
 * the audit log, and the keys' and certificates' own rows.
 * @throws Error naming the differences
 */
export async function revocationsAgree(examined: Examined): Promise<string> {
  const { config, db, rowMac } = examined;
  const file = revocationsFile(config.dataDir);
  const [rows, lines] = [await keptRevocations(db, rowMac), await readRevocationsFile(file)];
  const ended = new Set([...rows, ...lines].map(({ subject }) => subject));
  const faults = [
    ...lacking(lines, rows).map((one) => `${nameOf(one)} is in ${file} and not in the database`),
    ...lacking(rows, lines).map((one) => `${nameOf(one)} is in the database and not in ${file}`),
    ...(await ofAuditLog(examined))
      .filter(({ subject }) => !ended.has(subject))
      .map((one) => `${nameOf(one)} ended by the audit log alone`),
    ...(await unwritten(examined)),
    ...(await putBack(examined, rows)),
  ];
  if (faults.length > 0) {
    const more = faults.length > shown ? ` and ${faults.length - shown} faults more` : "";
    throw new Error(`${faults.slice(0, shown).join("; ")}${more}`);
  }
  return `${rows.length} of keys and seal certificates, each in the database and in ${file}`;
}

const nameOf = ({ kind, subject }: Pick<KeptRevocation, "kind" | "subject">): string =>
  kind === "key" ? `key ${subject}` : `seal certificate ${subject}`;

function lacking(all: readonly KeptRevocation[], others: readonly KeptRevocation[]): KeptRevocation[] {
  const ids = new Set(others.map(revocationId));
  return all.filter((one) => !ids.has(revocationId(one)));
}

const ofAuditLog = ({ db }: Examined) =>
  db.query<Pick<KeptRevocation, "kind" | "subject">>(sql`
    SELECT 'key' AS kind, detail ->> 'keyId' AS subject FROM audit_log WHERE action = 'key.revoked'
    UNION SELECT 'seal', detail ->> 'certificateSha256' FROM audit_log WHERE action = 'seal_certificate.retired'`);

async function unwritten({ db, rowMac }: Examined): Promise<string[]> {
  const [count] = await db.query<{ rows: number }>(sql`
    SELECT count(*) AS rows FROM revocations WHERE kind IN ('key', 'seal')`);
  const forged = (count?.rows ?? 0) - (await keptRevocations(db, rowMac)).length;
  return forged > 0 ? [`${forged} rows of revocations were not written by this service`] : [];
}

/** Revoked keys and certificates whose own row says otherwise, which means that somebody restored an old row. */
async function putBack({ db, rowMac, log, clock }: Examined, rows: readonly KeptRevocation[]): Promise<string[]> {
  const keys = await db.query<{ id: string }>(sql`
    SELECT id FROM partner_keys WHERE id::text = ANY (${subjectsOf(rows, "key", clock())}::text[])
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${clock()})`);
  const seals = new Set(subjectsOf(rows, "seal", clock()));
  const unretired = await db.query<{ sha256: string }>(sql`SELECT sha256 FROM seal_chains WHERE retired_at IS NULL`);
  const known = await knownChains({ db, rowMac, log });
  const chains = known.filter(
    ({ sha256, fingerprint }) => seals.has(fingerprint) && unretired.some((row) => row.sha256 === sha256),
  );
  return [
    ...keys.map(({ id }) => `the row of key ${id} says that it has not ended: it was put back`),
    ...chains.map(
      ({ fingerprint }) => `the row of seal certificate ${fingerprint} says that it is not retired: it was put back`,
    ),
  ];
}

const subjectsOf = (rows: readonly KeptRevocation[], kind: KeptRevocation["kind"], now: Date): string[] =>
  rows.filter((one) => one.kind === kind && (kind === "seal" || one.effectiveAt <= now)).map(({ subject }) => subject);
