import type { ListedPassport, ProofRecord } from "../../../evidence/proof-passports/proof-passports.ts";
import { maxUploadBytes } from "../../../kernel/http/uploads/multipart.ts";
import type { RetentionPlan } from "../../../kernel/retention/retention.ts";
import { card, codeText, emptyState, facts, notice, pageHead, statusBadge } from "../../ui/components.ts";
import { plainTime, shortTime } from "../../ui/format.ts";
import { errorSummary } from "../../ui/forms/fields.ts";
import { icon } from "../../ui/icons.ts";
import { downloads, timesOf } from "../../ui/proof-record.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";
import { type FormSubmission, submissionFields } from "../submit-once.ts";

export type PassportsView = FormSubmission & {
  passports: readonly ListedPassport[];
  nextCursor: string | null;
  isFirstPage: boolean;
  /** True if sealed PDFs are stored. */
  keepSealed: boolean;
  /** A sentence on when stored PDFs are deleted; null when they never are. */
  retention: string | null;
  error?: string | undefined;
};

const path = "/dashboard/passports";

/** The error message for a form that does not contain exactly one PDF of an allowed size. */
export const chooseOnePdf = "Choose one PDF of up to 35 MB.";

/** The form that seals a PDF, and the list of passports. */
export function passportsBody(view: PassportsView): Html {
  const lead =
    "PDFs that were sealed here, each with its record. A seal shows that the document has not changed since, and anyone can check it without an account.";
  return html`${pageHead("Sealed PDFs", lead)}
${errorSummary(view.error)}
<div class="panels">
${card("seal", "Seal a PDF", sealZone(view))}
${card("sealed", "Sealed documents", list(view))}
</div>`;
}

const sealZone = (view: PassportsView): Html =>
  html`<div class="seal-part"><form id="seal-form" class="drop" method="post" enctype="multipart/form-data" action="${path}" data-max-bytes="${String(maxUploadBytes)}" data-too-large="${chooseOnePdf}">
${submissionFields(view)}
${icon("evidence")}
<label for="seal-file"><span class="with-script">Drop a PDF here, or choose a file</span><span class="without-script">Choose a PDF</span></label>
<input type="file" id="seal-file" name="file" accept=".pdf,application/pdf" required aria-describedby="seal-hint">
<p id="seal-hint">The finished document, up to 35 MB. ${
    view.keepSealed
      ? html`We keep the sealed PDF, encrypted, for anyone who has its verification link.${view.retention && ` ${view.retention}`}`
      : "We keep only hashes of the document."
  }</p>
<div class="form-actions"><button type="submit">Seal document</button></div>
</form>
<p id="seal-said" role="status" class="visually-hidden"></p>
<ol id="seal-files" class="seal-files" aria-label="Files being sealed"></ol></div>`;

function list({ passports, nextCursor, isFirstPage }: PassportsView): Html {
  if (passports.length === 0 && nextCursor === null)
    return isFirstPage
      ? emptyState("Nothing sealed yet", "Seal a PDF above, and it appears here.")
      : html`<p>There are no more sealed PDFs. <a href="${path}">Back to the newest</a></p>`;
  return html`${table(passports)}
${
  (nextCursor !== null || !isFirstPage) &&
  html`<nav class="pager" aria-label="More sealed PDFs">${!isFirstPage && html`<a href="${path}">Newest sealed PDFs</a>`}${
    nextCursor !== null && html`<a href="${path}?cursor=${nextCursor}" rel="next">Older sealed PDFs</a>`
  }</nav>`
}`;
}

const table = (passports: readonly ListedPassport[]): Html =>
  records(
    "Your sealed PDFs, newest first",
    [
      { label: "Document" },
      { label: "Verify code" },
      { label: "Sealed", utc: true },
      { label: "Time stamp" },
      { label: "Bitcoin anchor" },
      { label: "Links" },
    ],
    passports.map((passport) => {
      const { passportId, name, verifyCode, docSha256, sealedAt, timeStampedAt, anchorStatus } = passport;
      return [
        html`<a href="${path}/${passportId}">${name ?? "A document without a name"}</a><br><span class="quiet">SHA-256 <code>${docSha256.slice(0, 12)}…</code></span>`,
        html`<a href="/verify/${verifyCode}">${verifyCode}</a>`,
        shortTime(sealedAt),
        timeStampedAt ? "Yes" : "No",
        anchorBadge(anchorStatus),
        links(passport),
      ];
    }),
  );

function anchorBadge(status: ListedPassport["anchorStatus"]): Html | string {
  if (status === null) return "None";
  return status === "confirmed" ? statusBadge("done", "Confirmed") : statusBadge("waiting", "Pending");
}

function links({ verifyCode, documentKept }: ListedPassport): Html {
  const start = verifyCode.slice(0, 6);
  const of = html`<span class="visually-hidden"> of ${start}…</span>`;
  const api = `/api/passport/verify/${verifyCode}`;
  return html`<span class="row-actions">${
    documentKept && html`<a href="${api}/document" download="sealed-${start}.pdf">Sealed PDF${of}</a>`
  }<a href="${api}/evidence" download="evidence-${start}.zip">Evidence${of}</a></span>`;
}

/** One proof passport: the link to share, its record, and its files. */
export function passportBody(id: string, record: ProofRecord, baseUrl: string, retention: RetentionPlan): Html {
  const { verifyCode, environment, sealedAt, docSha256, sealedSha256 } = record;
  const path = `/verify/${verifyCode}`;
  return html`<p><a href="/dashboard/passports">All sealed PDFs</a></p>
${pageHead(record.name ?? "Sealed PDF", html`Sealed on ${plainTime(sealedAt)}.`)}
<div class="panels">
${environment === "test" && notice("attention", "A test seal", "It was made in the test environment, to try out the service. It means nothing outside of testing.")}
${card(
  "share",
  "Share the verification link",
  html`<p>Anyone with this link can see this record, check the document against it, and download the evidence. No account is needed.</p>
${codeText(`${baseUrl}${path}`, "verification link")}
<p class="quiet"><a href="${path}">Open the verification page</a></p>`,
)}
${card(
  "record",
  "The record",
  html`${facts([
    ["Verify code", codeText(verifyCode, "verify code")],
    ["SHA-256 of the sealed PDF", codeText(sealedSha256, "SHA-256 of the sealed PDF")],
    ["SHA-256 of the document before sealing", codeText(docSha256, "SHA-256 of the document")],
  ])}
<div class="after-notice">${timesOf(record)}</div>`,
)}
${card("downloads", "Downloads", downloads(record, retention, `/api/passport/${id}/certificate`))}
</div>`;
}
