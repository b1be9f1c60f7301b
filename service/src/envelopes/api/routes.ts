import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../http/authentication.ts";
import { fileRoute } from "../../http/file-route.ts";
import { jsonRoute, type RouteDeps, type RouteRequest } from "../../http/route.ts";
import { actorOf } from "../../identity/identity.ts";
import { findOwnOrder, replacementSchema } from "../../orders/orders.ts";
import { ServiceError } from "../../platform/errors.ts";
import { isCode } from "../../platform/text.ts";
import type { SignerRequest } from "../lifecycle/change-signer.ts";
import type { EnvelopeDeps } from "../lifecycle/deps.ts";
import { remindSigner } from "../lifecycle/remind.ts";
import { replaceSigner } from "../lifecycle/replace.ts";
import { unlockSigner } from "../lifecycle/unlock.ts";
import { orderDocuments, readOrderDocument } from "../records/documents.ts";
import { OrderDocument, OrderDocuments, OrderSignerState, OrderSigners } from "./schemas.ts";
import { documentView, readSigning, signingView } from "./signing-api.ts";

const code = Type.String({ description: "The order code." });
const path = "/api/partner/orders/:code";
const frame = { tag: "Signing", caller: "key", policy: "partner-write" } as const;
const codeParams = Type.Object({ code });
const signerParams = Type.Object({ code, n: Type.String({ description: "The signer's place, from 1." }) });

/** What was signed and who signs it, for the firm whose order it is. */
export function signingRoutes(app: FastifyInstance, deps: EnvelopeDeps & RouteDeps): void {
  for (const schema of [OrderDocument, OrderSignerState]) app.addSchema(schema);
  documentRoutes(app, deps);
  jsonRoute(app, deps, {
    ...frame,
    method: "GET",
    url: `${path}/signers`,
    operationId: "listSigners",
    summary: "Who signs an order, and where each of them stands",
    params: codeParams,
    answer: OrderSigners,
    refusals: { 404: "Order not found." },
    handle: (request) => signersOf(deps, request),
  });
  signerRoutes(app, deps);
}

const signersOf = async (deps: EnvelopeDeps, request: RouteRequest<typeof codeParams, typeof noQuery>) =>
  signingView(await readSigning(deps, request.params.code, principalOf(request)), request.id);

const noQuery = Type.Object({});

function documentRoutes(app: FastifyInstance, deps: EnvelopeDeps & RouteDeps): void {
  jsonRoute(app, deps, {
    ...frame,
    method: "GET",
    url: `${path}/documents`,
    operationId: "listOrderDocuments",
    summary: "The documents of an order: what came in, and what was sealed of it",
    params: codeParams,
    answer: OrderDocuments,
    refusals: { 404: "Order not found." },
    async handle(request) {
      const [orderCode, owner] = [request.params.code, principalOf(request)];
      if (!isCode(orderCode) || !(await findOwnOrder(deps.db, orderCode, owner)))
        throw new ServiceError("not_found", "Order not found.");
      const documents = await orderDocuments(deps.db, orderCode, owner);
      return { documents: documents.map(documentView), requestId: request.id };
    },
  });
  fileRoute(app, deps, {
    ...frame,
    url: `${path}/documents/:documentId`,
    operationId: "downloadOrderDocument",
    summary: "Download a document of an order, byte for byte",
    params: Type.Object({ code, documentId: Type.String({ description: "Of the list." }) }),
    media: "application/pdf",
    async handle(request) {
      const { code: orderCode, documentId } = request.params;
      if (!isCode(orderCode)) throw new ServiceError("not_found", "Document not found.");
      const { kind, bytes } = await readOrderDocument(deps, { orderCode, owner: principalOf(request), documentId });
      return { name: `${kind.replace("_", "-")}.pdf`, disposition: "attachment", content: bytes };
    },
  });
}

type Act = {
  name: "remind" | "replace" | "unlock";
  summary: string;
  body?: typeof replacementSchema;
  refusals: Record<number, string>;
  change: (deps: EnvelopeDeps, request: SignerRequest, body: unknown) => Promise<void>;
};

const acts: readonly Act[] = [
  {
    name: "remind",
    summary: "Mail a signer their link again, at most once an hour",
    refusals: { 409: "This person was reminded within the last hour. Try again later." },
    change: remindSigner,
  },
  {
    name: "replace",
    summary: "Have another person sign in a signer's place; the link of the one before stops working at once",
    body: replacementSchema,
    refusals: { 400: "signer.name is required.", 409: "This person has signed already." },
    change: replaceSigner,
  },
  {
    name: "unlock",
    summary: "Give a signer who entered too many wrong codes a new link",
    refusals: { 409: "This person's link is not locked." },
    change: unlockSigner,
  },
];

/** What is done for a signer; each answers who signs, as it is then. */
function signerRoutes(app: FastifyInstance, deps: EnvelopeDeps & RouteDeps): void {
  for (const { name, summary, body, refusals, change } of acts)
    jsonRoute(app, deps, {
      ...frame,
      method: "POST",
      url: `${path}/signers/:n/${name}`,
      operationId: `${name}Signer`,
      summary,
      params: signerParams,
      ...(body ? { body } : { bodyIs: "none" }),
      answer: OrderSigners,
      refusals: { 404: "No such signer.", ...refusals },
      async handle(request) {
        await change(deps, wantedOf(request), request.body);
        return signersOf(deps, request);
      },
    });
}

function wantedOf(request: RouteRequest<typeof signerParams, typeof noQuery>): SignerRequest {
  const principal = principalOf(request);
  const { code: orderCode, n } = request.params;
  return { owner: principal, orderCode, n: /^\d{1,2}$/.test(n) ? Number(n) : 0, actor: actorOf(principal) };
}
