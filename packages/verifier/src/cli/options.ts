import { EvidenceError } from "@signsealship/evidence/errors";
import { isNoteKey, parseWitnessPolicy, type TrustedLog } from "@signsealship/evidence/log";
import { isTrustList, readTrust, type TrustList } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import { readBounded } from "../files/read-file.ts";
import { createNodeCrypto } from "../node-crypto.ts";

/**
 * The options of `verify`, in the shape of `node:util` parseArgs. `value` names the option's value in the usage line.
 */
export const verifyOptions = {
  trust: { type: "string", value: "FILE", help: "PEM certificates or a trust list (JSON) that seals must lead to." },
  "tsa-trust": { type: "string", value: "PEM", help: "PEM roots that time stamps must lead to." },
  log: {
    type: "string",
    multiple: true,
    value: "KEY",
    help: "The key of a transparency log (NAME+ID+BASE64); may be given more than once.",
  },
  "log-policy": {
    type: "string",
    value: "FILE",
    help: "A policy (C2SP tlog-policy): the logs to trust, and the witnesses that must have cosigned.",
  },
  at: { type: "string", value: "INSTANT", help: "The instant to judge at (ISO 8601), where nothing proves a time." },
  headers: { type: "string", value: "FILE", help: "Block headers of Bitcoin, for a check without a network." },
  doc: { type: "string", value: "FILE", help: "The document that a detached proof or manifest speaks of." },
  with: {
    type: "string",
    multiple: true,
    value: "TARGET",
    help: "Another file that belongs to it; may be given more than once.",
  },
} as const;

/** The options in the form in which the command's usage line shows them. */
export const verifyFlags = Object.entries(verifyOptions)
  .map(([name, option]) => `[--${name} ${option.value}]${"multiple" in option ? "..." : ""}`)
  .join(" ");

/** The options as parsed from the command line. */
export type VerifyValues = {
  readonly [Name in keyof typeof verifyOptions]?:
    | ((typeof verifyOptions)[Name] extends { multiple: true } ? readonly string[] : string)
    | undefined;
};

const MAX_SIDE_FILE = 16 * 1024 * 1024;

/**
 * Reads the files that the options name.
 *
 * @param fallback PEM files whose first certificates are trusted when `--trust` is not given
 * @throws UsageError for a faulty option, or a file that is unreadable or too large
 */
export async function contextOf(values: VerifyValues, now: number, fallback: readonly string[]): Promise<Context> {
  const { trust: named, "tsa-trust": tsaTrustPath } = values;
  const trust = await trustOf(named, fallback);
  const tsaAnchors =
    tsaTrustPath === undefined ? [] : await readFrom("--tsa-trust", tsaTrustPath, parseCertificatesPem);
  const headers = values.headers === undefined ? null : await readText(values.headers);
  const doc = values.doc === undefined ? null : { path: values.doc, bytes: await readBounded(values.doc) };
  return {
    trust: {
      sealAnchors: trust.sealAnchors,
      signerAnchors: trust.signerAnchors,
      retired: trust.retired,
      tsaAnchors: [...trust.tsaAnchors, ...tsaAnchors],
      // Combines the logs of the policy, of the trust file, and of `--log`. Only a policy lists the witnesses that must
      // have cosigned.
      logs: [...(await logsOfPolicy(values["log-policy"])), ...trust.logs, ...(values.log ?? []).map(trustedLog)],
      blockHeaders: headers === null ? new Map() : parseHeaders(headers),
    },
    at: values.at === undefined ? now : instantOf("--at", values.at),
    crypto: createNodeCrypto(),
    doc,
    trustPath: trust.pemPath,
    tsaTrustPath: tsaTrustPath ?? null,
  };
}

function trustedLog(key: string): TrustedLog {
  if (!isNoteKey(key)) throw new UsageError("--log must be the key of a log, as example.com/log/live+01234567+A...");
  return { environment: null, key };
}

async function logsOfPolicy(path: string | undefined): Promise<TrustedLog[]> {
  if (path === undefined) return [];
  const policy = await readFrom("--log-policy", path, parseWitnessPolicy);
  if (policy.logs.length === 0) throw new UsageError(`--log-policy: ${path}: the policy names no log`);
  return policy.logs.map((key) => ({ environment: null, key, policy }));
}

type ChosenTrust = TrustList & { readonly pemPath: string | null };

async function trustOf(named: string | undefined, fallback: readonly string[]): Promise<ChosenTrust> {
  if (named === undefined) return ownTrust(fallback);
  return readFrom("--trust", named, (text) => ({
    ...readTrust(text),
    // The printed commands of other tools can't read a trust list, so they name only PEM files.
    pemPath: isTrustList(text) ? null : named,
  }));
}

async function ownTrust(paths: readonly string[]): Promise<ChosenTrust> {
  const chains = await Promise.all(paths.map((path) => readFrom("--trust", path, parseCertificatesPem)));
  // Trusts only the first certificate of a chain, which is the seal's own. Trust in the issuers above it would extend
  // to every certificate that they issue.
  const sealAnchors = chains.flatMap((chain) => chain.slice(0, 1));
  // The printed commands of other tools accept only one file.
  return {
    sealAnchors,
    signerAnchors: [],
    retired: [],
    tsaAnchors: [],
    logs: [],
    pemPath: (paths.length === 1 && paths[0]) || null,
  };
}

async function readText(path: string): Promise<string> {
  return new TextDecoder().decode(await readBounded(path, MAX_SIDE_FILE));
}

async function readFrom<T>(option: string, path: string, parse: (text: string) => T | Promise<T>): Promise<T> {
  const text = await readText(path);
  try {
    return await parse(text);
  } catch (error) {
    if (error instanceof EvidenceError) throw new UsageError(`${option}: ${path}: ${error.message}`);
    throw error;
  }
}

const INSTANT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/**
 * Parses an ISO 8601 date or instant as epoch ms. The zone is UTC unless the text states one.
 * @throws UsageError for any other text, and for a day that no calendar has
 */
export function instantOf(option: string, text: string): number {
  const [, day = "", time, , , zone] = INSTANT.exec(text) ?? [];
  const instant = Date.parse(time === undefined || zone !== undefined ? text : `${text}Z`);
  const midnight = Date.parse(`${day}T00:00:00Z`);
  const exists = !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(day);
  if (Number.isNaN(instant) || !exists)
    throw new UsageError(`${option} must be an instant such as 2026-01-31T12:00:00Z`);
  return instant;
}

const LINE = /^(\d{1,9})\s+([0-9a-fA-F]{160})$/;

/**
 * Parses block headers from text. Each line has a height and a header's 80 bytes in hex, as `bitcoin-cli getblockheader
 * HASH false` prints them. Empty lines and lines that begin with `#` are skipped.
 *
 * @throws UsageError for the first line that is malformed or repeats a height
 */
function parseHeaders(text: string): ReadonlyMap<number, Uint8Array> {
  const headers = new Map<number, Uint8Array>();
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const [, height, hex = ""] = LINE.exec(line) ?? [];
    if (height === undefined) throw new UsageError(`--headers: line ${index + 1} is not HEIGHT HEADER_HEX`);
    if (headers.has(Number(height)))
      throw new UsageError(`--headers: line ${index + 1} has a height for the second time`);
    headers.set(Number(height), Uint8Array.from(Buffer.from(hex, "hex")));
  }
  return headers;
}
