import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import type { Sql } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import {
  outcomes,
  type SandboxDeps,
  type SimulationResult,
  sandboxAdvance,
  sandboxCheckout,
  sandboxComplete,
} from "../../../orders/fulfilment/fulfilment.ts";
import { signedHere } from "../../../signing/envelopes/envelopes.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import type { Html } from "../../ui/render.ts";
import { done, type FlashMessage } from "../flash-messages.ts";
import { doOnce } from "../submit-once.ts";

export type SandboxPageDeps = SandboxDeps & { limits: RateLimits };

type FormFrame = {
  method: "POST";
  policy: "partner-write";
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

/** Adds the forms that move a test order to another status. Errors appear on the order's page. */
export function sandboxForms(forms: FastifyInstance, deps: SandboxPageDeps, form: FormFrame): void {
  pageRoute(forms, deps, {
    ...form,
    url: "/dashboard/orders/:code/sandbox/checkout",
    handle: doOnce(deps, async ({ params: { code }, form: { outcome: asked }, request }) => {
      const outcome = outcomes.find((each) => each === asked);
      if (!outcome) throw invalid("Choose what happens to the payment.");
      const result = await sandboxCheckout(deps, moveOf(request, code), outcome);
      return played(code, result, `sandbox-${outcome}`);
    }),
  });

  pageRoute(forms, deps, {
    ...form,
    url: "/dashboard/orders/:code/sandbox/advance",
    handle: doOnce(deps, async ({ params: { code }, form: typed, request }) => {
      const move = { ...moveOf(request, code), check: signatureCheck(typed) };
      return played(code, await sandboxAdvance(deps, move, null), "sandbox-advanced");
    }),
  });

  pageRoute(forms, deps, {
    ...form,
    url: "/dashboard/orders/:code/sandbox/complete",
    handle: doOnce(deps, async ({ params: { code }, form: typed, request }) => {
      const move = { ...moveOf(request, code), check: signatureCheck(typed) };
      return played(code, await sandboxComplete(deps, move), "sandbox-completed");
    }),
  });
}

/** The hidden field with which a form confirms that the signatures may be discarded. */
const discards = { discard_signatures: "on" } as const;

/**
 * Returns a function that rejects the move of an order that somebody has signed, unless the form confirms that the
 * signatures are discarded. The form may lack that confirmation, because somebody may have signed after the page was
 * shown.
 */
export const signatureCheck =
  (typed: FormValues) =>
  async (db: Sql, code: string): Promise<void> => {
    if (typed["discard_signatures"] === discards.discard_signatures) return;
    if (((await signedHere(db, code))?.signed ?? 0) > 0)
      throw new ServiceError(
        "conflict",
        "Somebody has signed. The sandbox would discard the signature: confirm that, or let everybody sign.",
      );
  };

/** The button of a move that discards signatures, with a confirmation dialog. */
export const discardQuestion = (label: string, action: string, fields: Readonly<Record<string, string>>): Html =>
  askFirst({
    label,
    text: "Somebody has signed, and not everybody has. The final files will not show these signatures.",
    confirm: "Discard the signatures",
    action,
    fields: { ...fields, ...discards },
  });

const moveOf = (request: FastifyRequest, code: string) => ({
  principal: principalOf(request),
  code,
  attempt: request.id,
});

/** Redirects to the order's page, which shows the result and the fired events. */
const played = (code: string, { firedEvents }: SimulationResult, message: FlashMessage): { redirect: string } =>
  done(`/dashboard/orders/${code}?fired=${firedEvents.join(",")}`, message);
