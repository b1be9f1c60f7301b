import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { logProofChanges, notAnchoredYet, notLoggedYet } from "../../../evidence/transparency-log/transparency-log.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { fileRoute } from "../../../kernel/http/file-route.ts";
import { jsonRoute, type RouteDeps, type RouteRequest } from "../../../kernel/http/route.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { isCode, wholeNumberIn } from "../../../kernel/platform/text.ts";
import { findOwnOrder, orderNotFound, replacementSchema } from "../../../orders/order/order.ts";
import type { SignerRequest } from "../lifecycle/change-signer.ts";
import { remindSigner } from "../lifecycle/remind.ts";
import { type ReplaceInRooms, replaceSigner } from "../lifecycle/replace.ts";
import { unlockSigner } from "../lifecycle/unlock.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { openOrderDocument, orderDocumentProof, orderDocuments } from "../records/documents.ts";
import { copyLinkRoutes } from "./copy-link-routes.ts";
import { embedRoutes } from "./embed-routes.ts";
import { OrderDocument, OrderDocuments, OrderSignerState, OrderSigners } from "./schemas.ts";
import { documentView, readSigning, signingView } from "./signing-api.ts";

const code = Type.String({ description: "The order code." });
const path = "/api/partner/orders/:code";
const frame = { tag: "Signing", caller: "key", policy: "partner-write" } as const;
const codeParams = Type.Object({ code });
const documentParams = Type.Object({
  code,
  documentId: Type.String({ description: "The document's id, from the list." }),
});
const signerParams = Type.Object({ code, n: Type.String({ description: "The signer's place, from 1." }) });

type RoutesDeps = {
  frame: RouteDeps;
  envelopes: EnvelopeDeps;
  replaceInRooms: ReplaceInRooms;
  baseUrl: string;
};

export function signingRoutes(app: FastifyInstance, deps: RoutesDeps): void {
  for (const schema of [OrderDocument, OrderSignerState]) app.addSchema(schema);
  documentRoutes(app, deps);
  documentProofRoutes(app, deps);
  jsonRoute(app, deps.frame, {
    ...frame,
    method: "GET",
    scope: "read",
    url: `${path}/signers`,
    operationId: "listSigners",
    summary: "List an order's signers",
    description: "Who signs the order and where each of them stands.",
    params: codeParams,
    answer: OrderSigners,
    refusals: { 404: "Order not found." },
    handle: (request) => signersOf(deps.envelopes, request),
  });
  signerRoutes(app, deps);
  copyLinkRoutes(app, deps);
  embedRoutes(app, deps);
}

const signersOf = async (envelopes: EnvelopeDeps, request: RouteRequest<typeof codeParams, typeof noQuery>) =>
  signingView(await readSigning(envelopes, request.params.code, principalOf(request)), request.id);

const noQuery = Type.Object({});

function documentRoutes(app: FastifyInstance, deps: RoutesDeps): void {
  jsonRoute(app, deps.frame, {
    ...frame,
    method: "GET",
    scope: "read",
    url: `${path}/documents`,
    operationId: "listOrderDocuments",
    summary: "List an order's documents",
    description:
      "What came in, and what was made of it: the sealed document, the notarized one, certificates and receipts, oldest first.",
    params: codeParams,
    answer: OrderDocuments,
    refusals: { 404: "Order not found." },
    async handle(request) {
      const [orderCode, owner] = [request.params.code, principalOf(request)];
      if (!isCode(orderCode) || !(await findOwnOrder(deps.envelopes.db, orderCode, owner))) throw orderNotFound();
      const documents = await orderDocuments(deps.envelopes, orderCode, owner);
      return { documents: documents.map(documentView), requestId: request.id };
    },
  });
  fileRoute(app, deps.frame, {
    ...frame,
    scope: "read",
    url: `${path}/documents/:documentId`,
    operationId: "downloadOrderDocument",
    summary: "Download a document",
    description: "The file, byte for byte: its SHA-256 is the one in the list.",
    params: documentParams,
    media: "application/pdf",
    refusals: {
      404: "Document not found.",
      409: "The stored document is not what was written, so it is not served, signed or sealed.",
    },
    async handle(request) {
      const { code: orderCode, documentId } = request.params;
      if (!isCode(orderCode)) throw new ServiceError("not_found", "Document not found.");
      const { kind, file } = await openOrderDocument(deps.envelopes, {
        orderCode,
        owner: principalOf(request),
        documentId,
      });
      return { name: `${kind.replace("_", "-")}.pdf`, disposition: "attachment", content: file };
    },
  });
}

