import type { ProofRecord } from "../../proof-passports/proof-passports.ts";
import type { Assets } from "../ui/assets.ts";
import { card, codeText, facts, notice } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { layout } from "../ui/layout.ts";
import { downloads, timesOf } from "../ui/proof-record.ts";
import { type Html, html } from "../ui/render.ts";
import type { VerifyConfig } from "./browser/config.ts";
import { dropZone, proofDropWords } from "./drop-zone.ts";
import { byHand, proofChecks, recordChecks } from "./manual-checks.ts";
import { verdictBanner } from "./verdict.ts";

const explanation = {
  proven:
    "Hashes and signatures are computed again from the file, here, in front of you. If one byte had changed, they would not fit.",
  attested: "What the sealer or others state, such as a time without an independent stamp. It is shown as their word.",
  notCovered: "Whether the document says the truth, who agreed to it, and what it means in law. No seal can say that.",
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
<p class="lead">Was this PDF sealed, and is it still what it was? The answer comes from the file itself, claim by claim.</p></div>
${dropZone(config, proofDropWords)}
${card("meaning", "What the words mean", meaning)}
${card("by-hand", "The same by hand", byHand(proofChecks("sealed.pdf")))}
</div>`;

/** `/verify`. @param sealCertificates PEM of the service's own seal certificates */
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
        html`On ${time(sealedAt)}. What it should be, to the byte, is below.`,
      )
    : verdictBanner(
        "unknown",
        "A test seal",
        html`It was made with a test key on ${time(sealedAt)}, to try the service out. It stands for nothing outside of a test.`,
      );
}

/** `/verify/{code}`: the record, and a file compared with it. */
export const proofRecordPage = (
  assets: Pick<Assets, "url">,
  { record, sealCertificates, baseUrl }: { record: ProofRecord; sealCertificates: string; baseUrl: string },
): string =>
  layout(assets, {
    title: "Verify a sealed document",
    credential: true,
    scripts: ["verify.js", "copy.js"],
    body: html`<div class="stack verify">
${recordBanner(record)}
${card(
  "record",
  "The record",
  html`${facts([
    ["SHA-256 of the sealed PDF", codeText(record.sealedSha256, "SHA-256 of the sealed PDF")],
    ["SHA-256 of the document before sealing", codeText(record.docSha256, "SHA-256 of the document")],
  ])}${timesOf(record)}
<p class="quiet">The record is this service’s word. The file proves itself: check it here.</p>`,
)}
${dropZone({ sealCertificates, proof: { sealedSha256: record.sealedSha256, docSha256: record.docSha256 }, closing: null }, proofDropWords)}
${card("downloads", "Downloads", downloads(record))}
${card("meaning", "What the words mean", meaning)}
${card("by-hand", "The same by hand", byHand(recordChecks(baseUrl, record.verifyCode)))}
</div>`,
  });

/** Malformed codes and codes that nobody was given look the same. */
export const unknownRecordPage = (assets: Pick<Assets, "url">): string =>
  layout(assets, {
    title: "Unknown code",
    credential: true,
    body: html`<div class="stack">
${verdictBanner("unknown", "Nothing is known under this code", "Check that the link was copied whole: the code at its end is needed to the last character.")}
${notice("info", "You have the document?", html`Then no code is needed: <a href="/verify">check the file itself</a>.`)}
</div>`,
  });
