import type { Environment } from "../identity/identity.ts";
import type { Sql } from "../platform/database/database.ts";
import { type Statement, sql } from "../platform/database/sql.ts";
import { invalid } from "../platform/errors.ts";
import { type ListedOrder, listedColumns } from "./orders-list.ts";

/** As many as are looked at for each way to find an order, and as many as are shown. */
const [foundMost, shownMost] = [200, 50];

const byTracking = (text: string) =>
  sql`SELECT order_id AS id FROM shipments WHERE tracking_number = ${text} LIMIT ${foundMost}`;

/** The ways by which a text may find orders, told by what it looks like: equality by an index, words only for what is nothing else. */
function waysOf(text: string): Statement[] {
  const lower = text.toLowerCase();
  const ways: Statement[] = [byTracking(text)];
  if (/^[0-9a-f]{40}$/.test(lower)) return [sql`SELECT id FROM orders WHERE code = ${lower}`];
  if (/^[0-9a-f]{64}$/.test(lower))
    return [sql`SELECT order_id AS id FROM documents WHERE sha256 = ${lower} LIMIT ${foundMost}`];
  if (/^[0-9a-f]{6,39}$/.test(lower))
    ways.push(sql`SELECT id FROM orders WHERE code >= ${lower} AND code < ${`${lower}g`} LIMIT ${foundMost}`);
  if (/^[a-z2-7]{26}$/.test(lower)) ways.push(sql`SELECT order_id AS id FROM envelopes WHERE verify_code = ${lower}`);
  if (/^(?:(?:pi|py|ch)_\w+|sandbox:[0-9a-f]{40})$/.test(text))
    return [sql`SELECT order_id AS id FROM payments WHERE payment_intent = ${text} LIMIT ${foundMost}`];
  if (text.includes("@"))
    return [
      sql`SELECT id FROM orders WHERE lower(customer_email) = ${lower} ORDER BY id DESC LIMIT ${foundMost}`,
      sql`SELECT e.order_id AS id FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
        WHERE lower(s.email) = ${lower} LIMIT ${foundMost}`,
    ];
  const number = text.replaceAll(/[\s().-]/g, "");
  if (/^\+?\d{7,15}$/.test(number))
    ways.push(
      sql`SELECT order_id AS id FROM faxes WHERE fax_to = ANY (${[number, `+${number}`, `+1${number}`]}::text[]) LIMIT ${foundMost}`,
    );
  ways.push(byWords(lower));
  return ways;
}

// Fewer than three letters would be looked for in every name.
const byWords = (lower: string): Statement => {
  const pattern = `%${lower.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
  return sql`SELECT id FROM orders
    WHERE lower(coalesce(customer_name, '') || ' ' || coalesce(external_reference, '')) LIKE ${pattern} LIMIT ${foundMost}`;
};

/** Apart from its running, for its plan. */
export function searchStatement(environment: Environment, text: string): Statement {
  const [first = sql`SELECT NULL::bigint AS id`, ...rest] = waysOf(text);
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
  if (text.length < 3) throw invalid("Search needs at least 3 characters.");
  if (text.length > 254 || text.includes("\0"))
    throw invalid("Search takes at most 254 characters, and no control characters.");
  return db.query<ListedOrder>(searchStatement(environment, text));
}
