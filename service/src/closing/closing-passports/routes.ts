import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import {
  type LogWaits,
  logProofChanges,
  notAnchoredYet,
  notLoggedYet,
} from "../../evidence/transparency-log/transparency-log.ts";
import { principalOf } from "../../kernel/http/authentication.ts";
import { negotiated, pageForBrowsers } from "../../kernel/http/errors/page-for-browsers.ts";
import { fileRoute } from "../../kernel/http/file-route.ts";
import { appliedWait, preferHeader } from "../../kernel/http/prefer.ts";
import { jsonRoute, type RouteDeps, sendText } from "../../kernel/http/route.ts";
import { deletedVerdict, unknownAnswer, unknownBelow, unknownVerdict } from "../../kernel/http/verdicts.ts";
import { deletedMessage } from "../../kernel/retention/retention.ts";
import { closingCertificate } from "./certificate-file.ts";
import { closingLogProof } from "./public-record.ts";
import { ClosingManifest, ClosingPassport, ClosingVerification } from "./schemas.ts";
import { type SealClosingDeps, sealClosing } from "./seal-version.ts";
import { closingEntry } from "./store.ts";
import { verifyClosing } from "./verify.ts";

export type ClosingRouteDeps = { frame: RouteDeps; closings: SealClosingDeps; logWaits: LogWaits };

const tag = "Closing passports";

/** Adds the routes of closing passports (contract, Endpoints, Closing passports). */
export function closingRoutes(app: FastifyInstance, deps: ClosingRouteDeps): void {
  app.addSchema(ClosingManifest);
  sealRoute(app, deps);
  verificationRoutes(app, deps);
}

function sealRoute(app: FastifyInstance, deps: ClosingRouteDeps): void {
  jsonRoute(app, deps.frame, {
    tag,
    caller: "key",
    policy: "partner-write",
    method: "POST",
    scope: "seal",
    url: "/api/rooms/:roomCode/passport",
    operationId: "sealRoom",
    summary: "Seal a room",
    description:
      "Seals a snapshot of the room as the next version of its closing passport: a manifest of its documents' hashes, chained to the version before, and a certificate PDF that carries it. At most 20 versions per room.",
    params: Type.Object({ roomCode: Type.String({ description: "The room's current code." }) }),
    bodyIs: "none",
    answer: ClosingPassport,
    refusals: {
      400: "Passport version quota reached (20 versions per room).",
      404: "Room not found.",
      503: "The seal can't be made now. Try again later.",
    },
    headers: Type.Object(preferHeader),
    async handle(request, reply) {
      const principal = principalOf(request);
      const { roomCode } = request.params;
      const sealed = await sealClosing(deps.closings, principal, roomCode);
      const line = { db: deps.closings.db, log: principal.environment, entry: closingEntry({ ...sealed, roomCode }) };
      const state = await deps.logWaits(line, principal.partnerId, () => appliedWait(request, reply));
      return state === null ? sealed : { ...sealed, log: { ...sealed.log, state } };
    },
  });
}

function verificationRoutes(app: FastifyInstance, deps: ClosingRouteDeps): void {
  const common = {
    tag,
    caller: "anybody",
    policy: "public-read",
    params: Type.Object({ verifyCode: Type.String({ description: "The verify code." }) }),
    otherAnswers: unknownAnswer(app),
  } as const;
  jsonRoute(app, deps.frame, {
    ...common,
    guard: pageForBrowsers("/v/room/"),
    method: "GET",
    url: "/api/verify/room/:verifyCode",
    operationId: "verifyRoomPassport",
    summary: "Verify a closing passport",
    description:
      "Public: the code is the credential. Returns the manifest and its hashes; `chainOk` is computed for this answer. A browser is led to the page for people, `/v/room/{verifyCode}`.",
    answer: ClosingVerification,
    async handle({ params }, reply) {
      const answer = await verifyClosing(deps.closings, params.verifyCode);
      if (answer === null) throw unknownVerdict();
      return sendText(reply.headers(negotiated), answer);
    },
  });
  fileRoute(app, deps.frame, {
    ...common,
    url: "/api/verify/room/:verifyCode/pdf",
    operationId: "downloadClosingCertificate",
    summary: "Download the certificate",
    description: "Public: the sealed certificate PDF, byte for byte, with the manifest attached.",
    media: "application/pdf",
    async handle({ params }) {
      const certificate = await closingCertificate(deps.closings, params.verifyCode);
      if (!certificate) throw unknownVerdict();
      if ("deletedAt" in certificate) throw deletedVerdict(deletedMessage("The certificate", certificate.deletedAt));
      const name = `service-closing-passport-v${certificate.version}.pdf`;
      return { name, disposition: "attachment", content: certificate.file };
    },
  });
  fileRoute(app, deps.frame, {
    ...common,
    url: "/api/verify/room/:verifyCode/tlog-proof",
    operationId: "downloadClosingLogProof",
    summary: "Download the proof of the transparency log",
    description: `Public: the proof (C2SP tlog-proof) that the log has the line of this version, up to a checkpoint that the log signed. ${logProofChanges} Within seconds of the seal.`,
    media: "text/plain",
    refusals: { 503: notLoggedYet },
    async handle({ params }) {
      const content = await closingLogProof(deps.closings, params.verifyCode, "tlog-proof");
      if (!content) throw unknownVerdict();
      return { name: "closing.tlog-proof", disposition: "attachment", content };
    },
  });
  fileRoute(app, deps.frame, {
    ...common,
    url: "/api/verify/room/:verifyCode/ots",
    operationId: "downloadClosingRootOts",
    summary: "Download the OpenTimestamps proof by way of the log",
    description:
      "Public: an `.ots` proof of this version's certificate that leads through the transparency log to its hourly root, which the calendars have. Any OpenTimestamps client reads it. Within about an hour of the seal; it changes when a block confirms the root.",
    media: "application/octet-stream",
    refusals: { 409: notAnchoredYet },
    async handle({ params }) {
      const content = await closingLogProof(deps.closings, params.verifyCode, "ots");
      if (!content) throw unknownVerdict();
      return { name: "closing.ots", disposition: "attachment", content };
    },
  });
  unknownBelow(app, deps.frame, "/api/verify/room/*", common.policy);
}
