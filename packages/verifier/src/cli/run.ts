import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { UsageError } from "../errors.ts";
import { type Check, check, exitCodeOf, failedOn, type Report } from "../files/report.ts";
import { quoted } from "../files/shell.ts";
import type { Fetch } from "../url/fetch-bounded.ts";
import { verifyTarget } from "../verify-target.ts";
import { contextOf, type VerifyValues, verifyFlags, verifyOptions } from "./options.ts";
import { printed } from "./print.ts";
import { progressBar } from "./progress.ts";

/** The surroundings that the command line depends on: its output, its settings and the clock. */
export type VerifyIo = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** True if output and errors go to a terminal. This enables colors and the progress bar. */
  readonly outIsTty: boolean;
  readonly errIsTty: boolean;
  /** The present instant, epoch ms. */
  readonly now: () => number;
  readonly fetch: Fetch;
  /** The PEM files of the certificates that are trusted when `--trust` is not given; empty for none. */
  readonly trustedByDefault: readonly string[];
};

/** The JSON result, the text for people, and the exit code: 0 verified, 1 not verified. */
export type VerifyAnswer = { readonly json: object; readonly text: string; readonly exitCode: 0 | 1 };

const USAGE = `usage: verify TARGET ${verifyFlags} [--json]

TARGET is a sealed PDF, a closing certificate, a manifest, an evidence zip, a zip of documents, an .ots proof, a time
stamp (.tst, .tsr), a folder of them, or a verify URL.

  --trust FILE      PEM certificates to trust for seals, or a service's trust list (/seal/trust.json); without it a seal
                    can be intact and is never verified
  --tsa-trust PEM   certificates to trust for time stamps
  --doc FILE        the document before it was sealed, or the file that a proof or time stamp is about
  --headers FILE    Bitcoin block headers to check proofs against: lines of HEIGHT HEADER_HEX
  --at INSTANT      verify as of this instant, such as 2026-01-31T12:00:00Z
  --with TARGET     a further manifest, certificate or verify URL of the same room; a document that a custody or proof
                    certificate may be about; a time stamp or proof of a sealed PDF; may be repeated
  --json            one JSON document: {verdict, checks: [{claim, result, detail}]}

Exit code: 0 verified, 1 not verified, 2 wrong usage.`;

/**
 * The `verify` command.
 *
 * @param argv the words after the command's own name
 * @returns the exit code
 */
export async function runVerify(argv: readonly string[], io: VerifyIo): Promise<number> {
  const asJson = argv.includes("--json");
  try {
    if (argv.includes("--help") || argv.includes("-h")) {
      io.out(`${USAGE}\n`);
      return 0;
    }
    const { target, values } = parsed(argv);
    const { json, text, exitCode } = await verifyAnswer(target, values, io);
    io.out(`${asJson ? JSON.stringify(json) : text}\n`);
    return exitCode;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    io.err(`verify: ${error.message}\n`);
    if (asJson) io.out(`${JSON.stringify({ error: error.message })}\n`);
    return 2;
  }
}

/**
 * Verifies one target.
 * @throws UsageError
 */
export async function verifyAnswer(target: string, values: VerifyValues, io: VerifyIo): Promise<VerifyAnswer> {
  const byDefault = isService(target) ? [] : io.trustedByDefault;
  const context = await contextOf(values, io.now(), byDefault);
  const found = await verifyTarget(target, values.with ?? [], context, {
    fetch: io.fetch,
    workers: availableParallelism(),
    progress: io.errIsTty ? (total) => progressBar(total, io.err) : null,
  }).catch((error: unknown) => {
    if (error instanceof UsageError) throw error;
    return failedOn(error);
  });
  const report =
    values.trust === undefined && byDefault.length > 0
      ? { ...found, checks: [defaultTrustCheck(byDefault), ...found.checks] }
      : found;
  return {
    json: jsonOf(target, report),
    text: printed(target, report, io.outIsTty),
    exitCode: exitCodeOf(report.verdict),
  };
}

/**
 * Makes the check that warns readers: this run trusts certificates that are trusted by default on this machine, because
 * `--trust` was not given.
 */
function defaultTrustCheck(paths: readonly string[]): Check {
  const why = `No --trust was given: the certificate of this installation is trusted, ${paths.join(", ")}.`;
  const command = paths
    .map((path) => `openssl x509 -noout -subject -fingerprint -sha256 -in ${quoted(path)}`)
    .join("\n");
  return check("seal_certificate_source", "holds", why, command);
}

/**
 * True if the target is a URL. Then the certificates that this machine trusts by default don't apply, because the
 * verifier fetches the service's own trust from that URL.
 */
function isService(target: string): boolean {
  return /^https?:\/\//i.test(target);
}

function parsed(argv: readonly string[]): { target: string; values: VerifyValues } {
  try {
    const options = { ...verifyOptions, json: { type: "boolean" } } as const;
    const { positionals, values } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
    const [target, another] = positionals;
    if (target === undefined || target === "" || another !== undefined) throw new UsageError(USAGE);
    return { target, values };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${error instanceof Error ? error.message.split(". ")[0] : error}\n\n${USAGE}`);
  }
}

function jsonOf(target: string, { verdict, kind, checks, facts, statement }: Report): object {
  return { verdict, checks, kind, target, facts, ...(statement && { statement }) };
}
