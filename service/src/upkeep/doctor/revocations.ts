import { recordedChains, unretiredChains } from "../../evidence/seals/seals.ts";
import { keysInForce } from "../../firms/partners/partners.ts";
import { fromLines } from "../../kernel/audit/audit.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import {
  type DurableRevocation,
  durableRevocations,
  readRevocationsFile,
  revocationId,
  revocationsFile,
  storedRevocations,
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
  const [rows, lines] = [await durableRevocations(db, rowMac), await readRevocationsFile(file)];
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

const nameOf = ({ kind, subject }: Pick<DurableRevocation, "kind" | "subject">): string =>
  kind === "key" ? `key ${subject}` : `seal certificate ${subject}`;

function lacking(all: readonly DurableRevocation[], others: readonly DurableRevocation[]): DurableRevocation[] {
  const ids = new Set(others.map(revocationId));
  return all.filter((one) => !ids.has(revocationId(one)));
}

const ofAuditLog = ({ db }: Examined) =>
  db.query<Pick<DurableRevocation, "kind" | "subject">>(sql`
    SELECT 'key' AS kind, subject ${fromLines("key.revoked", "keyId")}
    UNION SELECT 'seal', subject ${fromLines("seal_certificate.retired", "certificateSha256")}`);

async function unwritten({ db, rowMac }: Examined): Promise<string[]> {
  const stored = await storedRevocations(db, rowMac, "key", "seal");
  const forged = stored.filter(({ isAuthentic }) => !isAuthentic).length;
  return forged > 0 ? [`${forged} rows of revocations were not written by this service`] : [];
}

/**
 * Keys and certificates whose own row does not say that they are revoked, although they are. That shows that somebody
 * restored an old row.
 */
async function putBack({ db, rowMac, log, clock }: Examined, rows: readonly DurableRevocation[]): Promise<string[]> {
  const keys = await keysInForce(db, subjectsOf(rows, "key", clock()), clock());
  const seals = new Set(subjectsOf(rows, "seal", clock()));
  const unretired = await unretiredChains(db);
  const recorded = await recordedChains({ db, rowMac, log });
  const chains = recorded.filter(({ sha256, fingerprint }) => seals.has(fingerprint) && unretired.includes(sha256));
  return [
    ...keys.map((id) => `the row of key ${id} says that it has not ended: it was put back`),
    ...chains.map(
      ({ fingerprint }) => `the row of seal certificate ${fingerprint} says that it is not retired: it was put back`,
    ),
  ];
}

const subjectsOf = (rows: readonly DurableRevocation[], kind: DurableRevocation["kind"], now: Date): string[] =>
  rows.filter((one) => one.kind === kind && (kind === "seal" || one.effectiveAt <= now)).map(({ subject }) => subject);
