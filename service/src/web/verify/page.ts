import type { ProofRecord } from "../../proof-passports/proof-passports.ts";
import type { RetentionPlan } from "../../retention/retention.ts";
import type { Assets } from "../ui/assets.ts";
import { card, codeText, facts, notice } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { layout } from "../ui/layout.ts";
import { downloads, timesOf } from "../ui/proof-record.ts";
import { type Html, html } from "../ui/render.ts";
import type { VerifyConfig } from "./browser/config.ts";
import { dropZone, proofDropWords } from "./drop-zone.ts";
import { manualChecks, proofChecks, recordChecks } from "./manual-checks.ts";
import { verdictBanner } from "./verdict.ts";

const explanation = {
  proven:
    "Hashes and signatures are recomputed from the file, right here in your browser. If a single byte had changed, they would not match.",
  attested:
    "What the sealing service or others state, such as a time without an independent time stamp. It is shown as their statement, not as proof.",
  notCovered: "Whether the document is true, who agreed to it, and what it means legally. No seal can show that.",
};

const meaning = html`<dl class="facts meaning-list">
<div><dt>Proven</dt><dd>${explanation.proven}</dd></div>
<div><dt>Attested</dt><dd>${explanation.attested}</dd></div>
<div><dt>Not covered</dt><dd>${explanation.notCovered}</dd></div>
</dl>`;

/** What a page of verification consists of, with or without a record, here or in a file of its own. */
export const verifyBody = (config: VerifyConfig): Html =>
  html`<div class="stack verify">
<div><h1>Verify a document</h1>
<p class="lead">Was this PDF sealed, and has it changed since? The answer comes from the file itself, step by step.</p></div>
${dropZone(config, proofDropWords)}
${card("meaning", "How to read the result", meaning)}
${card("manual-checks", "Check it yourself from the command line", manualChecks(proofChecks("sealed.pdf")))}
</div>`;

/** `/verify`. @param sealCertificates trust list of the service's own seals */
export const verifyPage = (assets: Pick<Assets, "url">, sealCertificates: string): string =>
  layout(assets, {
    title: "Verify a document",
    scripts: ["verify.js", "copy.js"],
    body: verifyBody({ sealCertificates, proof: null, closing: null }),
  });

function recordBanner({ environment, sealedAt }: ProofRecord): Html {
  return environment === "live"
    ? verdictBanner(
        "verified",
        "This document was sealed here",
        html`On ${time(sealedAt)}. Its exact hashes are below.`,
      )
    : verdictBanner(
        "unknown",
        "A test seal",
        html`It was made with a test key on ${time(sealedAt)} to try out the service. It means nothing outside of testing.`,
      );
}

/** The record is not the seal's word: it stands, but the file by itself may not verify any more. */
const retirementNotice = ({ sealRetirement }: ProofRecord) =>
  sealRetirement
    ? notice(
        "attention",
        "The certificate of this seal was retired",
        html`On ${time(sealRetirement.at)}, for this reason: ${sealRetirement.reason}. This record still stands. Whether the file itself verifies depends on its time stamp: check it below.`,
      )
    : "";

type RecordPage = { record: ProofRecord; sealCertificates: string; baseUrl: string; retention: RetentionPlan };

/** `/verify/{code}`: the record, and a file compared with it. */
export const proofRecordPage = (
  assets: Pick<Assets, "url">,
  { record, sealCertificates, baseUrl, retention }: RecordPage,
): string =>
  layout(assets, {
    title: "Verify a sealed document",
    credential: true,
    scripts: ["verify.js", "copy.js"],
    body: html`<div class="stack verify">
${recordBanner(record)}
${retirementNotice(record)}
${card(
  "record",
  "The record",
  html`${facts([
    ["SHA-256 of the sealed PDF", codeText(record.sealedSha256, "SHA-256 of the sealed PDF")],
    ["SHA-256 of the document before sealing", codeText(record.docSha256, "SHA-256 of the document")],
  ])}${timesOf(record)}
<p class="quiet">This record is only our statement. The file itself is the proof: check it here.</p>`,
)}
${dropZone({ sealCertificates, proof: { sealedSha256: record.sealedSha256, docSha256: record.docSha256 }, closing: null }, proofDropWords)}
${card("downloads", "Downloads", downloads(record, retention))}
${card("meaning", "How to read the result", meaning)}
${card("manual-checks", "Check it yourself from the command line", manualChecks(recordChecks(baseUrl, record.verifyCode)))}
</div>`,
  });

/** Malformed codes and codes that nobody was given look the same. */
export const unknownRecordPage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    title: "Unknown code",
    credential: true,
    body: html`<div class="stack">
${verdictBanner("unknown", "We don’t know this code", "Make sure that you copied the whole link, including the long code at the end.")}
${notice("info", "Do you have the document?", html`Then you don’t need a code: <a href="/verify">check the file itself</a>.`)}
</div>`,
  });
