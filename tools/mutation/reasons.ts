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
    "A value of no bytes has no first octet of a length either, which is refused beside it.",
  ],
  [
    "asn1/der.ts",
    "contentStart + count > limit",
    "A length that is cut leads to an end behind the limit, which is refused.",
  ],
  ["asn1/der.ts", "start + 2 > limit", "A value that begins at the limit ends behind it, which is refused."],
  ["asn1/time.ts", "minute > 59", "60 minutes are another hour of the calendar, which is refused beside it."],
  ["asn1/time.ts", "at < end", "What stands behind the value is no digit of the time, and Z must be its last octet."],
  ["asn1/values.ts", "content.length > 4", "More than four octets make a number that no rule takes."],
  [
    "cms/coverage.ts",
    "++tries > MAX_TRIES",
    "It bounds the cost: certificates beyond it are not needed, and refused as such.",
  ],
  ["cms/coverage.ts", "next === undefined", "It saves a signature: the first issuer that signed is taken."],
  ["cms/coverage.ts", "last === undefined", "Without a signer's certificate the seven checks have failed before."],
  [
    "cms/verify.ts",
    "certificate === null",
    "Without a certificate `algorithms` does not hold, which is asked beside it.",
  ],
  ["cms/verify.ts", "algorithm === null", "Without a scheme `algorithms` does not hold, which is asked beside it."],
  ["ots/bytes.ts", "scale > Number.MAX_SAFE_INTEGER", "A value beyond it is refused by its sum."],
  ["ots/parse.ts", "bytes.length < detachedMagic.length", "A shorter file does not begin with the magic."],
  ["pdf/byte-range.ts", "gapEnd > bytes.length", "The end of the range is not before the end of its gap."],
  ["pdf/signatures.ts", "++count > MAX_FIELDS", "A bound on cost, which a verifier may have wider (2.6)."],
  ["pdf/xref.ts", "subsections.length >= MAX_SUBSECTIONS", "A bound on cost, which a verifier may have wider (2.6)."],
  [
    "pdf/document.ts",
    "document.revisions.length >= MAX_REVISIONS",
    "A bound on cost, which a verifier may have wider (2.6).",
  ],
  ["pdf/attachment.ts", "++walk.nodes > MAX_NODES", "A bound on cost."],
  ["pades.ts", "signedData.certificates.length === 0", "Without certificates `signerCertificate` has failed before."],
  ["seal/seal-contents.ts", "!signerInfo?.signedAttrsDer", "A seal that states its place has signed attributes."],
  ["x509/chain.ts", "algorithm === null", "A scheme that is not read is a fault before."],
  ["x509/chain.ts", "subject === undefined", "A path has its leaf."],
  ["x509/chain.ts", "depth === fault.depth", "It chooses which reason is told."],
  ["x509/chain.ts", 'fault.reason === "no-path"', "It chooses which reason is told."],
  [
    "manifest/validate.ts",
    "value.length > 2 * manifestLimits.textLength",
    "It saves the counting of characters, which refuses the same.",
  ],
  [
    "zip/directory.ts",
    "(entry.flags & ENCRYPTED) !== 0",
    "Every other flag is refused, too; this refusal has a name of its own.",
  ],
  ["zip/directory.ts", "id === ZIP64", "Every other extra field is refused, too; this refusal has a name of its own."],
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
  if (TELLING.includes(file)) return "It is told to people, and moves no verdict.";
  if (OUTSIDE.includes(file)) return "No claim of the format rests on it.";
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
