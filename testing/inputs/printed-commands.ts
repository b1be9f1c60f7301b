import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The shell scripts shown in a section of docs/evidence-format.md. Tests run them exactly as a reader would. */
export function printedScripts(section: string): string[] {
  const document = readFileSync(join(import.meta.dirname, "../../docs/evidence-format.md"), "utf8");
  const parts = document.split(/^(?=###? )/m);
  const part = parts.find((text) => text.startsWith(`## ${section}. `) || text.startsWith(`### ${section} `)) ?? "";
  return [...part.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, script = ""]) => script);
}
