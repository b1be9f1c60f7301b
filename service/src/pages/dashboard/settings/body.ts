import type { LiveRequest } from "../../../firms/live-requests/live-requests.ts";
import { servicePauses } from "../../../firms/members/members.ts";
import type { FirmBranding } from "../../../firms/partners/partners.ts";
import { mayUseLive, type Principal } from "../../../kernel/identity/identity.ts";
import type { EmbedOrigin } from "../../../signing/envelopes/envelopes.ts";
import { accentStripe, attribution, logoOf } from "../../ui/accent.ts";
import { card, facts, pageHead } from "../../ui/components.ts";
import { plainTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { errorSummary, field, select } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";
import { originsPart } from "./origins.ts";

export type SettingsView = {
  principal: Principal;
  branding: FirmBranding;
  origins: readonly EmbedOrigin[];
  /** How many minutes a live order pauses between two services; null when the firm has set no pause. */
  pause: number | null;
  /** The firm’s latest request for live access; null when it has made none. */
  liveRequest: LiveRequest | null;
  error?: string;
  /** Values of the rejected form. */
  typed?: FormValues;
};

const path = "/dashboard/settings";

/** The settings of the firm and its branding. */
export function settingsBody(view: SettingsView): Html {
  const { principal, error } = view;
  return html`${pageHead("Firm and settings")}
${errorSummary(error)}
<div class="panels">
${card(
  "firm",
  "Firm",
  facts([
    ["Name", principal.firmName],
    ["Tier", principal.tier],
    ["Live", liveState(principal)],
  ]),
)}
${!mayUseLive(principal) && card("live", "Live access", livePart(view))}
${card("pause", "Between two services", pauseForm(view))}
${card("branding", "Branding", brandingForm(view))}
${mayBrand(view) && card("logo", "Logo", logoForm(view))}
${card("origins", "Signing in your own site", originsPart({ origins: view.origins, mayChange: mayBrand(view), isTest: principal.environment === "test", typed: view.typed?.["origin"] }))}
${card("preview", "What your clients see", preview(view.branding, principal.firmName))}
</div>`;
}

function liveState(principal: Principal): string {
  if (!principal.liveEnabled) return "Not enabled";
  return mayUseLive(principal) ? "Enabled" : "Enabled for the firm, not for you";
}

/**
 * The part in which an owner requests live access. An operator of the service decides on the request, and no key is
 * sent to anyone.
 */
function livePart({ principal, liveRequest }: SettingsView): Html {
  if (principal.member?.role !== "owner")
    return html`<p>${principal.liveEnabled ? "An owner of the firm gives it to you, under Team." : "An owner of the firm asks for it."}</p>`;
  if (liveRequest?.state === "asked")
    return html`<p>Asked for by <span class="breakable">${liveRequest.askedBy ?? "a former owner"}</span>, ${plainTime(liveRequest.askedAt)}. The operator of this service decides on it; all owners are emailed then.</p>`;
  return html`${liveRequest?.state === "refused" && html`<p>It was not given${liveRequest.decidedAt && html`, ${plainTime(liveRequest.decidedAt)}`}. The reason: <q class="breakable">${liveRequest.note}</q></p>`}
<p>Live orders are paid with real money and carried out. The operator of this service decides whether ${principal.firmName} gets live. All owners then have it, and are emailed.</p>
${buttonForm(`${path}/live`, "Ask for live")}`;
}

const mayBrand = ({ principal }: SettingsView): boolean =>
  principal.member?.role === "owner" && (!principal.liveEnabled || mayUseLive(principal));

const pauseLabels: Readonly<Record<(typeof servicePauses)[number], string>> = {
  0: "At once",
  5: "After 5 minutes",
  30: "After 30 minutes",
  120: "After 2 hours",
  1440: "After a day",
};

/**
 * The form that sets a pause before each next service of a live order. During the pause somebody can check the
 * document, and put the order on hold.
 */
function pauseForm(view: SettingsView): Html {
  const value = servicePauses.find((each) => each === view.pause) ?? 0;
  const lead = html`<p>When a service of a live order has ended, the next one begins. A pause gives you time to look at the document first.</p>`;
  if (!mayBrand(view))
    return html`${lead}${facts([["The next service begins", pauseLabels[value]]])}<p class="quiet">Only owners of the firm${view.principal.liveEnabled && " with live access"} can change this.</p>`;
  const options = servicePauses.map((each) => ({ value: String(each), label: pauseLabels[each] }));
  return html`${lead}<form class="form" method="post" action="${path}/pause">
${select({ name: "minutes", label: "The next service begins", value: String(value), options })}
<div class="form-actions"><button type="submit" class="quiet-button">Save</button></div>
</form>`;
}

function logoForm({ branding }: SettingsView): Html {
  const logo = logoOf(branding);
  return html`${logo && html`<p><img class="logo-shown" src="${logo.url}" alt="Your logo" height="48" referrerpolicy="no-referrer"></p>`}<form class="form" method="post" action="${path}/logo" enctype="multipart/form-data">
<div class="form-field"><label for="logo-file">${logo ? "Another logo" : "Logo"}</label>
<p class="hint" id="logo-hint">A PNG or JPEG picture, best with a transparent ground. It is made to fit 600 by 300 pixels.</p>
<input type="file" id="logo-file" name="logo" accept="image/png,image/jpeg" required aria-describedby="logo-hint"></div>
<div class="form-actions"><button type="submit" class="quiet-button">Upload logo</button></div>
</form>`;
}

/** A preview of the saved branding. The script updates it while the member types. */
const preview = (branding: FirmBranding, firmName: string): Html =>
  html`<div class="brand-preview" aria-live="off">${accentStripe(branding.accentColor ?? previewColor)}
${attribution(firmName, branding)}
<p class="row-title">Deed of trust</p>
<p class="second-line">Placed by <span data-brand-name>${branding.brandName ?? firmName}</span>${branding.contactEmail !== null && html` · Questions: ${branding.contactEmail}`}</p></div>`;

const previewColor = "#e4dfd5";

function brandingForm(view: SettingsView): Html {
  const { principal, branding, typed } = view;
  const { brandName, accentColor, logoUrl, contactEmail } = branding;
  const lead = html`<p>Your brand appears on your clients’ pages, mails, and certificates, next to ours.</p>`;
  if (!mayBrand(view))
    return html`${lead}${facts([
      ["Brand name", brandName],
      ["Color", accentColor],
      ["Logo", logoUrl],
      ["Contact", contactEmail],
    ])}<p class="quiet">Only owners of the firm${principal.liveEnabled && " with live access"} can change this.</p>`;
  const value = (name: keyof FirmBranding) => typed?.[name] ?? branding[name] ?? "";
  return html`${lead}<form class="form" method="post" action="${path}/branding">
${field({ name: "brandName", label: "Brand name", value: value("brandName"), maxLength: 200, autocomplete: "organization" })}
${field({ name: "accentColor", label: "Color", value: value("accentColor"), maxLength: 7, hint: "For example #1a2b3c. It is used for decoration only, never behind text." })}
<p class="with-script color-picker"><label for="accent-picker">Pick a shade</label> <input type="color" id="accent-picker" value="${value("accentColor") || "#2a4f8c"}"></p>
${field({
  name: "logoUrl",
  label: "Address of the logo",
  type: "url",
  value: value("logoUrl"),
  maxLength: 2000,
  hint: "An uploaded logo has its address here. You can name another picture’s https address instead, or leave it empty for no logo.",
})}
${field({
  name: "contactEmail",
  label: "Contact email",
  type: "email",
  value: value("contactEmail"),
  maxLength: 254,
  hint: "Answers to our mails to your clients and signers go there, and signing pages show it. Your firm needs one before it asks for live. Without one, these answers go to the first owner who can see the order.",
})}
<div class="form-actions"><button type="submit">Save branding</button></div>
</form>`;
}
