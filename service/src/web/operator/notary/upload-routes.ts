import type { FastifyInstance, FastifyRequest } from "fastify";
import { HttpError } from "../../../http/http-error.ts";
import { type Form, readForm } from "../../../http/uploads/multipart.ts";
import type { UploadPlaces } from "../../../http/uploads/upload-places.ts";
import { claimedOrder, completeAct, reportOn } from "../../../notaries/notaries.ts";
import type { Operator } from "../../../operators/operators.ts";
import { invalid } from "../../../platform/errors.ts";
import { done } from "../../ui/flash-messages.ts";
import type { PageAnswer } from "../../ui/page-route.ts";
import { consolePage, consoleRoute } from "../frame/console.ts";
import { type NotaryDeskDeps, orderPage } from "./routes.ts";
import { reportBody } from "./upload-forms.ts";

export type NotaryUploadDeps = NotaryDeskDeps & { uploadPlaces: UploadPlaces };

const permission = "notary.work" as const;
const messages = {
  notMultipart: "The form could not be read. Please choose the document again.",
  tooLarge: "document must be a PDF of at most 35 MB.",
  incomplete: "The upload was interrupted. Please send the form again.",
};

/** The two steps of an upload: what the verifier says of it, and taking it. */
export function notaryUploadRoutes(scope: FastifyInstance, deps: NotaryUploadDeps): void {
  const { notaryDesk } = deps;
  const refused = (
    { request, operator, params: { code } }: { request: FastifyRequest; operator: Operator; params: { code: string } },
    problem: string,
  ) => orderPage(deps, request, operator, code, { problem });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/notary/orders/:code/check",
    permission,
    handle: ({ request, operator, params: { code } }) =>
      withUpload(deps, request, operator, async ({ bytes }) => {
        const report = await reportOn(notaryDesk, await claimedOrder(notaryDesk, operator, code), bytes);
        const failed = report.checks.some(({ state }) => state === "fails");
        const page = { title: "What you uploaded", section: "notary", body: reportBody(code, report) } as const;
        return { page: consolePage(deps, request, page), status: failed ? 400 : 200 };
      }),
    refused,
  });

  consoleRoute(scope, deps, {
    method: "POST",
    url: "/operator/notary/orders/:code/complete",
    permission,
    handle: ({ request, operator, params: { code } }) =>
      withUpload(deps, request, operator, async ({ bytes, fields }) => {
        const confirmed = { sha256: fields.get("sha256") ?? "", warnings: fields.get("warnings") === "on" };
        await completeAct(notaryDesk, operator, code, bytes, confirmed);
        return done("/operator/notary", "act-completed");
      }),
    refused,
  });
}

/** Reads the file of a form, and gives its memory back when the work is done. */
export async function withUpload(
  deps: NotaryUploadDeps,
  request: FastifyRequest,
  operator: Operator,
  work: (form: { bytes: Buffer; fields: Form["fields"] }) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const form = await readForm(request, {
    filePart: "document",
    places: deps.uploadPlaces,
    messages,
    // Operators share the places of firms that have live.
    holder: { partnerId: operator.actor, liveEnabled: true, tier: "trial" },
    async authenticate() {
      if (!(await deps.resolveOperator(request.headers.cookie)))
        throw new HttpError("sign_in_required", "Sign in to continue.");
    },
  });
  try {
    const bytes = form.upload?.bytes;
    if (!bytes || bytes.length === 0) throw invalid("document must be a PDF.");
    return await work({ bytes, fields: form.fields });
  } finally {
    form.release();
  }
}
