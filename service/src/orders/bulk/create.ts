import { hash } from "node:crypto";
import { setImmediate as yieldToOthers } from "node:timers/promises";
import { tierOf } from "../../firms/partners/partners.ts";
import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Owner, type Principal } from "../../kernel/identity/identity.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../../kernel/platform/database/page.ts";
import { invalid, isServiceError, ServiceError } from "../../kernel/platform/errors.ts";
import { fingerprintOf } from "../../kernel/platform/idempotency-keys.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { isUuid, wholeNumberIn } from "../../kernel/platform/text.ts";
import {
  documentUse,
  type OrderDeps,
  type OrderForm,
  readWhole,
  type SentDocument,
  type WithTemplate,
} from "../order/order.ts";
import { formFrom, type TemplateVersion, templateOf } from "../templates/templates.ts";
import { readCsv } from "./read-csv.ts";
import { columnsOf, commonFields, rowForm } from "./row-forms.ts";
import {
  type Bulk,
  cancelRows,
  findBulk,
  insertBulk,
  insertRows,
  listRows,
  type RowCipher,
  retryRows,
  type StoredRowForm,
} from "./store.ts";

export type BulkDeps = { orders: OrderDeps; withTemplate: WithTemplate; cipher: RowCipher };

const maxBytes = 5 * 1024 * 1024;
const maxErrors = 200;
/** The number of rows that are processed before other requests get their turn. */
export const between = 25;

export type Checked = {
  bulkId: string | null;
  rows: number;
  totalCents: number | null;
  errors: { row: number; message: string }[];
};

/**
 * Checks the rows of a file until 200 errors are found, and creates a bulk if all are valid as orders. The file itself
 * is not stored. Sending the same file again with the same fields and template version returns the same bulk, unless
 * all of its rows were canceled.
 * @throws ServiceError for a form or a file that can't be read
 */
export async function createBulk(
  { orders, cipher }: BulkDeps,
  principal: Principal,
  { fields, upload }: { fields: ReadonlyMap<string, string>; upload: SentDocument | null },
): Promise<Checked> {
  if (!upload || upload.bytes.length === 0) throw invalid("file is required: the list of people as CSV.");
  if (upload.bytes.length > maxBytes) throw invalid("file must have at most 5 MB.");
  const template = await templateOf(
    orders,
    principal,
    fields.get("template")?.trim() ?? "",
    fields.get("template_version")?.trim() || null,
  );
  const common = commonFields(fields);
  const { columns: names, rows } = readCsv(upload.bytes);
  const columns = columnsOf(names, template.content);
  const forms = rows.map(({ cells }) => rowForm(columns, cells, common, template.content));
  const { errors, totalCents, read } = await checked(orders, principal, template, forms);
  if (errors.length === 0) errors.push(...(await unfitValues(orders, principal, template, read)));
  if (errors.length > 0) return { bulkId: null, rows: rows.length, totalCents: null, errors };
  const { partnerId, environment } = principal;
  const bulk = {
    owner: { partnerId, environment },
    templateId: template.templateId,
    version: template.version,
    fingerprint: fingerprintOf(common, upload.sha256),
    createdBy: actorOf(principal),
    createdAt: orders.clock(),
  };
  const bulkId = await orders.db.transaction(async (tx) => {
    const bulkRow = await insertBulk(tx, bulk);
    if (!bulkRow.isNew) return bulkRow.bulkId;
    const sealedRows = forms.map((form, index) => {
      const id = newUuid();
      const content: StoredRowForm = { owner: bulk.owner, bulkId: bulkRow.bulkId, n: index + 1, fields: [...form] };
      return { id, n: index + 1, content: cipher.seal(content, id) };
    });
    await insertRows(tx, bulkRow.bulkId, sealedRows);
    const detail = { bulkId: bulkRow.bulkId, templateId: bulk.templateId, version: bulk.version, rows: rows.length };
    await tx.query(auditLine({ at: bulk.createdAt, action: "bulk.created", actor: bulk.createdBy, partnerId, detail }));
    return bulkRow.bulkId;
  });
  return { bulkId, rows: rows.length, totalCents, errors };
}

