import { equalBytes } from "@signsealship/evidence/bytes";
import { sha256Hex } from "@signsealship/evidence/digest";
import { EvidenceError } from "@signsealship/evidence/errors";
import { changesSince, openUnlocked } from "@signsealship/evidence/pdf";
import { type EarlierSignature, verifySignatures } from "@signsealship/evidence/seal";
import { parseCertificate, parseCertificatesPem } from "@signsealship/evidence/x509";
import { createNodeCrypto } from "@signsealship/verifier/node-crypto";
import { hasSentence, textOf } from "./text.ts";
import { placeProblem } from "./visible-place.ts";

/** The checks of an upload, in the order of the report. */
type CheckName =
  | "our_revision"
  | "one_signature"
  | "whole_file"
  | "signature_valid"
  | "registered_certificate"
  | "certificate_in_date"
  | "permitted_changes"
  | "visible_place"
  | "earlier_signatures"
  | "required_sentence"
  | "signed_in_act"
  | "credentials_in_date"
  | "document_class";

/**
 * The result of one check. `warns`: the notary may confirm the document nevertheless. `fails`: the document is
 * rejected.
 */
export type Check = { readonly name: CheckName; readonly state: "holds" | "warns" | "fails"; readonly why: string };

export type UploadRules = {
  /** The document that the notary received. */
  readonly revision: { readonly bytes: number; readonly sha256: string };
  /** DER of the notary's certificate; null when none is registered. */
  readonly certificate: Uint8Array | null;
  /** True if a scan of paper is accepted as well, because the act was on paper. */
  readonly mayBePaper: boolean;
  /**
   * The sentences of which the document should have one; the check only warns. Empty when the rules of the notary's
   * state name none.
   */
  readonly sentences: readonly string[];
  /**
   * The lines that the service itself drew into a reserved block. They are passed here because PDF readers don't
   * extract them as text.
   */
  readonly drawnLines: readonly string[];
  /** PEM of the trusted time-stamping authorities. */
  readonly tsaRoots: string;
  readonly at: Date;
};

export type UploadReport = {
  readonly sha256: string;
  /**
   * True if the upload is treated as a scan of paper: scans are accepted, and the upload doesn't begin with the bytes
   * of the document that the notary received.
   */
  readonly isPaper: boolean;
  readonly checks: readonly Check[];
  /** The time of the signature according to a trusted time stamp, ISO 8601; null without one. */
  readonly stampedAt: string | null;
};

const claim = (name: CheckName, holds: boolean, why: string, whyNot: string): Check =>
  holds ? { name, state: "holds", why } : { name, state: "fails", why: whyNot };

/**
 * Runs the verifier on the file that a notary created from our document, before the file is stored. The verifier shares
 * no code with the sealer.
 */
export async function checkUpload(bytes: Buffer, rules: UploadRules): Promise<UploadReport> {
  const sha256 = await sha256Hex(bytes);
  const { revision } = rules;
  const begins =
    bytes.length > revision.bytes && (await sha256Hex(bytes.subarray(0, revision.bytes))) === revision.sha256;
  const sentence = await sentenceCheck(bytes, rules);
  if (!begins) {
    const isPaper = rules.mayBePaper;
    return { sha256, isPaper, checks: [beginsCheck(isPaper), sentence], stampedAt: null };
  }
  try {
    const { checks, stampedAt } = await signatureChecks(bytes, rules);
    return { sha256, isPaper: false, checks: [ours, ...checks, sentence], stampedAt };
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    const why = `The file can't be read: ${error.message}.`;
    return { sha256, isPaper: false, checks: [ours, { name: "one_signature", state: "fails", why }], stampedAt: null };
  }
}

const ours: Check = { name: "our_revision", state: "holds", why: "It begins with the document that you were given." };

const beginsCheck = (isPaper: boolean): Check => ({
  name: "our_revision",
  ...(isPaper
    ? {
        state: "warns",
        why: "It is another file than the one you were given: a scan. Earlier signatures are not carried.",
      }
    : {
        state: "fails",
        why: "It does not begin with the document that you were given: it was rewritten, and earlier signatures are lost. Sign the file as you downloaded it, and save it without changing it otherwise.",
      }),
});

