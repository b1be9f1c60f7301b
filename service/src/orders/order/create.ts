import { type RequireStorage, tierOf } from "../../firms/partners/partners.ts";
import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import type { Blobs } from "../../kernel/platform/blobs/blobs.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import type { Database } from "../../kernel/platform/database/database.ts";
import type { Statement } from "../../kernel/platform/database/sql.ts";
import { isOutcomeUnknown } from "../../kernel/platform/database/sql-errors.ts";
import { type DocumentNames, documentName } from "../../kernel/platform/document-name.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { newCode } from "../../kernel/platform/ids.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { slowHash } from "../../kernel/platform/slow-hash.ts";
import { isCode } from "../../kernel/platform/text.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import type { AskCarriers, Priced, VersionedPricing } from "../pricing/pricing.ts";
import { sealNotices } from "./document-texts.ts";
import { documentMembers, documentUse } from "./documents.ts";
import { type FilledDocument, findFill, takeFill } from "./fill.ts";
import { type OrderForm, parseOrderForm } from "./form/form.ts";
import type { NamedSigner, OrderSigner } from "./form/signers.ts";
import { insertOrder, insertUnpriced, type NewOrder } from "./insert.ts";
import { type NotarySupply, notaryGap } from "./notary-supply.ts";
import { estimatedPages, looksLikePdf, pagesOf } from "./original.ts";
import { type SentOrder, storedDocument, unusableFill } from "./sent-order.ts";
import { signingMembers } from "./signing-row.ts";
import type { OriginalDocument } from "./store.ts";
import { macOfUse, type TemplateUse } from "./template-use.ts";
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
  /** Whether this installation sends text messages. */
  textCodes: boolean;
  /** Whether it sends them to the number's country. */
  textsReach: (phone: string) => boolean;
  supply: {
    /** Asks carriers for their rates over the network; null where no account is set. */
    askCarriers: AskCarriers | null;
    notaries: NotarySupply;
  };
};

/**
 * The writing part of `placeOrder`: checks the form, prices it, stores the document and writes everything at once.
 * @param claim the insert that claims the request's key; it becomes part of the order's statement
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
  const { own, filled, form, pages, notices, priced, manualQuoteReason, expanded } = await prepare(
    deps,
    principal,
    sent,
  );
  const hasDocument = sent.upload !== null || own !== undefined;
  const added = sent.upload?.bytes.length ?? own?.bytes;
  if (added !== undefined) await deps.requireStorage(principal, added);
  const signers = form.signing.signers && (await Promise.all(form.signing.signers.map(keptSigner)));
  const document = await storedDocument(deps, principal, { upload: sent.upload, own, filled, pages });
  if (!document) throw unusableFill();
  try {
    const name = documentName(sent.upload?.filename ?? sent.documentName) ?? own?.name ?? null;
    const use = expanded?.use ?? null;
    const order = newOrder(deps, principal, { form, signers, priced, manualQuoteReason, document, name, notices, use });
    if (await write(deps.db, order, claim?.(order) ?? null)) return order;
  } catch (error) {
    if (hasDocument && !isOutcomeUnknown(error)) await blobs.discard(document.blobKey);
    throw error;
  }
  if (hasDocument) await blobs.discard(document.blobKey);
  return null;
}

/** Checks and prices an order. Writes nothing. @throws ServiceError naming the field and the rule */
async function prepare(deps: CreateDeps, principal: Principal, sent: SentOrder) {
  const expanded = await sent.withTemplate?.(principal, sent);
  const fields = expanded?.fields ?? sent.fields;
  const own = expanded?.document;
  const filled = own ?? (await filledDocument(deps, principal, fields));
  const form = parseOrderForm(withSlugOf(filled, fields), sent.upload !== null || own !== undefined, deps.pricing);
  requireTexts(deps, form.signing.signers ?? [], fields);
  const { pages, notices } = await examineSent(deps, principal, { sent, filled, form });
  const priced = await price(deps, principal, form, pages);
  const manualQuoteReason = await whyByHand(deps, principal, { form, priced, notices });
  return { own, filled, form, pages, notices, priced, manualQuoteReason, expanded };
}

/** Checks an order that is placed later with others, as `createOrder` does, without asking carriers. @throws ServiceError */
export async function checkOrder(deps: CreateDeps, principal: Principal, sent: SentOrder): Promise<void> {
  await prepare({ ...deps, supply: { ...deps.supply, askCarriers: null } }, principal, sent);
}

/** @throws ServiceError naming the field that asks for codes by text message which can't be sent */
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

/** Finds the document that was completed online, when the form names one. */
async function filledDocument(
  deps: CreateDeps,
  owner: Owner,
  fields: SentOrder["fields"],
): Promise<FilledDocument | undefined> {
  const token = fields.get("fill_token") ?? "";
  return isCode(token) ? findFill(deps, owner, token, deps.clock()) : undefined;
}

/**
 * A document that was completed online from the catalog is ordered as that catalog document, unless the form names
 * another.
 */
function withSlugOf(filled: FilledDocument | undefined, fields: SentOrder["fields"]): SentOrder["fields"] {
  if (!filled?.slug || (fields.get("doc_slug") ?? "") !== "") return fields;
  return new Map([...fields, ["doc_slug", filled.slug]]);
}

