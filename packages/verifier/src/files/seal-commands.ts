import type { Context } from "../context.ts";
import type { SealParts } from "./seal-parts.ts";
import { quoted } from "./shell.ts";

/** Paths of what lies beside a sealed PDF, as the commands should name them. */
export type BesidePaths = { readonly token?: string; readonly ots?: string };

/**
 * For each claim about a sealed PDF the commands of foreign tools (poppler, openssl 3, xxd, coreutils, the
 * OpenTimestamps client) that show the same, to be run in order in one folder.
 */
export function sealCommands(
  path: string,
  parts: SealParts | null,
  beside: BesidePaths,
  { trustPath, tsaTrustPath }: Pick<Context, "trustPath" | "tsaTrustPath">,
): ReadonlyMap<string, string> {
  const file = quoted(path);
  const commands = new Map<string, string>([
    ["pdf_readable", `qpdf --check ${file}`],
    ["whole_file_covered", `pdfsig ${file}`],
    ["certification_respected", `pdfsig ${file}`],
    ["sealed_hash_as_expected", `sha256sum ${file}`],
    ["record_sealed_hash", `sha256sum ${file}`],
  ]);
  if (beside.ots !== undefined) commands.set("anchored_in_block", `ots verify -f ${file} ${quoted(beside.ots)}`);
  if (parts === null) return commands;
  const { gapStart, gapEnd, cmsLength, originalLength, signature, token } = parts;
  const trusted = trustPath === null ? "-noverify" : `-CAfile ${quoted(trustPath)} -partial_chain -purpose any`;
  const verify = (trust: string) =>
    `openssl cms -verify -binary -inform DER -in seal.p7s -content covered.bin ${trust} -out /dev/null`;
  commands.set(
    "document_unchanged_since_seal",
    [
      `tail -c +${gapStart + 2} ${file} | head -c ${2 * cmsLength} | xxd -r -p > seal.p7s`,
      `{ head -c ${gapStart} ${file}; tail -c +${gapEnd + 1} ${file}; } > covered.bin`,
      verify("-noverify"),
    ].join("\n"),
  );
  commands.set("seal_signature_valid", `openssl cms -cmsout -print -inform DER -in seal.p7s -noout`);
  commands.set("seal_certificate_trusted", verify(trusted));
  commands.set(
    "seal_certificate_valid_at_time",
    "openssl pkcs7 -inform DER -in seal.p7s -print_certs | openssl x509 -noout -subject -dates -fingerprint -sha256",
  );
  if (originalLength !== null) {
    const original = `head -c ${originalLength} ${file} | sha256sum`;
    for (const claim of ["original_document_hash", "document_hash_as_expected", "record_document_hash"]) {
      commands.set(claim, original);
    }
  }
  const value =
    signature === null
      ? null
      : `tail -c +${signature.start + 1} seal.p7s | head -c ${signature.length} > signature.bin`;
  if (value !== null && token !== null) {
    const cut = `tail -c +${token.start + 1} seal.p7s | head -c ${token.length} > token.tst`;
    commands.set("time_stamp_valid", [value, cut, tsCommand("token.tst", tsaTrustPath)].join("\n"));
  }
  if (value !== null && beside.token !== undefined) {
    const show = tsCommand(beside.token, tsaTrustPath);
    commands.set("separate_time_stamp_valid", [value, show].join("\n"));
  }
  return commands;
}

function tsCommand(token: string, tsaTrustPath: string | null): string {
  return tsaTrustPath === null
    ? `openssl ts -reply -token_in -in ${quoted(token)} -text`
    : `openssl ts -verify -data signature.bin -token_in -in ${quoted(token)} -CAfile ${quoted(tsaTrustPath)} -partial_chain`;
}
