import type { FastifyInstance, FastifyRequest } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { invalid } from "../../../kernel/platform/errors.ts";
import {
  outcomes,
  type SandboxDeps,
  type SimulationResult,
  sandboxAdvance,
  sandboxCheckout,
  sandboxComplete,
} from "../../../orders/fulfilment/fulfilment.ts";
import { done, type FlashMessage } from "../../ui/flash-messages.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { doOnce } from "../submit-once.ts";

export type SandboxPageDeps = SandboxDeps & { limits: RateLimits };

type FormFrame = {
  method: "POST";
  policy: "partner-write";
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

/** Adds the forms that move a test order. Refusals appear on the order's page. */
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
    handle: doOnce(deps, async ({ params: { code }, request }) =>
      played(code, await sandboxAdvance(deps, moveOf(request, code), null), "sandbox-advanced"),
    ),
  });

  pageRoute(forms, deps, {
    ...form,
    url: "/dashboard/orders/:code/sandbox/complete",
    handle: doOnce(deps, async ({ params: { code }, request }) =>
      played(code, await sandboxComplete(deps, moveOf(request, code)), "sandbox-completed"),
    ),
  });
}

const moveOf = (request: FastifyRequest, code: string) => ({
  principal: principalOf(request),
  code,
  attempt: request.id,
});

/** Redirects to the order's page, which says what was done and which events it fired. */
const played = (code: string, { firedEvents }: SimulationResult, message: FlashMessage): { redirect: string } =>
  done(`/dashboard/orders/${code}?fired=${firedEvents.join(",")}`, message);
