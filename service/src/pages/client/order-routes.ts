import type { FastifyInstance } from "fastify";
import type { DeliveryDeps } from "../../closing/deliveries/deliveries.ts";
import type { ClientClosing } from "../../closing/rooms/rooms.ts";
import { type ProofForm, proofForms } from "../../evidence/transparency-log/transparency-log.ts";
import type { ShownFirm } from "../../firms/partners/partners.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { nullIfAltered } from "../../kernel/platform/database/state-mac.ts";
import { nullIf } from "../../kernel/platform/errors.ts";
import { isCode } from "../../kernel/platform/text.ts";
import type { RetentionPlan } from "../../kernel/retention/retention.ts";
import type { BillingDocument } from "../../orders/billing/billing.ts";
import {
  findOrder,
  isPayable,
  orderNotFound,
  type Payer,
  type PublicOrderRow,
  type TitleOf,
} from "../../orders/order/order.ts";
import type { AcceptsPayment, Supplement } from "../../orders/payments/payments.ts";
import type { OrderDocument, ProvenDocument } from "../../signing/envelopes/envelopes.ts";
import { isAnyOnDuty, offersAppointments } from "../../signing/notaries/notaries.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { documentToSave, proofToSave } from "../ui/orders/document-list.ts";
import { refreshingPolicy } from "../ui/page/policy.ts";
import type { PageAnswer } from "../ui/page/route.ts";
import { orderRetention } from "../ui/retention.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";
import { backToOrder, clientRoute, messagePage } from "./client-route.ts";
import {
  type LinkedDocuments,
  type OrderView,
  orderFragment,
  orderPage,
  type PaidTogether,
  type ShownSigner,
} from "./order-page.ts";

export type OrderPageDeps = {
  db: Sql;
  assets: Assets;
  limits: RateLimits;
  payments: {
    /** Returns true if orders of an environment can be paid in the checkout. */
    acceptsPayment: AcceptsPayment;
    /** Returns the URL of an order's hosted checkout. @throws ServiceError when the order cannot be paid */
    checkoutUrl: (orderCode: string) => Promise<string>;
    /**
     * The supplement that is due, even if the firm pays the order; undefined for none. Leaves out a supplement that
     * replaces a payment of the firm.
     */
    supplementOf: (order: { code: string; status: string }) => Promise<Supplement | undefined>;
    /** Returns true if a bank took back what the client paid for the order, and nobody has paid it again. */
    isPriceOwed: (orderCode: string) => Promise<boolean>;
    /** The payer whose bank payment for the order is in process; null for none. */
    payerInProcess: (orderCode: string) => Promise<Payer | null>;
    /**
     * Returns the client's orders in the order's room, if they can be paid now. `withheld` counts the orders that are
     * left out because they are stuck or altered. Returns no orders without a room, or if the room has an altered row.
     */
    payableTogether: (orderCode: string) => Promise<PaidTogether>;
    /**
     * Returns the URL of one hosted checkout for all orders of `payableTogether`. @throws ServiceError when none can be
     * paid
     */
    checkoutTogether: (orderCode: string) => Promise<string>;
    receipts: {
      /** The client's receipts and credit notes for an order. */
      of: (orderCode: string) => Promise<readonly BillingDocument[]>;
      /** A receipt as a PDF. @throws ServiceError for an unknown number */
      file: (receipts: readonly BillingDocument[], number: string) => Promise<{ name: string; pdf: Buffer }>;
    };
  };
  retention: RetentionPlan;
  /** The base URL of the service, printed on paper versions of the page. */
  baseUrl: string;
  firmOf: (partnerId: string) => Promise<ShownFirm>;
  documents: {
    titleOf: TitleOf;
    signersOf: (orderCode: string) => Promise<readonly ShownSigner[]>;
    /** Used by the page that shows the documents of a closing to the recipient of a firm's link. */
    deliveries: DeliveryDeps;
    links: {
      /** Returns true if `token` is the token of the link to this order's documents. */
      isToken: (orderCode: string, token: string) => Promise<boolean>;
      /** Returns true if `token` is the token of the link to all of the client's orders in this order's closing. */
      isClosingToken: (orderCode: string, token: string) => Promise<boolean>;
      /**
       * Mails the order's client a link to the order's documents. With `isWhole`, the mail has links for all finished
       * orders of the client in the closing.
       * @throws ServiceError when there is nothing to send, or when the link was sent too often
       */
      mail: (orderCode: string, asked?: { isWhole: boolean }) => Promise<void>;
    };
    /** The closing of an order, with the orders of the same client; undefined for an order without a room. */
    closingOf: (orderCode: string) => Promise<ClientClosing | undefined>;
    of: (orderCode: string) => Promise<readonly ProvenDocument[]>;
    /**
     * The transparency log's proof for a document.
     * @throws ServiceError `not_found` for an unknown or deleted document, and for one that was not sealed here;
     * `unavailable` or `conflict` while the log has no proof of it
     */
    proof: (document: { orderCode: string; documentId: string }, form: ProofForm) => Promise<Buffer>;
    /**
     * Reads a document of an order.
     * @throws ServiceError `not_found` for an unknown or deleted document; `unavailable` when its file is missing from
     * the store or its row was altered
     * @throws AlteredDocumentError when the file was altered
     */
    read: (
      orderCode: string,
      documentId: string,
    ) => Promise<Pick<OrderDocument, "kind" | "isSimulated"> & { file: StoredFile }>;
  };
};

