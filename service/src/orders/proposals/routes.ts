import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../../kernel/http/authentication.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { nullable, oneOf, ref, requestId, text } from "../../kernel/http/schema-parts.ts";
import { readForm } from "../../kernel/http/uploads/multipart.ts";
import type { UploadPlaces } from "../../kernel/http/uploads/upload-places.ts";
import { reasons } from "../../kernel/pdf/proposals/pieces.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import type { Workers } from "../../kernel/platform/workers/task.ts";
import { jsonList, looksLikePdf, maxSigners } from "../order/order.ts";
import { roleSchema } from "../templates/templates.ts";
import { findFields } from "./find.ts";

type Deps = { frame: RouteDeps; workers: Workers; uploadPlaces: UploadPlaces };

const messages = {
  notMultipart: "document is required: send it as multipart/form-data.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The form is cut off or malformed.",
};

const points = (description: string, example: number) => Type.Number({ description, examples: [example] });

const ProposedOption = Type.Object(
  {
    label: text("The words of the option.", "Joint tenants"),
    x: Type.Optional(points("Only of a radio, as the next three.", 72)),
    y: Type.Optional(points("From the upper edge of the page as shown, in points.", 608.5)),
    width: Type.Optional(points("In points.", 14)),
    height: Type.Optional(points("In points.", 14)),
  },
  { $id: "ProposedOption", description: "An option of a choice that the document contains." },
);

const ProposedField = Type.Object(
  {
    kind: oneOf(
      ["signature", "initials", "date", "name", "text", "checkbox", "dropdown", "radio"],
      "As in an order's `fields`.",
    ),
    signer: nullable(
      Type.Integer({ minimum: 1, examples: [1] }),
      "The place in `roles` of the one that the words near the field name, from 1; null where they name none or several. A field of an order needs a signer.",
    ),
    page: Type.Integer({ minimum: 1, description: "Counted from 1.", examples: [2] }),
    x: points("From the left edge of the page as shown, in points.", 72),
    y: points("From the upper edge of the page as shown, in points.", 608.5),
    width: points("In points.", 230),
    height: points("In points. The lower edge is on the line.", 26),
    label: text("For texts, checkboxes, dropdowns and radios; empty for other kinds."),
    options: Type.Optional(
      Type.Array(ref(ProposedOption), {
        description: "Only of dropdowns and radios: 2 to 50, as in an order's `fields`.",
      }),
    ),
    words: text("The words of the page that ask for it, at most 200 characters.", "Signature of Buyer"),
    role: nullable(
      Type.String({ examples: ["Buyer"] }),
      "The party that the words near the field name; null for none.",
    ),
    reason: oneOf(reasons, "Where the words are, or another reason to propose the field."),
    confidence: oneOf(["high", "medium", "low"], "`low`: only the shape or the place of the line says so."),
  },
  { $id: "ProposedField", description: "A place that asks to be signed or filled in." },
);

const ProposedFields = Type.Object(
  {
    fields: Type.Array(ref(ProposedField), { description: "From the first page to the last; at most 500." }),
    state: oneOf(
      ["read", "partly", "picture"],
      "`read`: all pages. `partly`: the document is longer than the search: 300 pages, 8 seconds or 500 fields. `picture`: the pages are pictures, without words.",
    ),
    pages: Type.Integer({ description: "Of the document; 0 where its text is too long to be read.", examples: [4] }),
    requestId: requestId(),
  },
  { $id: "ProposedFields", description: "The places found in a document." },
);

const formSchema = {
  type: "object",
  required: ["document"],
  examples: [{ document: "@agreement.pdf" }],
  properties: {
    document: {
      type: "string",
      contentMediaType: "application/pdf",
      description: "A PDF of at most 35 MB.",
    },
    roles: {
      type: "string",
      contentMediaType: "application/json",
      contentSchema: { type: "array", items: roleSchema, minItems: 1, maxItems: maxSigners },
      description: "Who signs, as JSON text, in the form of a template's `roles`. The fields then name their signers.",
    },
  },
};

/** The route that proposes places to sign. The contract doesn't have it. */
export function proposalRoutes(app: FastifyInstance, { frame, workers, uploadPlaces }: Deps): void {
  app.addSchema(ProposedOption);
  app.addSchema(ProposedField);
  jsonRoute(app, frame, {
    tag: "Templates",
    caller: "key",
    policy: "partner-write",
    method: "POST",
    scope: "read",
    url: "/api/partner/fields/propose",
    operationId: "proposeFields",
    summary: "Find places for fields",
    description:
      "Finds the lines and boxes of a PDF that ask for a signature, initials, a date or a name, and its own empty fields. Places of notaries, witnesses and offices are left out. The search may err: a person should look before an order is placed. Nothing is stored.",
    form: { schema: formSchema, notForm: messages.notMultipart },
    answer: ProposedFields,
    refusals: { 400: "document must be a PDF." },
    handle: async (request) => {
      const authenticate = requireKey(frame.resolveKey);
      const form = await readForm(request, { filePart: "document", places: uploadPlaces, messages, authenticate });
      try {
        if (!form.upload || !looksLikePdf(form.upload.bytes)) throw invalid("document must be a PDF.");
        const roles = rolesOf(form.fields.get("roles") ?? "");
        const { partnerId } = principalOf(request);
        const search = await findFields(workers, partnerId, { bytes: form.upload.bytes, roles });
        return { ...search, fields: [...search.fields], requestId: request.id };
      } finally {
        form.release();
      }
    },
  });
}

const rolesOf = (sent: string): string[] =>
  sent.trim() === ""
    ? []
    : jsonList("roles", sent, { max: maxSigners, schema: roleSchema }, (members) => members.required("name", 60));
