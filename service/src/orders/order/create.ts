import type { Principal } from "../identity/identity.ts";
import { type RequireStorage, tierOf } from "../partners/partners.ts";
import type { Blobs } from "../platform/blobs/blobs.ts";
import type { Clock } from "../platform/clock.ts";
import type { Database } from "../platform/database/database.ts";
import type { Statement } from "../platform/database/sql.ts";
import { isOutcomeUnknown } from "../platform/database/sql-errors.ts";
import { type DocumentNames, documentName } from "../platform/document-name.ts";
import { invalid } from "../platform/errors.ts";
import { newCode } from "../platform/ids.ts";
import type { Log } from "../platform/logs.ts";
import type { RowMac } from "../platform/row-mac.ts";
import { slowHash } from "../platform/slow-hash.ts";
import { isCode } from "../platform/text.ts";
import type { Workers } from "../platform/workers/task.ts";
import type { AskCarriers, Priced, VersionedPricing } from "../pricing/pricing.ts";
import { documentMembers, documentUse } from "./document-row.ts";
import { type FilledDocument, findFill, takeFill } from "./fill.ts";
import { type OrderForm, parseOrderForm } from "./form/form.ts";
import type { NamedSigner, OrderSigner } from "./form/signers.ts";
import { insertOrder, type NewOrder } from "./insert.ts";
import { sealNotices } from "./notices.ts";
import { estimatedPages, looksLikePdf, pagesOf } from "./original.ts";
import { signingMembers } from "./signing-row.ts";
import type { OriginalDocument } from "./store.ts";
import type { TriedDocument, TrySigning } from "./try-signing.ts";

export type CreateDeps = {
  db: Database;
  blobs: Blobs;
  rowMac: RowMac;
  names: DocumentNames;
  log: Log;
  requireStorage: RequireStorage;
  clock: Clock;
  pricing: VersionedPricing;
  workers: Workers;
  trySigning: TrySigning;
  /** Whether text messages are sent from here. */
  textCodes: boolean;
  /** Whether they are sent to the number's country. */
  textsReach: (phone: string) => boolean;
  /** What carriers charge, asked over the network; null where no account is set. */
  askCarriers: AskCarriers | null;
};

/** A form as it was sent: its text fields, the file part where one came, and else what its document is called. */
export type SentOrder = {
  fields: ReadonlyMap<string, string>;
  upload: SentDocument | null;
  documentName?: string | undefined;
};

/** A file as it was sent, and what its sender calls it. */
export type SentDocument = { bytes: Buffer; sha256: string; filename?: string | undefined };

/**
 * The writing part of `placeOrder`: checks the form, prices it, stores the document and writes everything at once.
 * @param claim the insert that claims the request's key for the order; it goes into the order's own statement
 * @returns the order, or null when an earlier request has the key
 * @throws ServiceError naming the field and the rule. Then, and when it returns null, nothing was written.
 */
export async function createOrder(
  deps: CreateDeps,
  principal: Principal,
  sent: SentOrder,
  claim: ((order: NewOrder) => Statement) | null,
): Promise<NewOrder | null> {
  const { blobs } = deps;
  const filled = await filledDocument(deps, sent.fields);
  const form = parseOrderForm(withSlugOf(filled, sent.fields), sent.upload !== null, deps.pricing);
  requireTexts(deps, form.signing.signers ?? [], sent.fields);
  const { pages, notices } = await examineSent(deps, principal, { sent, filled, form });
  const priced = await price(deps, principal, form, pages);
  if (sent.upload) await deps.requireStorage(principal, sent.upload.bytes.length);
  const signers = form.signing.signers && (await Promise.all(form.signing.signers.map(keptSigner)));
  const document = sent.upload ? await storeUpload(blobs, sent.upload, pages) : filled;
  if (!document) throw unusableFill();
  try {
    const name = documentName(sent.upload?.filename ?? sent.documentName);
    const order = newOrder(deps, principal, { form, signers, priced, document, name, notices });
    if (await write(deps.db, order, claim?.(order) ?? null)) return order;
  } catch (error) {
    if (sent.upload && !isOutcomeUnknown(error)) await blobs.discard(document.blobKey);
    throw error;
  }
  if (sent.upload) await blobs.discard(document.blobKey);
  return null;
}

/** @throws ServiceError naming the field that asks for codes by text message that are not sent */
function requireTexts(
  { textCodes, textsReach }: Pick<CreateDeps, "textCodes" | "textsReach">,
  signers: readonly NamedSigner[],
  fields: SentOrder["fields"],
): void {
  const index = signers.findIndex(({ auth, phone }) => auth === "text_code" && !textsReach(phone ?? ""));
  if (index === -1) return;
  if (textCodes)
    throw invalid(`signers[${index}].phone must be a number of a country that this service sends text messages to.`);
  const name = fields.get("signer_auth")?.trim() === "text_code" ? "signer_auth" : `signers[${index}].auth`;
  throw invalid(`${name} must not be text_code: this service sends no text messages.`);
}

