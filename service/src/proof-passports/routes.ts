import { Readable } from "node:stream";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../http/authentication.ts";
import { HttpError } from "../http/http-error.ts";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import { wireError } from "../http/wire-errors.ts";
import type { ResolveKey } from "../identity/identity.ts";
import { invalid, ServiceError } from "../platform/errors.ts";
import { expectedFile } from "../seals/refusals.ts";
import { evidenceZip } from "./evidence-zip.ts";
import { type FindDeps, findOwnPassport, findPassport, sealedDocument } from "./find.ts";
import { Passport, PassportVerification, SealedPassport, sealFormSchema, UnknownVerdict } from "./schemas.ts";
import { type SealUploadDeps, sealUpload } from "./seal-upload.ts";
import { evidenceOf } from "./store.ts";
import { passportView, verificationView } from "./views.ts";

export type PassportRouteDeps = SealUploadDeps & FindDeps & { resolveKey: ResolveKey; limits: RateLimits };

type CodeRoute = { Params: { code: string } };

const json = "application/json; charset=utf-8";
// The address is a credential: what it shows is kept by no cache.
const uncached = { "Cache-Control": "no-store" };

/** Proof passports (contract, Endpoints, Proof passports). */
export function passportRoutes(app: FastifyInstance, deps: PassportRouteDeps): void {
  for (const schema of [SealedPassport, Passport, PassportVerification, UnknownVerdict]) app.addSchema(schema);
  const keyed = requireKey(deps.resolveKey);
  const publicWrite = deps.limits.limit("public-write");
  const about = { tags: ["Proof passports"], security: [] };
  const withKey = { ...about, security: [{ partnerKey: [] }] };
  const limited = { 429: "Rate limit exceeded. Try again in 42 seconds." };
  const unauthorized = { 401: "A valid partner API key is required.", ...limited };
  const code = { params: Type.Object({ code: Type.String({ description: "The verify code." }) }) };
  const unknown = { 404: ref(UnknownVerdict), ...errors(limited) };

  app.register(async (scope) => {
    // What the framework has against a body of any other type has the contract's message too.
    scope.setErrorHandler<FastifyError>((error, request, reply) =>
      wireError(error.code?.startsWith("FST_ERR_CTP_") ? invalid(expectedFile) : error, request, reply),
    );
    scope.post(
      "/api/passport/seal",
      {
        onRequest: [publicWrite, keyed],
        // Described, not enforced by the framework: the form is read as a stream.
        validatorCompiler: () => () => true,
        schema: {
          ...withKey,
          operationId: "sealPassport",
          summary: "Seal one executed PDF",
          consumes: ["multipart/form-data"],
          body: sealFormSchema,
          response: {
            200: ref(SealedPassport),
            ...errors({ 400: expectedFile, ...unauthorized, 503: "The seal can't be made now. Try again later." }),
          },
        },
      },
      async (request, reply) => reply.type(json).send(JSON.stringify(await sealUpload(deps, request, keyed))),
    );
  });

  app.get<{ Params: { id: string } }>(
    "/api/passport/:id",
    {
      onRequest: [keyed, deps.limits.limit("partner-write")],
      schema: {
        ...withKey,
        operationId: "getPassport",
        summary: "Fetch one of your own proof passports",
        params: Type.Object({ id: Type.String({ description: "The passport's UUID." }) }),
        response: { 200: ref(Passport), ...errors({ ...unauthorized, 404: "No such passport." }) },
      },
    },
    async (request, reply) => {
      const passport = await findOwnPassport(deps, request.params.id, principalOf(request));
      if (!passport) throw new ServiceError("not_found", "No such passport.");
      return reply.type(json).send(JSON.stringify({ ...passportView(passport, deps.baseUrl), requestId: request.id }));
    },
  );

  app.get<CodeRoute>(
    "/api/passport/verify/:code",
    {
      onRequest: publicWrite,
      schema: {
        ...about,
        operationId: "verifyPassport",
        summary: "Verify a proof passport",
        ...code,
        response: { 200: ref(PassportVerification), ...unknown },
      },
    },
    async (request, reply) => {
      const passport = await passportOf(request);
      return reply
        .type(json)
        .headers(uncached)
        .send(JSON.stringify(verificationView(passport)));
    },
  );

  app.get<CodeRoute>(
    "/api/passport/verify/:code/document",
    {
      onRequest: publicWrite,
      schema: {
        ...about,
        operationId: "downloadSealedPdf",
        summary: "Download the sealed PDF, byte for byte",
        ...code,
        response: { 200: binary("application/pdf"), ...unknown },
      },
    },
    async (request, reply) => {
      const document = await sealedDocument(deps, await passportOf(request));
      if (!document) throw unknownVerdict();
      return download(reply, "application/pdf", "sealed.pdf").send(document);
    },
  );

  app.get<CodeRoute>(
    "/api/passport/verify/:code/evidence",
    {
      onRequest: publicWrite,
      schema: {
        ...about,
        operationId: "downloadEvidence",
        summary: "Download all evidence as a zip, with the commands that check it",
        ...code,
        response: { 200: binary("application/zip"), ...unknown },
      },
    },
    async (request, reply) => {
      const passport = await passportOf(request);
      const [evidence, document] = await Promise.all([
        evidenceOf(deps.db, passport.id),
        sealedDocument(deps, passport),
      ]);
      const pieces = await evidenceZip(passport, evidence, document, deps.baseUrl);
      const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
      return download(reply, "application/zip", "evidence.zip")
        .header("Content-Length", length)
        .send(Readable.from(pieces));
    },
  );

  // What is no code by its length or its slashes is as unknown as any other.
  app.get("/api/passport/verify/*", { onRequest: publicWrite, schema: { hide: true } }, async () => {
    throw unknownVerdict();
  });

  app.get("/seal/certificate.pem", { schema: { hide: true } }, async (_request, reply) =>
    reply.type("application/pem-certificate-chain").send(deps.chainPem),
  );

  async function passportOf(request: FastifyRequest<CodeRoute>) {
    const passport = await findPassport(deps, request.params.code);
    if (!passport) throw unknownVerdict();
    return passport;
  }
}

const unknownVerdict = () => new HttpError("verdict_unknown", "No such passport.");

const binary = (type: string) => ({
  description: "The bytes.",
  content: { [type]: { schema: { type: "string", format: "binary" } } },
});

function download(reply: FastifyReply, type: string, name: string): FastifyReply {
  return reply.type(type).headers(uncached).header("Content-Disposition", `inline; filename="${name}"`);
}
