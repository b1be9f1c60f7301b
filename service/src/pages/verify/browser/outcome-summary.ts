import type { Claim } from "@signsealship/evidence/claim";
import { isForeignSignature, type SealPurpose } from "@signsealship/evidence/seal";
import { codeText } from "../../ui/components.ts";
import { shortCode, time } from "../../ui/format.ts";
import { type Html, html } from "../../ui/render.ts";
import { printButton, type Summary, sealedAt } from "../summary.ts";
import type { ClosingOutcome, ProofOutcome } from "./outcome.ts";
import { failsByDocumentAlone, failsByRecordAlone, isArchived } from "./outcome-banner.ts";
import { type SealFacts, shownName } from "./seal-facts.ts";

const kinds: Readonly<Record<SealPurpose["kind"], string>> = {
  proof: "sealed document",
  closing: "closing certificate",
  custody: "custody certificate of a signing",
  signed: "signed document",
  notarized: "notarized document",
  signed_elsewhere: "document that was signed elsewhere and taken in by an operator",
  notarized_elsewhere: "document that was notarized elsewhere and taken in by an operator",
  journal: "notary’s journal",
  receipt: "receipt",
  certificate: "certificate of a sealed document",
};

const testWords = "It is a test: no signature, seal or notarization in it counts.";

const stampWords: Readonly<Record<SealFacts["stamp"], string>> = {
  passed: "An independent authority stamped this time. Its stamp passed.",
  failed: "The time stamp failed.",
  authority_unknown:
    "An independent authority stamped the seal. The stamp is whole, but no certificate here confirms the authority.",
  none: "As the sealer states it. The seal has no independent time stamp.",
};

/** Replaces the statements of a file that failed verification, because nothing confirms those statements. */
const notConfirmed = "Not confirmed";

/** The names of the claims that fail when bytes of the file change. Most other claims are about identity or time. */
const tellsOfChange =
  /^(?:whole_file_covered|document_unchanged_since_seal|seal_signature_valid|\w+_hash(?:_as_expected)?|manifest\..+\.(?:hash|link|canonical)|certificate\..+\.(?:hash|seal|manifest))$/;

/**
 * The lines about the checked file.
 * @param firm the firm whose record the page shows. The lines name it only if the file matches that record
 */
export function summaryOf(outcome: ProofOutcome | ClosingOutcome, firm: string | null): Summary {
  const { seal } = outcome;
  const failed = hasFailed(outcome);
  return {
    document: documentWords(outcome),
    firm: isOfThePage(outcome) ? firm : null,
    signatures: failed || outcome.kind !== "proof" ? null : signatureWords(outcome),
    sealed: sealedWords(outcome),
    sealedBy: failed ? notConfirmed : seal ? sealerWords(outcome, seal) : "No seal in this file",
    unchanged: unchangedWords(outcome),
    download: html`<span>You have the file.</span> ${printButton}`,
  };
}

const hasFailed = (outcome: ProofOutcome | ClosingOutcome): boolean =>
  outcome.verdict === "not_verified" && !failsByDocumentAlone(outcome);

/**
 * True if the checked file matches the record on the page. A closing file that passed needs no further check, because
 * it was already compared with the page's room.
 */
function isOfThePage({ kind, verdict, claims }: ProofOutcome | ClosingOutcome): boolean {
  if (kind === "closing") return verdict === "verified" || verdict === "intact";
  const expected = claims.some(({ name, state }) => name === "sealed_hash_as_expected" && state === "holds");
  return verdict === "handed_in" || (expected && verdict !== "not_verified");
}

function documentWords(outcome: ProofOutcome | ClosingOutcome): Html {
  if (outcome.kind === "proof")
    return html`<strong class="file-name">${outcome.name}</strong>${outcome.seal && outcome.purpose && purposeWords(outcome.purpose)}${roomWords(outcome)}${custodyWords(outcome)}`;
  const { names, roomName, version } = outcome;
  const room = roomName === null ? "" : ` of “${roomName}”, version ${version ?? "unknown"}`;
  return html`<strong class="file-name">${names.join(", ")}</strong>, closing certificate${room}`;
}

/**
 * A test seal is always labeled as a test, whether or not it is trusted. Otherwise, a simulated notarization could look
 * like a real one.
 */
const purposeWords = ({ kind, environment }: SealPurpose): Html =>
  html`, a ${kinds[kind]}${environment === "test" && html`. <strong>${testWords}</strong>`}`;

/**
 * Says which document of a closing the file is, or that the closing lists no such document. Null when this is unknown.
 * A file that failed verification can't prove that it is part of a closing.
 */
