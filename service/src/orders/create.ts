import {
  claimsExpiredBefore,
  fingerprintOf,
  finishAnswer,
  inFlight,
  type KeptAnswer,
  type KeyClaim,
  keptAnswer,
  pendingUntil,
} from "../http/idempotency.ts";
import type { Form } from "../http/uploads/multipart.ts";
import type { Principal } from "../identity/identity.ts";
import { tierOf } from "../partners/partners.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import { type Database, hasSqlState, sqlState } from "../platform/database.ts";
import { invalid } from "../platform/errors.ts";
import { newCode } from "../platform/ids.ts";
import type { Priced, VersionedPricing } from "../pricing/pricing.ts";
import { findFill, takeFill } from "./fill.ts";
import { type OrderForm, parseOrderForm } from "./form/form.ts";
import { looksLikePdf, pagesOf } from "./original.ts";
import { type Claim, insertOrder, type NewOrder, type OriginalDocument } from "./store.ts";
import { createdView } from "./views.ts";

export type OrderDeps = {
  db: Database;
  blobs: Blobs;
  clock: Clock;
  pricing: VersionedPricing;
  /** The checkout of a committed order; null when there is none to be had. Never rejects. Null: payments are not configured. */
  checkoutUrlOf: ((orderCode: string) => Promise<string | null>) | null;
};

export type CreateRequest = { principal: Principal; form: Form; idempotencyKey: string | null; requestId: string };

export type CreateAnswer = { replayed: null; body: string } | { replayed: KeptAnswer };

const route = "POST /api/partner/orders";

/**
 * Places an order: checks the form, prices it, stores the document and writes everything in one transaction.
 * @returns the answer's JSON, or the answer kept for the same Idempotency-Key.
 * @throws ServiceError naming the field and the rule; then nothing was written.
 */
export async function createOrder(deps: OrderDeps, request: CreateRequest): Promise<CreateAnswer> {
  const { upload } = request.form;
  const claim = claimOf(deps.clock(), request, upload?.sha256 ?? null);
  const kept = await keptOf(deps, claim);
  if (kept) return { replayed: kept };
  const fields = await withSlugOfFill(deps, request.form);
  const form = parseOrderForm(fields, upload !== null, deps.pricing);
  if (upload && !looksLikePdf(upload.bytes)) throw invalid("document must be a PDF.");
  if (form.fillToken !== null) return createFromFill(deps, request, form, form.fillToken, claim);
  if (!upload) throw invalid("document is required.");

  const pages = pagesOf(upload.bytes);
  const priced = await price(deps, request.principal.tier, form, pages);
  const document = {
    sha256: upload.sha256,
    bytes: upload.bytes.length,
    pages,
    blobKey: await deps.blobs.put(upload.bytes),
  };
  let inserted: { order: NewOrder; body: string } | null = null;
  try {
    const order = newOrder(deps, request.principal, form, priced, document);
    const body = JSON.stringify(createdView(order, request.requestId, null));
    if (await insertOrder(deps.db, order, claimFor(deps, order, claim, body))) inserted = { order, body };
  } catch (error) {
    await deps.blobs.remove(document.blobKey);
    throw lockedOut(error);
  }
  if (inserted) return { replayed: null, body: await withCheckout(deps, inserted.order, claim, inserted.body) };
  await deps.blobs.remove(document.blobKey);
  return replayOf(deps, claim);
}

/** A document that was completed online as a catalog's document is ordered as such, unless the form says another. */
async function withSlugOfFill({ db, clock }: OrderDeps, { fields }: Form): Promise<ReadonlyMap<string, string>> {
  const token = fields.get("fill_token") ?? "";
  if (!/^[0-9a-f]{40}$/.test(token) || (fields.get("doc_slug") ?? "") !== "") return fields;
  const slug = (await findFill(db, token, clock()))?.slug ?? null;
  return slug === null ? fields : new Map([...fields, ["doc_slug", slug]]);
}

const wantsCheckout = (deps: OrderDeps, { form, status }: NewOrder): boolean =>
  form.createCheckout && status === "QuoteReady" && deps.checkoutUrlOf !== null;

/** An answer that lacks its checkout is not final: it is minted once the order is committed. */
function claimFor(deps: OrderDeps, order: NewOrder, claim: KeyClaim | null, body: string): Claim | null {
  return claim && { ...claim, body, pendingUntil: wantsCheckout(deps, order) ? pendingUntil(order.createdAt) : null };
}

