import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Callers, principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { invalid, ServiceError } from "../../../platform/errors.ts";
import type { OnceDeps } from "../../../platform/idempotency.ts";
import {
  listPassports,
  type NamedDeps,
  ownProofRecord,
  type SealRouteDeps,
  sealPassport,
  withUpload,
} from "../../../proof-passports/proof-passports.ts";
import type { RetentionPlan } from "../../../retention/retention.ts";
import { expectedFile } from "../../../seals/seals.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { wantsJson } from "../../ui/error-page.ts";
import { done } from "../../ui/flash-messages.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { sealingRetention } from "../../ui/retention.ts";
import { dashboardPage } from "../page-shell.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { requireSameEnvironment, submissionFor, submitOnce } from "../submit-once.ts";
import { passportBody } from "./detail.ts";
import { chooseOnePdf, passportsBody } from "./list.ts";

type UploadDeps = SealRouteDeps & OnceDeps & Pick<Callers, "resolveSession">;
export type PassportPagesDeps = UploadDeps &
  NamedDeps & { limits: RateLimits; assets: Assets; retention: RetentionPlan };

const path = "/dashboard/passports";
const section = "passports";

/** The firm's proof passports, the place to seal a PDF, and each passport's own page. */
export function passportPages(app: FastifyInstance, deps: PassportPagesDeps): void {
  pageRoute(app, deps, { url: path, handle: ({ request }) => show(request, cursorOf(request.query)) });

  pageRoute(app, deps, {
    method: "POST",
    url: path,
    policy: "partner-write",
    handle: async ({ request }) => {
      const location = `${path}/${await sealed(deps, request)}`;
      return wantsJson(request) ? { json: { location } } : done(location, "passport-sealed");
    },
    refused: ({ request }, error) => show(request, "", error),
  });

  pageRoute(app, deps, {
    url: `${path}/:id`,
    handle: async ({ params, request }) => {
      const record = await ownProofRecord(deps, params.id, principalOf(request));
      if (!record) throw new ServiceError("not_found", "No such passport.");
      const body = passportBody(params.id, record, deps.baseUrl, deps.retention);
      return dashboardPage(deps, request, { title: "Passport", section, body, scripts: ["copy.js"] });
    },
  });

  async function show(request: FastifyRequest, cursor: string, error?: string): Promise<string> {
    const body = passportsBody({
      ...(await listPassports(deps, principalOf(request), { cursor })),
      ...submissionFor(request),
      isFirstPage: cursor === "",
      keepSealed: deps.keepSealed,
      retention: sealingRetention(deps.retention, principalOf(request).environment),
      error,
    });
    return dashboardPage(deps, request, { title: "Passports", section, body, wide: true, scripts: ["seal.js"] });
  }
}

/**
 * @returns the passport's id
 * @throws ServiceError, in the words of the page where the form itself was at fault
 */
async function sealed(deps: UploadDeps, request: FastifyRequest): Promise<string> {
  try {
    return await withUpload(deps, request, reauthenticate(deps), async (upload, fields) => {
      requireSameEnvironment(request, fields.get("environment"));
      const { name } = await submitOnce(deps, request, {
        fields,
        documentSha256: upload.sha256,
        make: () => sealPassport(deps, principalOf(request), upload),
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
