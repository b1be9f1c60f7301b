import { concatBytes } from "@signsealship/evidence/bytes";
import type { JsonObject } from "@signsealship/evidence/manifest";
import { parseCertificate } from "@signsealship/evidence/x509";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { sealed, sql } from "../../../kernel/platform/database/sql.ts";
import type { ProtectedTable } from "../../../kernel/platform/protected-data.ts";
import type { OpenAct } from "./act.ts";

const lifetimeMs = 10 * minuteMs;

type PreparedFacts = Pick<OpenAct, "revision" | "contentsStart" | "contentsEnd" | "byteRange" | "actSha256"> & {
  record: JsonObject;
  at: string;
  /** The lengths of the certificates in `chain`; the signer's own comes first. */
  certificates: number[];
  /** The bytes to append to the document, in base64. */
  tail: string;
};

type Row = { kept: string; signedAttrs: Buffer; chain: Buffer };

export const actRows: ProtectedTable = {
  table: sql`prepared_acts`,
  key: sql`signer_id`,
  texts: [
    {
      kind: "act",
      column: sql`kept`,
      by: sql`signer_id`,
      isNumbered: true,
      constraint: "prepared_acts_kept_sealed",
    },
  ],
};

/**
 * Stores a prepared act for its signer, and replaces an earlier one. The record and the tail are encrypted, because
 * they contain codes that grant access.
 */
export async function keepPreparedAct(db: Sql, signerId: number, act: OpenAct, now: Date): Promise<void> {
  const { tail, signedAttrs, chain, at, ...rest } = act;
  const ders = chain.map(({ der }) => der);
  const certificates = ders.map(({ length }) => length);
  const facts: PreparedFacts = { ...rest, at: at.toISOString(), certificates, tail: tail.toString("base64") };
  await db.query(sql`
    INSERT INTO prepared_acts (signer_id, kept, signed_attrs, chain, created_at)
    VALUES (${signerId}, ${sealed("act", JSON.stringify(facts))}, ${Buffer.from(signedAttrs)},
      ${Buffer.from(concatBytes(ders))}, ${now})
    ON CONFLICT (signer_id) DO UPDATE SET kept = excluded.kept, signed_attrs = excluded.signed_attrs, chain = excluded.chain, created_at = excluded.created_at`);
}

/**
 * The act that was prepared for the signer; undefined when none exists, or it has expired. The act stays stored until
 * it is completed, replaced or expired, so that the browser can retry the signature.
 */
export async function findPreparedAct(db: Sql, signerId: number, now: Date): Promise<OpenAct | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT kept AS "kept@act", signed_attrs AS "signedAttrs", chain FROM prepared_acts
    WHERE signer_id = ${signerId} AND created_at > ${new Date(now.getTime() - lifetimeMs)}`);
  if (!row) return undefined;
  const { certificates, at, tail, ...rest } = JSON.parse(row.kept) as PreparedFacts;
  let end = 0;
  const [leaf, ...above] = certificates.map((length) => {
    end += length;
    return parseCertificate(row.chain.subarray(end - length, end));
  });
  if (!leaf) return undefined;
  const { signedAttrs } = row;
  return { ...rest, at: new Date(at), tail: Buffer.from(tail, "base64"), signedAttrs, chain: [leaf, ...above] };
}

export const dropPreparedAct = (db: Sql, signerId: number) =>
  db.query(sql`DELETE FROM prepared_acts WHERE signer_id = ${signerId}`);

/** Deletes acts that were not completed within their lifetime. */
export const sweepPreparedActs = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM prepared_acts WHERE created_at <= ${new Date(now.getTime() - lifetimeMs)}`);
