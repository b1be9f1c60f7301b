import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { codeStart, codeStartLength, fromOrders, type Titled, type TitleOf } from "../order/order.ts";

/** Limits for each search method: how many orders it sorts, and how many it returns. */
const [orderedMost, foundMost] = [5_000, 200];

/** Which orders are searched: those of a firm or, with a null `partnerId`, those of all firms. */
export type SearchScope = { environment: Environment; partnerId: string | null };

export const ofScope = ({ environment, partnerId }: SearchScope, table: Statement): Statement =>
  sql`${table}.environment = ${environment}${partnerId === null ? nothing : sql` AND ${table}.partner_id = ${partnerId}`}`;

/** The orders that rows of another table refer to, latest first. */
const ordersOf = (scope: SearchScope, rows: Statement): Statement => sql`
  SELECT o.id ${fromOrders} JOIN (${rows}) r ON r.order_id = o.id WHERE ${ofScope(scope, sql`o`)}
  ORDER BY o.id DESC LIMIT ${foundMost}`;

const [isCodeText, isHash] = [/^[0-9a-f]{40}$/, /^[0-9a-f]{64}$/];
const isPayment = /^(?:(?:pi|py|ch)_\w+|sandbox:[0-9a-f]{32})$/;

/** Whether to search the text as words, rather than only as an identifier. */
export const isWords = (text: string): boolean =>
  ![isCodeText, isHash, isPayment, /@/].some((each) => each.test(text.toLowerCase()));

/** The search methods for a text. An identifier is looked up in indexes; other texts are also searched as words. */
function waysOf(scope: SearchScope, text: string): Statement[] {
  const lower = text.toLowerCase();
  const of = (rows: Statement) => ordersOf(scope, rows);
  const here = ofScope(scope, sql`orders`);
  if (isCodeText.test(lower)) return [sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", lower)}`];
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
    // Finds parcels and letters that have not been handed over yet.
    of(sql`SELECT order_id FROM labels WHERE tracking_number = ${text}`),
    of(sql`SELECT order_id FROM letters WHERE tracking_number = ${text}`),
    byWords(here, lower),
    bySigner(here, lower),
  ];
  if (/^[a-z2-7]{26}$/.test(lower))
    ways.push(of(sql`SELECT order_id FROM envelopes WHERE ${isSealed(sql`verify_code`, "envelope", lower)}`));
  const number = text.replaceAll(/[\s().-]/g, "");
  if (/^\+?\d{7,15}$/.test(number))
    ways.push(
      of(sql`SELECT order_id FROM faxes WHERE fax_to = ANY (${[number, `+${number}`, `+1${number}`]}::text[])`),
    );
  return ways;
}

const patternOf = (lower: string): string => `%${lower.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;

const byWords = (here: Statement, lower: string): Statement =>
  latest(
    sql`lower(coalesce(customer_name, '') || ' ' || coalesce(external_reference, '')) LIKE ${patternOf(lower)} AND ${here}`,
  );

/** Matches the names of the order's signers. */
const bySigner = (here: Statement, lower: string): Statement =>
  latest(
    sql`signers IS NOT NULL AND lower(jsonb_path_query_array(signers, '$[*].name')::text) LIKE ${patternOf(lower)} AND ${here}`,
  );

// Without the inner LIMIT, PostgreSQL would scan the whole table backward when few orders match.
const latest = (condition: Statement): Statement => sql`
  SELECT id FROM (SELECT id FROM orders WHERE ${condition} LIMIT ${orderedMost}) AS unordered ORDER BY id DESC LIMIT ${foundMost}`;

/**
 * The ids of matching orders in the scope, at most the latest 200 for each search method.
 * @param text as `searchText` returned it
 */
export function foundStatement(scope: SearchScope, text: string): Statement {
  const [first = sql`SELECT NULL::bigint AS id`, ...rest] = waysOf(scope, text);
  return rest.reduce((all, way) => sql`${all} UNION (${way})`, sql`(${first})`);
}

/**
 * Validates a search text: code (at least its first 6 digits), reference, email address, name, tracking number, fax
 * number, hash of a document, verification code, or payment intent.
 * @throws ServiceError for a text that has fewer than 3 letters or digits, is too long, or contains NUL
 */
export function searchText(typed: string): string {
  const text = typed.trim().replaceAll(/\s+/g, " ");
  // With fewer characters, almost every name would match.
  if (text.replaceAll(/[^\p{L}\p{N}]/gu, "").length < 3) throw invalid("Search needs at least 3 letters or digits.");
  if (text.length > 254 || text.includes("\0"))
    throw invalid("Search takes at most 254 characters, and no control characters.");
  return text;
}

const isStart = new RegExp(`^[0-9a-f]{${codeStartLength},39}$`);

/** Building the statement is separate from running it, so that tests can check its plan. */
export const codeStartStatement = (scope: SearchScope, start: string): Statement => sql`
SELECT id, code AS "code@order" FROM orders
WHERE ${isSealed(sql`code_start`, "orderStart", codeStart(start))} AND ${ofScope(scope, sql`orders`)} LIMIT ${foundMost}`;

/** Finds orders by the first digits of their codes. */
export async function ordersByCodeStart(db: Sql, scope: SearchScope, text: string): Promise<number[]> {
  const start = text.toLowerCase();
  if (!isStart.test(start)) return [];
  // The index covers only the first digits, so the rest is compared here.
  const found = await db.query<{ id: number; code: string }>(codeStartStatement(scope, start));
  return found.filter(({ code }) => code.startsWith(start)).map(({ id }) => id);
}

/** How many of the owner's latest orders are read, because titles are encrypted and no index contains them. */
const readMost = 1_000;

/**
 * The ids of the owner's orders whose titles contain the text, among the latest 1,000 orders.
 * @param text as `searchText` returned it
 */
export async function ordersByTitle(
  db: Sql,
  { partnerId, environment }: Owner,
  text: string,
  titleOf: TitleOf,
): Promise<number[]> {
  if (!isWords(text)) return [];
  const orders = await db.query<Titled & { id: number }>(sql`
SELECT id, code AS "code@order", document_name AS "documentName", doc_slug AS "docSlug" FROM orders
WHERE partner_id = ${partnerId} AND environment = ${environment} ORDER BY created_at DESC, id DESC LIMIT ${readMost}`);
  const words = text.toLowerCase();
  return orders.filter((order) => titleOf(order)?.toLowerCase().includes(words)).map(({ id }) => id);
}
