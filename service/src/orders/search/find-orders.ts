import type { Environment } from "../identity/identity.ts";
import { isSealed, nothing, type Statement, sql } from "../platform/database/sql.ts";
import { invalid } from "../platform/errors.ts";

/** As many as are put in order for each way to find an order, and as many as are looked at. */
const [orderedMost, foundMost] = [5_000, 200];

/** Whose orders are looked through: a firm's, or everybody's. */
export type SearchScope = { environment: Environment; partnerId: string | null };

const ofScope = ({ environment, partnerId }: SearchScope, table: Statement): Statement =>
  sql`${table}.environment = ${environment}${partnerId === null ? nothing : sql` AND ${table}.partner_id = ${partnerId}`}`;

/** The orders that rows of another table belong to, the latest first. */
const ordersOf = (scope: SearchScope, rows: Statement): Statement => sql`
  SELECT o.id FROM orders o JOIN (${rows}) r ON r.order_id = o.id WHERE ${ofScope(scope, sql`o`)}
  ORDER BY o.id DESC LIMIT ${foundMost}`;

const [isCodeText, isHash] = [/^[0-9a-f]{40}$/, /^[0-9a-f]{64}$/];
const isPayment = /^(?:(?:pi|py|ch)_\w+|sandbox:[0-9a-f]{40})$/;

/** Whether a text may be words, and not only the name of one thing. */
export const isWords = (text: string): boolean =>
  ![isCodeText, isHash, isPayment, /@/].some((each) => each.test(text.toLowerCase()));

/** The ways by which a text may find orders, told by what it looks like: equality by an index, words only for what is nothing else. */
function waysOf(scope: SearchScope, text: string): Statement[] {
  const lower = text.toLowerCase();
  const of = (rows: Statement) => ordersOf(scope, rows);
  const here = ofScope(scope, sql`orders`);
  if (isCodeText.test(lower)) return [sql`SELECT id FROM orders WHERE code = ${lower}`];
  if (isHash.test(lower)) return [of(sql`SELECT order_id FROM documents WHERE sha256 = ${lower}`)];
  if (isPayment.test(text)) return [of(sql`SELECT order_id FROM payments WHERE payment_intent = ${text}`)];
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
  if (/^[a-z2-7]{26}$/.test(lower))
    ways.push(of(sql`SELECT order_id FROM envelopes WHERE ${isSealed(sql`verify_code`, "envelope", lower)}`));
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

/** The ids of the scope's orders that a text names, the latest 200 by each way. @param text from `searchText` */
export function foundStatement(scope: SearchScope, text: string): Statement {
  const [first = sql`SELECT NULL::bigint AS id`, ...rest] = waysOf(scope, text);
  return rest.reduce((all, way) => sql`${all} UNION (${way})`, sql`(${first})`);
}

/**
 * A text that orders are looked for by: code (or at least its first 6 digits), reference, mail address, name, tracking number, fax
 * number, hash of a document, verification code, or payment intent.
 * @throws ServiceError when the text can't name anything
 */
export function searchText(typed: string): string {
  const text = typed.trim().replaceAll(/\s+/g, " ");
  // Fewer letters would be looked for in every name.
  if (text.replaceAll(/[^\p{L}\p{N}]/gu, "").length < 3) throw invalid("Search needs at least 3 letters or digits.");
  if (text.length > 254 || text.includes("\0"))
    throw invalid("Search takes at most 254 characters, and no control characters.");
  return text;
}
