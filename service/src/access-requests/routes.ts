import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { accessRequestFields, maxLengths, requiredMessage, type SentRequest } from "./fields.ts";

const optionalText = (maxLength: number, description: string) =>
  Type.Optional(Type.Union([Type.String({ maxLength, description }), Type.Null()]));

const PartnerRequest = Type.Object(
  {
    firmName: Type.String({ minLength: 1, maxLength: maxLengths.firmName, examples: ["Harbor Title Co."] }),
    contactName: Type.String({ minLength: 1, maxLength: maxLengths.contactName, examples: ["Dana Reyes"] }),
    workEmail: Type.String({
      format: "email",
      maxLength: maxLengths.workEmail,
      examples: ["dana@harbor-title.example"],
    }),
    role: optionalText(maxLengths.role, "What the contact does at the firm."),
    expectedVolume: optionalText(maxLengths.expectedVolume, "Documents a month, in words."),
    useCase: optionalText(maxLengths.useCase, "What the firm wants to do, in some sentences."),
    recaptchaToken: optionalText(maxLengths.recaptchaToken, "Leaving it out never blocks."),
  },
  { $id: "PartnerRequest", description: "Texts are trimmed." },
);

const messages = {
  issued: "Your trial key is on its way to your work email. It is sent once.",
  pending: "Thank you. A person will look at your request. If it fits, a key comes to your work email.",
} as const;

const PartnerRequestAnswer = Type.Object(
  {
    status: Type.Union([Type.Literal("issued"), Type.Literal("pending")]),
    message: Type.String({ examples: [messages.issued] }),
  },
  {
    $id: "PartnerRequestAnswer",
    description: "`issued`: a trial key was created and mailed once to `workEmail`; `pending`: queued for a person.",
  },
);

export type AccessRouteDeps = {
  requestAccess: (request: SentRequest, remoteIp: string) => Promise<"issued" | "pending">;
  limits: RateLimits;
};

/** `POST /api/partner/request` (contract, Endpoints, Access requests). */
export function accessRoutes(app: FastifyInstance, { requestAccess, limits }: AccessRouteDeps): void {
  app.addSchema(PartnerRequest);
  app.addSchema(PartnerRequestAnswer);
  app.post(
    "/api/partner/request",
    {
      onRequest: limits.limit("partner-request"),
      // Described here, checked with the contract's messages in fields.ts.
      validatorCompiler: () => () => true,
      schema: {
        operationId: "requestAccess",
        summary: "Ask for partner access",
        description: "People find the same as a form at `/request-access`.",
        tags: ["Partner"],
        security: [],
        body: ref(PartnerRequest),
        response: {
          200: ref(PartnerRequestAnswer),
          ...errors({ 400: requiredMessage, 429: "Rate limit exceeded. Try again in 42 seconds." }),
        },
      },
    },
    async (request, reply) => {
      const status = await requestAccess(accessRequestFields(request.body), request.ip);
      return reply.type("application/json; charset=utf-8").send(JSON.stringify({ status, message: messages[status] }));
    },
  );
}
