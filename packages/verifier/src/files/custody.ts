import { type EnvelopeEvidence, verifyCustody } from "@signsealship/evidence/envelope";
import type { Context, NamedBytes } from "../context.ts";
import { checksOf, type Report, withChecks, worstOf } from "./report.ts";
import { quoted } from "./shell.ts";

/**
 * Adds the checks of a custody certificate's envelope to the report on its seal. If the sealed document is given, adds
 * the checks of that document too.
 */
export async function asCustody(
  file: NamedBytes,
  report: Report,
  document: NamedBytes | null,
  context: Context,
): Promise<Report> {
  const custody = await verifyCustody(file.bytes, document?.bytes ?? null, context);
  const { envelope } = custody;
  const commands = envelope ? custodyCommands(envelope, file.path, document?.path ?? null) : undefined;
  const whole = withChecks(report, checksOf(custody.claims, commands));
  // The verdict includes the document's verdict, so an untrusted seal of the document lowers it. A verified document of
  // a test gets `verified_test`.
  const test = envelope?.environment === "test" && custody.document?.verdict === "verified";
  const ofDocument = test ? "verified_test" : custody.document?.verdict;
  return {
    ...whole,
    verdict: ofDocument && whole.verdict !== "not_verified" ? worstOf([whole.verdict, ofDocument]) : whole.verdict,
    kind: "custody_certificate",
    isOfAnotherFile: custody.isOfAnotherFile && (report.verdict === "verified" || report.verdict === "verified_test"),
    facts: {
      ...whole.facts,
      ...(envelope && {
        envelope: envelope.verifyCode,
        order: envelope.orderCode,
        signers: envelope.signers.map(({ name }) => name),
        documentSha256: envelope.document.sealedSha256,
      }),
    },
  };
}

/**
 * Commands of other tools (poppler, jq, coreutils) with which readers can check the claims about a custody certificate
 * themselves.
 */
function custodyCommands(
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