/** Checks and prices the rows of a file, and stops when too many of them are refused. */
async function checked(
  orders: OrderDeps,
  principal: Principal,
  { content, pages }: TemplateVersion,
  forms: readonly ReadonlyMap<string, string>[],
): Promise<Pick<Checked, "errors" | "totalCents"> & { read: OrderForm[] }> {
  const priceOf = rowPricing(orders, principal, pages);
  const errors: Checked["errors"] = [];
  const read: OrderForm[] = [];
  const seen = new Map<string, number>();
  let totalCents: number | null = 0;
  for (const [index, sent] of forms.entries()) {
    if (index % between === 0) await yieldToOthers();
    const row = index + 1;
    const sha256 = hash("sha256", JSON.stringify([...sent]));
    const earlier = seen.get(sha256);
    if (earlier !== undefined) errors.push({ row, message: `This row says the same as row ${earlier}.` });
    seen.set(sha256, row);
    const { refusals, form } = wholeForm(content, sent, orders.offer.pricing);
    errors.push(...refusals.map((message) => ({ row, message })));
    if (errors.length >= maxErrors) return { errors: errors.slice(0, maxErrors), totalCents: null, read };
    if (form) read.push(form);
    if (!form || totalCents === null) continue;
    const cents = await priceOf(form);
    totalCents = cents === null ? null : totalCents + cents;
  }
  return { errors, totalCents, read };
}

/**
 * Returns a function that prices the order of a row, in cents. The price is null if a person has to set it, because the
 * postage rate or a notary for the document is missing. Asks no carrier for a rate.
 */
export function rowPricing(
  { db, offer }: OrderDeps,
  { tier, environment }: Principal,
  pages: number,
): (form: OrderForm) => Promise<number | null> {
  // The rows of a list differ only in the signer's state, so the notaries are looked up once for each state.
  const gaps = new Map<string, Promise<string | null>>();
  const gapOf = ({ docSlug, signerState }: OrderForm): Promise<string | null> => {
    const key = `${docSlug} ${signerState}`;
    const gap =
      gaps.get(key) ?? offer.notaries.gapOf(db, { environment, docSlug, signerState, acceptsSignature: true });
    gaps.set(key, gap);
    return gap;
  };
  return async (form) => {
    const { services, docSlug, shipMethod, shipTo, shipFrom } = form;
    const asked = { tier: tierOf(tier), services, docSlug, pages, shipMethod, shipTo, shipFrom, askCarriers: null };
    const { outcome, quote } = await offer.pricing.price(asked);
    if (outcome !== "quoted" || (services.notarize && (await gapOf(form)) !== null)) return null;
    return quote.totalCents;
  };
}

/**
 * Finds values in valid rows that don't fit into their fields of the document. A single trial of signing tests all
 * values.
 * @returns the errors of these rows
 */
