import { concatBytes } from "@signsealship/evidence/bytes";
import type { JsonObject } from "@signsealship/evidence/manifest";
import { parseCertificate } from "@signsealship/evidence/x509";
import type { Sql } from "../../platform/database/database.ts";
import { sql } from "../../platform/database/sql.ts";
import type { OpenAct } from "./act.ts";

const keptMs = 10 * 60_000;

type Kept = Pick<OpenAct, "revision" | "contentsStart" | "contentsEnd" | "byteRange" | "actSha256"> & {
  record: JsonObject;
  at: string;
  /** Lengths of the certificates, the signer's own first. */
  certificates: number[];
};

type Row = { kept: Kept; tail: Buffer; signedAttrs: Buffer; chain: Buffer };

/** Keeps an act for its signer, in the place of one that was prepared before. */
export async function keepPreparedAct(db: Sql, signerId: number, act: OpenAct, now: Date): Promise<void> {
  const { tail, signedAttrs, chain, at, ...rest } = act;
  const ders = chain.map(({ der }) => der);
  const kept: Kept = { ...rest, at: at.toISOString(), certificates: ders.map(({ length }) => length) };
  await db.query(sql`
    INSERT INTO prepared_acts (signer_id, kept, tail, signed_attrs, chain, created_at)
    VALUES (${signerId}, ${JSON.stringify(kept)}::json, ${tail}, ${Buffer.from(signedAttrs)},
      ${Buffer.from(concatBytes(ders))}, ${now})
    ON CONFLICT (signer_id) DO UPDATE SET kept = excluded.kept, tail = excluded.tail,
      signed_attrs = excluded.signed_attrs, chain = excluded.chain, created_at = excluded.created_at`);
}

/** The act that was prepared for the signer; undefined when there is none, or it is too old. */
export async function takePreparedAct(db: Sql, signerId: number, now: Date): Promise<OpenAct | undefined> {
  const [row] = await db.query<Row>(sql`
    SELECT kept, tail, signed_attrs AS "signedAttrs", chain FROM prepared_acts
    WHERE signer_id = ${signerId} AND created_at > ${new Date(now.getTime() - keptMs)}`);
  if (!row) return undefined;
  const { certificates, at, ...rest } = row.kept;
  let end = 0;
  const [leaf, ...above] = certificates.map((length) => {
    end += length;
    return parseCertificate(row.chain.subarray(end - length, end));
  });
  if (!leaf) return undefined;
  return { ...rest, at: new Date(at), tail: row.tail, signedAttrs: row.signedAttrs, chain: [leaf, ...above] };
}

export const dropPreparedAct = (db: Sql, signerId: number) =>
  db.query(sql`DELETE FROM prepared_acts WHERE signer_id = ${signerId}`);

/** Deletes what nobody completed in time. */
export const sweepPreparedActs = (db: Sql, now: Date) =>
  db.query(sql`DELETE FROM prepared_acts WHERE created_at <= ${new Date(now.getTime() - keptMs)}`);
