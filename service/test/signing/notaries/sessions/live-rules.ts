import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const shipped = new URL("../../../../data/notarization-rules.yaml", import.meta.url);

const value = (name: string, text: string) =>
  `      ${name}:\n        value: ${text}\n        asOf: 2026-11-26\n        source: made up for tests\n`;

/**
 * The shipped rules with invented values for Ohio. With these, Ohio's notaries may meet signers by audio and video in
 * this service, and identify signers by personal knowledge.
 */
function liveRules(folder: string, values: Readonly<Record<string, string>> = {}): string {
  const file = join(folder, "rules.yaml");
  const known = { platform: "none", personalKnowledge: "true", recordingYears: "5", resumeSeconds: "60", ...values };
  const added = Object.entries(known).map(([name, text]) => value(name, text));
  const source = readFileSync(shipped, "utf8");
  const ohio = source.indexOf("\n  OH:\n");
  const online = "\n    online:\n";
  const at = source.indexOf(online, ohio) + online.length;
  writeFileSync(file, source.slice(0, at) + added.join("") + source.slice(at));
  return file;
}

/** Settings of a service with a media engine on loopback. */
export function liveSettings(folder: string, values: Readonly<Record<string, string>> = {}): Record<string, string> {
  const first = 30_000 + (process.pid % 200) * 40;
  return {
    MEDIA: "embedded",
    MEDIA_ANNOUNCE: "127.0.0.1",
    MEDIA_PORTS: `${first}-${first + 39}`,
    MEDIA_TCP: "off",
    // Sessions must not depend on the free disk space of the test machine.
    RECORDINGS_FREE_MB: "100",
    NOTARY_RULES: liveRules(folder, values),
  };
}
