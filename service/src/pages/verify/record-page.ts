import type { ProofRecord } from "../../evidence/proof-passports/proof-passports.ts";
import type { RetentionPlan } from "../../kernel/retention/retention.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { codeText, facts, notice } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { clientNav, layout } from "../ui/layout.ts";
import { onPaper } from "../ui/on-paper.ts";
import { timesOf } from "../ui/proof-record.ts";
import { type Html, html } from "../ui/render.ts";
import { proofRetention } from "../ui/retention.ts";
import { dropZone, proofDropWords } from "./drop-zone.ts";
import { manualChecks, recordChecks } from "./manual-checks.ts";
import { resultWords } from "./result-words.ts";
import { retractionBanner } from "./retraction.ts";
import { sealedAt } from "./summary.ts";
import { technicalDetails, technicalPart } from "./technical-details.ts";
import { resultCard, verdictBanner } from "./verdict.ts";

const recordBanner = (record: ProofRecord): Html =>
  record.retraction ? retractionBanner(record.retraction) : sealedBanner(record);

const sealedBanner = ({ environment }: ProofRecord): Html =>
  environment === "live"
    ? verdictBanner("verified", "This document was sealed here", "Check below that your copy is that document.")
    : verdictBanner(
        "unknown",
        "A test seal",
        "It was made to try out the service, and means nothing outside of testing.",
      );

/**
 * The notice that the certificate of the seal was retired. The record does not depend on the seal and stays valid, but
 * the file alone may no longer verify.
 */
const retirementNotice = ({ sealRetirement }: ProofRecord) =>
  sealRetirement
    ? notice(
        "attention",
        "The certificate of this seal was retired",
        html`On ${time(sealRetirement.at)}, for this reason: ${sealRetirement.reason}. This record still stands. Whether the file itself passes depends on its time stamp: check it below.`,
      )
    : "";

/** Says in one line who attests the time of the seal: an independent authority, or only this service. */
function timeWord({ timeStamp }: ProofRecord): string {
  const authority = timeStamp && (URL.parse(timeStamp.authority)?.hostname ?? timeStamp.authority);
  return authority
    ? `Time stamped by an independent authority, ${authority}. The check of your copy includes its stamp.`
    : "As this service states it. There is no independent time stamp.";
}

function downloadLinks(record: ProofRecord, plan: RetentionPlan): Html {
  const { verifyCode, documentKept, deletedAt } = record;
  const api = `/api/passport/verify/${verifyCode}`;
  const name = verifyCode.slice(0, 6);
  return html`<ul class="download-links">
<li>${
    documentKept
      ? html`<a href="${api}/document" download="sealed-${name}.pdf">Sealed PDF</a>`
      : html`<span>${(deletedAt && proofRetention(plan, record)) ?? "The sealed PDF is not kept here."} Ask the firm that had it sealed.</span>`
  }</li>
<li><a href="${api}/evidence" download="evidence-${name}.zip">Evidence (zip)</a></li>
<li><a href="${api}/certificate" download="certificate-${name}.pdf">Certificate (PDF)</a></li>
</ul>`;
}

type RecordPage = { record: ProofRecord; sealCertificates: string; baseUrl: string; retention: RetentionPlan };

/**
 * `/verify/{code}`: the record, and the comparison of a file with it. The page never names the firm that owns the
 * passport.
 */
export const proofRecordPage = (
  assets: Pick<Assets, "url">,
  { record, sealCertificates, baseUrl, retention }: RecordPage,
): string =>
  layout(assets, {
    title: "Verify a sealed document",
    credential: true,
    headerNav: clientNav,
    scripts: ["verify.js", "copy.js"],
    body: html`<div class="stack verify">
${resultCard(recordBanner(record), {
  document: "A sealed PDF document",
  firm: null,
  sealed: sealedAt(record.sealedAt, timeWord(record)),
  sealedBy: `SignSealShip at ${new URL(baseUrl).host}`,
  unchanged: { answer: "yes", why: "Our record of it is. To check your own copy, choose it below." },
  download: downloadLinks(record, retention),
})}
${retirementNotice(record)}
${dropZone({ sealCertificates, firm: null, proof: { sealedSha256: record.sealedSha256, docSha256: record.docSha256 }, closing: null }, proofDropWords)}
${technicalDetails(html`
${technicalPart(
  "The record",
  html`${facts([
    ["SHA-256 of the sealed PDF", codeText(record.sealedSha256, "SHA-256 of the sealed PDF")],
    ["SHA-256 of the document before sealing", codeText(record.docSha256, "SHA-256 of the document")],
  ])}${timesOf(record)}${facts([["How long it is kept", record.deletedAt ? null : proofRetention(retention, record)]])}`,
)}
${technicalPart("What the words mean", resultWords)}
${technicalPart("Check it yourself from the command line", manualChecks(recordChecks(baseUrl, record.verifyCode)))}`)}
${onPaper(`${baseUrl}/verify/${record.verifyCode}`)}
</div>`,
  });
