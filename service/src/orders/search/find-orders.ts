import type { Environment, Owner } from "../../kernel/identity/identity.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { isSealed, nothing, type Statement, sql } from "../../kernel/platform/database/sql.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { codeStart, codeStartLength } from "../../kernel/platform/text.ts";
import { ordersFaxedTo, ordersTrackedBy } from "../fulfilment/fulfilment.ts";
import { fromOrders, hasOrderCode, ordersWithDocument, type Titled, type TitleOf } from "../order/order.ts";
import { ordersPaidBy } from "../payments/payments.ts";

/** Each search method returns at most 200 orders. A search of the orders' own columns sorts at most 5,000 matches. */
const [maxOrdered, maxFound] = [5_000, 200];

/** The orders to search: those of a firm or, with a null `partnerId`, those of all firms. */
export type SearchScope = { environment: Environment; partnerId: string | null };

const ofScope = ({ environment, partnerId }: SearchScope): Statement =>
  sql`o.environment = ${environment}${partnerId === null ? nothing : sql` AND o.partner_id = ${partnerId}`}`;

/** The orders that rows of another table refer to, latest first. */
const ordersOf = (scope: SearchScope, rows: Statement): Statement => sql`
  SELECT o.id ${fromOrders} JOIN (${rows}) r ON r.order_id = o.id WHERE ${ofScope(scope)}
  ORDER BY o.id DESC LIMIT ${maxFound}`;

const [isCodeText, isHash] = [/^[0-9a-f]{40}$/, /^[0-9a-f]{64}$/];
const isPayment = /^(?:(?:pi|py|ch)_\w+|sandbox:[0-9a-f]{32})$/;

/**
 * `kind` is what the text looks like. A text of kind `words` may also be an identifier, such as a tracking number, so
 * it is searched both ways.
 */
type SearchText = { kind: "code" | "hash" | "payment" | "email" | "words"; text: string; lower: string };

/**
 * A search method that a feature declares for its own tables: selects the `order_id` of each order that the text
 * identifies there; null when a text of this kind can't identify an order there.
 */
export type SearchMethod = (search: SearchText) => Statement | null;

function classified(text: string): SearchText {
  const lower = text.toLowerCase();
  const of = (kind: SearchText["kind"]) => ({ kind, text, lower });
  if (isCodeText.test(lower)) return of("code");
  if (isHash.test(lower)) return of("hash");
  if (isPayment.test(text)) return of("payment");
  return of(text.includes("@") ? "email" : "words");
}

/** True if the text is searched as words too, and not only as an identifier. */
const isWords = (text: string): boolean => classified(text).kind === "words";

const inOrders: SearchMethod = ({ kind, text, lower }) => {
  if (kind === "hash") return ordersWithDocument(lower);
  if (kind === "payment") return ordersPaidBy(text);
  return kind === "words" ? ordersTrackedBy(text) : null;
};

const byFaxNumber: SearchMethod = ({ kind, text }) => {
  const number = text.replaceAll(/[\s().-]/g, "");
  const isNumber = kind === "words" && /^\+?\d{7,15}$/.test(number);
  return isNumber ? ordersFaxedTo([number, `+${number}`, `+1${number}`]) : null;
};

/** The search methods for a text. An identifier is looked up in indexes; other texts are also searched as words. */
function statementsOf(scope: SearchScope, search: SearchText, methods: readonly SearchMethod[]): Statement[] {
  const { kind, lower } = search;
  const here = ofScope(scope);
  if (kind === "code") return [sql`SELECT o.id ${fromOrders} WHERE ${hasOrderCode(lower)}`];
  const own = {
    email: [latest(sql`lower(o.customer_email) = ${lower} AND ${here}`)],
    words: [byWords(here, lower), bySigner(here, lower)],
    hash: [],
    payment: [],
  };
  const rows = [inOrders, byFaxNumber, ...methods].flatMap((method) => method(search) ?? []);
  return [...own[kind], ...rows.map((each) => ordersOf(scope, each))];
}

const patternOf = (lower: string): string => `%${lower.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;

const byWords = (here: Statement, lower: string): Statement =>
  latest(
    sql`lower(coalesce(o.customer_name, '') || ' ' || coalesce(o.external_reference, '')) LIKE ${patternOf(lower)} AND ${here}`,
  );

/** Matches the names of the order's signers. */
const bySigner = (here: Statement, lower: string): Statement =>
  latest(
    sql`o.signers IS NOT NULL AND lower(jsonb_path_query_array(o.signers, '$[*].name')::text) LIKE ${patternOf(lower)} AND ${here}`,
  );

// Without the inner LIMIT, PostgreSQL would scan the whole table backward when few orders match.
const latest = (condition: Statement): Statement => sql`
  SELECT id FROM (SELECT o.id ${fromOrders} WHERE ${condition} LIMIT ${maxOrdered}) AS unordered ORDER BY id DESC LIMIT ${maxFound}`;

/**
 * The ids of matching orders in the scope, at most the latest 200 for each search method. A whole code also finds an
 * order outside the scope, so the caller's query must restrict the orders, too.
 * @param text as `searchText` returned it
 * @param methods the search methods that features above this one declare
 */
export function foundStatement(scope: SearchScope, text: string, methods: readonly SearchMethod[]): Statement {
  const [first = sql`SELECT NULL::bigint AS id`, ...rest] = statementsOf(scope, classified(text), methods);
  return rest.reduce((all, way) => sql`${all} UNION (${way})`, sql`(${first})`);
}

/**
 * Validates a search text. It can be a code (at least its first 6 digits), reference, email address, name, tracking
 * number or fax number. It can also be the hash of a document, a verification code, or a payment intent.
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

/**
 * The query for orders whose codes begin with these digits. Building it is separate from running it, so that tests can
 * check its plan.
 */
export const codeStartStatement = (scope: SearchScope, start: string): Statement => sql`
SELECT o.id, o.code AS "code@order" ${fromOrders}
WHERE ${isSealed(sql`o.code_start`, "orderStart", codeStart(start))} AND ${ofScope(scope)} LIMIT ${maxFound}`;

/** Finds orders by the first digits of their codes. */
export async function ordersByCodeStart(db: Sql, scope: SearchScope, text: string): Promise<number[]> {
  const start = text.toLowerCase();
  if (!isStart.test(start)) return [];
  // The index covers only the first digits of a code, so the remaining digits are compared here.
  const found = await db.query<{ id: number; code: string }>(codeStartStatement(scope, start));
  return found.filter(({ code }) => code.startsWith(start)).map(({ id }) => id);
}

/**
 * `ordersByTitle` reads at most this many of the firm's latest orders. Titles are encrypted, so no index contains them.
 */
const maxRead = 1_000;

/**
 * The ids of the owner's orders whose titles contain the text, among the latest 1,000 orders. Empty for a text that
 * looks like an identifier or an email address.
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
SELECT o.id, o.code AS "code@order", o.document_name AS "documentName", o.doc_slug AS "docSlug" ${fromOrders}
WHERE ${ofScope({ partnerId, environment })} ORDER BY o.created_at DESC, o.id DESC LIMIT ${maxRead}`);
  const words = text.toLowerCase();
  return orders.filter((order) => titleOf(order)?.toLowerCase().includes(words)).map(({ id }) => id);
}
