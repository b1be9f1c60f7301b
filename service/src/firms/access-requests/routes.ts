import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import { nullable, oneOf, text } from "../../kernel/http/schema-parts.ts";
import { accessRequestFields, maxLengths, requiredMessage } from "./fields.ts";
import type { RequestAccess } from "./open-access.ts";

/** `POST /api/partner/request` (contract, Endpoints, Access requests). */
export function accessRoutes(app: FastifyInstance, deps: RouteDeps & { requestAccess: RequestAccess }): void {
  jsonRoute(app, deps, {
    method: "POST",
    url: "/api/partner/request",
    tag: "Partner",
    operationId: "requestAccess",
    summary: "Request partner access",
    description: "People find the same as a form at `/request-access`.",
    caller: "anybody",
    policy: "partner-request",
    body: PartnerRequest,
    answer: PartnerRequestAnswer,
    refusals: { 400: requiredMessage },
    async handle(request) {
      const status = await deps.requestAccess(accessRequestFields(request.body), request.ip);
      return { status, message: requestMessages[status] };
    },
  });
}

const optionalText = (field: keyof typeof maxLengths, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength: maxLengths[field] }), description));

const requiredText = (field: keyof typeof maxLengths, description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: maxLengths[field], description, examples: [example] });

const PartnerRequest = Type.Object(
  {
    firmName: requiredText("firmName", "The firm's name.", "Harbor Title Co."),
    contactName: requiredText("contactName", "Who asks.", "Dana Reyes"),
    workEmail: Type.String({
      format: "email",
      maxLength: maxLengths.workEmail,
      description: "Where the key is sent. A business address gets an answer sooner.",
      examples: ["dana@harbor-title.example"],
    }),
    role: optionalText("role", "What the contact does at the firm."),
    expectedVolume: optionalText("expectedVolume", "How many documents a month, in words."),
    useCase: optionalText("useCase", "What the firm wants to do, in a few sentences."),
    recaptchaToken: optionalText("recaptchaToken", "The token of a bot check. Leaving it out never blocks a request."),
  },
  { $id: "PartnerRequest", description: "A request for access. Texts are trimmed." },
);

const requestMessages = {
  issued: "Your trial key is on its way to your work email. It is sent once.",
  pending: "Thank you. A person will look at your request. If it is approved, we send a key to your work email.",
} as const;

const PartnerRequestAnswer = Type.Object(
  {
    status: oneOf(
      ["issued", "pending"],
      "`issued`: a trial key was created and mailed once to `workEmail`. `pending`: a person looks at the request.",
    ),
    message: text("The same for people.", requestMessages.issued),
  },
  {
    $id: "PartnerRequestAnswer",
    description: "What became of the request.",
  },
);
