import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type ConfirmationDeps,
  confirm,
  requestOptions,
  type Shown,
  sendCode,
} from "../../../firms/members/members.ts";
import { sessionOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { isServiceError, ServiceError } from "../../../kernel/platform/errors.ts";
import { isRecentProof } from "../../../kernel/platform/recent-proof.ts";
import type { Assets } from "../assets/assets.ts";
import { acceptsPage } from "../error-page.ts";
import { textsOf } from "../forms/form-body.ts";
import { formHeaders, htmlType } from "../page/headers.ts";
import { pageRoute } from "../page/route.ts";
import { type ConfirmArea, confirmFields, confirmOptionsPath, confirmPage } from "./confirm-page.ts";

export type ConfirmingDeps = { confirmation: ConfirmationDeps; assets: Assets; limits: RateLimits };

declare module "fastify" {
  interface FastifyRequest {
    /**
     * The person's answer on the confirmation page; null if the form was not sent from that page. `wantsAnother`: the
     * person asked for another code. `problem`: why the proof was rejected.
     */
    confirmation: { wantsAnother: boolean; problem?: string } | null;
  }
}

/**
 * If a form's action requires a recent proof of identity, the response is a page that asks for the proof. That page
 * contains all typed values of the form but no files, and sends these values to the same URL again. After the proof,
 * the action runs. A request of a script gets the error itself.
 * @param again authenticates the request again after the proof, because the session may have ended meanwhile
 */
export function confirming(
  scope: FastifyInstance,
  deps: ConfirmingDeps,
  area: ConfirmArea,
  again: (request: FastifyRequest) => Promise<void>,
): void {
  const { confirmation } = deps;
  scope.decorateRequest("confirmation", null);
  scope.addHook("preHandler", async (request) => {
    const fields = textsOf(request.body);
    const wantsAnother = fields[confirmFields.another] !== undefined;
    const shown = shownIn(fields);
    if (!shown && !wantsAnother) return;
    for (const name of Object.values(confirmFields)) delete fields[name];
    request.body = fields;
    request.confirmation = { wantsAnother };
    if (!shown || wantsAnother) return;
    const problem = await problemOf(request, shown);
    if (problem !== undefined) request.confirmation.problem = problem;
    await again(request);
  });

  scope.setErrorHandler(async (error: Error, request, reply) => {
    const code = error instanceof ServiceError && acceptsPage(request) ? error.code : null;
    if (code !== "confirmation_required" && code !== "passkey_required") throw error;
    const page = await askFor(request, code === "passkey_required");
    return reply.code(403).type(htmlType).headers(formHeaders).send(page);
  });

  pageRoute(scope, deps, {
    method: "POST",
    url: confirmOptionsPath(area),
    handle: async ({ request }) => ({ json: await requestOptions(confirmation, sessionOf(request)) }),
  });

  /**
   * Checks the proof.
   * @returns why the proof was rejected; undefined if it was accepted. The form's action decides if a rejected proof is
   * an error
   */
  async function problemOf(request: FastifyRequest, shown: Shown): Promise<string | undefined> {
    const session = sessionOf(request);
    // A code works only once. If the form was submitted twice, the first submission used the code, and its proof is
    // still recent. So the second submission needs no other proof.
    if ("code" in shown && isRecentProof(session.proof, confirmation.clock())) return undefined;
    try {
      await confirm(confirmation, session, shown);
      return undefined;
    } catch (error) {
      if (isServiceError(error, "validation")) return error.message;
      throw error;
    }
  }

  async function askFor(request: FastifyRequest, onlyPasskey: boolean): Promise<string> {
    const session = sessionOf(request);
    const { wantsAnother, problem: error } = request.confirmation ?? { wantsAnother: false };
    if (!session.proof.hasPasskey && !onlyPasskey) await sendCode(confirmation, session, wantsAnother);
    const form = textsOf(request.body);
    return confirmPage(deps.assets, { area, session, action: request.url, form, error, onlyPasskey });
  }
}

function shownIn({
  [confirmFields.passkey]: passkey,
  [confirmFields.code]: code,
}: Record<string, string>): Shown | null {
  if (passkey) return { passkey };
  return code === undefined ? null : { code };
}
