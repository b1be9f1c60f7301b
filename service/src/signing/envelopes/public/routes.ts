import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import {
  logProofChanges,
  notAnchoredYet,
  notLoggedYet,
  requireComposedOts,
  requireLogProof,
} from "../../../evidence/transparency-log/transparency-log.ts";
import { negotiated, pageForBrowsers } from "../../../kernel/http/errors/page-for-browsers.ts";
import { fileRoute } from "../../../kernel/http/file-route.ts";
import { jsonRoute, type RouteDeps } from "../../../kernel/http/route.ts";
import { unknownAnswer, unknownBelow, unknownVerdict } from "../../../kernel/http/verdicts.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import type { DocumentDeps } from "../records/revisions.ts";
import { readCrl } from "../revocation.ts";
import { type EnvelopeRecord, envelopeRecord } from "./record.ts";
import { EnvelopeVerification, verificationView } from "./schemas.ts";

/** The public verification of an envelope. */
export function envelopeVerificationRoutes(
  app: FastifyInstance,
  deps: { frame: RouteDeps; envelopes: DocumentDeps },
): void {
  const policy = "public-read";
  jsonRoute(app, deps.frame, {
    tag: "Signing",
    caller: "anybody",
    policy,
    guard: pageForBrowsers("/v/envelope/"),
    method: "GET",
    url: "/api/verify/envelope/:verifyCode",
    operationId: "verifyEnvelope",
    summary: "Verify how a document was signed",
    description:
      "Public: the code is the credential. The claims are computed for this answer from what is stored. Names and email addresses are masked. A browser is led to the page for people, `/v/envelope/{verifyCode}`.",
    params: Type.Object({ verifyCode: Type.String({ description: "The verify code." }) }),
    otherAnswers: unknownAnswer(app),
    answer: EnvelopeVerification,
    async handle({ params }, reply) {
      const record = await envelopeRecord(deps.envelopes, params.verifyCode);
      if (record === null) throw unknownVerdict();
      reply.headers(negotiated);
      return verificationView(record);
    },
  });
  logProofRoutes(app, deps);
  unknownBelow(app, deps.frame, "/api/verify/envelope/*", policy);
  app.get<{ Params: { authority: string; list: string } }>(
    "/seal/crl/:authority/:list",
    { schema: { hide: true }, onRequest: deps.frame.limits.limit("public-read") },
    async ({ params: { authority, list } }, reply) => {
      const der = list.endsWith(".crl")
        ? await readCrl(deps.envelopes, authority, list.slice(0, -".crl".length))
        : null;
      if (der === null) throw new ServiceError("not_found", "There is no such revocation list.");
      return reply.type("application/pkix-crl").header("Cache-Control", "public, max-age=60").send(der);
    },
  );
}

/**
 * Adds the routes that serve the transparency log's proofs for a completed envelope's sealed document and custody
 * certificate.
 */
function logProofRoutes(
  app: FastifyInstance,
  { frame, envelopes }: { frame: RouteDeps; envelopes: DocumentDeps },
): void {
  const proof = {
    summary: "Download the log proof of",
    describe: (of: string) =>
      `Public: the proof (C2SP tlog-proof) that the transparency log has the seal of ${of}, up to a checkpoint that the log signed. ${logProofChanges} Within seconds of the last signature; unknown before it.`,
    media: "text/plain",
    refusals: { 503: notLoggedYet },
    read: requireLogProof,
  } as const;
  const ots = {
    summary: "Download the OpenTimestamps proof, by way of the log, of",
    describe: (of: string) =>
      `Public: an \`.ots\` proof of ${of} that leads through the transparency log to its hourly root, which the calendars have. Within about an hour of the last signature; unknown before it.`,
    media: "application/octet-stream",
    refusals: { 409: notAnchoredYet },
    read: requireComposedOts,
  } as const;
  const documentSha256 = ({ document }: EnvelopeRecord) => document?.sealedSha256 ?? null;
  const custodySha256 = ({ custodyCertSha256 }: EnvelopeRecord) => custodyCertSha256;
  const files = [
    {
      kind: proof,
      of: "the sealed document",
      sha256Of: documentSha256,
      url: "/api/verify/envelope/:verifyCode/tlog-proof",
      operationId: "downloadEnvelopeLogProof",
      name: "sealed.pdf.tlog-proof",
    },
    {
      kind: proof,
      of: "the custody certificate",
      sha256Of: custodySha256,
      url: "/api/verify/envelope/:verifyCode/custody/tlog-proof",
      operationId: "downloadCustodyLogProof",
      name: "custody.pdf.tlog-proof",
    },
    {
      kind: ots,
      of: "the sealed document",
      sha256Of: documentSha256,
      url: "/api/verify/envelope/:verifyCode/ots",
      operationId: "downloadEnvelopeRootOts",
      name: "sealed.pdf.ots",
    },
    {
      kind: ots,
      of: "the custody certificate",
      sha256Of: custodySha256,
      url: "/api/verify/envelope/:verifyCode/custody/ots",
      operationId: "downloadCustodyRootOts",
      name: "custody.pdf.ots",
    },
  ];
  for (const { kind, url, operationId, of, name, sha256Of } of files)
    fileRoute(app, frame, {
      tag: "Signing",
      caller: "anybody",
      policy: "public-read",
      url,
      operationId,
      summary: `${kind.summary} ${of}`,
      description: kind.describe(of),
      params: Type.Object({ verifyCode: Type.String({ description: "The verify code." }) }),
      otherAnswers: unknownAnswer(app),
      media: kind.media,
      refusals: kind.refusals,
      async handle({ params }) {
        const record = await envelopeRecord(envelopes, params.verifyCode);
        const sealedSha256 = record && sha256Of(record);
        if (!sealedSha256) throw unknownVerdict();
        const content = await kind.read(envelopes.db, record.environment, { kind: "seal/v1", sealedSha256 });
        return { name, disposition: "attachment", content };
      },
    });
}
