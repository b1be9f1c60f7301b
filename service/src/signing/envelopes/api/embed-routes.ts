import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import { ref, requestId, text, timestamp, uuid } from "../../../kernel/http/schema-parts.ts";
import { actorOf, type Owner } from "../../../kernel/identity/identity.ts";
import { membersIn } from "../../../kernel/platform/json.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import { addOrigin, embedSigner, removeOrigin } from "../lifecycle/frames-and-sittings.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { listOrigins, type EmbedOrigin as Origin } from "../records/embeds.ts";

type Deps = { frame: RouteDeps; envelopes: EnvelopeDeps; baseUrl: string };

const origin = () =>
  text(
    "Scheme, host and port of the page that shows the frame. Test keys may name `http://localhost` with a port.",
    "https://app.example.com",
  );

const EmbedOrigin = Type.Object(
  {
    originId: uuid("The id, to remove it."),
    origin: origin(),
    createdAt: timestamp("When it was registered."),
  },
  { $id: "EmbedOrigin", description: "A site of yours that may show the signing page." },
);

const EmbedOrigins = Type.Object(
  {
    origins: Type.Array(ref(EmbedOrigin), { description: "In the order in which they were registered." }),
    requestId: requestId(),
  },
  { $id: "EmbedOrigins", description: "Your sites that may show the signing page." },
);

const NewEmbedOrigin = Type.Object({ origin: origin() }, { $id: "NewEmbedOrigin", description: "A site of yours." });

const EmbedRequest = Type.Object(
  { origin: origin() },
  { $id: "EmbedRequest", description: "Which of your registered sites shows the page." },
);

const EmbeddedSigner = Type.Object(
  {
    url: text(
      "The address for the frame: it opens the page once, and is a credential until then.",
      "https://sign.example.com/embed/4f1c2a9d0b7e6358c1d2e3f4a5b6c7d8e9f0a1b2",
    ),
    expiresAt: timestamp("Until when the page must be opened: in five minutes. The page then works for 30 minutes."),
    requestId: requestId(),
  },
  { $id: "EmbeddedSigner", description: "A signing page for a frame." },
);

const path = "/api/partner/embed-origins";
const common = { tag: "Signing", caller: "key", policy: "partner-write" } as const;

const originView = ({ id, origin: site, createdAt }: Origin): Static<typeof EmbedOrigin> => ({
  originId: id,
  origin: site,
  createdAt: createdAt.toISOString(),
});

/** The routes for signing in a frame on the firm's own page. The partner contract does not define them. */
export function embedRoutes(app: FastifyInstance, { frame, envelopes, baseUrl }: Deps): void {
  app.addSchema(EmbedOrigin);
  const list = async (principal: Owner, id: string) => ({
    origins: (await listOrigins(envelopes.db, principal)).map(originView),
    requestId: id,
  });
  jsonRoute(app, frame, {
    ...common,
    method: "GET",
    scope: "read",
    url: path,
    operationId: "listEmbedOrigins",
    summary: "List embed origins",
    description: "Your sites that may show the signing page in a frame, in the key's environment.",
    answer: EmbedOrigins,
    handle: (request) => list(principalOf(request), request.id),
  });
  jsonRoute(app, frame, {
    ...common,
    method: "POST",
    scope: "orders",
    url: path,
    operationId: "addEmbedOrigin",
    summary: "Register an embed origin",
    description:
      "Lets a site of yours show the signing page in a frame: at most 20, without wildcards. One that is registered already stays. Only a key without scopes may.",
    body: NewEmbedOrigin,
    answer: EmbedOrigins,
    refusals: { 400: "origin must be an https origin, as https://app.example.com." },
    async handle(request) {
      const principal = principalOf(request);
      await addOrigin(envelopes, principal, originIn(request.body));
      return list(principal, request.id);
    },
  });
  jsonRoute(app, frame, {
    ...common,
    method: "DELETE",
    scope: "orders",
    url: `${path}/:originId`,
    operationId: "removeEmbedOrigin",
    summary: "Remove an embed origin",
    description:
      "The site gets no more signing pages. Pages that are open there go on until they end. Only a key without scopes may.",
    params: Type.Object({ originId: Type.String({ description: "The id, from the list." }) }),
    bodyIs: "none",
    answer: EmbedOrigins,
    refusals: { 404: "No such origin." },
    async handle(request) {
      const principal = principalOf(request);
      await removeOrigin(envelopes, principal, request.params.originId);
      return list(principal, request.id);
    },
  });
  signerRoute(app, { frame, envelopes, baseUrl });
}

function signerRoute(app: FastifyInstance, { frame, envelopes, baseUrl }: Deps): void {
  jsonRoute(app, frame, {
    ...common,
    method: "POST",
    scope: "orders",
    url: "/api/partner/orders/:code/signers/:n/embed",
    operationId: "embedSigner",
    summary: "Open the signing page in a frame",
    description:
      "Answers an address for a frame in a registered site of yours. It opens once, within five minutes; no other site can show it. The signer's own access step stays, and the evidence says that your firm opened the page for the signer.",
    params: Type.Object({
      code: Type.String({ description: "The order code." }),
      n: Type.String({ description: "The signer's place, from 1." }),
    }),
    body: EmbedRequest,
    answer: EmbeddedSigner,
    refusals: {
      400: "origin must be registered first: https://app.example.com is not one of your embed origins.",
      404: "No such signer.",
      409: "It is not this person's turn to sign yet.",
    },
    async handle(request) {
      const principal = principalOf(request);
      const { code: orderCode, n } = request.params;
      const wanted = { owner: principal, orderCode, n: wholeNumberIn(n, 0, 99) ?? 0, actor: actorOf(principal) };
      const { ticket, expiresAt } = await embedSigner(envelopes, wanted, originIn(request.body));
      return { url: `${baseUrl}/embed/${ticket}`, expiresAt: expiresAt.toISOString(), requestId: request.id };
    },
  });
}

/**
 * Returns the body's member `origin` unchecked. The later validation of the origin rejects anything that is not a
 * string.
 */
const originIn = (body: unknown): unknown => membersIn(body)["origin"];