function roomWords({ claims, verdict, seal, purpose }: ProofOutcome): Html | null {
  const claim = claims.find(
    ({ name, state }) => name === "document_of_this_room" && (state !== "holds" || verdict !== "not_verified"),
  );
  return claim ? html`${seal && purpose?.environment === "test" ? " " : ". "}<strong>${claim.why}</strong>` : null;
}

/**
 * Names the order and the signers that a custody certificate states. Null if the certificate failed verification. A
 * mismatch with the page's record or with the compared document does not count as such a failure.
 */
function custodyWords(outcome: ProofOutcome): Html | null {
  const { custody, claims } = outcome;
  if (!custody || (hasFailed(outcome) && !failsByRecordAlone(claims))) return null;
  const { orderCode, signers, documentSha256 } = custody;
  return html`<span class="quiet-text"> Of order ${shortCode(orderCode)}, signed by:</span>
<ul class="signatures">${signers.map((name) => html`<li class="signature"><bdi>${shownName(name) ?? "Without a name"}</bdi></li>`)}</ul>
<span class="quiet-text">SHA-256 of the signed document: </span>${codeText(documentSha256, "SHA-256 of the signed document")}`;
}

const signatureStates: Readonly<Record<Claim["state"], string>> = {
  holds: " Intact.",
  fails: " Did not pass: see the technical details.",
  unchecked: " Not judged: see the technical details.",
};

/** The names in the signatures, with a warning against wrong conclusions from them. */
function signatureWords({ earlier, purpose, hasCustody, claims }: ProofOutcome): Html | null {
  const signatures = earlier.filter(({ isTimeStamp }) => !isTimeStamp);
  if (signatures.length === 0) return null;
  const named = signatures.map(
    ({ by, at, state }) =>
      html`<li class="signature"><bdi>${by ?? "Without a name"}</bdi>${at !== null && html`, ${time(new Date(at))}`}<span class="quiet-text">${signatureStates[state]}</span></li>`,
  );
  const signing = claims.find(({ name, state }) => name === "signing_complete" && state !== "holds");
  const identified = hasCustody
    ? " Its custody certificate, which was checked with it, says how each signer was identified."
    : purpose?.kind === "signed" || purpose?.kind === "notarized"
      ? " Choose the custody certificate, too: it says how each signer that it names was identified."
      : "";
  return html`<ul class="signatures">${named}</ul>
${signing && html`<strong>${signing.why}</strong> `}<span class="quiet-text">Names and times are those in the signatures themselves; this page has not checked who made them.${identified}</span>`;
}

function sealedWords(outcome: ProofOutcome | ClosingOutcome): Html | string {
  const { seal, verdict } = outcome;
  if (hasFailed(outcome)) return notConfirmed;
  if (verdict === "handed_in") return "The sealed copy of it is on record above";
  if (!seal) return "No seal in this file";
  const words = stampWords[seal.stamp];
  return seal.at === null ? words : sealedAt(new Date(seal.at), words);
}

const sealerWords = ({ verdict, claims }: ProofOutcome | ClosingOutcome, { by }: SealFacts): Html => {
  const isTrusted =
    verdict === "verified" || claims.some((one) => one.name === "seal_certificate_trusted" && one.state === "holds");
  return html`${by} <span class="quiet-text">${isTrusted ? "A certificate that is known here." : "No certificate here confirms that name."}</span>`;
};

function unchangedWords(outcome: ProofOutcome | ClosingOutcome): Summary["unchanged"] {
  const { verdict, claims } = outcome;
  switch (failsByDocumentAlone(outcome) ? "verified" : verdict) {
    case "verified":
    case "intact":
      return {
        answer: "yes",
        why: isArchived(claims)
          ? "Only a time stamp for the archive was added, and perhaps metadata such as a title."
          : "Not a single byte.",
      };
    case "handed_in":
      return { answer: "yes", why: "It is the document on record, as it was before it was sealed." };
    case "not_verified": {
      if (isForeignSignature(claims)) return { answer: "yes", why: "Not since somebody else signed it." };
      const failed = claims.filter(({ state }) => state === "fails");
      const change = failed.find(({ name }) => tellsOfChange.test(name));
      return { answer: change ? "no" : "failed", why: (change ?? failed[0])?.why ?? "" };
    }
    default:
      return claims.some(({ name, state }) => name === "document_of_this_room" && state === "holds")
        ? { answer: "yes", why: "Since the closing certificate: it lists the hash of these bytes." }
        : { answer: "unchecked", why: "There is no seal to compare it with." };
  }
}