/**
 * Adds `/orders/{code}`, the part of the page that refreshes itself, and the order's documents for anyone with the
 * mailed link.
 * @param hasRooms true if the service has rooms in which people meet a notary by audio and video
 */
export function orderRoutes(app: FastifyInstance, deps: OrderPageDeps, hasRooms: boolean): void {
  const { db, assets, payments, baseUrl } = deps;

  clientRoute(app, deps, "/orders/:code", async ({ params }, reader) =>
    withPolicy(await view(params.code, reader), reader),
  );
  clientRoute(app, deps, "/orders/:code/status", async ({ params }, reader) =>
    orderFragment(await view(params.code, reader), reader),
  );

  clientRoute(app, deps, "/orders/:code/documents/:token", async ({ params: { code, token } }, reader) => {
    await requireToken(deps, code, token);
    const documents = { path: `/orders/${code}/documents/${token}`, list: await deps.documents.of(code) };
    return withPolicy(await view(code, reader), reader, documents);
  });
  clientRoute(
    app,
    deps,
    "/orders/:code/documents/:token/:documentId",
    async ({ params: { code, token, documentId } }, { words }) => {
      const order = await requireToken(deps, code, token);
      return documentToSave(
        { code, title: deps.documents.titleOf(order) },
        await deps.documents.read(code, documentId),
        words,
      );
    },
  );

  proofRoutes(app, deps);
  receiptRoute(app, deps);
  mailRoutes(app, deps);

  async function view(code: string, { words }: Reader): Promise<OrderView> {
    const order = await orderOf(db, code);
    const supplement = await payments.supplementOf(order);
    const isDue = isPayable(order.status) || supplement !== undefined;
    const [signers, firm, inProcess, receipts] = await Promise.all([
      deps.documents.signersOf(order.code),
      deps.firmOf(order.partnerId),
      isDue ? payments.payerInProcess(order.code) : null,
      receiptsOf(deps, order).catch(nullIfAltered),
    ]);
    const canBook =
      order.status === "NotarizationPending" && ((await offersAppointments(db, hasRooms)) || (await isAnyOnDuty(db)));
    const payable =
      order.payBy === "client" &&
      payments.acceptsPayment(order.environment) &&
      isDue &&
      order.documentsDeletedAt === null &&
      inProcess === null;
    const together =
      payable && supplement === undefined ? await payments.payableTogether(order.code) : { orders: [], withheld: 0 };
    const title = deps.documents.titleOf(order);
    const retention = orderRetention(deps.retention, order, words);
    const shown = {
      title,
      payable,
      offersAppointment: canBook,
      together,
      supplement: order.payBy === "client" ? supplement : undefined,
      isPriceOwed: await isPriceOwed(deps, order, receipts ?? []),
      inProcess,
      retention,
      isActSimulated: await isActSimulated(deps, order),
      signers,
      firm,
      receipts,
    };
    return { ...order, ...shown };
  }

  /** Responds with the order's page. Its content security policy permits the firm's logo. */
  function withPolicy(order: OrderView, reader: Reader, documents?: LinkedDocuments): PageAnswer {
    const logo = logoOf(order.firm.branding);
    const page = orderPage(assets, order, baseUrl, reader, documents);
    return { page, headers: { "Content-Security-Policy": refreshingPolicy(logo ? [logo.origin] : []) } };
  }
}

