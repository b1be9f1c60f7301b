import type { FastifyInstance } from "fastify";
import { principalOf } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import type { PublicOrderRow } from "../../../orders/order/order.ts";
import { answerInPerson, type InPersonRequest } from "../../../signing/notaries/notaries.ts";
import { statusBadge } from "../../ui/components.ts";
import { money, plainTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { whoIs } from "./activity.ts";

export type InPersonView = {
  order: Pick<PublicOrderRow, "code" | "status">;
  /** The notary's request to notarize on paper, in the signer's presence; null when there is none. */
  inPerson: InPersonRequest | null;
  /** The amount, in cents, whose refund is requested if the firm agrees. */
  technologyFeeCents: number;
  names: ReadonlyMap<string, string>;
};

/** Shows a notary's request to notarize on paper, and the firm's answer. */
export function inPersonPart({ order, inPerson, technologyFeeCents, names }: InPersonView): Html {
  if (inPerson === null) return html``;
  const { state, reason, requestedAt, decidedBy, decidedAt } = inPerson;
  const asked = html`<p>You bought online notarization. A notary asks whether the act may be done in person, in ink (${plainTime(requestedAt)}):</p>
<blockquote class="breakable">${reason}</blockquote>`;
  if (state !== "requested") {
    const badge = state === "agreed" ? statusBadge("done", "You agreed") : statusBadge("stopped", "You declined");
    return html`${asked}<p>${badge} ${whoIs(decidedBy ?? "", names)}${decidedAt && html`, ${plainTime(decidedAt)}`}</p>`;
  }
  if (order.status !== "NotarizationPending")
    return html`${asked}<p>The order no longer waits for a notary, so there is nothing to answer.</p>`;
  const path = (answer: string) => `/dashboard/orders/${order.code}/in-person/${answer}`;
  return html`${asked}
<p>Without your agreement, the act is not recorded as one in ink. If you agree, a refund of the technology fee${technologyFeeCents > 0 && html` (${money(technologyFeeCents)})`} is asked for, and the order goes on.</p>
<div class="button-row">${buttonForm(path("agree"), "Agree to an act in ink")}${buttonForm(path("decline"), "Decline", { kind: "quiet-button" })}</div>`;
}

type Form = Pick<PageRoute<string>, "method" | "policy"> & {
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

/** Adds the forms with which the firm answers a notary's request. */
export function inPersonForms(
  forms: FastifyInstance,
  deps: { db: Database; clock: Clock; limits: RateLimits },
  form: Form,
): void {
  for (const answer of ["agree", "decline"] as const)
    pageRoute(forms, deps, {
      ...form,
      url: `/dashboard/orders/:code/in-person/${answer}` as "/dashboard/orders/:code/in-person/answer",
      async handle({ params: { code }, request }) {
        const owner = principalOf(request);
        const decision = { owner, orderCode: code, actor: actorOf(owner), agrees: answer === "agree" };
        const { state, refundCents } = await answerInPerson(deps, decision);
        const flash =
          state === "declined"
            ? "in-person-declined"
            : refundCents === null
              ? "in-person-agreed"
              : "in-person-agreed-refund";
        return done(`/dashboard/orders/${code}#in-person`, flash);
      },
    });
}
