import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import { invalid } from "../platform/errors.ts";
import { type ListedOrder, listedColumns } from "./orders-list.ts";

/** As many as are put in order for each way to find an order, as many as are looked at, and as many as are shown. */
const [orderedMost, foundMost, shownMost] = [5_000, 200, 50];

/** The orders of an environment that rows of another table belong to, the latest first. */
const ordersOf = (environment: Environment, rows: Statement): Statement => sql`
  SELECT o.id FROM orders o JOIN (${rows}) r ON r.order_id = o.id WHERE o.environment = ${environment}
  ORDER BY o.id DESC LIMIT ${foundMost}`;

/** The ways by which a text may find orders, told by what it looks like: equality by an index, words only for what is nothing else. */
function waysOf(environment: Environment, text: string): Statement[] {
  const lower = text.toLowerCase();
  const of = (rows: Statement) => ordersOf(environment, rows);
  const here = sql`environment = ${environment}`;
  if (/^[0-9a-f]{40}$/.test(lower)) return [sql`SELECT id FROM orders WHERE code = ${lower}`];
  if (/^[0-9a-f]{64}$/.test(lower)) return [of(sql`SELECT order_id FROM documents WHERE sha256 = ${lower}`)];
  if (/^(?:(?:pi|py|ch)_\w+|sandbox:[0-9a-f]{40})$/.test(text))
    return [of(sql`SELECT order_id FROM payments WHERE payment_intent = ${text}`)];
  if (text.includes("@"))
    return [
      latest(sql`lower(customer_email) = ${lower} AND ${here}`),
      of(sql`
        SELECT e.order_id FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id WHERE lower(s.email) = ${lower}`),
    ];
  const ways = [
    of(sql`SELECT order_id FROM shipments WHERE tracking_number = ${text}`),
    // What is not handed over yet.
    of(sql`SELECT order_id FROM labels WHERE tracking_number = ${text}`),
    of(sql`SELECT order_id FROM letters WHERE tracking_number = ${text}`),
    byWords(here, lower),
  ];
  if (/^[0-9a-f]{6,39}$/.test(lower))
    ways.push(
      sql`SELECT id FROM orders WHERE code >= ${lower} AND code < ${`${lower}g`} AND ${here} LIMIT ${foundMost}`,
    );
  if (/^[a-z2-7]{26}$/.test(lower)) ways.push(of(sql`SELECT order_id FROM envelopes WHERE verify_code = ${lower}`));
  const number = text.replaceAll(/[\s().-]/g, "");
  if (/^\+?\d{7,15}$/.test(number))
    ways.push(
      of(sql`SELECT order_id FROM faxes WHERE fax_to = ANY (${[number, `+${number}`, `+1${number}`]}::text[])`),
    );
  return ways;
}

const byWords = (here: Statement, lower: string): Statement => {
  const pattern = `%${lower.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
  return latest(
    sql`lower(coalesce(customer_name, '') || ' ' || coalesce(external_reference, '')) LIKE ${pattern} AND ${here}`,
  );
};

// Ordered by itself the table would be walked from its end, however rare what is looked for.
const latest = (condition: Statement): Statement => sql`
  SELECT id FROM (SELECT id FROM orders WHERE ${condition} LIMIT ${orderedMost}) AS unordered ORDER BY id DESC LIMIT ${foundMost}`;

/** Apart from its running, for its plan. */
export function searchStatement(environment: Environment, text: string): Statement {
  const [first = sql`SELECT NULL::bigint AS id`, ...rest] = waysOf(environment, text);
  const found = rest.reduce((all, way) => sql`${all} UNION (${way})`, sql`(${first})`);
  return sql`SELECT ${listedColumns} FROM (${found}) f JOIN orders o ON o.id = f.id JOIN partners p ON p.id = o.partner_id
    WHERE o.environment = ${environment} ORDER BY o.created_at DESC, o.id DESC LIMIT ${shownMost}`;
}

/**
 * Orders that a text names: by code (or at least its first 6 digits), reference, mail address, name, tracking number, fax number,
 * hash of a document, verification code, or payment intent.
 * @throws ServiceError when the text can't name anything
 */
export async function searchOrders(db: Sql, environment: Environment, typed: string): Promise<ListedOrder[]> {
  const text = typed.trim().replaceAll(/\s+/g, " ");
  // Fewer letters would be looked for in every name.
  if (text.replaceAll(/[^\p{L}\p{N}]/gu, "").length < 3) throw invalid("Search needs at least 3 letters or digits.");
  if (text.length > 254 || text.includes("\0"))
    throw invalid("Search takes at most 254 characters, and no control characters.");
  return db.query<ListedOrder>(searchStatement(environment, text));
}