async function unfitValues(
  { blobs, originals }: OrderDeps,
  principal: Principal,
  { blobKey, sha256 }: TemplateVersion,
  forms: readonly OrderForm[],
): Promise<Checked["errors"]> {
  const [first] = forms;
  const fields = first?.signing.signatureFields;
  if (!first || !fields || !(first.services.sign || first.services.notarize)) return [];
  const rowsWith = new Map<string, { field: number; text: string; rows: number[] }>();
  for (const [index, form] of forms.entries())
    for (const [field, { value: text }] of (form.signing.signatureFields ?? []).entries()) {
      if (text === undefined) continue;
      const same = rowsWith.get(`${field} ${text}`) ?? { field, text, rows: [] };
      same.rows.push(index + 1);
      rowsWith.set(`${field} ${text}`, same);
    }
  const texts = [...rowsWith.values()];
  if (texts.length === 0) return [];
  const trial = {
    holder: principal.partnerId,
    sha256,
    isNotarized: first.services.notarize,
    signers: first.signing.signers?.map(({ name }) => name) ?? [],
    fields: fields.map(({ value: _, ...field }) => field),
    texts: texts.map(({ field, text }) => ({ field, text })),
  };
  const at = { key: blobKey, use: documentUse(sha256), holder: memoryHolder(principal) };
  const tried = await blobs.withBytes(at, async (bytes) => bytes && originals.trySigning({ bytes, ...trial }));
  const errors = (tried?.unfit ?? []).flatMap(({ text, why }) => {
    const { field = 0, rows = [] } = texts[text] ?? {};
    return rows.map((row) => ({ row, message: `values.${fields[field]?.label ?? field} ${why}.` }));
  });
  return errors.sort((one, other) => one.row - other.row).slice(0, maxErrors);
}

/**
 * Reads the order form of one row.
 * @returns the row's errors, and its form with refused fields replaced; null for a form that can't be read
 */
export function wholeForm(
  content: TemplateVersion["content"],
  sent: ReadonlyMap<string, string>,
  pricing: OrderDeps["offer"]["pricing"],
) {
  try {
    return readWhole(formFrom(content, sent), true, pricing);
  } catch (error) {
    if (!isServiceError(error, "validation")) throw error;
    return { refusals: [error.message], form: null };
  }
}

const noSuchBulk = () => new ServiceError("not_found", "Bulk not found.");

/**
 * Finds a bulk of the owner.
 * @throws ServiceError `not_found`
 */
export async function ownBulk({ orders }: Pick<BulkDeps, "orders">, owner: Owner, bulkId: string): Promise<Bulk> {
  const bulk = isUuid(bulkId) ? await findBulk(orders.db, owner, bulkId) : undefined;
  if (!bulk) throw noSuchBulk();
  return bulk;
}

/**
 * Sets the failed rows of a bulk back to waiting, so that they can be placed again.
 * @throws ServiceError `not_found`
 */
export async function retryBulk(deps: BulkDeps, owner: Owner, bulkId: string): Promise<Bulk> {
  await ownBulk(deps, owner, bulkId);
  await retryRows(deps.orders.db, bulkId);
  return ownBulk(deps, owner, bulkId);
}

/**
 * Cancels the rows of a bulk that have no order yet, and deletes the personal data in them.
 * @throws ServiceError `not_found`
 */
export async function cancelBulk(deps: BulkDeps, owner: Owner, bulkId: string): Promise<Bulk> {
  await ownBulk(deps, owner, bulkId);
  await cancelRows(deps.orders.db, bulkId);
  return ownBulk(deps, owner, bulkId);
}

const pageSize = { usual: 100, max: 500 };

/**
 * A page of a bulk's rows, in the order of the file. The cursor is the number of the page's last row.
 * @throws ServiceError `not_found`, and for a `limit` or `cursor` that is not valid
 */
export async function rowPage(deps: BulkDeps, owner: Owner, bulkId: string, query: PageQuery) {
  await ownBulk(deps, owner, bulkId);
  const limit = limitOf(query.limit, pageSize);
  const cursor = cursorOf(query.cursor);
  const after = cursor === null ? 0 : wholeNumberIn(cursor, 0, 9999);
  if (after === undefined) throw foreignCursor();
  const rows = await listRows(deps.orders.db, bulkId, { after, limit: limit + 1 });
  const { items, nextCursor } = pageOf(rows, limit, ({ n }) => String(n));
  const shown = items.map(({ id, n, state, reason, content }) => {
    const stored = state === "placed" && content ? deps.cipher.open(content, id) : null;
    return { row: n, state, reason, orderCode: stored && "orderCode" in stored ? stored.orderCode : null };
  });
  return { rows: shown, nextCursor };
}
