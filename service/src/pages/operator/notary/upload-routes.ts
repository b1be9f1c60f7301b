import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Operator } from "../../../firms/operators/operators.ts";
import {
  claimedOrder,
  closeForAct,
  completeAct,
  type DeskReport,
  reportOn,
  type SignedAct,
} from "../../../signing/notaries/notaries.ts";
import { done } from "../flash-messages.ts";
import { consolePage, consoleRoute } from "../frame/console.ts";
import { confirmedIn } from "../frame/upload-report.ts";
import { type UploadDeps, withUpload } from "../frame/uploads.ts";
import { type NotaryDeskDeps, orderPage } from "./routes.ts";
import { reportBody } from "./upload-forms.ts";

export type NotaryUploadDeps = NotaryDeskDeps & { upload: UploadDeps };

const permission = "notary.work" as const;

/** Adds the two steps of an upload: the verifier's report, and accepting the document. */
export function notaryUploadRoutes(scope: FastifyInstance, deps: NotaryUploadDeps): void {
  const { notaryDesk } = deps;
  const reportPage = (request: FastifyRequest, code: string, report: DeskReport, problem?: string) =>
    consolePage(deps.frame, request, {
      title: "What you uploaded",
      section: "notary",
      body: reportBody(code, report, { on: "uploaded", ...(problem !== undefined && { problem }) }),
    });
  const refused = (
    { request, operator, params: { code } }: { request: FastifyRequest; operator: Operator; params: { code: string } },
    problem: string,
  ) => orderPage(deps, request, operator, code, { problem });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/check",
    permission,
    handle: ({ request, operator, params: { code } }) =>
      withUpload(deps.upload, request, operator, async ({ bytes }) => {
        const report = await reportOn(notaryDesk, await claimedOrder(notaryDesk, operator, code), {
          bytes,
          drawnLines: [],
        });
        const failed = report.checks.some(({ state }) => state === "fails");
        return { page: reportPage(request, code, report), status: failed ? 400 : 200 };
      }),
    refused,
  });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: "/operator/notary/orders/:code/complete",
    permission,
    handle: ({ request, operator, params: { code } }) =>
      withUpload(deps.upload, request, operator, async ({ bytes, fields }) => {
        const { live } = deps;
        const close = live && { close: (signed: SignedAct) => closeForAct(live, operator, code, signed) };
        const confirmed = { ...confirmedIn(fields), actSha256: fields.get("actSha256") ?? "", ...close };
        const again = await completeAct(notaryDesk, operator, code, { bytes, drawnLines: [] }, confirmed);
        if (again) return { page: reportPage(request, code, again.report, again.problem), status: 400 };
        return done("/operator/notary", "act-completed");
      }),
    refused,
  });
}
