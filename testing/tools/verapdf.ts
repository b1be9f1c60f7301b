import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../temporary-folder.ts";
import { jarPath } from "./java.ts";

/** The validator of the PDF Association's members, with all that it needs. */
export const veraPdf = "org.verapdf.apps:greenfield-apps:1.28.2";

/** The rules of a profile that files break, by the file's name; PDF/A-3a and PDF/UA-1. */
export function brokenRules(profile: "3a" | "ua1", files: Readonly<Record<string, Uint8Array>>): string[] {
  const { path: folder, remove } = temporaryFolder();
  const paths = Object.entries(files).map(([name, bytes]) => {
    const path = join(folder, `${name}.pdf`);
    writeFileSync(path, bytes);
    return path;
  });
  // It runs for a second: compiling it well, beside it, costs more than it gains.
  const machine = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"];
  const program = [...machine, "-cp", jarPath(veraPdf), "org.verapdf.apps.GreenfieldCliWrapper"];
  const { stdout, stderr } = spawnSync("java", [...program, "-f", profile, "--format", "text", "-v", ...paths], {
    encoding: "utf8",
  });
  remove();
  const lines = stdout.trim().split("\n");
  const passed = lines.filter((line) => line.startsWith("PASS ")).length;
  if (passed === paths.length && lines.length === passed) return [];
  return [...lines, stderr].filter((line) => !line.startsWith("PASS "));
}
