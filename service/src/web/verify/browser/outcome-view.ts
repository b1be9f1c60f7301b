import type { Claim } from "@signsealship/evidence/claim";
import { titleOf } from "@signsealship/verifier/claim-titles";
import { codeText, facts } from "../../ui/components.ts";
import { time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";
import { statementView } from "../statement.ts";
import { claimList, type VerdictTone, verdictBanner } from "../verdict.ts";
import type { ClosingOutcome, FailedOutcome, Outcome, ProofOutcome } from "./outcome.ts";

type Banner = { tone: VerdictTone; title: string; text: string };

/** One sentence of what came of it, to be spoken. */
export function headlineOf(outcomes: readonly Outcome[]): string {
  const titles = outcomes.map((outcome) => `${labelOf(outcome)}: ${bannerOf(outcome).title}.`);
  return titles.length > 3 ? `${titles.length} files were checked.` : titles.join(" ");
}

export function outcomesView(outcomes: readonly Outcome[]): Html {
  return html`${outcomes.map((outcome) => {
    const { tone, title, text } = bannerOf(outcome);
    return html`<article class="outcome">${verdictBanner(tone, title, html`<span class="file-name">${labelOf(outcome)}</span> ${text}`, "h2")}${bodyOf(outcome)}</article>`;
  })}`;
}

function bodyOf(outcome: Outcome): Html | false {
  if (outcome.kind === "failed") return false;
  return outcome.kind === "proof" ? proofBody(outcome) : closingBody(outcome);
}

const labelOf = (outcome: Outcome): string => (outcome.kind === "closing" ? outcome.names.join(", ") : outcome.name);

function bannerOf(outcome: Outcome): Banner {
  if (outcome.kind === "failed") return failedBanner(outcome);
  return outcome.kind === "proof" ? proofBanner(outcome) : closingBanner(outcome);
}

const failedBanner = ({ why }: FailedOutcome): Banner => ({
  tone: "unknown",
  title: "This file was not checked",
  text: why,
});

const noTest = "It was sealed with a test key, so it means nothing outside of testing.";

function proofBanner({ verdict, claims, purpose }: ProofOutcome): Banner {
  const state = (name: string) => claims.find((one) => one.name === name)?.state;
  switch (verdict) {
    case "verified":
      return purpose?.environment === "test"
        ? {
            tone: "unknown",
            title: "A test document, unchanged",
            text: `Not a single byte has changed since it was sealed. ${noTest}`,
          }
        : {
            tone: "verified",
            title: "This document is genuine",
            text: "Not a single byte has changed since it was sealed, and the seal was made with a known certificate.",
          };
    case "handed_in":
      return {
        tone: "verified",
        title: "This is the document on record, before it was sealed",
        text: "It has the hash on record for the document as it was submitted.",
      };
    case "intact":
      if (state("seal_certificate_trusted") === "holds") {
        return {
          tone: "unknown",
          title: "Unchanged since it was sealed, but what for?",
          text: "The seal is intact and by a certificate that you trust, but it states no purpose that is known here.",
        };
      }
      return {
        tone: "unknown",
        title: "Unchanged since it was sealed, but by whom?",
        text: "The seal is intact, but no certificate that you trust confirms who made it. Anyone could have. Add a certificate that you trust to check it again.",
      };
    case "unsigned":
      return {
        tone: "unknown",
        title: "This PDF has no seal",
        text: "It may be the document as it was before sealing. There is nothing in it to check.",
      };
    case "not_a_pdf":
      return { tone: "unknown", title: "This is not a PDF", text: "There is nothing in it to check." };
    default:
      return state("sealed_hash_as_expected") === "fails" && state("seal_certificate_trusted") === "holds"
        ? {
            tone: "refuted",
            title: "This is not the file on record",
            text: "The record on this page is for another file. Compare the hashes below.",
          }
        : {
            tone: "refuted",
            title: "This document does not verify",
            text: `Do not rely on it. ${claims.find((one) => one.state === "fails")?.why ?? ""}`,
          };
  }
}

function proofBody(outcome: ProofOutcome): Html {
  const { claims, statement, fileSha256, docSha256, certificate, provenTime, earlier, anchoring, verdict } = outcome;
  if (verdict === "not_a_pdf") return claimList(claims, titleOf);
  // Of a file that does not verify nothing is said to be proven, whatever single claims hold.
  const good = verdict !== "not_verified";
  return html`${good && verdict !== "unsigned" && statementView(statement)}
<h3>What was checked</h3>
${claimList(good ? claims : failingFirst(claims), titleOf)}
<h3>Hashes and certificate</h3>
${facts([
  ["SHA-256 of the file", codeText(fileSha256, "SHA-256 of the file")],
  ["SHA-256 of the document before sealing", good && docSha256 ? codeText(docSha256, "SHA-256 of the document") : null],
  ["Time stamped by a trusted authority", good && provenTime !== null ? time(new Date(provenTime)) : null],
  ["Certificate in the seal", certificate?.subject ?? null],
  ["Valid", certificate && html`${time(new Date(certificate.notBefore))} to ${time(new Date(certificate.notAfter))}`],
  ["SHA-256 of the certificate", certificate && codeText(certificate.sha256, "SHA-256 of the certificate")],
])}
${
  anchoring.length > 0 &&
  html`<details><summary>The OpenTimestamps proof, step by step</summary>${claimList(anchoring, titleOf)}</details>`
}
${
  earlier.length > 0 &&
  html`<details><summary>${earlier.length} earlier signature${earlier.length > 1 && "s"} in the document</summary>
<p>Each covers the document as it was at that time. The verdict above does not depend on them.</p>
${earlier.map((claims, i) => html`<h4>Signature ${i + 1}</h4>${claimList(claims, titleOf)}`)}</details>`
}`;
}

function closingBanner({ verdict, purpose, roomName, claims }: ClosingOutcome): Banner {
  const name = roomName === null ? "the room" : `“${roomName}”`;
  if (verdict === "verified") {
    return purpose?.environment === "test"
      ? { tone: "unknown", title: "A test certificate, unchanged", text: `The chain of ${name} is intact. ${noTest}` }
      : {
          tone: "verified",
          title: "This certificate is genuine",
          text: `The seal, manifest, and chain of ${name} are intact, and the seal was made with a known certificate.`,
        };
  }
  if (verdict === "intact") {
    return {
      tone: "unknown",
      title: "Unchanged since it was sealed, but by whom?",
      text: "The seal, manifest, and chain are intact, but no certificate that you trust confirms who made the seal.",
    };
  }
  if (verdict === "unsigned") {
    return {
      tone: "unknown",
      title: "There is no seal to check",
      text: "The manifests match. Drop the certificate PDF, too.",
    };
  }
  const why = claims.find(({ state }) => state === "fails")?.why ?? "";
  return { tone: "refuted", title: "This does not verify", text: `Do not rely on it. ${why}` };
}

function closingBody({ claims }: ClosingOutcome): Html {
  const telling = claims.filter(
    ({ name, state }) => state === "fails" || (name.startsWith("certificate.") && state === "holds"),
  );
  const others = claims.filter((claim) => !telling.includes(claim));
  return html`<h3>What was checked</h3>${claimList(failingFirst(telling), titleOf)}
<details><summary>${others.length} more checks, for every version</summary>${claimList(others, titleOf)}</details>`;
}

const failingFirst = (claims: readonly Claim[]): Claim[] => [
  ...claims.filter(({ state }) => state === "fails"),
  ...claims.filter(({ state }) => state !== "fails"),
];
