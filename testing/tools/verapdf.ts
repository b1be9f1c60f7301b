import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { jarPath } from "./java.ts";

/** veraPDF, the validator of the PDF Association, with its dependencies. */
export const veraPdf = "org.verapdf.apps:greenfield-apps:1.28.2";

/**
 * veraPDF's report about the files, with the rules of PDF/A-3a and PDF/UA-1 that they break; empty when they break
 * none. Every file must claim conformance with both standards.
 */
export function brokenRules(files: Readonly<Record<string, Uint8Array>>): string[] {
  const { path: folder, remove } = temporaryFolder();
  const paths = Object.entries(files).map(([name, bytes]) => {
    const path = join(folder, `${name}.pdf`);
    writeFileSync(path, bytes);
    return path;
  });
  // veraPDF runs for about a second, so optimizing compilation would cost more time than it saves.
  const machine = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
  const program = [...machine, "-cp", jarPath(veraPdf), "org.verapdf.apps.GreenfieldCliWrapper"];
  // Checks both profiles in one run: 0 selects the profiles that a file claims.
  const { stdout, stderr } = spawnSync("java", [...program, "-f", "0", "--format", "text", "-v", ...paths], {
    encoding: "utf8",
  });
  remove();
  const lines = stdout.trim().split("\n");
  const kept = paths.flatMap((path) => ["3a", "ua1"].map((profile) => `PASS ${path} ${profile}`));
  return kept.every((line) => lines.includes(line)) ? [] : [...lines, stderr];
}
