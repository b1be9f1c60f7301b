import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  listPassports,
  type NamedDeps,
  ownProofRecord,
  type SealRouteDeps,
  sealPassport,
  withUpload,
} from "../../../evidence/proof-passports/proof-passports.ts";
import { expectedFile } from "../../../evidence/seals/seals.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { wantsJson } from "../../ui/error-page.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { sealingRetention } from "../../ui/retention.ts";
import { done } from "../flash-messages.ts";
import { type DashboardFrame, dashboardPage } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { requireSameEnvironment, submissionFor, submitOnce } from "../submit-once.ts";
import { chooseOnePdf, passportBody, passportsBody } from "./body.ts";

export type PassportPagesDeps = { frame: DashboardFrame; passports: SealRouteDeps & NamedDeps };

const path = "/dashboard/passports";
const section = "passports";

/** Adds the list of the firm's proof passports, the form that seals a PDF, and the page of each passport. */
export function passportPages(app: FastifyInstance, deps: PassportPagesDeps): void {
  pageRoute(app, deps.frame, { url: path, handle: ({ request }) => show(request, cursorOf(request.query)) });

  pageRoute(app, deps.frame, {
    method: "POST",
    url: path,
    policy: "partner-write",
    handle: async ({ request }) => {
      const location = `${path}/${await sealed(deps, request)}`;
      return wantsJson(request) ? { json: { location } } : done(location, "passport-sealed");
    },
    refused: ({ request }, error) => show(request, "", error),
  });

  pageRoute(app, deps.frame, {
    url: `${path}/:id`,
    handle: async ({ params, request }) => {
      const record = await ownProofRecord(deps.passports, params.id, principalOf(request));
      if (!record) throw new ServiceError("not_found", "No such sealed PDF.");
      const body = passportBody(params.id, record, deps.frame.baseUrl, deps.frame.retention);
      return dashboardPage(deps.frame, request, { title: "Sealed PDF", section, body, scripts: ["copy.js"] });
    },
  });

  async function show(request: FastifyRequest, cursor: string, error?: string): Promise<string> {
    const body = passportsBody({
      ...(await listPassports(deps.passports, principalOf(request), { cursor })),
      ...submissionFor(request),
      isFirstPage: cursor === "",
      keepSealed: deps.passports.requireStorage !== null,
      retention: sealingRetention(deps.frame.retention, principalOf(request).environment),
      error,
    });
    return dashboardPage(deps.frame, request, {
      title: "Sealed PDFs",
      section,
      body,
      wide: true,
      scripts: ["seal.js"],
    });
  }
}

/**
 * Seals the PDF of the form.
 *
 * @returns the passport's id
 * @throws ServiceError. If the form does not have exactly one PDF of an allowed size, the message is written for the
 * page
 */
async function sealed(deps: PassportPagesDeps, request: FastifyRequest): Promise<string> {
  try {
    return await withUpload(deps.frame, request, reauthenticate(deps.frame.callers), async (upload, fields) => {
      requireSameEnvironment(request, fields.get("environment"));
      const { name } = await submitOnce(deps.passports, request, {
        fields,
        documentSha256: upload.sha256,
        make: () => sealPassport(deps.passports, principalOf(request), upload),
        nameOf: ({ passportId }) => passportId,
      });
      return name;
    });
  } catch (error) {
    throw error instanceof ServiceError && error.message === expectedFile ? invalid(chooseOnePdf) : error;
  }
}

function cursorOf(query: unknown): string {
  const { cursor = "" } = query as { cursor?: unknown };
  if (typeof cursor !== "string") throw invalid("cursor must be sent once.");
  return cursor;
}