/** Adds the routes by which callers download the transparency log's proofs for a document that was sealed here. */
function documentProofRoutes(app: FastifyInstance, deps: RoutesDeps): void {
  const proofs = [
    {
      form: "tlog-proof",
      operationId: "downloadOrderDocumentLogProof",
      summary: "Download the log proof of a document",
      description: `The proof (C2SP tlog-proof) that the transparency log has the seal of this document, up to a checkpoint that the log signed. ${logProofChanges} Within seconds of the seal; not for uploaded files, which are not sealed.`,
      media: "text/plain",
      refusals: { 404: "Document not found.", 503: notLoggedYet },
    },
    {
      form: "ots",
      operationId: "downloadOrderDocumentRootOts",
      summary: "Download the OpenTimestamps proof, by way of the log, of a document",
      description:
        "An `.ots` proof of this document that leads through the transparency log to its hourly root, which the calendars have. Within about an hour of the seal; not for uploaded files, which are not sealed.",
      media: "application/octet-stream",
      refusals: { 404: "Document not found.", 409: notAnchoredYet },
    },
  ] as const;
  for (const { form, ...described } of proofs)
    fileRoute(app, deps.frame, {
      ...frame,
      ...described,
      scope: "read",
      url: `${path}/documents/:documentId/${form}`,
      params: documentParams,
      async handle(request) {
        const { code: orderCode, documentId } = request.params;
        if (!isCode(orderCode)) throw new ServiceError("not_found", "Document not found.");
        const wanted = { orderCode, owner: principalOf(request), documentId };
        const content = await orderDocumentProof(deps.envelopes, wanted, form);
        return {
          name: `${documentId.split("-", 1)[0]?.replace("_", "-")}.pdf.${form}`,
          disposition: "attachment",
          content,
        };
      },
    });
}

type Act = {
  name: "remind" | "replace" | "unlock";
  summary: string;
  description: string;
  body?: typeof replacementSchema;
  refusals: Record<number, string>;
  change: (deps: RoutesDeps, request: SignerRequest, body: unknown) => Promise<void>;
};

const acts: readonly Act[] = [
  {
    name: "remind",
    summary: "Remind a signer",
    description: "Mails the signer their link again, at most once an hour.",
    refusals: { 409: "This person was reminded within the last hour. Try again later." },
    change: ({ envelopes }, request) => remindSigner(envelopes, request),
  },
  {
    name: "replace",
    summary: "Replace a signer",
    description: "Another person signs in this signer's place. The previous link stops working at once.",
    body: replacementSchema,
    refusals: { 400: "signer.name is required.", 409: "This person has signed already." },
    change: replaceSigner,
  },
  {
    name: "unlock",
    summary: "Unlock a signer",
    description: "Gives a new link to a signer who entered too many wrong codes.",
    refusals: { 409: "This person's link is not locked." },
    change: ({ envelopes }, request) => unlockSigner(envelopes, request),
  },
];

/** The routes that change a signer. Each returns the signers after the change. */
function signerRoutes(app: FastifyInstance, deps: RoutesDeps): void {
  for (const { name, summary, description, body, refusals, change } of acts)
    jsonRoute(app, deps.frame, {
      ...frame,
      method: "POST",
      scope: "orders",
      url: `${path}/signers/:n/${name}`,
      operationId: `${name}Signer`,
      summary,
      description,
      params: signerParams,
      ...(body ? { body } : { bodyIs: "none" }),
      answer: OrderSigners,
      refusals: { 404: "No such signer.", ...refusals },
      async handle(request) {
        await change(deps, wantedOf(request), request.body);
        return signersOf(deps.envelopes, request);
      },
    });
}

function wantedOf(request: RouteRequest<typeof signerParams, typeof noQuery>): SignerRequest {
  const principal = principalOf(request);
  const { code: orderCode, n } = request.params;
  return { owner: principal, orderCode, n: wholeNumberIn(n, 0, 99) ?? 0, actor: actorOf(principal) };
}
