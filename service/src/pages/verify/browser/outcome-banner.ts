import type { Claim } from "@signsealship/evidence/claim";
import { anotherFileWords, incompleteSigning } from "@signsealship/evidence/envelope";
import { isForeignSignature } from "@signsealship/evidence/seal";
import type { VerdictTone } from "../verdict.ts";
import type { ClosingOutcome, FailedOutcome, Outcome, ProofOutcome } from "./outcome.ts";

/** The verdict in a few words, and its meaning in a sentence. */
export type Banner = { tone: VerdictTone; title: string; text: string };

const banner =
  (tone: VerdictTone) =>
  (title: string, text: string): Banner => ({ tone, title, text });
const verified = banner("verified");
const refuted = banner("refuted");
const undecided = banner("unknown");

export function bannerOf(outcome: Outcome): Banner {
  if (outcome.kind === "failed") return failedBanner(outcome);
  return outcome.kind === "proof" ? proofBanner(outcome) : closingBanner(outcome);
}

const failedBanner = ({ why }: FailedOutcome): Banner => undecided("This file was not checked", why);

const noTest = "It was sealed with a test key, so it means nothing outside of testing.";

type Kind = NonNullable<ProofOutcome["purpose"]>["kind"];
const writtenHere: ReadonlySet<Kind> = new Set<Kind>(["closing", "custody", "journal", "receipt", "certificate"]);

/**
 * The service can vouch for the documents that it wrote itself. About others' documents, it can only state that nothing
 * changed.
 */
const unchangedTitle = (purpose: ProofOutcome["purpose"]): string =>
  purpose && writtenHere.has(purpose.kind)
    ? "This document is genuine"
    : "This document is unchanged since it was sealed";

/** True if valid archival time stamps were appended to the sealed file. */
export const isArchived = (claims: readonly Claim[]): boolean =>
  claims.some(({ name, state }) => name === "archival_time_stamp" && state === "holds");

const sinceSealed = (claims: readonly Claim[]): string =>
  isArchived(claims)
    ? "Nothing but a time stamp for the archive, and perhaps metadata such as a title, was added since it was sealed"
    : "Not a single byte has changed since it was sealed";

const ofAnotherRecord: ReadonlySet<string> = new Set(["custody_of_this_record", "closing_of_this_record"]);

/** True if a file is valid, but does not match the record on the page. */
export function failsByRecordAlone(claims: readonly Claim[]): boolean {
  const failed = claims.filter(({ state }) => state === "fails");
  return failed.length > 0 && failed.every(({ name }) => ofAnotherRecord.has(name));
}

/**
 * True if a certificate is genuine, and the only failure is that the compared document is not the one named in the
 * certificate.
 */
export const failsByDocumentAlone = (outcome: ProofOutcome | ClosingOutcome): boolean =>
  outcome.kind === "proof" && (outcome.isOfAnotherFile === true || outcome.unmatched !== undefined);

const otherRecord = (claims: readonly Claim[]): Banner =>
  refuted(
    "This is of another record than the one on this page",
    claims.find(({ name, state }) => ofAnotherRecord.has(name) && state === "fails")?.why ?? "",
  );

const foreign = undecided(
  "This is not a seal of this service",
  "Somebody else signed this file, and it has not changed since. This page has not checked who that was.",
);

const inNoClosing = undecided(
  "Unchanged, but not a document of this closing certificate",
  "Nothing in the file has changed since it was sealed. The closing certificate does not name it: the file does not belong to this closing, or is newer than this certificate.",
);

const ofAnotherFile: Banner = { tone: "unknown", ...anotherFileWords };

const ofUnmatched = (file: string): Banner =>
  undecided(
    "This certificate is unchanged, but its document does not match",
    `Nothing in the certificate has changed. “${file}” is not the document that it names: see the result for that file.`,
  );

function proofBanner(outcome: ProofOutcome): Banner {
  const { verdict, claims, purpose, isOfAnotherFile = false, unmatched, isListed = false } = outcome;
  const state = (name: string) => claims.find((one) => one.name === name)?.state;
  switch (verdict) {
    case "verified":
      if (state("signing_complete") === "fails") {
        return undecided(
          "Unchanged since it was sealed, but the signing is not complete",
          `${incompleteSigning} Others may have had to sign, too.${purpose?.environment === "test" ? ` ${noTest}` : ""}`,
        );
      }
      if (state("document_of_this_room") === "unchecked") return inNoClosing;
      return purpose?.environment === "test"
        ? undecided("A test document, unchanged", `${sinceSealed(claims)}. ${noTest}`)
        : verified(unchangedTitle(purpose), `${sinceSealed(claims)}, and the seal was made with a known certificate.`);
    case "handed_in":
      return verified(
        "This is the document on record, before it was sealed",
        "It has the hash on record for the document as it was submitted.",
      );
    case "intact": {
      if (state("seal_certificate_trusted") === "holds") {
        return undecided(
          "Unchanged, but sealed for what?",
          "The seal passed and is by a certificate that you trust, but it states no purpose that is known here.",
        );
      }
      const ofTest =
        purpose?.environment === "test"
          ? " The seal says that it is a test, so it means nothing outside of testing."
          : "";
      return undecided(
        "Unchanged, but sealed by whom?",
        `The seal passed, but no certificate that you trust confirms who made it. Anyone could have. Add a certificate that you trust to check it again.${ofTest}`,
      );
    }
    case "unsigned":
      if (state("document_of_this_room") === "holds")
        return {
          tone: isListed ? "verified" : "unknown",
          title: "The closing certificate names this file",
          text: "It has no seal of its own. Its bytes have the hash that the certificate lists.",
        };
      return undecided(
        "This PDF has no seal",
        "It may be the document as it was before sealing. There is nothing in it to check.",
      );
    case "not_a_pdf":
      return undecided("This is not a PDF", "There is nothing in it to check.");
    default:
      if (failsByRecordAlone(claims)) return otherRecord(claims);
      if (isOfAnotherFile) return ofAnotherFile;
      if (unmatched !== undefined) return ofUnmatched(unmatched);
      if (isForeignSignature(claims)) return foreign;
      return state("sealed_hash_as_expected") === "fails" && state("seal_certificate_trusted") === "holds"
        ? refuted("This is not the file on record", "The record on this page is for another file.")
        : refuted("This document failed the check", "Do not rely on it.");
  }
}

function closingBanner({ verdict, purpose, roomName, claims }: ClosingOutcome): Banner {
  if (failsByRecordAlone(claims)) return otherRecord(claims);
  const name = roomName === null ? "the room" : `“${roomName}”`;
  if (verdict === "verified") {
    return purpose?.environment === "test"
      ? undecided(
          "A test certificate, unchanged",
          `Nothing in the closing certificate of ${name} has changed. ${noTest}`,
        )
      : verified(
          "This certificate is genuine",
          `Nothing in the closing certificate of ${name} has changed, and the seal was made with a known certificate.`,
        );
  }
  if (verdict === "intact") {
    return undecided(
      "Unchanged, but sealed by whom?",
      "Nothing has changed, but no certificate that you trust confirms who made the seal.",
    );
  }
  if (verdict === "unsigned") {
    return undecided("There is no seal to check", "The manifests match. Choose the certificate PDF, too.");
  }
  return refuted("This closing certificate failed the check", "Do not rely on it.");
}
