import type { FastifyInstance } from "fastify";
import { clearCookie, cookieNames, signOut } from "../../../firms/members/members.ts";
import { principalOf } from "../../../kernel/http/authentication.ts";
import { actorOf, type Principal } from "../../../kernel/identity/identity.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { type EnvelopeDeps, endSittings, openSitting, type SignerState } from "../../../signing/envelopes/envelopes.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { type PageCall, type PageRoute, pageRoute } from "../../ui/page/route.ts";
import { sittingCookie, sittingPath } from "../../ui/page/sitting-cookie.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import type { DashboardFrame } from "../page-shell.ts";

/** Words for one order, and for the orders of a closing. */
const wordsOf = {
  order: { lead: "", of: "this order" },
  closing: {
    lead: "Each signs all documents of this closing that wait for them, one after another.",
    of: "this closing",
  },
} as const;

/**
 * The forms for signing one order on devices. Empty unless at least one signer was asked to sign and has not signed
 * yet.
 * @param part draws the forms: `signHere`, or `endDevices` if nobody can sign now
 */
export const sittingPart = (path: string, signers: readonly SignerState[], part: typeof signHere): Html | "" =>
  signers.some(({ issuedAt, signedAt }) => issuedAt !== null && signedAt === null)
    ? part(`${path}/sitting`, "order")
    : "";

/** The form that starts signing on this device. The signers whose turn it is then sign here, one after another. */
export function signHere(path: string, what: keyof typeof wordsOf): Html {
  const words = wordsOf[what];
  return html`<details><summary>Sign here, on this device</summary>
<p class="hint">You hand this device to the signers, one after another; each still passes the step that identifies them. ${words.lead} You are signed out on it first, so that nobody sees your dashboard. The record of the signing names you as the one who handed it over.</p>
${buttonForm(path, "Sign me out and hand the device over", { kind: "quiet-button" })}
${endForm(path, words.of)}</details>`;
}

const endForm = (path: string, of: string): Html =>
  html`<p class="hint">A device that signers have works for four hours. If one is lost, end signing on all devices of ${of}; mailed links stay.</p>
${buttonForm(`${path}/end`, "End signing on devices", { kind: "quiet-button" })}`;

/**
 * The form that ends signing on devices. It is shown even while nobody can sign, because a document on hold may be
 * signed again later.
 */
export const endDevices = (path: string, what: keyof typeof wordsOf): Html =>
  html`<details><summary>Devices that signers have</summary>${endForm(path, wordsOf[what].of)}</details>`;

type Form = Pick<PageRoute<string>, "method" | "policy"> & {
  refused: (call: PageCall<{ code: string }>, error: string) => Promise<string>;
};

type Sittings = Pick<DashboardFrame, "limits" | "baseUrl"> & {
  envelopes: Pick<EnvelopeDeps, "db" | "clock">;
  /** The path of the page that has the form, up to the code of the order or room. */
  path: "/dashboard/orders" | "/dashboard/rooms";
  /** The anchor of the form on that page. */
  anchor: string;
  /**
   * Returns the codes of the orders that a form of the page is about.
   *
   * @param isEnd false for the orders that can be signed on the device now; true for those for which signing on devices
   * can be ended, including orders on hold
   */
  ordersOf: (owner: Principal, code: string, isEnd: boolean) => Promise<readonly string[]>;
};

/**
 * Adds two forms. One signs the member out, and starts signing in person in the member's browser. The other ends
 * signing on devices.
 */
export function sittingForm(forms: FastifyInstance, deps: Sittings, form: Form): void {
  const { limits, baseUrl, envelopes, path, anchor, ordersOf } = deps;
  pageRoute(
    forms,
    { limits },
    {
      ...form,
      url: `${path}/:code/sitting`,
      async handle({ params: { code }, request }) {
        const owner = principalOf(request);
        const { member } = owner;
        if (!member) throw new ServiceError("conflict", "Only a person can hand a device over.");
        const host = { id: member.userId, address: member.email };
        const orderCodes = await ordersOf(owner, code, false);
        const asked = { owner, orderCodes, actor: actorOf(owner), host };
        const { token, expiresAt, left } = await openSitting(envelopes, asked);
        await signOut(envelopes, request.headers.cookie);
        const device = sittingCookie(token, expiresAt, baseUrl.startsWith("https:"));
        const cookies = [device, clearCookie(cookieNames.session), clearCookie(cookieNames.operator)];
        return { redirect: left > 0 ? `${sittingPath}?left=${left}` : sittingPath, headers: { "Set-Cookie": cookies } };
      },
    },
  );
  pageRoute(
    forms,
    { limits },
    {
      ...form,
      url: `${path}/:code/sitting/end`,
      async handle({ params: { code }, request }) {
        const owner = principalOf(request);
        await endSittings(envelopes, { owner, orderCodes: await ordersOf(owner, code, true), actor: actorOf(owner) });
        return done(`${path}/${code}#${anchor}`, "signing-devices-ended");
      },
    },
  );
}
