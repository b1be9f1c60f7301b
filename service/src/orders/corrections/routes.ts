import type { FastifyInstance, FastifyRequest } from "fastify";
import { type TObject, Type } from "typebox";
import { principalOf, requireKey } from "../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { readForm } from "../../kernel/http/uploads/multipart.ts";
import type { UploadPlaces } from "../../kernel/http/uploads/upload-places.ts";
import { actorOf } from "../../kernel/identity/identity.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { askRefund, beginAgain, correctOrder, requireCorrectable } from "./correct.ts";
import type { CorrectedOrders } from "./correct-email.ts";
import { type ReplaceDeps, replaceDocument } from "./replace-document.ts";
import {
  correctedView,
  correctionSchema,
  OrderCorrections,
  othersView,
  refundRequestSchema,
  replacementForm,
} from "./schemas.ts";
import { readCorrected } from "./store.ts";

export type CorrectionRouteDeps = { frame: RouteDeps; corrections: ReplaceDeps; uploadPlaces: UploadPlaces };

const path = "/api/partner/orders/:code";
const messages = {
  notMultipart: "document is required: send the replacement as multipart/form-data.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The form is cut off or malformed.",
};

type Call = FastifyRequest<{ Params: { code: string } }>;

type Change = {
  url: string;
  operationId: string;
  summary: string;
  description: string;
  input: { bodyIs: "none" } | { body: TObject } | { form: { schema: object; notForm: string } };
  refusals: Record<number, string>;
  /**
   * Makes the correction. @returns the other orders that were also corrected; null for a correction without an email
   * address
   */
  change: (deps: CorrectionRouteDeps, request: Call) => Promise<CorrectedOrders | null>;
};

function wantedOf(request: Call) {
  const owner = principalOf(request);
  return { owner, orderCode: request.params.code, actor: actorOf(owner) };
}

const changes: readonly Change[] = [
  {
    url: `${path}/corrections`,
    operationId: "correctOrder",
    summary: "Correct an order",
    description:
      "Changes the client's email address, the fax number, or the parcel's address of a paid order, until the parcel is handed over. Code, payment and price stay. An email address is corrected in all of the firm's orders that share a room with this one, because one link opens everything that a person signs there: `alsoCorrected` names them. It is corrected for the room's participants, too, and for people who are sent its documents. All links that were emailed to the earlier address stop working at once, and new ones are emailed: to sign, to signed and finished documents, and to the client's documents. People who share the address under another name than the client's keep it. So does a client whom a notary identifies now. A label for the earlier address is given back. Where postage to the new address is dearer than the operator absorbs, the difference is asked for as a supplement, and the parcel waits for it.",
    input: { body: correctionSchema },
    refusals: { 400: "email must be an email address.", 409: "The parcel is on its way." },
    async change({ corrections }, request) {
      const values = textsOf(request.body);
      const others = await correctOrder(corrections, wantedOf(request), values);
      return values.has("email") ? others : null;
    },
  },
  {
    url: `${path}/document`,
    operationId: "replaceDocument",
    summary: "Replace an order's document",
    description:
      "Puts another PDF in the place of the order's, until a signed or notarized file exists. Everybody signs again: the earlier links end. Code, payment and price stay, and so does the earlier document, as evidence.",
    input: { form: { schema: replacementForm, notForm: messages.notMultipart } },
    refusals: {
      400: "document must be a PDF.",
      409: "The document is signed or notarized: another document needs an order of its own.",
    },
    async change({ frame, corrections, uploadPlaces: places }, request) {
      const authenticate = requireKey(frame.resolveKey);
      const sent = await readForm(request, { filePart: "document", places, messages, authenticate });
      try {
        await replaceDocument(corrections, wantedOf(request), sent);
      } finally {
        sent.release();
      }
      return null;
    },
  },
  {
    url: `${path}/send-again`,
    operationId: "sendOrderAgain",
    summary: "Send an order again",
    description:
      "Begins the service that failed again: a new round of signatures after a decline or an expiry, another notarization, parcel or fax. A parcel and a fax are sent again once; then an operator decides.",
    input: { bodyIs: "none" },
    refusals: { 409: "Nothing has failed: the order goes on by itself." },
    async change({ corrections }, request) {
      await beginAgain(corrections, wantedOf(request));
      return null;
    },
  },
  {
    url: `${path}/refund-request`,
    operationId: "askRefund",
    summary: "Ask for a refund",
    description:
      "Asks the operator of the service to give the payment back, or a part of it. No money moves before two of their people agree.",
    input: { body: refundRequestSchema },
    refusals: {
      400: "reason must have 1 to 500 characters, and no control characters.",
      409: "A refund was asked for already.",
    },
    async change({ corrections }, request) {
      const { reason, amountCents } = (request.body ?? {}) as { reason?: unknown; amountCents?: unknown };
      await askRefund(corrections, wantedOf(request), { reason, amountCents });
      return null;
    },
  },
];

/** Routes with which a firm corrects an order. The order keeps its code and its payment. */
export function correctionRoutes(app: FastifyInstance, deps: CorrectionRouteDeps): void {
  const { frame, corrections } = deps;
  const common = {
    tag: "Orders",
    caller: "key",
    policy: "partner-write",
    params: Type.Object({ code: Type.String({ description: "The order code." }) }),
    answer: OrderCorrections,
  } as const;
  const corrected = async (request: Call) => {
    const { owner, orderCode } = wantedOf(request);
    const found = await readCorrected(corrections, orderCode, owner);
    return correctedView(orderCode, found, request.id);
  };
  jsonRoute(app, frame, {
    ...common,
    method: "GET",
    scope: "read",
    url: `${path}/corrections`,
    operationId: "listCorrections",
    summary: "What may be corrected",
    description:
      "After a decline, an expiry or a failed service: what was corrected on the order so far, and what may be corrected now.",
    refusals: { 404: "Order not found." },
    handle: corrected,
  });
  for (const { change, input, refusals, ...about } of changes)
    jsonRoute(app, frame, {
      ...common,
      ...about,
      ...input,
      method: "POST",
      scope: "orders",
      refusals: { 404: "Order not found.", ...refusals },
      async handle(request) {
        const others = await change(deps, request);
        return { ...(await corrected(request)), ...(others && othersView(others)) };
      },
    });
}

/**
 * Reads a JSON body as form fields: texts by name.
 * @throws ServiceError naming a member that is not a text. For a field that can't be corrected, it names the fields
 * that can.
 */
function textsOf(body: unknown): Map<string, string> {
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw invalid("The body must be an object.");
  const members = Object.entries(body).filter(([, value]) => value !== null);
  requireCorrectable(members.map(([name]) => name));
  const other = members.find(([, value]) => typeof value !== "string");
  if (other) throw invalid(`${other[0]} must be a text.`);
  return new Map(members as [string, string][]);
}
