import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Callers, principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { invalid, ServiceError } from "../../../platform/errors.ts";
import {
  type FindDeps,
  listPassports,
  ownProofRecord,
  type SealUploadDeps,
  sealPassport,
  withUpload,
} from "../../../proof-passports/proof-passports.ts";
import { expectedFile } from "../../../seals/seals.ts";
import type { Assets } from "../../ui/assets.ts";
import { formHeaders } from "../../ui/page-headers.ts";
import { attempt, done, sendPage } from "../page-shell.ts";
import { memberAgain } from "../reauthenticate.ts";
import { creating, requireSameEnvironment, type SubmitDeps, submitOnce } from "../submit-once.ts";
import { chooseOnePdf, passportsBody } from "./body.ts";
import { passportBody } from "./one.ts";

type UploadDeps = SealUploadDeps & SubmitDeps & Pick<Callers, "resolveSession">;
export type PassportPagesDeps = UploadDeps & FindDeps & { limits: RateLimits; assets: Assets };

const path = "/dashboard/passports";
const hidden = { schema: { hide: true } };
const section = "passports";

type CursorQuery = { cursor?: unknown };

/** The firm's proof passports, the place to seal a PDF, and each passport's own page. */
export function passportPages(app: FastifyInstance, deps: PassportPagesDeps): void {
  async function show(request: FastifyRequest, reply: FastifyReply, error?: string): Promise<FastifyReply> {
    const cursor = error === undefined ? cursorOf(request.query as CursorQuery) : "";
    const page = await listPassports(deps, principalOf(request), { cursor });
    const body = passportsBody({
      ...page,
      ...creating(request),
      isFirstPage: cursor === "",
      keepSealed: deps.keepSealed,
      error,
    });
    return sendPage(deps, request, reply, { title: "Passports", section, body, scripts: ["seal.js"] });
  }

  app.get(path, hidden, (request, reply) => show(request, reply));

  app.post(path, { ...hidden, onRequest: deps.limits.limit("partner-write") }, async (request, reply) => {
    const seal = async () => `${path}/${await sealed(deps, request)}`;
    if (wantsJson(request)) return reply.headers(formHeaders).send({ location: await seal() });
    return attempt(
      reply,
      async () => done(reply, await seal(), "passport-sealed"),
      (error) => show(request, reply, error),
    );
  });

  app.get<{ Params: { id: string } }>(`${path}/:id`, hidden, async (request, reply) => {
    const record = await ownProofRecord(deps, request.params.id, principalOf(request));
    if (!record) throw new ServiceError("not_found", "No such passport.");
    const body = passportBody(record, deps.baseUrl);
    return sendPage(deps, request, reply, { title: "Passport", section, body, scripts: ["copy.js"] });
  });
}

/**
 * @returns the passport's id
 * @throws ServiceError, in the words of the page where the form itself was at fault
 */
async function sealed(deps: UploadDeps, request: FastifyRequest): Promise<string> {
  try {
    return await withUpload(deps, request, memberAgain(deps), async (upload, fields) => {
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

/** The page's own script asks for JSON. */
const wantsJson = ({ headers }: FastifyRequest): boolean => (headers.accept ?? "").includes("application/json");

function cursorOf({ cursor = "" }: CursorQuery): string {
  if (typeof cursor !== "string") throw invalid("cursor must be sent once.");
  return cursor;
}
