import { isDeepStrictEqual } from "node:util";
import type { Principal } from "../../kernel/identity/identity.ts";
import { orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { documentName } from "../../kernel/platform/document-name.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import { enqueue } from "../../kernel/platform/jobs/jobs.ts";
import {
  documentUse,
  envelopeQueue,
  fieldsOf,
  type LockedOrder,
  lockOwnOrder,
  looksLikePdf,
  type OrderDeps,
  parseRequestedFields,
  type RequestedField,
  readOriginal,
  recordCorrection,
  replaceOriginal,
  type SentDocument,
  sealNotices,
  signersOf,
} from "../order/order.ts";
import { requireAllowed, type Wanted } from "./correct.ts";
import type { PeopleDeps } from "./correct-email.ts";
import type { Parcels } from "./store.ts";

export type ReplaceDeps = PeopleDeps & {
  orders: OrderDeps;
  /**
   * Ends the order's open envelope in the transaction. Its links stop working, and its signatures are not carried over.
   * @throws ServiceError `conflict` when everybody has signed
   */
  endRound: (tx: Tx, order: LockedOrder, by: { actor: string; at: Date }) => Promise<void>;
  parcels: Parcels;
};

/**
 * The fields and the file of the firm's request. The request may have `fields` or `find_places`, but not both. With
 * neither, people sign in the places of the earlier document. Without `name` the document keeps its name.
 */
type Sent = { fields: ReadonlyMap<string, string>; upload: SentDocument | null; name?: string | undefined };

const formFields = ["fields", "find_places"] as const;

/**
 * Replaces an order's document. The order keeps its price and payment. In EsignPending, everybody is asked again to
 * sign; in other statuses, only when the failed service begins again. The earlier document and its signatures stay
 * stored. If the present document is sent again, nothing changes; with other places, it is refused.
 * @throws ServiceError naming the field and the rule, or the reason why the order's status does not allow it
 */
export async function replaceDocument(
  deps: ReplaceDeps,
  wanted: Wanted & { owner: Principal },
  { fields, upload, name }: Sent,
): Promise<void> {
  const { orders, endRound } = deps;
  const { db, blobs, rowMac, names } = orders;
  const { owner: principal, orderCode, actor } = wanted;
  const { partnerId, environment } = principal;
  const owner = { partnerId, environment };
  const unknown = [...fields.keys()].find((name) => !formFields.some((field) => field === name));
  if (unknown !== undefined) throw invalid(`Only document, ${formFields.join(" and ")} can be sent.`);
  if (!upload) throw invalid("document is required: send the PDF that replaces the order's.");
  if (!looksLikePdf(upload.bytes)) throw invalid("document must be a PDF.");
  const places = await placesOf(deps, wanted, fields);
  const tried = await tryDocument(orders, wanted, upload, places);
  await orders.originals.requireStorage(principal, upload.bytes.length);
  const { bytes, sha256 } = upload;
  const blobKey = await blobs.put(bytes, documentUse(sha256));
  await orDiscard(blobs, blobKey, () =>
    db.transaction(async (tx) => {
      const at = orders.clock();
      const order = await lockOwnOrder(tx, owner, orderCode);
      await requireAllowed(tx, deps, order, { act: "document", at });
      const held = { orderId: order.id, owner: { ...owner, orderCode: order.code }, at };
      const before = await readOriginal(tx, rowMac, order.id, held.owner);
      if (before.sha256 === sha256) {
        if (fields.size > 0) requireSamePlaces(places, before);
        return false;
      }
      await endRound(tx, order, { actor, at });
      await replaceOriginal(tx, rowMac, held, {
        document: { sha256, bytes: bytes.length, pages: tried.pages, blobKey },
        name: names.seal(documentName(name), order.code),
        fileName: names.seal(documentName(upload.filename), order.code),
        notices: sealNotices(names, order.code, tried.notices),
        fields: places.fields,
      });
      const change = { before: { sha256: before.sha256 }, after: { sha256 } };
      await recordCorrection(tx, order, { kind: "document", ...change, actor, at });
      if (order.status === "EsignPending") await enqueue(tx, envelopeQueue, { orderId: order.id });
      return true;
    }),
  );
}

/**
 * A repeated request must succeed. But if its places differ from the order's, they must not be dropped silently.
 * @throws ServiceError `conflict`
 */
function requireSamePlaces({ fields }: Places, before: Pick<Places, "fields">): void {
  if (!isDeepStrictEqual(JSON.parse(JSON.stringify(fields)), before.fields))
    throw new ServiceError(
      "conflict",
      "The order has this document already, with other places. To change the places, send a changed file.",
    );
}

/**
 * The signers' names and the places where they sign. `fields` is null when the places are found in the document itself.
 */
type Places = {
  names: readonly string[];
  /** The number of the order's signers. */
  people: number;
  fields: readonly RequestedField[] | null;
  sign: boolean;
  notarize: boolean;
};

/**
 * Reads the places where people sign, from the request or else from the order. Refuses early if the order's status does
 * not allow a replacement.
 * @throws ServiceError
 */
const placesOf = (
  { orders: { db, rowMac, clock }, parcels }: Pick<ReplaceDeps, "orders" | "parcels">,
  { owner, orderCode }: Wanted,
  sent: Sent["fields"],
): Promise<Places> =>
  db.transaction(async (tx) => {
    const order = await lockOwnOrder(tx, owner, orderCode);
    await requireAllowed(tx, { parcels }, order, { act: "document", at: clock() });
    const { partnerId, environment } = owner;
    const before = await readOriginal(tx, rowMac, order.id, { partnerId, environment, orderCode: order.code });
    const signers = signersOf(before);
    const text = sent.get("fields")?.trim() ?? "";
    const isSearched = fieldsOf<(typeof formFields)[number]>(sent).flag("find_places");
    if (text !== "" && isSearched) throw invalid("fields and find_places exclude each other: send one of them.");
    if (text !== "" && !order.sign && !order.notarize)
      throw invalid("fields must be left out unless signing is bought.");
    const routing = signers.map(({ routing }) => routing);
    const fields = isSearched ? null : text === "" ? before.fields : parseRequestedFields(text, routing);
    const { sign, notarize } = order;
    // If signing was not bought, people sign only in the notary's presence, perhaps in ink. So the document needs
    // places for signatures only if the request or the order states places.
    const names = sign || fields !== null ? signers.map(({ name }) => name) : [];
    return { names, people: signers.length, fields, sign, notarize };
  });

/**
 * Signs the new document in memory as a trial, as for a new order. If nobody signs or notarizes it, only counts its
 * pages.
 * @throws ServiceError naming the obstacle
 */
async function tryDocument(
  { originals }: OrderDeps,
  { owner: { partnerId: holder } }: Wanted,
  { bytes, sha256 }: SentDocument,
  { names, people, fields, sign, notarize }: Places,
) {
  if (!sign && !notarize) return { pages: await originals.pagesOf(holder, bytes), notices: [] };
  const { pages, notices } = await originals.trySigning({
    holder,
    bytes,
    sha256,
    fields,
    signers: names,
    beforeNotary: people,
    isNotarized: notarize,
  });
  return { pages: pages ?? (await originals.pagesOf(holder, bytes)), notices };
}
