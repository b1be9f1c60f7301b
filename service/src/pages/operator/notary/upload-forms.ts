import type { Check, DeskReport } from "../../../signing/notaries/notaries.ts";
import { card, notice, pageHead } from "../../ui/components.ts";
import { shortCode } from "../../ui/format.ts";
import { hiddenFields } from "../../ui/forms/button-form.ts";
import { checkbox, errorSummary } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { checksTable, fileField, warnedOf } from "../frame/upload-report.ts";

const path = (code: string, rest: string) => `/operator/notary/orders/${code}${rest}`;

const label = "The notarized document";

/** Step 1 of 2: shows the verifier's report before anything is stored. */
export const uploadForm = (code: string): Html =>
  html`<form class="form" method="post" action="${path(code, "/check")}" enctype="multipart/form-data">
${fileField("upload", label, "A PDF of at most 35 MB. It is looked at first: nothing is stored by that.")}
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
  fee_cap: "Fee",
  document_class: "Kind of document",
};

/** The verifier's report on an upload and, when accepted, step 2. */
export function reportBody(code: string, report: DeskReport, problem?: string): Html {
  const { checks, stampedAt } = report;
  const failed = checks.some(({ state }) => state === "fails");
  return html`${pageHead(`What you uploaded for order ${shortCode(code)}`, "Nothing of it is stored yet.")}
${errorSummary(problem)}
<div class="panels">
${card(
  "checks",
  "What the verifier says",
  html`${checksTable(titles, report)}${stampedAt && html`<p>Time stamp: ${stampedAt}</p>`}`,
)}
${failed ? card("refused", "It can’t be taken", html`${notice("attention", "Refused", "Correct what fails, and upload the document again.")}<p><a href="${path(code, "#upload")}">Back to the order</a></p>`) : card("confirm", "Take it", confirmForm(code, report))}
</div>`;
}

function confirmForm(code: string, { checks, sha256, actSha256 }: DeskReport): Html {
  const warned = warnedOf(checks);
  return html`<form class="form" method="post" action="${path(code, "/complete")}" enctype="multipart/form-data">
${hiddenFields({ sha256, actSha256 })}
${fileField("upload", label, "Choose the same file again: what is stored is what you saw the report of.")}
${warned.length > 0 && checkbox({ name: "warnings", value: warned.join(","), label: `I looked at it, and it is right: ${warned.map((name) => titles[name].toLowerCase()).join(", ")}`, required: true })}
<p>The document is sealed then, the act is entered into your journal, and the order goes on.</p>
<div class="form-actions"><button type="submit">Enter the act and seal the document</button> <a href="${path(code, "#upload")}">Back to the order</a></div></form>`;
}
