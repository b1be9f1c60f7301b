import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf, requireKey } from "../http/authentication.ts";
import { acceptNoBody } from "../http/bodies.ts";
import { HttpError } from "../http/http-error.ts";
import { errors, ref } from "../http/openapi.ts";
import type { RateLimits } from "../http/rate-limits.ts";
import type { ResolveKey } from "../identity/identity.ts";
import type { Log } from "../platform/logs.ts";
import { UnknownVerdict } from "../proof-passports/schemas.ts";
import { closingCertificate, verifyClosingAsJson } from "./find.ts";
import { ClosingManifest, ClosingPassport, ClosingVerification } from "./schemas.ts";
import { type SealClosingDeps, sealClosing } from "./seal.ts";

export type ClosingRouteDeps = SealClosingDeps & { log: Log; resolveKey: ResolveKey; limits: RateLimits };

const json = "application/json; charset=utf-8";
// The address is a credential: what it shows is kept by no cache.
const uncached = { "Cache-Control": "no-store" };
const limited = { 429: "Rate limit exceeded. Try again in 42 seconds." };

const unknownVerdict = () => new HttpError("verdict_unknown", "No such passport.");

/** Closing passports (contract, Endpoints, Closing passports). Expects the schema `UnknownVerdict` to be there. */
export function closingRoutes(app: FastifyInstance, deps: ClosingRouteDeps): void {
  for (const schema of [ClosingPassport, ClosingManifest, ClosingVerification]) app.addSchema(schema);
  app.register(async (scope) => {
    acceptNoBody(scope);
    sealRoute(scope, deps);
  });
  verifyRoutes(app, deps);
}

function sealRoute(app: FastifyInstance, deps: ClosingRouteDeps): void {
  app.post<{ Params: { roomCode: string } }>(
    "/api/rooms/:roomCode/passport",
    {
      onRequest: [requireKey(deps.resolveKey), deps.limits.limit("partner-write")],
      schema: {
        tags: ["Closing passports"],
        security: [{ partnerKey: [] }],
        operationId: "sealRoom",
        summary: "Seal the room as it is now",
        params: Type.Object({ roomCode: Type.String({ description: "The room's present code." }) }),
        response: {
          200: ref(ClosingPassport),
          ...errors({
            400: "Passport version quota reached (20 versions per room).",
            401: "A valid partner API key is required.",
            404: "Room not found.",
            ...limited,
            503: "The seal can't be made now. Try again later.",
          }),
        },
      },
    },
    async (request, reply) => {
      const version = await sealClosing(deps, principalOf(request), request.params.roomCode);
      return reply.type(json).send(JSON.stringify(version));
    },
  );
}

type CodeRoute = { Params: { verifyCode: string } };

function verifyRoutes(app: FastifyInstance, deps: ClosingRouteDeps): void {
  const publicRead = deps.limits.limit("public-read");
  const about = {
    tags: ["Closing passports"],
    security: [],
    params: Type.Object({ verifyCode: Type.String({ description: "The verify code." }) }),
  };
  const unknown = { 404: ref(UnknownVerdict), ...errors(limited) };

  app.get<CodeRoute>(
    "/api/verify/room/:verifyCode",
    {
      onRequest: publicRead,
      schema: {
        ...about,
        operationId: "verifyRoomPassport",
        summary: "Verify a version of a closing passport",
        response: { 200: ref(ClosingVerification), ...unknown },
      },
    },
    async (request, reply) => {
      const answer = await verifyClosingAsJson(deps.db, request.params.verifyCode);
      if (answer === null) throw unknownVerdict();
      return reply.type(json).headers(uncached).send(answer);
    },
  );

  app.get<CodeRoute>(
    "/api/verify/room/:verifyCode/pdf",
    {
      onRequest: publicRead,
      schema: {
        ...about,
        operationId: "downloadClosingCertificate",
        summary: "Download the sealed certificate, byte for byte",
        response: {
          200: {
            description: "The bytes.",
            content: { "application/pdf": { schema: { type: "string", format: "binary" } } },
          },
          ...unknown,
        },
      },
    },
    async (request, reply) => {
      const certificate = await closingCertificate(deps, request.params.verifyCode);
      if (!certificate) throw unknownVerdict();
      return reply
        .type("application/pdf")
        .headers(uncached)
        .header("Content-Disposition", `attachment; filename="service-closing-passport-v${certificate.version}.pdf"`)
        .send(certificate.bytes);
    },
  );

  // What is no code by its length or its slashes is as unknown as any other.
  app.get("/api/verify/room/*", { onRequest: publicRead, schema: { hide: true } }, async () => {
    throw unknownVerdict();
  });
}
