import type { FastifyInstance } from "fastify";
import { type EnvelopeDeps, remindSigner, replaceSigner, unlockSigner } from "../../../envelopes/envelopes.ts";
import { principalOf } from "../../../http/authentication.ts";
import type { RateLimits } from "../../../http/rate-limits.ts";
import { actorOf } from "../../../identity/identity.ts";
import type { OnceDeps } from "../../../platform/idempotency.ts";
import { done } from "../../ui/flash-messages.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { doOnce } from "../submit-once.ts";
import type { RefusedSigner } from "./signers.ts";

type SignerCall = PageCall<{ code: string; n: string }>;
type Show = (call: SignerCall, problem: { error: string; refusedSigner: RefusedSigner }) => Promise<string>;

const numberOf = (text: string): number => (/^\d{1,2}$/.test(text) ? Number(text) : 0);

/** What a firm does about a signer of its order; each is refused on the order's page. */
export function signerForms(
  forms: FastifyInstance,
  deps: OnceDeps & { limits: RateLimits; envelopes: EnvelopeDeps },
  show: Show,
): void {
  const acts = [
    ["remind", remindSigner, "signer-reminded"],
    ["replace", replaceSigner, "signer-replaced"],
    ["unlock", unlockSigner, "signer-unlocked"],
  ] as const;
  for (const [name, change, message] of acts)
    pageRoute(forms, deps, {
      method: "POST",
      policy: "partner-write",
      url: `/dashboard/orders/:code/signers/:n/${name}` as "/dashboard/orders/:code/signers/:n/act",
      refused: (call: SignerCall, error) =>
        show(call, { error, refusedSigner: { n: numberOf(call.params.n), typed: call.form } }),
      handle: doOnce(deps, async ({ params: { code, n }, form, request }) => {
        const owner = principalOf(request);
        const wanted = { owner, orderCode: code, n: numberOf(n), actor: actorOf(owner) };
        await change(deps.envelopes, wanted, given(form));
        return done(`/dashboard/orders/${code}#signers-title`, message);
      }),
    });
}

/** What was typed: an empty field says nothing. */
const given = (form: FormValues) => Object.fromEntries(Object.entries(form).filter(([, text]) => text !== ""));
