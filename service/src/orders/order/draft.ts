import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import { orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import type { Database, Tx } from "../../kernel/platform/database/database.ts";
import type { Statement } from "../../kernel/platform/database/sql.ts";
import { documentName } from "../../kernel/platform/document-name.ts";
import { newCode } from "../../kernel/platform/ids.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import type { Priced } from "../pricing/pricing.ts";
import type { OrderDeps } from "./deps.ts";
import { sealNotices } from "./document-texts.ts";
import { documentMembers } from "./documents.ts";
import { consumeFill } from "./fill.ts";
import type { OrderForm } from "./form/form.ts";
import { senderTextsOf } from "./form/sender-texts.ts";
import { accessCodeHashOf, type NamedSigner, type OrderSigner } from "./form/signers.ts";
import { insertOrder, insertUnpriced, type NewOrder } from "./insert.ts";
import { prepareOrder } from "./prepare.ts";
import { type SentOrder, storedDocument, unusableFill } from "./sent-order.ts";
import { signingMembers } from "./signing-row.ts";
import type { OriginalDocument } from "./store.ts";
import { macOfUse, type TemplateUse } from "./template-use.ts";
import type { TriedDocument } from "./try-signing.ts";

/**
 * Creates an order: checks the form, prices it, stores the document, and writes all rows at once.
 * @param claim the INSERT that claims the request's Idempotency-Key; it becomes part of the statement that writes the
 * order
 * @returns the order, or null when an earlier request has claimed the key
 * @throws ServiceError naming the field and the rule. No row is written then, or when it returns null.
 */
export async function createOrder(
  deps: OrderDeps,
  principal: Principal,
  sent: SentOrder,
  claim: ((order: NewOrder) => Statement) | null,
): Promise<NewOrder | null> {
  const { order, blobKey } = await draftOrder(deps, principal, sent);
  const isWritten = await orDiscard(deps.blobs, blobKey, () => write(deps.db, order, claim?.(order) ?? null));
  return isWritten ? order : null;
}

/**
 * Checks and prices an order. Stores its document, unless a fill token names one that is already stored. Writes no row;
 * `writeOrder` does.
 *
 * @returns the order, and the key of the blob that this call stored; the key is null if it stored none
 * @throws ServiceError naming the field and the rule
 */
export async function draftOrder(
  deps: OrderDeps,
  principal: Principal,
  sent: SentOrder,
): Promise<{ order: NewOrder; blobKey: string | null }> {
  const prepared = await prepareOrder(deps, principal, sent);
  const { own, filled, form, pages, notices, priced, manualQuoteReason, expanded, methodToCharge } = prepared;
  const hasDocument = sent.upload !== null || own !== undefined;
  const added = sent.upload?.bytes.length ?? own?.bytes;
  if (added !== undefined) await deps.originals.requireStorage(principal, added);
  const signers =
    form.signing.signers && (await Promise.all(form.signing.signers.map(toStoredSigner(deps.rowMac, principal))));
  const document = await storedDocument(deps, principal, { upload: sent.upload, own, filled, pages });
  if (!document) throw unusableFill();
  const name = documentName(sent.upload?.filename ?? sent.documentName) ?? expanded?.name ?? null;
  const use = expanded?.use ?? null;
  const parts = { form, signers, priced, manualQuoteReason, document, name, notices, use };
  const order = newOrder(deps, principal, sent.code ?? newCode(), parts);
  return { order: { ...order, methodToCharge }, blobKey: hasDocument ? document.blobKey : null };
}

/**
 * Writes the order, in a single statement if possible. A transaction is needed only to consume a fill token, or to open
 * a task and write the task's MAC.
 */
async function write(db: Database, order: NewOrder, claim: Statement | null): Promise<boolean> {
  const { fillToken } = order.form;
  const isPriced = order.status === "QuoteReady";
  if (fillToken === null && isPriced) return insertOrder(db, order, claim);
  return db.transaction((tx) => writeOrder(tx, order, claim));
}

/**
 * Writes the rows of a drafted order.
 *
 * @returns false when an earlier request has claimed the Idempotency-Key
 * @throws ServiceError when the fill token is used or expired
 */
export async function writeOrder(tx: Tx, order: NewOrder, claim: Statement | null = null): Promise<boolean> {
  const { fillToken } = order.form;
  const isPriced = order.status === "QuoteReady";
  if (!(await (isPriced ? insertOrder : insertUnpriced)(tx, order, claim))) return false;
  if (fillToken !== null && !(await consumeFill(tx, fillToken, order.createdAt))) throw unusableFill();
  return true;
}

const toStoredSigner =
  (rowMac: RowMac, owner: Owner) =>
  async ({ accessCode, ...signer }: NamedSigner): Promise<OrderSigner> => ({
    ...signer,
    accessCodeHash: await accessCodeHashOf(rowMac, owner, { ...signer, accessCode }),
  });

type CheckedParts = {
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
  { clock, offer, rowMac, names }: OrderDeps,
  principal: Principal,
  code: string,
  { form, signers, priced, manualQuoteReason, document, name, notices, use }: CheckedParts,
): NewOrder {
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
    ...senderTextsOf(form),
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
    priceBookVersion: offer.pricing.priceBookVersion,
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
