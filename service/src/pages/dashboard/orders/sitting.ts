import type { FastifyInstance } from "fastify";
import { clearCookie, cookieNames, signOut } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { actorOf } from "../../../kernel/identity/identity.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { type EnvelopeDeps, endSittings, openSitting, type SignerState } from "../../../signing/envelopes/envelopes.ts";
import { done } from "../../ui/flash-messages.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { sittingCookie, sittingPath } from "../../ui/page/sitting-cookie.ts";
import { type Html, html } from "../../ui/render.ts";
import type { DashboardFrame } from "../page-shell.ts";

/** The form that opens signing on this device. The signers whose turn it is then sign here, one after another. */
export function sittingPart(path: string, signers: readonly SignerState[]): Html {
  if (!signers.some(({ issuedAt, signedAt }) => issuedAt !== null && signedAt === null)) return html``;
  return html`<details><summary>Sign here, on this device</summary>
<p class="hint">You hand this device to the signers, one after another; each still passes the step that identifies them. You are signed out on it first, so that nobody sees your dashboard. The record of the signing names you as the one who handed it over.</p>
${buttonForm(path, "Sign me out and hand the device over", { kind: "quiet-button" })}
<p class="hint">A device that signers have works for four hours. If one is lost, end signing on all devices of this order; mailed links stay.</p>
${buttonForm(`${path}/end`, "End signing on devices", { kind: "quiet-button" })}</details>`;
}

type Form = Pick<PageRoute<string>, "method" | "policy"> & {
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

/** Adds the form that starts signing in person in the same browser. */
export function sittingForm(
  forms: FastifyInstance,
  { limits, baseUrl, envelopes }: Pick<DashboardFrame, "limits" | "baseUrl"> & { envelopes: EnvelopeDeps },
  form: Form,
): void {
  pageRoute(
    forms,
    { limits },
    {
      ...form,
      url: "/dashboard/orders/:code/sitting",
      async handle({ params: { code }, request }) {
        const owner = principalOf(request);
        const { member } = owner;
        if (!member) throw new ServiceError("conflict", "Only a person can hand a device over.");
        const host = { id: member.userId, address: member.email };
        const { token, expiresAt } = await openSitting(envelopes, {
          owner,
          orderCode: code,
          actor: actorOf(owner),
          host,
        });
        await signOut(envelopes, request.headers.cookie);
        const device = sittingCookie(token, expiresAt, baseUrl.startsWith("https:"));
        const cookies = [device, clearCookie(cookieNames.session), clearCookie(cookieNames.operator)];
        return { redirect: sittingPath, headers: { "Set-Cookie": cookies } };
      },
    },
  );
  pageRoute(
    forms,
    { limits },
    {
      ...form,
      url: "/dashboard/orders/:code/sitting/end",
      async handle({ params: { code: orderCode }, request }) {
        const owner = principalOf(request);
        await endSittings(envelopes, { owner, orderCode, actor: actorOf(owner) });
        return done(`/dashboard/orders/${orderCode}#signers-title`, "signing-devices-ended");
      },
    },
  );
}
