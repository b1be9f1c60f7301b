import { readFileSync } from "node:fs";
import { GROUPS } from "./groups.ts";
import { LOG_REASONS } from "./log-reasons.ts";
import type { Mutant } from "./mutants.ts";
import { PDF_REASONS } from "./pdf-reasons.ts";
import { SEAL_REASONS } from "./seal-reasons.ts";

/** Mutants that no vector can distinguish from the verifier, by file and operand, with the reason. */
const EQUIVALENT: readonly (readonly [file: string, text: string, reason: string])[] = [
  [
    "asn1/der.ts",
    "tag === undefined",
    "If the tag is missing, so is the first octet of the length, which the next operand refuses.",
  ],
  [
    "asn1/der.ts",
    "contentStart + count > limit",
    "A truncated length leads to an end beyond the limit, which a later rule refuses.",
  ],
  ["asn1/der.ts", "start + 2 > limit", "A value that begins at the limit ends beyond it, which a later rule refuses."],
  [
    "asn1/time.ts",
    "minute > 59",
    "60 minutes change the hour of the date, and the comparison of the hours refuses that.",
  ],
  [
    "asn1/time.ts",
    "at < end",
    "The reader reaches the end here only if the final Z is missing, and such a time is refused anyway.",
  ],
  ["asn1/values.ts", "content.length > 4", "No rule accepts a number of more than four octets."],
  [
    "cms/coverage.ts",
    "++tries > MAX_TRIES",
    "A bound on cost: certificates beyond it are not needed, and a later rule refuses unused certificates.",
  ],
  [
    "cms/coverage.ts",
    "next === undefined",
    "It saves the verification of further signatures: the first issuer that signed is enough.",
  ],
  ["cms/coverage.ts", "last === undefined", "Without a signer's certificate, the seven checks have already failed."],
  [
    "cms/verify.ts",
    "certificate === null",
    "Without a certificate, `algorithms` does not hold, which is required as well.",
  ],
  ["cms/verify.ts", "algorithm === null", "Without a scheme, `algorithms` does not hold, which is required as well."],
  ["ots/bytes.ts", "scale > Number.MAX_SAFE_INTEGER", "The check of the sum refuses such a number, too."],
  ["ots/parse.ts", "bytes.length < detachedMagic.length", "A shorter file can't begin with the magic bytes."],
  [
    "pdf/byte-range.ts",
    "gapEnd > bytes.length",
    "If the gap ends beyond the file, so does the range, which the operand before this one refuses.",
  ],
  [
    "pdf/signatures.ts",
    "++count > MAX_FIELDS",
    "A bound on cost. A verifier may use a wider one (section 2.6 of the format).",
  ],
  [
    "pdf/xref.ts",
    "subsections.length >= MAX_SUBSECTIONS",
    "A bound on cost. A verifier may use a wider one (section 2.6 of the format).",
  ],
  [
    "pdf/document.ts",
    "document.revisions.length >= MAX_REVISIONS",
    "A bound on cost. A verifier may use a wider one (section 2.6 of the format).",
  ],
  ["pdf/attachment.ts", "++walk.nodes > MAX_NODES", "A bound on cost."],
  ["pades.ts", "signedData.certificates.length === 0", "Without certificates, `signerCertificate` has already failed."],
  [
    "seal/seal-contents.ts",
    "!signerInfo?.signedAttrsDer",
    "A seal that states its place always has signed attributes.",
  ],
  ["x509/chain.ts", "algorithm === null", "`signatureFault` has already refused a scheme that is not supported."],
  ["x509/chain.ts", "subject === undefined", "A path always contains its leaf."],
  ["x509/chain.ts", "depth === fault.depth", "It only chooses the reason that is reported."],
  ["x509/chain.ts", 'fault.reason === "no-path"', "It only chooses the reason that is reported."],
  [
    "manifest/validate.ts",
    "value.length > 2 * manifestLimits.textLength",
    "It only avoids counting the characters of a long text, which would refuse the same text.",
  ],
  [
    "zip/directory.ts",
    "(entry.flags & ENCRYPTED) !== 0",
    "The next rule refuses all other flags. This rule only gives encryption its own error.",
  ],
  [
    "zip/directory.ts",
    "id === ZIP64",
    "The next rule refuses all other extra fields. This rule only gives zip64 its own error.",
  ],
];

/** Files that produce text for people and never change a verdict. */
const TELLING = ["seal/proof-statement.ts", "x509/name.ts"];
/** The signing page uses this file to read its own document, and no claim of the format depends on it. */
const OUTSIDE = ["pdf/field-texts.ts"];

const survivors = new URL("survivors.txt", import.meta.url);
/** Identifies a mutant even when lines move. */
const keyOf = ({ file, as, text }: Mutant): string => `${file} ${as}: ${text}`;
const uncovered = new Set(
  readFileSync(survivors, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#")),
);

/** The reason why no vector can kill the mutant; undefined when a vector should. */
export function reasonFor({ file, text }: Mutant): string | undefined {
  if (TELLING.includes(file)) return "It only produces text for people, and never changes a verdict.";
  if (OUTSIDE.includes(file)) return "No claim of the format depends on it.";
  const own = EQUIVALENT.find(([suffix, operand]) => file.endsWith(suffix) && operand === text)?.[2];
  return (
    own ??
    [...GROUPS, ...LOG_REASONS, ...PDF_REASONS, ...SEAL_REASONS].find(([, rules]) => rules[file]?.includes(text))?.[0]
  );
}

/** True if the stored list of survivors contains the mutant. */
export const isUncovered = (mutant: Mutant): boolean => uncovered.has(keyOf(mutant));

/** Outdated entries of the stored list: the mutant was killed, or it no longer exists. */
export function staleSurvivors(mutants: readonly Mutant[], killed: readonly Mutant[]): string[] {
  const all = new Set(mutants.map(keyOf));
  // Two mutants with the same text share an entry, which is outdated once both are killed.
  const alive = new Set(mutants.filter((mutant) => !killed.includes(mutant)).map(keyOf));
  return [...uncovered].filter((line) => !all.has(line) || !alive.has(line));
}

/** Formats the stored list of survivors. */
export const survivorsText = (list: readonly Mutant[]): string =>
  `# Rules of the verifier that no vector asks for yet: mutate-verifier.ts --record writes this list, which should only get shorter.\n${[
    ...new Set(list.map(keyOf)),
  ]
    .toSorted()
    .join("\n")}\n`;

export const survivorsFile = survivors;
