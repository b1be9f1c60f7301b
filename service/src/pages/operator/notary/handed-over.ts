import type { FastifyInstance, FastifyRequest } from "fastify";
import { dueSessionOf, type PasskeyDeps } from "../../../firms/members/members.ts";
import { refuseCrossSite } from "../../../kernel/http/authentication.ts";
import type { RateLimits } from "../../../kernel/http/rate-limits.ts";
import { heldBy, reclaimDeviceByPin, type SheetDeps } from "../../../signing/notaries/notaries.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { errorSummary, field } from "../../ui/forms/fields.ts";
import { acceptForms } from "../../ui/forms/form-body.ts";
import { layout } from "../../ui/layout.ts";
import { pageRoute } from "../../ui/page/route.ts";
import { html } from "../../ui/render.ts";
import { orderPath } from "./order-path.ts";

export type HandedOverDeps = {
  members: PasskeyDeps;
  notarySheets: SheetDeps;
  limits: RateLimits;
  assets: Assets;
  ownOrigin: string;
};

const path = "/handed-over";

/**
 * Adds `/handed-over`, the page for a device that a signer has used. There, the notary unlocks the device with the PIN
 * or the passkey. The route is outside the console, because the notary's session is suspended until then.
 */
export function handedOverPages(app: FastifyInstance, deps: HandedOverDeps): void {
  const { members, notarySheets, assets, ownOrigin } = deps;

  async function holdingOf({ headers }: FastifyRequest) {
    const due = await dueSessionOf(members, headers.cookie);
    const holding = due && { sessionId: due.id, userId: due.userId };
    const held = holding && (await heldBy(notarySheets, holding));
    return held ? { holding, held } : null;
  }

  async function show(request: FastifyRequest, problem?: string): Promise<string | null> {
    const found = await holdingOf(request);
    return found && handedPage(assets, found.held, problem);
  }

  const away = { redirect: "/sign-in?return_to=%2Foperator%2Fnotary" };

  app.register(async (scope) => {
    acceptForms(scope);
    pageRoute(scope, deps, { url: path, policy: "page", handle: async ({ request }) => (await show(request)) ?? away });
    pageRoute(scope, deps, {
      method: "POST",
      url: path,
      policy: "page",
      onRequest: async (request) => refuseCrossSite(request, ownOrigin),
      async handle({ form: { pin = "" }, request }) {
        const found = await holdingOf(request);
        if (!found) return away;
        return { redirect: orderPath(await reclaimDeviceByPin(notarySheets, found.holding, pin), "/sheet") };
      },
      refused: async ({ request }, problem) => (await show(request, problem)) ?? returnedPage(assets, problem),
    });
  });
}

/**
 * The page for a rejected PIN if the device has been unlocked in another tab in the meantime. It links to the notary's
 * desk.
 */
const returnedPage = (assets: Pick<Assets, "url">, problem: string): string =>
  layout(assets, {
    unlisted: true,
    title: "Hand the device to the notary",
    headerNav: html``,
    body: html`<div class="narrow"><h1>Hand the device to the notary</h1>${errorSummary(problem)}
<p><a href="/operator/notary">Open the desk</a></p></div>`,
  });

function handedPage(
  assets: Pick<Assets, "url">,
  { hasPin, isLocked }: { hasPin: boolean; isLocked: boolean },
  problem: string | undefined,
): string {
  const pin = html`<form class="form" method="post" action="${path}">
${field({ name: "pin", label: "PIN", required: true, type: "password", inputMode: "numeric", maxLength: 12, autocomplete: "off" })}
<div class="form-actions"><button type="submit">Take the device back</button></div></form>`;
  return layout(assets, {
    unlisted: true,
    title: "Hand the device to the notary",
    headerNav: html``,
    body: html`<div class="narrow"><h1>Hand the device to the notary</h1>
<p class="lead">The notary opens the desk again. Nothing of it is on this device until then.</p>
${errorSummary(problem)}
${isLocked ? html`<p><strong>Too many wrong PINs were entered.</strong> The notary shows a passkey, or signs in again.</p>` : hasPin && pin}
<p><a href="/sign-in/passkey?return_to=%2Foperator%2Fnotary">Use a passkey</a></p>
<p><a href="/sign-in?return_to=%2Foperator%2Fnotary">Sign in again</a></p></div>`,
  });
}
