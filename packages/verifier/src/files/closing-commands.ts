import type { Claim } from "@signsealship/evidence/claim";
import { quoted } from "./shell.ts";

/**
 * Commands of other tools (poppler, jq, coreutils) with which readers can check each claim about one version of a
 * Closing Passport themselves.
 *
 * @param paths of the manifest and of the certificate; if there is no manifest file, a command extracts the manifest
 * from the certificate, as `manifest-vN.json`
 */
export function closingCommands(
  claims: readonly Claim[],
  paths: { readonly manifest?: string; readonly certificate?: string },
): ReadonlyMap<string, string> {
  const commands = new Map<string, string>();
  for (const { name } of claims) {
    const [subject, version = "", what = ""] = name.split(".");
    const manifest = paths.manifest ?? manifestName(version.slice(1));
    const command =
      subject === "manifest" ? manifestCommand(what, quoted(manifest)) : certificateCommand(what, manifest, paths);
    if (command !== undefined && subject !== "chain") commands.set(name, command);
  }
  return commands;
}

/** The path to which the commands write a manifest that they extract from a certificate. */
export const manifestName = (version: number | string): string => `manifest-v${version === "?" ? "" : version}.json`;

function manifestCommand(what: string, manifest: string): string | undefined {
  switch (what) {
    case "schema":
      return `jq . ${manifest}`;
    case "canonical":
      return `jq -Sca . ${manifest} | tr -d '\\n' | cmp - ${manifest}`;
    case "hash":
      return `sha256sum ${manifest}`;
    case "version":
      return `jq .passport.version ${manifest}`;
    case "room":
      return `jq -r .passport.roomCode ${manifest}`;
    case "link":
      return `jq -r .passport.prevManifestSha256 ${manifest}`;
    default:
      return undefined;
  }
}

function certificateCommand(
  what: string,
  manifest: string,
  paths: { readonly manifest?: string; readonly certificate?: string },
): string | undefined {
  if (paths.certificate === undefined) return undefined;
  const certificate = quoted(paths.certificate);
  switch (what) {
    case "seal":
      return `pdfsig ${certificate}`;
    case "hash":
      return `sha256sum ${certificate}`;
    case "manifest":
      return paths.manifest === undefined
        ? `pdfdetach -savefile manifest.json -o ${quoted(manifest)} ${certificate}`
        : `pdfdetach -savefile manifest.json -o /dev/stdout ${certificate} | cmp - ${quoted(manifest)}`;
    default:
      return undefined;
  }
}
