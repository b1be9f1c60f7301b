import type { Context } from "../context.ts";
import { otsCommands } from "./ots-commands.ts";
import type { SealParts } from "./seal-parts.ts";
import { quoted } from "./shell.ts";

/**
 * Facts about a sealed PDF that the commands need: the paths to print, and instants as epoch ms. `SealParts` has the
 * byte offsets.
 */
export type SealFacts = {
  readonly ots?: string;
  /** The detached token, and whether it covers the whole file or the signature value. */
  readonly token?: { readonly path: string; readonly overFile: boolean; readonly genTime: number | null };
  /** The instant at which the certificate must be valid. */
  readonly instant: number;
  /** The time that the first time-stamp token in the seal states. */
  readonly genTime: number | null;
};

/** The DER of the object identifier of signingTime, 1.2.840.113549.1.9.5. */
const SIGNING_TIME = "06092a864886f70d010905";

type Trust = Pick<Context, "trustPath" | "tsaTrustPath">;

/**
 * Commands of other tools (poppler, qpdf, openssl 3, xxd, coreutils, the OpenTimestamps client) with which readers can
 * check each claim about a sealed PDF themselves. Run them in order in one folder.
 */
export function sealCommands(
  path: string,
  parts: SealParts | null,
  facts: SealFacts,
  { trustPath, tsaTrustPath }: Trust,
): ReadonlyMap<string, string> {
  const file = quoted(path);
  const commands = new Map<string, string>([
    ["pdf_readable", `qpdf --check ${file}`],
    ["whole_file_covered", `pdfsig ${file}`],
    ["sealed_hash_as_expected", `sha256sum ${file}`],
  ]);
  if (facts.ots !== undefined) commands.set("anchored_in_block", otsCommands(facts.ots, `-f ${file}`).bitcoin);
  if (parts === null) return commands;
  const at = attime(facts.instant);
  const verify = `openssl cms -verify -binary -inform DER -in seal.p7s -content covered.bin`;
  commands.set(
    "document_unchanged_since_seal",
    `${partsCommands(path, parts)}\n${verify} -noverify -signer signer.pem -out /dev/null`,
  );
  commands.set(
    "seal_signature_valid",
    [
      `${verify} -cades -CAfile signer.pem -partial_chain -purpose any -no_check_time -out /dev/null`,
      // Only the bytes before the signature value must have no signingTime. A time stamp, which comes after that value,
      // has a signingTime of its own.
      `! head -c ${parts.signature?.start ?? parts.cmsLength} seal.p7s | xxd -p | tr -d '\\n' | grep ${SIGNING_TIME}`,
    ].join("\n"),
  );
  commands.set("seal_purpose", `head -c ${parts.gapStart} ${file} | tail -c 300 | grep -a /Reason`);
  if (trustPath !== null) {
    const trusted = `-CAfile ${quoted(trustPath)} -partial_chain -purpose any`;
    commands.set("seal_certificate_trusted", `${verify} ${trusted} ${at} -out /dev/null`);
  }
  commands.set(
    "seal_certificate_valid_at_time",
    [
      "openssl x509 -in signer.pem -noout -subject -serial -dates -fingerprint -sha256",
      `openssl verify -partial_chain ${at} -trusted signer.pem signer.pem`,
    ].join("\n"),
  );
  if (parts.originalLength !== null) {
    const original = `head -c ${parts.originalLength} ${file} | sha256sum`;
    for (const claim of ["original_document_hash", "document_hash_as_expected"]) commands.set(claim, original);
  }
  for (const [claim, command] of stampCommands(path, parts, facts, tsaTrustPath)) commands.set(claim, command);
  return commands;
}

/** The commands that extract the signature value as seal.p7s, and join the bytes that it covers as covered.bin. */
export function partsCommands(path: string, { gapStart, gapEnd, cmsLength }: SealParts): string {
  const file = quoted(path);
  return [
    `tail -c +${gapStart + 2} ${file} | head -c ${2 * cmsLength} | xxd -r -p > seal.p7s`,
    `{ head -c ${gapStart} ${file}; tail -c +${gapEnd + 1} ${file}; } > covered.bin`,
  ].join("\n");
}

/**
 * The command that extracts from seal.p7s the bytes that the seal's time stamp covers, as signature.bin. Null if the
 * signature value was not found.
 */
export const signatureCommand = ({ signature }: SealParts): string | null =>
  signature && `tail -c +${signature.start + 1} seal.p7s | head -c ${signature.length} > signature.bin`;

function stampCommands(
  path: string,
  parts: SealParts,
  { token, genTime }: SealFacts,
  tsaTrustPath: string | null,
): [string, string][] {
  const value = signatureCommand(parts);
  if (value === null) return [];
  const commands: [string, string][] = [];
  if (parts.token !== null) {
    const cut = `tail -c +${parts.token.start + 1} seal.p7s | head -c ${parts.token.length} > token.tst`;
    const show = tokenCommand({ token: "token.tst", data: "signature.bin", genTime }, tsaTrustPath);
    commands.push(["time_stamp_valid", [value, cut, show].join("\n")]);
  }
  if (token !== undefined) {
    const data = token.overFile ? path : "signature.bin";
    const show = tokenCommand({ token: token.path, data, genTime: token.genTime }, tsaTrustPath);
    commands.push(["separate_time_stamp_valid", [value, show].join("\n")]);
  }
  return commands;
}

type Stamp = {
  readonly token: string;
  readonly data: string;
  readonly genTime: number | null;
  /** True if the file is a complete TimeStampResp and not a bare token. */
  readonly response?: boolean;
};

/**
 * The command that verifies a time stamp at the stamped time. If the authority's certificate is not given, the command
 * only prints the time stamp.
 */
export function tokenCommand({ token, data, genTime, response }: Stamp, tsaTrustPath: string | null): string {
  const input = `${response ? "" : "-token_in "}-in ${quoted(token)}`;
  if (tsaTrustPath === null) return `openssl ts -reply ${input} -text`;
  const at = genTime === null ? "" : ` ${attime(genTime)}`;
  return `openssl ts -verify -data ${quoted(data)} ${input} -CAfile ${quoted(tsaTrustPath)} -partial_chain${at}`;
}

/**
 * The option that gives openssl the instant of verification, in seconds since 1970. Without it, openssl would use the
 * present time, when the certificate may have expired.
 */
const attime = (instant: number): string => `-attime ${Math.floor(instant / 1000)}`;
