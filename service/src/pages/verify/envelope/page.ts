import { titleOf } from "@signsealship/verifier/claim-titles";
import { deletedMessage } from "../../../kernel/retention/retention.ts";
import type { EnvelopeRecord } from "../../../signing/envelopes/envelopes.ts";
import { accentStripe, attribution } from "../../ui/accent.ts";
import type { Assets } from "../../ui/assets/assets.ts";
import { card, codeText, facts, notice } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { clientNav, layout } from "../../ui/layout.ts";
import { onPaper } from "../../ui/on-paper.ts";
import { logWords } from "../../ui/proof-record.ts";
import { type Html, html } from "../../ui/render.ts";
import { type DropWords, dropZone } from "../drop-zone.ts";
import { envelopeChecks, manualChecks } from "../manual-checks.ts";
import { retractionBanner } from "../retraction.ts";
import { type Summary, sealedAt } from "../summary.ts";
import { technicalDetails, technicalPart } from "../technical-details.ts";
import { claimList, resultCard, verdictBanner } from "../verdict.ts";

type Deps = { record: EnvelopeRecord; sealCertificates: string; baseUrl: string };

const endings: Readonly<Record<Exclude<EnvelopeRecord["status"], "Completed">, readonly [string, string]>> = {
  Open: [
    "Not everybody has signed yet",
    "When all signers have signed, the document is sealed, and this page says more.",
  ],
  Declined: ["The signing was stopped", "The document was not signed, and nothing was sealed."],
  Expired: ["The time to sign is over", "Not everybody signed in time, and nothing was sealed."],
  Voided: ["This signing was ended", "The document was not signed this way, and nothing was sealed here."],
};

function banner({ status, chainOk, environment, signers, retraction }: EnvelopeRecord): Html {
  if (retraction) return retractionBanner(retraction);
  if (!chainOk)
    return verdictBanner(
      "refuted",
      "This signing failed the check",
      "The stored records do not match. Do not rely on it.",
    );
  if (status !== "Completed") return verdictBanner("unknown", ...endings[status]);
  const people = signers.length === 1 ? "one person" : `${signers.length} people`;
  if (environment === "test")
    return verdictBanner(
      "unknown",
      "A test signing",
      "It matches its record, but was made with test keys. It means nothing outside of testing.",
    );
  return verdictBanner(
    "verified",
    "This document was signed and sealed here",
    `By ${people}. Check below that your copy is that document.`,
  );
}

function summaryOf(
  { status, chainOk, environment, branding, partnerName, endedAt, signers, document }: EnvelopeRecord,
  host: string,
): Summary {
  const done = status === "Completed";
  return {
    document: `A ${environment === "test" ? "test " : ""}document signed by ${signers.map(({ name }) => name).join(", ")}`,
    firm: branding?.brandName ?? partnerName,
    sealed: done && endedAt ? sealedAt(endedAt, "As this service states it.") : "Not yet sealed",
    sealedBy: done ? `SignSealShip at ${host}` : "Nobody",
    unchanged: chainOk
      ? {
          answer: document ? "yes" : "unchecked",
          why: document
            ? "Our records of it are. To check your own copy, choose it below."
            : "Nothing was sealed here.",
        }
      : { answer: "no", why: "The stored records do not match." },
    download: "Everybody who signed was mailed a link. Ask the firm for a copy.",
  };
}

const signersCard = ({ signers }: EnvelopeRecord) =>
  card(
    "signers",
    signers.length === 1 ? "1 signer" : `${signers.length} signers`,
    facts(
      signers.map(
        ({ n, name, email, signedAt }) =>
          [`${n}. ${name}`, html`${email}: ${signedAt ? html`signed ${time(signedAt)}` : "not signed"}`] as const,
      ),
    ),
  );

const states = { original: "as uploaded", prepared: "prepared for signing", sealed: "sealed" } as const;

const revisionsPart = ({ revisions }: EnvelopeRecord) =>
  revisions.length > 0 &&
  technicalPart(
    "Versions of the file",
    html`<p>Each is the beginning of the next. <code>head -c</code> that many bytes of the sealed document have this SHA-256.</p>
<ol class="versions" start="0">${revisions.map(
      ({ kind, signer, bytes, sha256 }) =>
        html`<li><p><strong>${bytes} bytes</strong>: ${kind === "signed" ? `signed by signer ${signer}` : states[kind]}</p>${codeText(sha256, "SHA-256 of this version")}</li>`,
    )}</ol>`,
  );

function documentFacts(record: EnvelopeRecord): Html {
  const { document, custodyCertSha256, notarizedSha256, certificateDeletedAt, trail, log } = record;
  return facts([
    ["SHA-256 of the sealed document", document && codeText(document.sealedSha256, "SHA-256 of the sealed document")],
    ["Transparency log", log && logWords(log)],
    ["SHA-256 as uploaded", document && codeText(document.originalSha256, "SHA-256 of the document as uploaded")],
    [
      "SHA-256 of the custody certificate",
      custodyCertSha256 && codeText(custodyCertSha256, "SHA-256 of the custody certificate"),
    ],
    [
      "SHA-256 of the notarized document",
      notarizedSha256 && codeText(notarizedSha256, "SHA-256 of the notarized document"),
    ],
    ["Custody certificate", certificateDeletedAt && deletedMessage("It", certificateDeletedAt)],
    ["Records of the trail", String(trail.records)],
    ["SHA-256 of the last record", trail.lastSha256 && codeText(trail.lastSha256, "SHA-256 of the last record")],
  ]);
}

const dropWords: DropWords = {
  file: "signed document",
  hint: "You can add its custody certificate.",
  accept: ".pdf,application/pdf",
};

/**
 * `/v/envelope/{verifyCode}`: how a document was signed, and ways to verify it. Anyone with the code in its URL may see
 * it.
 */
export function envelopePage(assets: Pick<Assets, "url">, { record, sealCertificates, baseUrl }: Deps): string {
  const { document, revisions, partnerName, branding, claims, verifyCode, custodyCertSha256, notarizedSha256 } = record;
  const docSha256 = revisions.at(-2)?.sha256;
  const proof = document && docSha256 ? { sealedSha256: document.sealedSha256, docSha256 } : null;
  return layout(assets, {
    title: "How a document was signed",
    credential: true,
    headerNav: clientNav,
    scripts: ["verify.js", "copy.js"],
    body: html`<div class="stack verify">
<div class="room-head">${accentStripe(branding?.accentColor)}${attribution(partnerName, branding)}</div>
${resultCard(banner(record), summaryOf(record, new URL(baseUrl).host))}
${signersCard(record)}
${document && dropZone({ sealCertificates, firm: branding?.brandName ?? partnerName, proof, closing: null, envelope: { verifyCode, custodyCertSha256, notarizedSha256 } }, dropWords)}
${notice(
  "info",
  "What this does not say",
  "Each signer was identified only by the steps that the custody certificate names. These steps include a check of an identity document only if they say so. These are not qualified signatures.",
)}
${technicalDetails(html`
${technicalPart("What was checked", claimList(claims, titleOf))}
${technicalPart("The document", documentFacts(record))}
${revisionsPart(record)}
${document && technicalPart("Check it yourself from the command line", manualChecks(envelopeChecks(baseUrl, verifyCode, revisions)))}`)}
${onPaper(`${baseUrl}/v/envelope/${verifyCode}`)}
</div>`,
  });
}
