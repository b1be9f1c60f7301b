import type { Check, DeskReport } from "../../../signing/notaries/notaries.ts";
import { card, notice, pageHead } from "../../ui/components.ts";
import { shortCode } from "../../ui/format.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { checksTable, fileField, warnedOf } from "../frame/upload-report.ts";

const path = (code: string, rest: string) => `/operator/notary/orders/${code}${rest}`;

const label = "The notarized document";

/** Step 1 of 2: uploads a file and shows the verifier's report before anything is stored. */
export const uploadForm = (code: string): Html =>
  html`<form class="form" method="post" action="${path(code, "/check")}" enctype="multipart/form-data">
${fileField("upload", label, "A PDF of at most 35 MB. It is checked first, and not stored yet.")}
<div class="form-actions"><button type="submit">Check the document</button></div></form>`;

const titles: Readonly<Record<Check["name"], string>> = {
  our_revision: "Begins with our document",
  one_signature: "One new signature",
  whole_file: "Covers the whole file",
  signature_valid: "Signature valid",
  registered_certificate: "Registered certificate",
  certificate_in_date: "Certificate in date",
  permitted_changes: "Nothing else changed",
  visible_place: "Covers nothing",
  earlier_signatures: "Earlier signatures",
  required_sentence: "Required sentence",
  signed_in_act: "Signed in the act",
  credentials_in_date: "Credentials in date",
  document_class: "Kind of document",
};

type Shown = {
  /** How the notary submitted the document. */ on: "signed" | "uploaded";
  problem?: string;
  /** True if the order’s session is open. A session on hold must be resumed before this form is accepted. */
  isLive?: boolean;
};

/**
 * The verifier's report on an uploaded file, or on a document signed in the page. An acceptable report includes the
 * form of step 2.
 */
export function reportBody(code: string, report: DeskReport, { on, problem, isLive = false }: Shown): Html {
  const back = html`<a href="${path(code, isLive ? "/session" : "#upload")}">Back to the ${isLive ? "session" : "order"}</a>`;
  const { checks, stampedAt } = report;
  const failed = checks.some(({ state }) => state === "fails");
  return html`${pageHead(`What you ${on} for order ${shortCode(code)}`, "Nothing of it is sealed yet.")}
${errorSummary(problem)}
<div class="panels">
${card(
  "checks",
  "What the verifier says",
  html`${checksTable(titles, report)}${stampedAt && html`<p>Time stamp: ${stampedAt}</p>`}`,
)}
${failed ? card("refused", "It can’t be taken", html`${notice("attention", "Refused", "Correct what fails, and sign or upload the document again.")}<p>${back}</p>`) : card("confirm", "Take it", confirmForm(code, report, on, back))}
</div>`;
}

function confirmForm(code: string, { checks, sha256, actSha256 }: DeskReport, on: Shown["on"], back: Html): Html {
  const warned = warnedOf(checks);
  const fields = html`${hiddenFields({ sha256, actSha256 })}
${on === "uploaded" && fileField("upload", label, "Choose the same file again: only the file in this report can be stored.")}
${warned.length > 0 && checkbox({ name: "warnings", value: warned.join(","), label: `I looked at it, and it is right: ${warned.map((name) => titles[name].toLowerCase()).join(", ")}`, required: true })}
<p>The document is sealed then, the act is entered into your journal, and the order goes on.</p>
<div class="form-actions"><button type="submit">Enter the act and seal the document</button> ${back}</div>`;
  return on === "signed"
    ? html`<form class="form" method="post" action="${path(code, "/signed")}">${fields}</form>`
    : html`<form class="form" method="post" action="${path(code, "/complete")}" enctype="multipart/form-data">${fields}</form>`;
}

/**
 * The form for a key at the notary's trust service. After signing, the notary sees the same report as after signing
 * with a key file.
 */
const remotePart = html`<details class="ask"><summary>Sign by your trust service</summary>
<p>Your key stays at the trust service. The access token, and the PIN or code that it asks for, go through this service to the trust service, and are kept nowhere.</p>
<div class="form-field"><label for="remote-token">Access token</label>
<p class="hint" id="remote-token-hint">Your trust service gives it, for this act alone.</p>
<input type="password" id="remote-token" autocomplete="off" aria-describedby="remote-token-hint"></div>
<div class="form-actions"><button type="button" id="remote-find" class="secondary">Find my keys</button></div>
<div id="remote-keys" hidden><div class="form-field"><label for="remote-key">Key</label><select id="remote-key"></select></div>
<div class="form-actions"><button type="button" id="remote-open" class="secondary">Open the key</button></div></div></details>`;

/**
 * The part of the page that opens a certificate file and signs. Its inputs have no names and are outside of all forms,
 * so the browser never sends them.
 */
export const signPart = (code: string, hasRemote: boolean): Html =>
  html`<div id="notary-sign" class="form" data-order="${path(code, "")}">
<p>Your certificate file is opened by this page alone: neither the file nor its password is sent. The signature is over the document as it is now, with a block that has your commission and the act.</p>
<div class="form-field"><label for="p12-file">Certificate file</label>
<p class="hint" id="p12-file-hint">A file ending in .p12 or .pfx. For a token or smart card, sign in your own software and upload the document.</p>
<input type="file" id="p12-file" accept=".p12,.pfx,application/x-pkcs12" aria-describedby="p12-file-hint"></div>
<div class="form-field"><label for="p12-password">Password of the file</label>
<input type="password" id="p12-password" autocomplete="off"></div>
<div class="form-actions"><button type="button" id="p12-open" class="secondary">Open the certificate</button></div>
${hasRemote && remotePart}
<p id="notary-sign-said" role="status"></p>
<div id="notary-sign-ready" hidden><ul class="plain-list" id="notary-sign-facts"></ul><div id="remote-asks"></div>
<div class="form-actions"><button type="button" id="notary-sign-button">Sign the document</button></div></div>
<noscript><p>This needs JavaScript. Without it, sign in your own software and upload the document.</p></noscript></div>`;
