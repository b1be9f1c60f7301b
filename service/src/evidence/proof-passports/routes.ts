import { evidenceNames } from "@signsealship/evidence/records";
import { trustListPath } from "@signsealship/evidence/seal";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { principalOf } from "../../kernel/http/authentication.ts";
import { negotiated, pageForBrowsers } from "../../kernel/http/errors/page-for-browsers.ts";
import { type FileAnswer, fileRoute } from "../../kernel/http/file-route.ts";
import { jsonRoute, type RouteDeps } from "../../kernel/http/route.ts";
import type { UploadPlaces } from "../../kernel/http/uploads/upload-places.ts";
import { deletedVerdict, unknownAnswer, unknownBelow, unknownVerdict } from "../../kernel/http/verdicts.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { deletedMessage } from "../../kernel/retention/retention.ts";
import {
  checkpointProofs,
  composedOts,
  type LogWaits,
  logProof,
  logProofChanges,
  notAnchoredYet,
  notLoggedYet,
  requireComposedOts,
  requireLogProof,
  retractionOf,
} from "../transparency-log/transparency-log.ts";
import type { ProofCertificates } from "./certificate/make.ts";
import { certificateProofRoutes } from "./certificate/proof-routes.ts";
import { evidenceFiles, type LogEvidence } from "./evidence/files.ts";
import { sealedParts } from "./evidence/sealed-parts.ts";
import { zipFile } from "./evidence/zip.ts";
import { findEvidence, findOwnPassport, findPassport, type LookupDeps, openSealed, withSealed } from "./lookup.ts";
import { Passport, PassportVerification } from "./schemas.ts";
import { type SealRouteDeps, sealRoute } from "./seal-route.ts";
import type { EvidenceRow, PublicPassport } from "./store.ts";
import { passportView, verificationView } from "./views.ts";

export type PassportRouteDeps = {
  frame: RouteDeps;
  passports: SealRouteDeps & LookupDeps;
  uploadPlaces: UploadPlaces;
  trustList: () => Promise<string>;
  proofCertificate: ProofCertificates;
  logWaits: LogWaits;
};

/** The routes of proof passports (contract, Endpoints, Proof passports). */
export function passportRoutes(app: FastifyInstance, deps: PassportRouteDeps): void {
  sealRoute(app, deps);
  ownPassportRoute(app, deps);
  ownCertificateRoute(app, deps);
  verificationRoutes(app, deps);
  const { chainPem } = deps.passports.sealing;
  app.get("/seal/certificate.pem", { schema: { hide: true } }, async (_request, reply) =>
    // The live seal's chain comes first, for programs that read only one certificate.
    reply.type("application/pem-certificate-chain").send(chainPem.live + chainPem.test),
  );
  app.get(trustListPath, { schema: { hide: true } }, async (_request, reply) => {
    reply.type("application/json").header("Cache-Control", "no-cache");
    return deps.trustList();
  });
}

const tag = "Proof passports";

function ownPassportRoute(app: FastifyInstance, deps: PassportRouteDeps): void {
  jsonRoute(app, deps.frame, {
    tag,
    caller: "key",
    policy: "partner-write",
    method: "GET",
    scope: "read",
    url: "/api/passport/:id",
    operationId: "getPassport",
    summary: "Get a proof passport",
    description: "One of your own passports, by its id.",
    params: Type.Object({ id: Type.String({ description: "The passport's UUID." }) }),
    answer: Passport,
    refusals: { 404: "No such passport." },
    async handle(request) {
      const passport = await findOwnPassport(deps.passports, request.params.id, principalOf(request));
      if (!passport) throw new ServiceError("not_found", "No such passport.");
      return { ...passportView(passport, deps.passports.publication.baseUrl), requestId: request.id };
    },
  });
}

function ownCertificateRoute(app: FastifyInstance, deps: PassportRouteDeps): void {
  fileRoute(app, deps.frame, {
    tag,
    caller: "key-or-session",
    policy: "partner-write",
    scope: "read",
    url: "/api/passport/:id/certificate",
    operationId: "downloadOwnProofCertificate",
    summary: "Download the proof certificate",
    description:
      "A sealed page for your file: what was sealed, when, by which seal and time stamp, for your firm by its name, and how anybody checks it. It is made from the record once, and stored. The sealed PDF is not changed.",
    params: Type.Object({ id: Type.String({ description: "The passport's UUID." }) }),
    media: "application/pdf",
    refusals: { 404: "No such passport." },
    async handle(request) {
      const passport = await findOwnPassport(deps.passports, request.params.id, principalOf(request));
      const content = passport && (await deps.proofCertificate(passport.verifyCode, true));
      if (!content) throw new ServiceError("not_found", "No such passport.");
      return { name: certificateName, disposition: "inline", content };
    },
  });
}

const certificateName = "proof-certificate.pdf";

/** The settings that the public routes with a verify code share. */
const byCode = (app: FastifyInstance) =>
  ({
    tag,
    caller: "anybody",
    policy: "public-write",
    params: Type.Object({ code: Type.String({ description: "The verify code." }) }),
    otherAnswers: unknownAnswer(app),
  }) as const;

