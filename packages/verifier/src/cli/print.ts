import { anotherFileWords, incompleteSigning } from "@signsealship/evidence/envelope";
import { isForeignSignature } from "@signsealship/evidence/seal";
import type { Check, Report, Verdict } from "../files/report.ts";
import { printable } from "../files/shell.ts";
import { titleOf } from "./claim-titles.ts";

const VERDICTS: Readonly<Record<Verdict, string>> = {
  verified: "VERIFIED. Everything that was checked passed, and the seal is by a certificate that you trust.",
  verified_test:
    "VERIFIED (TEST). Everything passed, but the seal was made in a test environment and vouches for nothing.",
  intact:
    "INTACT, NOT VERIFIED. The seal passed, but by no certificate that you trust, so anybody could have made it (see --trust), or for no known purpose.",
  unchecked: "NOT DECIDED. Nothing failed, but what would decide was not given.",
  unsigned: "NOT VERIFIED. There is no seal.",
  not_a_pdf: "NOT VERIFIED. This is not a kind of evidence that we know.",
  not_verified: "NOT VERIFIED. At least one check failed.",
};

/** Texts for the verdicts on a detached proof or time stamp. Such evidence proves only a time and not who sealed. */
const VERDICTS_OF_TIMES: Readonly<Partial<Record<Verdict, string>>> = {
  verified:
    "VERIFIED. Everything that was checked passed: these bytes existed at that time. It says nothing of a seal.",
  intact: "INTACT, NOT VERIFIED. The time stamp passed, but by no authority that you trust (see --tsa-trust).",
};

const MARKS: Readonly<Record<Check["result"], string>> = { holds: "✓", fails: "✗", unchecked: "?" };
const COLORS: Readonly<Record<Check["result"], string>> = { holds: "32", fails: "31", unchecked: "33" };

/**
 * Formats a report for people. A claim is followed by a command with which another tool checks the same claim, if there
 * is one. The conclusion is at the end.
 */
export function printed(target: string, report: Report, color: boolean): string {
  const lines = [`${printable(target)} (${report.kind.replaceAll("_", " ")})`, ""];
  let about: string | undefined;
  for (const check of report.checks) {
    if (check.target !== about) {
      about = check.target;
      if (about !== undefined) lines.push(printable(about));
    }
    lines.push(...checkLines(check, color));
  }
  const facts = Object.entries(report.facts);
  if (facts.length > 0) lines.push("", ...facts.flatMap(factLines));
  const { statement } = report;
  if (statement !== undefined) {
    lines.push(...section("Passed", statement.proven), ...section("Not checked", statement.attested));
    lines.push(...section("Not covered", statement.notCovered));
  }
  return [...lines, "", conclusionOf(report)].join("\n");
}

/** Prints each value of a list on its own line, because a value may contain any separator. */
function factLines([name, value]: [string, string | readonly string[]]): string[] {
  if (typeof value === "string") return [`  ${name}: ${printable(value)}`];
  return [`  ${name}:`, ...value.map((one, index) => `    ${index + 1}. ${printable(one)}`)];
}

const NO_SEAL_OF_OURS =
  "NOT VERIFIED. It is not a seal of this service: somebody else signed the file, and it has not changed since.";

function conclusionOf({ kind, verdict, checks, isOfAnotherFile = false }: Report): string {
  if (isOfAnotherFile) return `NOT DECIDED. ${anotherFileWords.title}. ${anotherFileWords.text}`;
  const claims = checks.map(({ claim, result, detail }) => ({ name: claim, state: result, why: detail }));
  if (kind === "sealed_pdf" && isForeignSignature(claims)) return NO_SEAL_OF_OURS;
  const ofTime = kind === "ots_proof" || kind === "time_stamp" ? VERDICTS_OF_TIMES[verdict] : undefined;
  const isOpen = checks.some(({ claim, result }) => claim === "signing_complete" && result === "fails");
  return [ofTime ?? VERDICTS[verdict], ...(isOpen ? [incompleteSigning] : [])].join("\n");
}

function checkLines({ claim, result, detail, command }: Check, color: boolean): string[] {
  const mark = color ? `\u001b[${COLORS[result]}m${MARKS[result]}\u001b[0m` : MARKS[result];
  const word = result === "fails" ? " FAILED" : result === "unchecked" ? " (not checked)" : "";
  const commands = (command ?? "").split("\n").filter((line) => line !== "");
  return [
    `  ${mark} ${titleOf(claim)}${word}`,
    `      ${printable(detail)}`,
    ...commands.map((line) => `      ${line.startsWith("#") ? "" : "$ "}${printable(line)}`),
  ];
}

function section(title: string, sentences: readonly string[]): string[] {
  return sentences.length === 0 ? [] : ["", `${title}:`, ...sentences.map((sentence) => `  - ${printable(sentence)}`)];
}
