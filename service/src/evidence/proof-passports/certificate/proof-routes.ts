import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { fileRoute } from "../../../kernel/http/file-route.ts";
import type { RouteDeps } from "../../../kernel/http/route.ts";
import { unknownAnswer, unknownVerdict } from "../../../kernel/http/verdicts.ts";
import { sha256OfFile } from "../../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import {
  logProofChanges,
  notAnchoredYet,
  notLoggedYet,
  requireComposedOts,
  requireLogProof,
} from "../../transparency-log/transparency-log.ts";
import { findOwnPassport, findPassport, type LookupDeps } from "../lookup.ts";
import type { ProofCertificates } from "./make.ts";

type Deps = { frame: RouteDeps; passports: LookupDeps; proofCertificate: ProofCertificates };

const proofs = [
  {
    form: "tlog-proof",
    operation: "LogProof",
    summary: "Download the log proof of the proof certificate",
    description: `The proof (C2SP tlog-proof) that the transparency log has the seal of the certificate, up to a checkpoint that the log signed. ${logProofChanges} Within seconds of the certificate's first download.`,
    media: "text/plain",
    refusals: { 503: notLoggedYet },
    read: requireLogProof,
  },
  {
    form: "ots",
    operation: "RootOts",
    summary: "Download the OpenTimestamps proof, by way of the log, of the proof certificate",
    description:
      "An `.ots` proof of the certificate that leads through the transparency log to its hourly root, which the calendars have. Within about an hour of the certificate's first download.",
    media: "application/octet-stream",
    refusals: { 409: notAnchoredYet },
    read: requireComposedOts,
  },
] as const;

/**
 * The routes for a proof certificate's own proofs from the transparency log. They exist for both kinds of certificate:
 * the public one, and the one that names the firm.
 */
export function certificateProofRoutes(app: FastifyInstance, { frame, passports, proofCertificate }: Deps): void {
  const tag = "Proof passports";
  for (const { form, operation, summary, description, media, refusals, read } of proofs) {
    const name = `proof-certificate.pdf.${form}`;
    fileRoute(app, frame, {
      tag,
      caller: "anybody",
      policy: "public-write",
      summary,
      media,
      refusals,
      url: `/api/passport/verify/:code/certificate/${form}`,
      operationId: `downloadProofCertificate${operation}`,
      description: `Public: the code is the credential. ${description}`,
      params: Type.Object({ code: Type.String({ description: "The verify code." }) }),
      otherAnswers: unknownAnswer(app),
      async handle({ params }) {
        const passport = await findPassport(passports, params.code);
        const certificate = passport && (await proofCertificate(params.code, false));
        if (!certificate) throw unknownVerdict();
        const entry = { kind: "seal/v1", sealedSha256: await sha256OfFile(certificate) } as const;
        const content = await read(passports.db, passport.environment, entry);
        return { name, disposition: "attachment", content };
      },
    });
    fileRoute(app, frame, {
      tag,
      caller: "key-or-session",
      policy: "partner-write",
      scope: "read",
      summary,
      description,
      media,
      url: `/api/passport/:id/certificate/${form}`,
      operationId: `downloadOwnProofCertificate${operation}`,
      params: Type.Object({ id: Type.String({ description: "The passport's UUID." }) }),
      refusals: { 404: "No such passport.", ...refusals },
      async handle(request) {
        const owner = principalOf(request);
        const passport = await findOwnPassport(passports, request.params.id, owner);
        const certificate = passport && (await proofCertificate(passport.verifyCode, true));
        if (!certificate) throw new ServiceError("not_found", "No such passport.");
        const entry = { kind: "seal/v1", sealedSha256: await sha256OfFile(certificate) } as const;
        const content = await read(passports.db, owner.environment, entry);
        return { name, disposition: "attachment", content };
      },
    });
  }
}