/** The document that was completed online, when the form names one. */
async function filledDocument(deps: CreateDeps, fields: SentOrder["fields"]): Promise<FilledDocument | undefined> {
  const token = fields.get("fill_token") ?? "";
  return isCode(token) ? findFill(deps, token, deps.clock()) : undefined;
}

/** A document that was completed online as a catalog's document is ordered as such, unless the form says another. */
function withSlugOf(filled: FilledDocument | undefined, fields: SentOrder["fields"]): SentOrder["fields"] {
  if (!filled?.slug || (fields.get("doc_slug") ?? "") !== "") return fields;
  return new Map([...fields, ["doc_slug", filled.slug]]);
}

/** Reads the document. One to be signed or notarized is tried first, so that a refusal comes before the document is stored. */
async function examineSent(
  deps: CreateDeps,
  { partnerId: holder }: Principal,
  { sent: { upload }, filled, form }: { sent: SentOrder; filled: FilledDocument | undefined; form: OrderForm },
): Promise<{ pages: number; notices: TriedDocument["notices"] }> {
  if (upload && !looksLikePdf(upload.bytes)) throw invalid("document must be a PDF.");
  const { signers, signatureFields: fields } = form.signing;
  const names = form.services.sign ? (signers?.map(({ name }) => name) ?? [form.name ?? form.email]) : [];
  const signing = (bytes: Buffer, sha256: string) =>
    deps.trySigning({ holder, bytes, sha256, signers: names, fields, isNotarized: form.services.notarize });
  const isTried = form.services.sign || form.services.notarize;
  if (upload && isTried) {
    const { pages, notices } = await signing(upload.bytes, upload.sha256);
    return { pages: pages ?? estimatedPages(upload.bytes), notices };
  }
  if (upload) return { pages: await pagesOf(deps.workers, holder, upload.bytes), notices: [] };
  if (!filled) throw unusableFill();
  if (isTried) {
    const at = { key: filled.blobKey, use: documentUse(filled.sha256), holder };
    const tried = await deps.blobs.withBytes(at, async (bytes) => bytes && signing(bytes, filled.sha256));
    if (tried) return { pages: filled.pages, notices: tried.notices };
  }
  return { pages: filled.pages, notices: [] };
}

const unusableFill = () => invalid("fill_token is unknown, used or expired.");

async function storeUpload(blobs: Blobs, { bytes, sha256 }: SentDocument, pages: number): Promise<OriginalDocument> {
  return { sha256, bytes: bytes.length, pages, blobKey: await blobs.put(bytes, documentUse(sha256)) };
}

/** One statement; with a fill token, which is good for one order, a transaction. */
async function write(db: Database, order: NewOrder, claim: Statement | null): Promise<boolean> {
  const { fillToken } = order.form;
  if (fillToken === null) return insertOrder(db, order, claim);
  return db.transaction(async (tx) => {
    if (!(await insertOrder(tx, order, claim))) return false;
    if (!(await takeFill(tx, fillToken, order.createdAt))) throw unusableFill();
    return true;
  });
}

function price(deps: CreateDeps, principal: Principal, form: OrderForm, pages: number): Promise<Priced> {
  const { services, docSlug, shipMethod, shipTo, shipFrom } = form;
  // Test orders reach no provider, and a letter is not sent with a carrier's label.
  const askCarriers = principal.environment === "live" && shipMethod === "label" ? deps.askCarriers : null;
  const tier = tierOf(principal.tier);
  return deps.pricing.price({ tier, services, docSlug, pages, shipMethod, shipTo, shipFrom, askCarriers });
}

async function keptSigner({ accessCode, ...signer }: NamedSigner): Promise<OrderSigner> {
  return { ...signer, accessCodeHash: accessCode === null ? null : await slowHash(accessCode) };
}

type Made = {
  form: OrderForm;
  signers: OrderSigner[] | null;
  priced: Priced;
  document: OriginalDocument;
  name: string | null;
  notices: TriedDocument["notices"];
};

function newOrder(
  { clock, pricing, rowMac, names }: CreateDeps,
  principal: Principal,
  { form, signers, priced, document, name, notices }: Made,
): NewOrder {
  const code = newCode();
  const { outcome, quote, carrierRate } = priced;
  const { partnerId, environment } = principal;
  const signing = {
    orderCode: code,
    signers,
    customerName: form.name,
    customerEmail: form.email,
    fields: form.signing.signatureFields,
  };
  return {
    ...form.services,
    ...quote,
    code,
    status: outcome === "quoted" ? "QuoteReady" : "ManualQuoteRequired",
    envelopeStatus: form.services.sign ? "Created" : null,
    externalReference: form.externalReference,
    customerEmail: form.email,
    faxTo: form.faxTo,
    createdAt: clock(),
    principal,
    form,
    signers,
    carrierRate,
    documentName: names.seal(name, code),
    documentNotices: sealNotices(names, code, notices),
    notices,
    priceBookVersion: pricing.priceBookVersion,
    document: {
      ...document,
      rowMac: rowMac.of(
        "documents",
        documentMembers({ orderCode: code, partnerId, environment, kind: "original", ...document }),
      ),
    },
    rowMac: form.services.sign ? rowMac.of("orders", signingMembers(signing)) : null,
  };
}
