import { verifyCustody } from "@signsealship/evidence/envelope";
import type { Context, NamedBytes } from "../context.ts";
import { custodyCommands } from "./custody-commands.ts";
import { checksOf, type Report, withChecks, worstOf } from "./report.ts";

/**
 * The part of a custody certificate's report that is not about its seal: the envelope and, if given, the sealed
 * document.
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
  // An untrusted seal on the document lowers the verdict of the whole set.
  const test = envelope?.environment === "test" && custody.document?.verdict === "verified";
  const ofDocument = test ? "verified_test" : custody.document?.verdict;
  return {
    ...whole,
    verdict: ofDocument && whole.verdict !== "not_verified" ? worstOf([whole.verdict, ofDocument]) : whole.verdict,
    kind: "custody_certificate",
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
