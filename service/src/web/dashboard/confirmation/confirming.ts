import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Callers, sessionOf } from "../../../http/authentication.ts";
import { type ConfirmationDeps, confirmByCode, sendCode } from "../../../members/members.ts";
import { ServiceError } from "../../../platform/errors.ts";
import { isRecentProof } from "../../../platform/proof.ts";
import type { Assets } from "../../ui/assets.ts";
import { acceptsPage } from "../../ui/error-page.ts";
import { type FormValues, textsOf } from "../../ui/forms/form-body.ts";
import { formHeaders, htmlType } from "../../ui/page-headers.ts";
import { reauthenticate } from "../reauthenticate.ts";
import { anotherField, codeField, confirmPage } from "./confirm-page.ts";

export type ConfirmingDeps = ConfirmationDeps & Pick<Callers, "resolveSession"> & { assets: Assets };

/** How a person confirms it, as the page of this sends it beside the form's own fields. */
type Given = { code: string | undefined; another: boolean };

declare module "fastify" {
  interface FastifyRequest {
    /** Null where nothing was given. */
    confirmation: Given | null;
  }
}

/**
 * Where a form needs a recent proof, the answer is a page that asks for one and carries all that was typed: its own form is sent to
 * the same address, and once the proof is there, that does what was asked for.
 */
export function confirming(scope: FastifyInstance, deps: ConfirmingDeps): void {
  const again = reauthenticate(deps);

  scope.decorateRequest("confirmation", null);
  scope.addHook("preHandler", async (request) => {
    const { [codeField]: code, [anotherField]: another, ...form } = textsOf(request.body);
    if (code === undefined && another === undefined) return;
    request.confirmation = { code, another: another !== undefined };
    request.body = form;
    const session = sessionOf(request);
    // Sent twice, the form has shown its code before.
    if (code === undefined || another !== undefined || isRecentProof(session.proof, deps.clock())) return;
    await confirmByCode(deps, session, code);
    await again(request);
  });

  scope.setErrorHandler(async (error: Error, request, reply) => {
    const isAsked = error instanceof ServiceError && error.code === "confirmation_required" && acceptsPage(request);
    if (!isAsked) throw error;
    // The fifth wrong code has ended the session: whoever has none is led to sign in.
    await again(request);
    return reply
      .code(403)
      .type(htmlType)
      .headers(formHeaders)
      .send(await askFor(request, error.message));
  });

  async function askFor(request: FastifyRequest, message: string): Promise<string> {
    const session = sessionOf(request);
    const { code, another } = request.confirmation ?? { code: undefined, another: false };
    await sendCode(deps, session, another);
    const form: FormValues = textsOf(request.body);
    const error = code !== undefined && !another ? message : undefined;
    return confirmPage(deps.assets, { session, action: request.url, form, error });
  }
}
