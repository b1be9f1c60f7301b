/**
 * The rows of an order's guests: people whom the notary expects at an appointment besides the signers, such as
 * witnesses.
 */
import { changeRow } from "../../../kernel/platform/database/change-rows.ts";
import type { Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { type StateMac, verified, writeStateMacs } from "../../../kernel/platform/database/state-mac.ts";
import type { Language } from "../../../kernel/platform/languages.ts";
import { stateRows } from "../../../kernel/platform/protected-data.ts";
import {
  derivedToken,
  deriveKey,
  type SecretBytes,
  tokenOfHash,
  tokenSha256,
} from "../../../kernel/platform/secrets.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import type { ThirdRole } from "./third-roles.ts";

export type Guest = {
  id: string;
  orderId: number;
  role: ThirdRole;
  name: string;
  email: string;
  language: Language;
  /** For a credible witness, the number of the signer for whom the witness vouches; null for other guests. */
  forSigner: number | null;
  addedAt: Date;
  removedAt: Date | null;
};

const guestState: StateMac = {
  table: sql`appointment_guests`,
  key: sql`id`,
  mac: sql`row_mac`,
  covered: (g) => sql`${g}.id, ${g}.order_id, ${g}.role, ${g}.name, ${g}.email, ${g}.language, ${g}.for_signer,
    encode(${g}.token_sha256, 'hex'), extract(epoch FROM ${g}.added_at), extract(epoch FROM ${g}.removed_at)`,
};

export const guestRows = stateRows(guestState);

const tokenUnder = (secrets: SecretBytes, id: string): string =>
  derivedToken(deriveKey(secrets, "appointment-guest-link"), id);

const guestsWhere = (db: Sql, where: Statement): Promise<Guest[]> =>
  db.query<Guest>(sql`
    SELECT id, order_id AS "orderId", role, name, email, language, for_signer AS "forSigner", added_at AS "addedAt",
      removed_at AS "removedAt", ${verified(guestState, sql`appointment_guests`)}
    FROM appointment_guests WHERE ${where} ORDER BY added_at, id`);

/**
 * The guests of an order, without removed ones.
 * @throws ServiceError `unavailable` for a row whose MAC is invalid
 */
export const guestsOf = (db: Sql, orderId: number): Promise<Guest[]> =>
  guestsWhere(db, sql`order_id = ${orderId} AND removed_at IS NULL`);

/** Finds a guest by id. Includes removed guests, because they still get the cancellation by mail. */
export const findGuest = async (db: Sql, id: string): Promise<Guest | undefined> =>
  (await guestsWhere(db, sql`id = ${id}`))[0];

/** How many guests an order has ever had, including removed ones. */
export async function countGuests(db: Sql, orderId: number): Promise<number> {
  const [row] = await db.query<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM appointment_guests WHERE order_id = ${orderId}`,
  );
  return row?.n ?? 0;
}

/** The guest of a link; undefined for an invalid link, and for the link of a removed guest. */
export async function guestOfToken(db: Sql, token: string): Promise<Guest | undefined> {
  if (!isCode(token)) return undefined;
  return (await guestsWhere(db, sql`token_sha256 = ${tokenSha256(token)} AND removed_at IS NULL`))[0];
}

/**
 * The path of a guest's page. Null for an unknown guest. Also null when the secret from which the link's token was
 * derived is missing.
 */
export async function guestPathOf(db: Sql, secrets: SecretBytes, id: string): Promise<string | null> {
  const [row] = await db.query<{ sha256: Buffer }>(
    sql`SELECT token_sha256 AS sha256 FROM appointment_guests WHERE id = ${id}`,
  );
  const token = row && tokenOfHash(secrets, row.sha256, (key) => tokenUnder(key, id));
  return token === undefined ? null : `/appointments/${token}`;
}

/** Stores a new guest of an order. The caller must have locked the order. */
export async function insertGuest(tx: Tx, secrets: SecretBytes, guest: Omit<Guest, "removedAt">): Promise<void> {
  const { id, orderId, role, name, email, language, forSigner, addedAt } = guest;
  await tx.query(sql`
    INSERT INTO appointment_guests (id, order_id, role, name, email, language, for_signer, token_sha256, added_at)
    VALUES (${id}, ${orderId}, ${role}, ${name}, ${email}, ${language}, ${forSigner},
      ${tokenSha256(tokenUnder(secrets, id))}, ${addedAt})`);
  await writeStateMacs(tx, guestState, sql`id = ${id}`);
}

/** Marks a guest as removed. The caller must have locked the guest's order. */
export const removeGuest = (tx: Tx, id: string, at: Date): Promise<void> =>
  changeRow(tx, guestState, id, sql`removed_at = ${at}`);
