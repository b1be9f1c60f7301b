import type { ProofRecord } from "../../../proof-passports/proof-passports.ts";
import type { RetentionPlan } from "../../../retention/retention.ts";
import { card, codeText, facts, notice, pageHead } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { downloads, timesOf } from "../../ui/proof-record.ts";
import { type Html, html } from "../../ui/render.ts";

/** One proof passport: the link to share, what is on record, and the files. */
export function passportBody(id: string, record: ProofRecord, baseUrl: string, retention: RetentionPlan): Html {
  const { verifyCode, environment, sealedAt, docSha256, sealedSha256 } = record;
  const path = `/verify/${verifyCode}`;
  return html`<p><a href="/dashboard/passports">All passports</a></p>
${pageHead(record.name ?? "Proof passport", html`Sealed on ${time(sealedAt)}.`)}
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