/**
 * True if a bank took back what the client paid, and nobody has paid it again. False if the firm pays now, because the
 * client then has no `receipts`. Also false if a record of the order's payments was altered, so that the page stays
 * readable.
 */
const isPriceOwed = async (
  { payments }: OrderPageDeps,
  { code }: PublicOrderRow,
  receipts: readonly BillingDocument[],
): Promise<boolean> =>
  receipts.some(({ kind }) => kind === "loss") && ((await payments.isPriceOwed(code).catch(nullIfAltered)) ?? false);

/** True if the order's status is `NotarizationComplete`, and the sandbox simulated the notarization. */
const isActSimulated = async ({ documents }: OrderPageDeps, order: PublicOrderRow): Promise<boolean> =>
  order.environment === "test" &&
  order.status === "NotarizationComplete" &&
  (await documents.of(order.code)).some(({ isSimulated }) => isSimulated);

/**
 * The order that a link to documents names.
 * @throws ServiceError; the error is the same for an unknown order and for a token of another order
 */
async function requireToken({ db, documents }: OrderPageDeps, code: string, token: string): Promise<PublicOrderRow> {
  const order = await orderOf(db, code);
  if (!(await documents.links.isToken(code, token))) throw orderNotFound();
  return order;
}

/** The routes of the transparency log's proofs for the documents. */
function proofRoutes(app: FastifyInstance, deps: OrderPageDeps): void {
  for (const form of proofForms)
    clientRoute(app, deps, `/orders/:code/documents/:token/:documentId/${form}`, async ({ params }, { words }) => {
      const { code, token, documentId } = params;
      const order = await requireToken(deps, code, token);
      const proof = await deps.documents.proof({ orderCode: code, documentId }, form);
      const documents = await deps.documents.of(code);
      const title = deps.documents.titleOf(order);
      return proofToSave({ code, title }, { documents, documentId, form, proof }, words);
    });
}

/** Mails the link to the documents. Returns "unsent" if there is nothing to send, or if the link was sent too often. */
export const mailedDocuments = async (
  { documents }: OrderPageDeps,
  code: string,
  asked?: { isWhole: boolean },
): Promise<"sent" | "unsent"> =>
  (await documents.links.mail(code, asked).then(() => "sent" as const, nullIf("conflict"))) ?? "unsent";

/**
 * The title and text of the page after the client requested the documents. For a test order, the text says that the
 * mail is only stored.
 */
export const mailWords = ({ words: { documentsMail } }: Reader, outcome: "sent" | "unsent", environment: string) =>
  documentsMail[outcome === "sent" && environment === "test" ? "test" : outcome];

/** Lets the client request the link to the documents, and shows the result. */
function mailRoutes(app: FastifyInstance, deps: OrderPageDeps): void {
  const { db, assets } = deps;
  clientRoute(
    app,
    deps,
    "/orders/:code/documents",
    async ({ params: { code } }, reader) => {
      await orderOf(db, code);
      const sent = await mailedDocuments(deps, code);
      return { redirect: linkFor(reader, `/orders/${code}/documents/${sent}`) };
    },
    "POST",
  );
  for (const outcome of ["sent", "unsent"] as const)
    clientRoute(app, deps, `/orders/:code/documents/${outcome}`, async ({ params: { code } }, reader) => {
      const { environment } = await orderOf(db, code);
      return messagePage(assets, backToOrder(code, reader), reader, mailWords(reader, outcome, environment));
    });
}

/** The client's receipts. Empty for an order that the firm pays, because the client must not see the firm's prices. */
const receiptsOf = async ({ payments }: OrderPageDeps, { code, payBy }: PublicOrderRow) =>
  payBy === "client" ? payments.receipts.of(code) : [];

const receiptRoute = (app: FastifyInstance, deps: OrderPageDeps): void =>
  clientRoute(app, deps, "/orders/:code/receipts/:number", async ({ params: { code, number } }) =>
    deps.payments.receipts.file(await receiptsOf(deps, await orderOf(deps.db, code)), number),
  );

/**
 * Returns the order that the code in a client's link names.
 * @throws ServiceError; the error is the same for a malformed code and for an unknown code
 */
export async function orderOf(db: Sql, code: string): Promise<PublicOrderRow> {
  const order = isCode(code) ? await findOrder(db, code) : undefined;
  if (!order) throw orderNotFound();
  return order;
}
