import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import type { OnceDeps } from "../../../kernel/platform/idempotency.ts";
import { wholeNumberIn } from "../../../kernel/platform/text.ts";
import {
  type ClosingsWith,
  documentsElsewhere,
  type EnvelopeDeps,
  othersOfClosing,
  type ReplaceInRooms,
  readSigning,
  remindSigner,
  replaceSigner,
  type SignerRequest,
  unlockSigner,
} from "../../../signing/envelopes/envelopes.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type PageCall, pageRoute } from "../../ui/page/route.ts";
import { done, type FlashMessage } from "../flash-messages.ts";
import { doOnce } from "../submit-once.ts";
import type { RefusedSigner } from "./signers.ts";

type SignerCall = PageCall<{ code: string; n: string }>;
type Show = (call: SignerCall, problem: { error: string; refusedSigner: RefusedSigner }) => Promise<string>;
type Deps = OnceDeps & {
  limits: RateLimits;
  envelopes: EnvelopeDeps;
  replaceInRooms: ReplaceInRooms;
  closingsOf: ClosingsWith;
};
type Act = (deps: Deps, request: SignerRequest, typed: FormValues) => Promise<FlashMessage>;

const numberOf = (text: string): number => wholeNumberIn(text, 0, 99) ?? 0;

const acts: Readonly<Record<string, Act>> = {
  remind: async ({ envelopes }, request) => {
    await remindSigner(envelopes, request);
    return "signer-reminded";
  },
  replace,
  unlock: async ({ envelopes }, request) => {
    await unlockSigner(envelopes, request);
    return "signer-unlocked";
  },
};

/** Replaces the signer in this order or, if the box is ticked, also in the other documents of the closing. */
async function replace(deps: Deps, request: SignerRequest, typed: FormValues) {
  const { db, envelopes, closingsOf } = deps;
  const { owner, orderCode, n } = request;
  const { everywhere, ...person } = typed;
  const others = everywhere === "on" ? await othersOfClosing(db, closingsOf, orderCode, owner) : undefined;
  const { signers } = await readSigning(envelopes, orderCode, owner);
  const elsewhere = await documentsElsewhere(db, closingsOf, { orderCode, owner, signers });
  await replaceSigner(deps, { ...request, ...(others && { others }) }, person);
  if ((elsewhere.get(n) ?? 0) === 0) return "signer-replaced";
  return others ? "signer-replaced-everywhere" : "signer-replaced-here";
}

/** Adds the forms for the firm's actions on a signer. Errors appear on the order's page. */
export function signerForms(forms: FastifyInstance, deps: Deps, show: Show): void {
  for (const [name, act] of Object.entries(acts))
    pageRoute(forms, deps, {
      method: "POST",
      policy: "partner-write",
      url: `/dashboard/orders/:code/signers/:n/${name}` as "/dashboard/orders/:code/signers/:n/act",
      refused: (call: SignerCall, error) =>
        show(call, { error, refusedSigner: { n: numberOf(call.params.n), typed: call.form } }),
      handle: doOnce(deps, async ({ params: { code, n }, form, request }) => {
        const owner = principalOf(request);
        const wanted = { owner, orderCode: code, n: numberOf(n), actor: actorOf(owner) };
        return done(`/dashboard/orders/${code}#signers-title`, await act(deps, wanted, typedValues(form)));
      }),
    });
}

/** The typed values, without empty fields. */
const typedValues = (form: FormValues) => Object.fromEntries(Object.entries(form).filter(([, text]) => text !== ""));
