import type { Claim } from "@signsealship/evidence/claim";
import { titleOf } from "@signsealship/verifier/claim-titles";
import { codeText, facts } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";
import { statementView } from "../statement.ts";
import { summaryView } from "../summary.ts";
import { technicalDetails, technicalPart } from "../technical-details.ts";
import { claimList, type VerdictTone, verdictBanner } from "../verdict.ts";
import type { ClosingOutcome, Outcome, ProofOutcome } from "./outcome.ts";
import { bannerOf } from "./outcome-banner.ts";
import { summaryOf } from "./outcome-summary.ts";

/** With more outcomes than this, the headline only counts them, and failed files are listed first. */
const maxTitles = 3;

/** The outcome in one sentence, for screen readers. */
export function headlineOf(outcomes: readonly Outcome[]): string {
  if (outcomes.length <= maxTitles)
    return outcomes.map((outcome) => `${labelOf(outcome)}: ${bannerOf(outcome).title}.`).join(" ");
  const count = (tone: VerdictTone) => outcomes.filter((outcome) => bannerOf(outcome).tone === tone).length;
  const failed = count("refuted");
  const passed =
    count("verified") === outcomes.length ? "All of them passed." : "None of them failed. Read each result.";
  return `${outcomes.length} files were checked. ${failed === 0 ? passed : `${failed} failed, shown first.`}`;
}

function failedFirst(outcomes: readonly Outcome[]): readonly Outcome[] {
  if (outcomes.length <= maxTitles) return outcomes;
  const isFailed = (outcome: Outcome) => bannerOf(outcome).tone === "refuted";
  return [...outcomes.filter(isFailed), ...outcomes.filter((outcome) => !isFailed(outcome))];
}

/** @param firm the firm whose record the page shows; null when the page does not name it */
export const outcomesView = (outcomes: readonly Outcome[], firm: string | null = null): Html =>
  html`${failedFirst(outcomes).map((outcome) => html`<article class="outcome">${outcomeView(outcome, firm)}</article>`)}`;

function outcomeView(outcome: Outcome, firm: string | null): Html {
  const { tone, title, text } = bannerOf(outcome);
  // Files that were not checked have no summary.
  if (outcome.kind === "failed" || outcome.verdict === "not_a_pdf")
    return verdictBanner(tone, title, html`<span class="file-name">${labelOf(outcome)}</span> ${text}`, "h2");
  return html`${verdictBanner(tone, title, text, "h2")}
${summaryView(summaryOf(outcome, firm))}
${technicalDetails(outcome.kind === "proof" ? proofDetails(outcome) : closingDetails(outcome))}`;
}

const labelOf = (outcome: Outcome): string => (outcome.kind === "closing" ? outcome.names.join(", ") : outcome.name);

const part = (title: string, body: Html): Html => technicalPart(title, body, "h3");

function proofDetails(outcome: ProofOutcome): Html {
  const { claims, statement, fileSha256, docSha256, certificate, earlier, anchoring, verdict } = outcome;
  // For a file that failed, the failed checks come first, and the seal's statements about the document are omitted.
  const good = verdict !== "not_verified";
  return html`${part("What was checked", claimList(good ? claims : failingFirst(claims), titleOf))}
${good && verdict !== "unsigned" && part("What that means", statementView(statement, "h4"))}
${part(
  "Hashes and certificate",
  facts([
    ["SHA-256 of the file", codeText(fileSha256, "SHA-256 of the file")],
    [
      "SHA-256 of the document before sealing",
      good && docSha256 ? codeText(docSha256, "SHA-256 of the document") : null,
    ],
    ["Certificate in the seal", certificate?.subject ?? null],
    ["Valid", certificate && html`${time(new Date(certificate.notBefore))} to ${time(new Date(certificate.notAfter))}`],
    ["SHA-256 of the certificate", certificate && codeText(certificate.sha256, "SHA-256 of the certificate")],
  ]),
)}
${anchoringPart(anchoring)}
${
  earlier.length > 0 &&
  part(
    `${earlier.length} earlier signature${earlier.length > 1 ? "s" : ""} in the document`,
    html`<p>Each covers the document as it was at that time. The result above does not depend on them.</p>
${earlier.map(({ claims, by }, i) => html`<h4>Signature ${i + 1}${by !== null && html`: <bdi>${by}</bdi>`}</h4>${claimList(claims, titleOf)}`)}`,
  )
}`;
}

const anchoringPart = (anchoring: readonly Claim[]): Html | false =>
  anchoring.length > 0 && part("The OpenTimestamps proof, step by step", claimList(anchoring, titleOf));

function closingDetails({ claims, anchoring }: ClosingOutcome): Html {
  const telling = claims.filter(
    ({ name, state }) => state === "fails" || (name.startsWith("certificate.") && state === "holds"),
  );
  const others = claims.filter((claim) => !telling.includes(claim));
  return html`${part("What was checked", claimList(failingFirst(telling), titleOf))}
${part(`${others.length} more checks, for every version`, claimList(others, titleOf))}
${anchoringPart(anchoring)}`;
}

const failingFirst = (claims: readonly Claim[]): Claim[] => [
  ...claims.filter(({ state }) => state === "fails"),
  ...claims.filter(({ state }) => state !== "fails"),
];
