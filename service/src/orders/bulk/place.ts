/** Places the orders of a bulk. */
import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { Principal } from "../../kernel/identity/identity.ts";
import { nullIfAltered } from "../../kernel/platform/database/state-mac.ts";
import { AlteredRecordError, isServiceError, ServiceError } from "../../kernel/platform/errors.ts";
import { timeLimit } from "../../kernel/platform/stopwatch.ts";
import { dollars } from "../dollars.ts";
import { createOrder, type PricedOrder, type SentOrder } from "../order/order.ts";
import { templateOf } from "../templates/templates.ts";
import { type BulkDeps, between, ownBulk, rowPricing, wholeForm } from "./create.ts";
import { type Bulk, claimRow, failRow, type WaitingRow, waitingRows } from "./store.ts";

const maxOrdersInRun = 100;
const maxMs = 10_000;

/**
 * The charge that the page announced for the bulk's next orders, when the firm pays for them: the sum in cents and the
 * payment method's id.
 */
export type ShownSum = { cents: number; methodId: string };

/**
 * Places orders for at most 100 waiting rows, for at most ten seconds. The caller repeats the call until no row waits.
 * A row and its order are committed together, so neither a crash nor a concurrent caller can place a row twice.
 * @param shown the only charge that the caller agreed to; null to charge nothing. If it is undefined, the active
 * payment method is charged.
 * @throws ServiceError `not_found`; `conflict` when the sum is not the shown one, or another caller is placing the
 * orders without this charge; and errors that prevent placing any order
 */
export async function placeRows(
  deps: BulkDeps,
  principal: Principal,
  bulkId: string,
  shown?: ShownSum | null,
): Promise<Bulk> {
  const bulk = await ownBulk(deps, principal, bulkId);
  const running = placing.get(bulkId);
  // The running placement charges only what its own caller agreed to.
  if (running && shown && !isSameCharge(running.shown, shown))
    throw new ServiceError(
      "conflict",
      "Somebody else is placing these orders, with another charge or none. Look at the list again: orders that were not charged wait for your firm’s payment.",
    );
  const work = running?.work ?? placeWaiting(deps, principal, bulk, shown).finally(() => placing.delete(bulkId));
  placing.set(bulkId, running ?? { work, shown });
  await work;
  return ownBulk(deps, principal, bulkId);
}

/**
 * The running placement of each bulk in this process. Concurrent callers share its result. Otherwise each would prepare
 * the same row, and only one could place it.
 */
const placing = new Map<string, { work: Promise<void>; shown: ShownSum | null | undefined }>();

const isSameCharge = (one: ShownSum | null | undefined, other: ShownSum): boolean =>
  one?.cents === other.cents && one.methodId === other.methodId;

/**
 * The prices of the orders that `placeRows` would place next, in cents by row number. Contains only orders that the
 * firm pays. Asks no carrier for a rate. Omits orders that a person has to price. Also omits altered rows, because
 * `placeRows` stops at them.
 */
export async function nextPrices(
  deps: BulkDeps,
  principal: Principal,
  bulk: Bulk,
): Promise<ReadonlyMap<number, number>> {
  const { orders } = deps;
  const { content, pages } = await templateOf(orders, principal, bulk.templateId, String(bulk.version));
  const priceOf = rowPricing(orders, principal, pages);
  const prices = new Map<number, number>();
  const waiting = await waitingRows(orders.db, bulk.bulkId, { after: 0, limit: maxOrdersInRun });
  for (const [index, row] of waiting.entries()) {
    if (index % between === 0) await yieldToOthers();
    const fields = readableFields(deps, principal, row, bulk);
    const form = fields && wholeForm(content, fields, orders.offer.pricing).form;
    if (form?.payBy !== "firm") continue;
    const cents = await priceOf(form);
    if (cents !== null) prices.set(row.n, cents);
  }
  return prices;
}

export const sumOfPrices = (prices: ReadonlyMap<number, number>): number =>
  [...prices.values()].reduce((sum, cents) => sum + cents, 0);

async function placeWaiting(
  deps: BulkDeps,
  principal: Principal,
  bulk: Bulk,
  shown: ShownSum | null | undefined,
): Promise<void> {
  const prices = shown ? await nextPrices(deps, principal, bulk) : new Map<number, number>();
  const sum = sumOfPrices(prices);
  if (shown && sum !== shown.cents)
    throw new ServiceError(
      "conflict",
      `The sum is ${dollars(sum)} now, not ${dollars(shown.cents)}. Nothing was placed, and nobody was charged.`,
    );
  const isLate = timeLimit(maxMs);
  let last = 0;
  for (let ordered = 0; ordered < maxOrdersInRun && !isLate(); ordered++) {
    const [row] = await waitingRows(deps.orders.db, bulk.bulkId, { after: last, limit: 1 });
    if (!row) break;
    last = row.n;
    // A carrier's rate can raise an order's price above the shown one. Such an order is placed but not charged, and the
    // firm decides about its payment.
    const agree = async ({ totalCents }: PricedOrder) =>
      shown && totalCents <= (prices.get(row.n) ?? 0) ? shown.methodId : null;
    await placeRow(deps, principal, row, { bulk, agree: shown === undefined ? undefined : agree });
  }
}

/**
 * The fields of the order form that a row stores.
 * @throws AlteredRecordError for a row that was altered, or belongs to another bulk; MissingKeyError
 */
function fieldsOf(
  { cipher }: BulkDeps,
  { partnerId, environment }: Principal,
  { id, n, content }: WaitingRow,
  { bulkId }: Pick<Bulk, "bulkId">,
): ReadonlyMap<string, string> {
  const stored = cipher.open(content, id);
  const isOwn =
    "fields" in stored &&
    stored.bulkId === bulkId &&
    stored.n === n &&
    stored.owner.partnerId === partnerId &&
    stored.owner.environment === environment;
  if (!isOwn) throw new AlteredRecordError(`row ${n} of bulk ${bulkId}`);
  return new Map(stored.fields);
}

/** Like `fieldsOf`, but returns null for an altered row, so that the page of the bulk still opens. */
function readableFields(
  deps: BulkDeps,
  principal: Principal,
  row: WaitingRow,
  bulk: Pick<Bulk, "bulkId">,
): ReadonlyMap<string, string> | null {
  try {
    return fieldsOf(deps, principal, row, bulk);
  } catch (error) {
    return nullIfAltered(error);
  }
}

async function placeRow(
  deps: BulkDeps,
  principal: Principal,
  row: WaitingRow,
  { bulk, agree }: { bulk: Bulk; agree: SentOrder["agree"] },
): Promise<void> {
  const { orders, withTemplate, cipher } = deps;
  const { id } = row;
  const named: [string, string][] = [
    ["template", bulk.templateId],
    ["template_version", String(bulk.version)],
  ];
  const fields = new Map([...fieldsOf(deps, principal, row, bulk), ...named]);
  const sent = { fields, upload: null, withTemplate, agree };
  try {
    await createOrder(orders, principal, sent, ({ code }) => claimRow(id, cipher.seal({ orderCode: code }, id)));
  } catch (error) {
    if (!isServiceError(error, "validation")) throw error;
    await failRow(orders.db, id, error.message);
  }
}