async function signatureChecks(bytes: Buffer, { revision, certificate, tsaRoots, at }: UploadRules) {
  const crypto = createNodeCrypto();
  const anchors = tsaRoots === "" ? [] : parseCertificatesPem(tsaRoots);
  const verify = (file: Buffer) => verifySignatures(file, anchors, at.getTime(), crypto);
  const [before, after] = [await verify(bytes.subarray(0, revision.bytes)), await verify(bytes)];
  const isNew = ({ revisionEnd }: EarlierSignature) => revisionEnd !== null && revisionEnd > revision.bytes;
  const added = after.filter(isNew);
  const level = changesSince(await openUnlocked(bytes), revision.bytes);
  const [own] = added;
  const stamp = own?.pades?.timeStamps.find(({ trusted }) => trusted)?.genTime ?? null;
  const checks: Check[] = [
    claim(
      "one_signature",
      added.length === 1 && after.length === before.length + 1,
      "One signature was added.",
      added.length === 0
        ? "No signature was added to the document."
        : `${Math.max(added.length, after.length - before.length)} signatures were added: it must be one, yours.`,
    ),
    ...(own ? ownChecks(own, bytes.length, { certificate, stamp, at }) : []),
    claim(
      "permitted_changes",
      level !== null && level !== "other",
      `What was added are fields and annotations alone (${level}).`,
      "What was added changes more than fields and annotations: pages and their content must stay as they were.",
    ),
    await placeCheck(bytes.subarray(0, revision.bytes), bytes),
    earlierCheck(
      before,
      after.filter((each) => !isNew(each)),
    ),
  ];
  return { checks, stampedAt: stamp === null ? null : new Date(stamp).toISOString() };
}

type OwnRules = Pick<UploadRules, "certificate" | "at"> & { stamp: number | null };

function ownChecks({ revisionEnd, pades, claims }: EarlierSignature, length: number, rules: OwnRules): Check[] {
  const failed = claims.find(({ state }) => state !== "holds");
  const { certificate, stamp, at } = rules;
  const registered = certificate && parseCertificate(certificate);
  const isRegistered =
    registered !== null && pades?.certificate != null && equalBytes(pades.certificate.der, registered.der);
  const instant = stamp ?? at.getTime();
  const moment = `${new Date(instant).toISOString()} (${stamp === null ? "now: there is no trusted time stamp" : "its time stamp"})`;
  const inDate = isRegistered && instant >= registered.notBefore && instant < registered.notAfter + 1000;
  return [
    claim(
      "whole_file",
      revisionEnd === length,
      "The signature covers the whole file.",
      "The signature does not cover the whole file: something was added behind it.",
    ),
    claim("signature_valid", failed === undefined, "The signature is valid.", failed?.why ?? ""),
    claim(
      "registered_certificate",
      isRegistered,
      "It is by your registered certificate. Its issuer was not checked: it counts because it is on record.",
      registered === null
        ? "No certificate is registered for you: ask an administrator to add it."
        : "It is by another certificate than the one registered for you.",
    ),
    ...(isRegistered
      ? [
          claim(
            "certificate_in_date",
            inDate,
            `The certificate was in date at ${moment}.`,
            `The certificate was not in date at ${moment}.`,
          ),
        ]
      : []),
  ];
}

async function placeCheck(original: Buffer, upload: Buffer): Promise<Check> {
  const problem = await placeProblem(original, upload);
  return claim("visible_place", problem === null, "Nothing of the document is covered.", problem ?? "");
}

/**
 * Checks that every earlier signature is still as valid as in the document that the notary received. The notary is not
 * at fault for a signature that was already invalid.
 */
function earlierCheck(before: readonly EarlierSignature[], after: readonly EarlierSignature[]): Check {
  const broken = before
    .flatMap((earlier) => {
      const now = after.find(({ revisionEnd }) => revisionEnd === earlier.revisionEnd);
      const held = earlier.claims.filter(({ state }) => state === "holds").map(({ name }) => name);
      if (!now) return ["An earlier signature was taken away."];
      return now.claims
        .filter(({ name, state }) => state === "fails" && (held.includes(name) || name === "signature_present"))
        .map(({ why }) => why);
    })
    .at(0);
  const why =
    before.length === 0
      ? "There are no earlier signatures."
      : `All ${before.length} earlier signatures are as they were.`;
  return claim("earlier_signatures", broken === undefined, why, broken ?? "");
}

async function sentenceCheck(bytes: Buffer, { revision, sentences, drawnLines }: UploadRules): Promise<Check> {
  const name = "required_sentence";
  if (sentences.length === 0) return { name, state: "holds", why: "No sentence is known that the state requires." };
  const text = [(await textOf(bytes, revision.sha256)) ?? "", ...drawnLines].join(" ");
  const found = sentences.find((sentence) => hasSentence(text, sentence));
  if (found) return { name, state: "holds", why: `It has the required sentence: “${found}”` };
  const required = sentences.map((sentence) => `“${sentence}”`).join(" or ");
  return { name, state: "warns", why: `The required sentence was not found in its text: ${required}` };
}