function verificationRoutes(app: FastifyInstance, deps: PassportRouteDeps): void {
  const common = byCode(app);
  jsonRoute(app, deps.frame, {
    ...common,
    guard: pageForBrowsers("/verify/"),
    method: "GET",
    url: "/api/passport/verify/:code",
    operationId: "verifyPassport",
    summary: "Verify a proof passport",
    description:
      "Public: the code is the credential. What is recorded about the sealed PDF. To check a file itself, hash it and compare, or drop it on `/verify`. A browser is led to the page for people, `/verify/{code}`.",
    answer: PassportVerification,
    answerHeaders: negotiated,
    async handle({ params }) {
      const passport = await passportOf(deps.passports, params.code);
      return verificationView(passport, await retractionOf(deps.passports.db, passport));
    },
  });
  fileRoute(app, deps.frame, {
    ...common,
    url: "/api/passport/verify/:code/document",
    operationId: "downloadSealedPdf",
    summary: "Download the sealed PDF",
    description: "Public: the sealed file, byte for byte.",
    media: "application/pdf",
    async handle({ params }) {
      const passport = await passportOf(deps.passports, params.code);
      if (passport.deletedAt) throw deletedVerdict(deletedMessage("The sealed PDF", passport.deletedAt));
      const content = await openSealed(deps.passports, passport, unknownVerdict);
      if (!content) throw unknownVerdict();
      return { name: "sealed.pdf", disposition: "inline", content };
    },
  });
  fileRoute(app, deps.frame, {
    ...common,
    url: "/api/passport/verify/:code/evidence",
    operationId: "downloadEvidence",
    summary: "Download the evidence",
    description:
      "Public: a zip with the sealed PDF where it is kept, the time stamps, the certificates, and a README with the commands that check them without us.",
    media: "application/zip",
    async handle({ params }) {
      const evidence = await findEvidence(deps.passports, params.code);
      if (!evidence) throw unknownVerdict();
      const file = await openSealed(deps.passports, evidence, unknownVerdict);
      const parts = file && (await withSealed(deps.passports, evidence, sealedParts));
      const logged = await logEvidence(deps.passports, evidence);
      const files = evidenceFiles(
        { ...evidence, ...logged },
        file && parts && { file, parts },
        deps.passports.publication.baseUrl,
      );
      const frame = { memory: deps.passports.blobs.memory, holder: memoryHolder(evidence) };
      return { name: "evidence.zip", disposition: "inline", content: zipFile(frame, files) };
    },
  });
  fileRoute(app, deps.frame, {
    ...common,
    url: "/api/passport/verify/:code/certificate",
    operationId: "downloadProofCertificate",
    summary: "Download the proof certificate",
    description:
      "Public: a sealed page that says what was sealed, when, by which seal and time stamp, and how anybody checks it; never for whom. It is made from the record once, and stored. The sealed PDF is not changed.",
    media: "application/pdf",
    async handle({ params }) {
      const content = await deps.proofCertificate(params.code, false);
      if (!content) throw unknownVerdict();
      return { name: certificateName, disposition: "inline", content };
    },
  });
  logRoutes(app, deps);
  certificateProofRoutes(app, deps);
  unknownBelow(app, deps.frame, "/api/passport/verify/*", common.policy);
}

function logRoutes(app: FastifyInstance, deps: PassportRouteDeps): void {
  const common = byCode(app);
  fileRoute(app, deps.frame, {
    ...common,
    url: "/api/passport/verify/:code/tlog-proof",
    operationId: "downloadProofLogProof",
    summary: "Download the proof of the transparency log",
    description: `Public: the proof (C2SP tlog-proof) that the log has the line of this seal, up to a checkpoint that the log signed. ${logProofChanges} Within seconds of the seal.`,
    media: "text/plain",
    refusals: { 503: notLoggedYet },
    handle: async ({ params }) => logProofFile(deps.passports.db, await passportOf(deps.passports, params.code)),
  });
  fileRoute(app, deps.frame, {
    ...common,
    url: "/api/passport/verify/:code/ots",
    operationId: "downloadProofRootOts",
    summary: "Download the OpenTimestamps proof by way of the log",
    description:
      "Public: an `.ots` proof of the sealed PDF that leads through the transparency log to its hourly root, which the calendars have. Any OpenTimestamps client reads it. Within about an hour of the seal; it changes when a block confirms the root.",
    media: "application/octet-stream",
    refusals: { 409: notAnchoredYet },
    async handle({ params }) {
      const { environment, sealedSha256 } = await passportOf(deps.passports, params.code);
      const content = await requireComposedOts(deps.passports.db, environment, { kind: "seal/v1", sealedSha256 });
      return { name: evidenceNames.ots, disposition: "attachment", content };
    },
  });
}

/**
 * The transparency log's proofs for a passport's evidence. All are null or empty while the log does not include the
 * seal, and when the log can't prove that it does.
 */
async function logEvidence({ db, log }: LookupDeps, evidence: EvidenceRow): Promise<LogEvidence> {
  const { id, environment, sealedSha256, proof } = evidence;
  const nothing = { logProof: null, checkpoint: { tokens: [], ots: null }, rootOts: null };
  try {
    const entry = { kind: "seal/v1", sealedSha256 } as const;
    const line = await logProof(db, environment, entry);
    if (line.state !== "logged") return nothing;
    return {
      logProof: Buffer.from(line.proof),
      checkpoint: await checkpointProofs(db, line.log, line.size),
      rootOts: proof ? null : await composedOts(db, environment, entry),
    };
  } catch (error) {
    log.error({ err: error, passportId: id }, "the transparency log does not prove a seal that it has");
    return nothing;
  }
}

async function logProofFile(db: Sql, { environment, sealedSha256 }: PublicPassport): Promise<FileAnswer> {
  const content = await requireLogProof(db, environment, { kind: "seal/v1", sealedSha256 });
  return { name: evidenceNames.logProof, disposition: "attachment", content };
}

async function passportOf(deps: LookupDeps, code: string): Promise<PublicPassport> {
  const passport = await findPassport(deps, code);
  if (!passport) throw unknownVerdict();
  return passport;
}