/** The order stands whatever the processor says: without a checkout it can be asked for again. */
async function withCheckout(deps: OrderDeps, order: NewOrder, claim: KeyClaim | null, body: string): Promise<string> {
  return wantsCheckout(deps, order) ? finished(deps, claim, body) : body;
}

async function finished({ db, checkoutUrlOf }: OrderDeps, claim: KeyClaim | null, body: string): Promise<string> {
  const view = JSON.parse(body) as { orderCode: string };
  const checkoutUrl = (await checkoutUrlOf?.(view.orderCode)) ?? null;
  const whole = JSON.stringify({ ...view, checkoutUrl });
  if (claim) await finishAnswer(db, claim, 201, whole);
  return whole;
}

/** The answer kept for the key; one that a crash left without its checkout is finished first. */
async function keptOf(deps: OrderDeps, claim: KeyClaim | null): Promise<KeptAnswer | null> {
  const kept = claim && (await keptAnswer(deps.db, claim, deps.clock));
  if (!kept?.unfinished) return kept;
  return { ...kept, body: await finished(deps, claim, kept.body) };
}

async function createFromFill(
  deps: OrderDeps,
  request: CreateRequest,
  form: OrderForm,
  token: string,
  claim: KeyClaim | null,
): Promise<CreateAnswer> {
  const document = await findFill(deps.db, token, deps.clock());
  if (!document) throw invalid("fill_token is unknown, used or expired.");
  const priced = await price(deps, request.principal.tier, form, document.pages);
  const inserted = await deps.db
    .transaction(async (tx) => {
      const order = newOrder(deps, request.principal, form, priced, document);
      const body = JSON.stringify(createdView(order, request.requestId, null));
      if (!(await insertOrder(tx, order, claimFor(deps, order, claim, body)))) return null;
      if (!(await takeFill(tx, token, order.createdAt))) throw invalid("fill_token is unknown, used or expired.");
      return { order, body };
    })
    .catch((error) => {
      throw lockedOut(error);
    });
  if (!inserted) return replayOf(deps, claim);
  return { replayed: null, body: await withCheckout(deps, inserted.order, claim, inserted.body) };
}

function claimOf(now: Date, request: CreateRequest, documentSha256: string | null): KeyClaim | null {
  const { principal, idempotencyKey, form } = request;
  const callerId = principal.key?.id ?? principal.member?.userId;
  if (idempotencyKey === null || callerId === undefined) return null;
  const fingerprint = fingerprintOf(form.fields, documentSha256);
  // A person may go from one firm to another; a key may not.
  const key = principal.key ? idempotencyKey : `${principal.partnerId}:${idempotencyKey}`;
  return { callerId, route, key, fingerprint, expiredBefore: claimsExpiredBefore(now) };
}

/** The answer of the twin that was first. */
async function replayOf(deps: OrderDeps, claim: KeyClaim | null): Promise<CreateAnswer> {
  const kept = await keptOf(deps, claim);
  if (!kept) throw inFlight();
  return { replayed: kept };
}

/** Our statement waited 5 s for a twin's transaction. */
const lockedOut = (error: unknown): unknown => (hasSqlState(error, sqlState.lockNotAvailable) ? inFlight() : error);

function price({ pricing }: OrderDeps, tier: string, form: OrderForm, pages: number): Promise<Priced> {
  const { services, docSlug, shipMethod, shipTo, shipFrom } = form;
  return pricing.price({ tier: tierOf(tier), services, docSlug, pages, shipMethod, shipTo, shipFrom });
}

function newOrder(
  { clock, pricing }: OrderDeps,
  principal: Principal,
  form: OrderForm,
  { outcome, quote }: Priced,
  document: OriginalDocument,
): NewOrder {
  return {
    ...form.services,
    ...quote,
    code: newCode(),
    status: outcome === "quoted" ? "QuoteReady" : "ManualQuoteRequired",
    envelopeStatus: form.services.sign ? "Created" : null,
    externalReference: form.externalReference,
    customerEmail: form.email,
    faxTo: form.faxTo,
    createdAt: clock(),
    principal,
    form,
    priceBookVersion: pricing.priceBookVersion,
    document,
  };
}
