import { tierOf } from "../../firms/partners/partners.ts";
import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import { type Priced, unpayableReason } from "../pricing/pricing.ts";
import type { Offer, OrderDeps } from "./deps.ts";
import { documentUse } from "./documents.ts";
import { type FilledDocument, findFill } from "./fill.ts";
import { type OrderForm, parseOrderForm } from "./form/form.ts";
import type { NamedSigner } from "./form/signers.ts";
import { notaryGap } from "./notary-supply.ts";
import { estimatedPages, looksLikePdf } from "./original.ts";
import { type SentOrder, unusableFill } from "./sent-order.ts";
import type { TriedDocument } from "./try-signing.ts";

/** Checks and prices an order. Writes nothing. @throws ServiceError naming the field and the rule */
export async function prepareOrder(deps: OrderDeps, principal: Principal, sent: SentOrder) {
  const expanded = await sent.withTemplate?.(principal, sent);
  const fields = expanded?.fields ?? sent.fields;
  const own = expanded?.document;
  const filled = own ?? (await filledDocument(deps, principal, fields));
  const form = parseOrderForm(
    withSlugOf(filled, fields),
    sent.upload !== null || own !== undefined,
    deps.offer.pricing,
  );
  if (!expanded) requireSlugOf(filled, form);
  requireTexts(deps.offer, form.signing.signers ?? [], fields);
  const { pages, notices } = await examineSent(deps, principal, { sent, filled, form });
  const priced = await price(deps, principal, form, pages);
  const manualQuoteReason = await whyByHand(deps, principal, { form, priced, notices });
  const unpayable = manualQuoteReason === null ? unpayableReason(priced.quote, "doc_slug", form.docSlug) : null;
  if (unpayable !== null) throw invalid(unpayable);
  const methodToCharge = await sent.agree?.({ totalCents: priced.quote.totalCents, manualQuoteReason });
  return { own, filled, form, pages, notices, priced, manualQuoteReason, expanded, methodToCharge };
}

/**
 * Checks that the service can send text messages to every signer who is identified by them.
 * @throws ServiceError naming the phone that texts can't reach. If the service sends no texts at all, it names the
 * field that requests them.
 */
function requireTexts({ texts }: Offer, signers: readonly NamedSigner[], fields: SentOrder["fields"]): void {
  const index = signers.findIndex(({ auth, phone }) => auth === "text_code" && !texts?.reaches(phone ?? ""));
  if (index === -1) return;
  if (texts)
    throw invalid(`signers[${index}].phone must be a number of a country that this service sends text messages to.`);
  const name = fields.get("signer_auth")?.trim() === "text_code" ? "signer_auth" : `signers[${index}].auth`;
  throw invalid(`${name} must not be text_code: this service sends no text messages.`);
}

/** Finds the document of the order form's fill token; undefined without a valid token. */
async function filledDocument(
  deps: OrderDeps,
  owner: Owner,
  fields: SentOrder["fields"],
): Promise<FilledDocument | undefined> {
  const token = fields.get("fill_token") ?? "";
  return isCode(token) ? findFill(deps, owner, token, deps.clock()) : undefined;
}

/** If the form has no `doc_slug`, adds the catalog slug of the document that was completed online. */
function withSlugOf(filled: FilledDocument | undefined, fields: SentOrder["fields"]): SentOrder["fields"] {
  if (!filled?.slug || (fields.get("doc_slug") ?? "").trim() !== "") return fields;
  return new Map([...fields, ["doc_slug", filled.slug]]);
}

/**
 * The catalog entry decides the services and the price, so it must be the entry of the document that is ordered.
 * @throws ServiceError naming `doc_slug`
 */
function requireSlugOf(filled: FilledDocument | undefined, { docSlug }: OrderForm): void {
  const slug = filled?.slug ?? null;
  if (slug !== null && docSlug !== slug)
    throw invalid(`doc_slug must be ${slug} or be left out: the document of fill_token is ${slug}.`);
}

/**
 * Reads the document, and tries signing or notarizing it in memory. So an unsuitable document is refused before it is
 * stored.
 */
async function examineSent(
  deps: OrderDeps,
  principal: Principal,
  { sent, filled, form }: { sent: SentOrder; filled: FilledDocument | undefined; form: OrderForm },
): Promise<{ pages: number; notices: TriedDocument["notices"] }> {
  const { upload, mayAddPage = true } = sent;
  if (upload && !looksLikePdf(upload.bytes)) throw invalid("document must be a PDF.");
  const { signers, signatureFields: fields } = form.signing;
  // If signing is not bought, people sign only in the notary's presence, perhaps in ink. So the document needs places
  // for their signatures only if the form requests fields.
  const people = signers?.map(({ name }) => name) ?? [form.name ?? form.email];
  const names = form.services.sign || fields !== null ? people : [];
  const places = { signers: names, fields, beforeNotary: people.length };
  const { partnerId: holder } = principal;
  const signing = async (bytes: Buffer, sha256: string) => {
    const isNotarized = form.services.notarize;
    const tried = await deps.originals.trySigning({ holder, bytes, sha256, ...places, isNotarized });
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
  if (upload) return { pages: await deps.originals.pagesOf(holder, upload.bytes), notices: [] };
  if (!filled) throw unusableFill();
  if (isTried) {
    const at = { key: filled.blobKey, use: documentUse(filled.sha256), holder: memoryHolder(principal) };
    const tried = await deps.blobs.withBytes(at, async (bytes) => bytes && signing(bytes, filled.sha256));
    if (tried) return { pages: filled.pages, notices: tried.notices };
  }
  return { pages: filled.pages, notices: [] };
}

function price(deps: OrderDeps, principal: Principal, form: OrderForm, pages: number): Promise<Priced> {
  const { services, docSlug, shipMethod, shipTo, shipFrom } = form;
  // Carriers are not asked about a test order, because it must not contact providers. They are not asked about a letter
  // either, because it needs no label.
  const askCarriers = principal.environment === "live" && shipMethod === "label" ? deps.offer.askCarriers : null;
  const tier = tierOf(principal.tier);
  return deps.offer.pricing.price({ tier, services, docSlug, pages, shipMethod, shipTo, shipFrom, askCarriers });
}

/** The reasons why a person must price the order, as sentences for the firm; null when the order is quoted at once. */
async function whyByHand(
  { db, offer }: OrderDeps,
  { environment }: Principal,
  { form, priced, notices }: { form: OrderForm; priced: Priced; notices: TriedDocument["notices"] },
): Promise<string | null> {
  const { docSlug, signerState, services } = form;
  const canBeSigned = !notices.some(({ code }) => code === "ink_only");
  const gap = await notaryGap(offer.notaries, db, {
    ...services,
    environment,
    docSlug,
    signerState,
    acceptsSignature: canBeSigned,
  });
  const reasons = [priced.outcome === "quoted" ? null : "There is no postage rate for the address.", gap];
  return reasons.filter((reason) => reason !== null).join(" ") || null;
}
