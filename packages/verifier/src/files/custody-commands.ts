import type { EnvelopeEvidence } from "@signsealship/evidence/envelope";
import { quoted } from "./shell.ts";

/** Commands of other tools (poppler, jq, coreutils) that show the same, for the claims about a custody certificate. */
export function custodyCommands(
  { revisions, trail }: EnvelopeEvidence,
  certificate: string,
  document: string | null,
): ReadonlyMap<string, string> {
  const hash = "tr -d '\\n' | sha256sum";
  const act = trail.findIndex(({ event }) => event === "signed");
  const commands = new Map([
    ["custody_purpose", `pdfsig ${quoted(certificate)}`],
    ["envelope_readable", `pdfdetach -savefile envelope.json -o envelope.json ${quoted(certificate)}`],
    ["envelope_canonical", "jq -Sca . envelope.json | tr -d '\\n' | cmp - envelope.json"],
    ["trail_chain", `jq -Sca '.trail[0]' envelope.json | ${hash}; jq -r '.trail[1].previousSha256' envelope.json`],
    [
      "act_hashes",
      `jq -Sca '.trail[${act}].act' envelope.json | ${hash}; jq -r '.trail[${act}].actSha256' envelope.json`,
    ],
    ["revision_table", `jq -c '.revisions[]' envelope.json`],
  ]);
  if (document === null) return commands;
  const file = quoted(document);
  return new Map([
    ...commands,
    ["document_hash", `sha256sum ${file}`],
    ["document_revisions", `head -c ${revisions[1]?.bytes} ${file} | sha256sum`],
    ["document_acts", `grep -a -o 'SSSActSha256<[0-9a-f]*>' ${file}`],
    ["document_seal", `pdfsig ${file}`],
    ["document_signatures", `pdfsig ${file}`],
  ]);
}