/**
 * Reads the document. Tries signing or notarizing it in memory first, so that a refusal comes before the document is
 * stored.
 */
async function examineSent(
  deps: CreateDeps,
  principal: Principal,
  { sent, filled, form }: { sent: SentOrder; filled: FilledDocument | undefined; form: OrderForm },
): Promise<{ pages: number; notices: TriedDocument["notices"] }> {
  const { upload, mayAddPage = true } = sent;
  if (upload && !looksLikePdf(upload.bytes)) throw invalid("document must be a PDF.");
  const { signers, signatureFields: fields } = form.signing;
  const names = form.services.sign ? (signers?.map(({ name }) => name) ?? [form.name ?? form.email]) : [];
  const { partnerId: holder } = principal;
  const signing = async (bytes: Buffer, sha256: string) => {
    const isNotarized = form.services.notarize;
    const tried = await deps.trySigning({ holder, bytes, sha256, signers: names, fields, isNotarized });
    const { withoutPlace } = tried;
    if (!mayAddPage && withoutPlace.length > 0)
      throw invalid(
        `fields is required: the document has no place for ${withoutPlace.map((n) => names[n - 1]).join(", ")} to sign.`,
      );
    return tried;
  };
  const isTried = form.services.sign || form.services.notarize;
  if (upload && isTried) {
    const { pages, notices } = await signing(upload.bytes, upload.sha256);
    return { pages: pages ?? estimatedPages(upload.bytes), notices };
  }
  if (upload) return { pages: await pagesOf(deps.workers, holder, upload.bytes), notices: [] };
  if (!filled) throw unusableFill();
  if (isTried) {
    const at = { key: filled.blobKey, use: documentUse(filled.sha256), holder: memoryHolder(principal) };
    const tried = await deps.blobs.withBytes(at, async (bytes) => bytes && signing(bytes, filled.sha256));
    if (tried) return { pages: filled.pages, notices: tried.notices };
  }
  return { pages: filled.pages, notices: [] };
}

/** Writes the order in one statement. A fill token is good for one order, and a task has a MAC: both need a transaction. */
async function write(db: Database, order: NewOrder, claim: Statement | null): Promise<boolean> {
  const { fillToken } = order.form;
  const isPriced = order.status === "QuoteReady";
  if (fillToken === null && isPriced) return insertOrder(db, order, claim);
  return db.transaction(async (tx) => {
    if (!(await (isPriced ? insertOrder : insertUnpriced)(tx, order, claim))) return false;
    if (fillToken !== null && !(await takeFill(tx, fillToken, order.createdAt))) throw unusableFill();
    return true;
  });
}

function price(deps: CreateDeps, principal: Principal, form: OrderForm, pages: number): Promise<Priced> {
  const { services, docSlug, shipMethod, shipTo, shipFrom } = form;
  // Test orders reach no provider, and a carrier's label is not used for a letter.
  const askCarriers = principal.environment === "live" && shipMethod === "label" ? deps.supply.askCarriers : null;
  const tier = tierOf(principal.tier);
  return deps.pricing.price({ tier, services, docSlug, pages, shipMethod, shipTo, shipFrom, askCarriers });
}

/** The reasons why a person must price the order, as sentences for its firm; null when it is quoted at once. */
async function whyByHand(
  { db, supply }: CreateDeps,
  { environment }: Principal,
  { form, priced, notices }: Pick<Made, "form" | "priced" | "notices">,
): Promise<string | null> {
  const { docSlug, signerState, services } = form;
  const takesSignature = !notices.some(({ code }) => code === "ink_only");
  const gap = await notaryGap(supply.notaries, db, { ...services, environment, docSlug, signerState, takesSignature });
  const reasons = [priced.outcome === "quoted" ? null : "There is no postage rate for the address.", gap];
  return reasons.filter((reason) => reason !== null).join(" ") || null;
}

async function keptSigner({ accessCode, ...signer }: NamedSigner): Promise<OrderSigner> {
  return { ...signer, accessCodeHash: accessCode === null ? null : await slowHash(accessCode) };
}

type Made = {
  form: OrderForm;
  signers: OrderSigner[] | null;
  priced: Priced;
  manualQuoteReason: string | null;
  document: OriginalDocument;
  name: string | null;
  notices: TriedDocument["notices"];
  use: TemplateUse | null;
};

function newOrder(
  { clock, pricing, rowMac, names }: CreateDeps,
  principal: Principal,
  { form, signers, priced, manualQuoteReason, document, name, notices, use }: Made,
): NewOrder {
  const code = newCode();
  const { quote, carrierRate } = priced;
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
    status: manualQuoteReason === null ? "QuoteReady" : "ManualQuoteRequired",
    manualQuoteReason,
    envelopeStatus: form.services.sign ? "Created" : null,
    externalReference: form.externalReference,
    payBy: form.payBy,
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
    rowMac: rowMac.of("orders", signingMembers(signing)),
    template: use,
    templateUse: use && { ...use, rowMac: macOfUse(rowMac, code, use) },
  };
}
