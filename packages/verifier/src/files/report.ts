import type { Claim, ClaimState } from "@signsealship/evidence/claim";
import type { ProofStatement } from "@signsealship/evidence/seal";

/**
 * The verdict of a report.
 *
 * - `verified`: no claim fails, the decisive claims hold, and the seal is trusted. Other claims may be unchecked.
 * - `verified_test`: the same, but the seal or the service's record states that it is a test.
 * - `intact`: the seal verifies, but its certificate is not trusted, or its purpose is unknown.
 * - `unchecked`: no claim fails, but decisive information was not given.
 * - `unsigned`: there is no seal.
 * - `not_a_pdf`: the bytes are not any kind of evidence.
 * - `not_verified`: a claim fails.
 */
export type Verdict = "verified" | "verified_test" | "intact" | "unchecked" | "unsigned" | "not_a_pdf" | "not_verified";

export type Kind =
  | "sealed_pdf"
  | "closing_certificate"
  | "custody_certificate"
  | "manifest"
  | "room_record"
  | "closing_set"
  | "evidence"
  | "ots_proof"
  | "time_stamp"
  | "folder"
  | "unknown";

/** One claim with its result, the reason, and a command with which another tool checks the same claim. */
export type Check = {
  readonly claim: string;
  readonly result: ClaimState;
  readonly detail: string;
  readonly command?: string;
  /** The file or room that this check is about, in a report on several files. */
  readonly target?: string;
};

/** The result for one target. */
export type Report = {
  readonly verdict: Verdict;
  readonly kind: Kind;
  readonly checks: readonly Check[];
  /** Values for people to compare or cite: hashes, the certificate, times. */
  readonly facts: Readonly<Record<string, string | readonly string[]>>;
  readonly statement?: ProofStatement;
  /** The room's code and the version; only in a report on a part of a Closing Passport. */
  readonly closing?: { readonly roomCode: string; readonly version: number };
  /** True if certificate and document are both genuine, but the certificate is about another document. */
  readonly isOfAnotherFile?: boolean;
};

/** The exit code for a verdict: 0 when the target is verified, else 1. */
export function exitCodeOf(verdict: Verdict): 0 | 1 {
  return verdict === "verified" || verdict === "verified_test" ? 0 : 1;
}

/** Turns claims into checks, each with its command if it has one. */
export function checksOf(claims: readonly Claim[], commands: ReadonlyMap<string, string> = new Map()): Check[] {
  return claims.map(({ name, state, why }) => check(name, state, why, commands.get(name)));
}

export function check(claim: string, result: ClaimState, detail: string, command?: string): Check {
  return { claim, result, detail, ...(command !== undefined && { command }) };
}

/** A report with one failing check. */
export function failure(kind: Kind, verdict: "not_verified" | "not_a_pdf", claim: string, detail: string): Report {
  return { verdict, kind, checks: [check(claim, "fails", detail)], facts: {} };
}

/** Reports a file on which the verifier itself failed. A malicious file must not end a run over other files. */
export function failedOn(error: unknown): Report {
  const why = error instanceof Error ? error.message : String(error);
  return failure("unknown", "not_verified", "file_readable", `The verifier failed on this file: ${why}.`);
}

/** Adds checks to a report. A failed check makes the verdict `not_verified`. */
export function withChecks(report: Report, more: readonly Check[]): Report {
  const fails = more.some(({ result }) => result === "fails");
  return { ...report, verdict: fails ? "not_verified" : report.verdict, checks: [...report.checks, ...more] };
}

/**
 * The verdict on a set: the worst verdict of its members. It is `not_verified` if the set is empty, or a member is not
 * evidence or has no seal.
 */
export function worstOf(verdicts: Iterable<Verdict>): Verdict {
  const seen = new Set(verdicts);
  if (seen.size === 0 || seen.has("not_verified") || seen.has("not_a_pdf") || seen.has("unsigned")) {
    return "not_verified";
  }
  for (const verdict of ["unchecked", "intact", "verified_test"] as const) if (seen.has(verdict)) return verdict;
  return "verified";
}
