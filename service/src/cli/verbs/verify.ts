import { UsageError as VerifierUsageError, verifyAnswer, verifyOptions } from "@signsealship/verifier";
import { ownCertificateFiles } from "../../evidence/seals/seals.ts";
import { readConfig } from "../../kernel/config/config.ts";
import { StartupError } from "../../kernel/platform/errors.ts";
import { root } from "../../upkeep/resources.ts";
import { defineVerb, UsageError } from "../verb.ts";

/** Files with the certificates of this installation's own seal key. They are trusted by default. */
async function ownCertificates(): Promise<string[]> {
  try {
    return await ownCertificateFiles(readConfig(process.env, process.cwd(), root));
  } catch (error) {
    // Verifying needs no settings. If the settings are invalid, only the certificates named on the command line are
    // trusted.
    if (error instanceof StartupError) return [];
    throw error;
  }
}

/** The verb needs no database. It needs a running service only for a verify URL. */
export const verify = defineVerb({
  name: "verify",
  args: ["TARGET"],
  options: verifyOptions,
  summary:
    "Verifies a sealed PDF, manifest, evidence zip, proof, time stamp, a folder of them, or a verify URL, claim by claim.",
  async run([target = ""], values) {
    try {
      return await verifyAnswer(target, values, {
        out: (text) => process.stdout.write(text),
        err: (text) => process.stderr.write(text),
        outIsTty: process.stdout.isTTY === true,
        errIsTty: process.stderr.isTTY === true,
        now: Date.now,
        fetch: globalThis.fetch,
        trustedByDefault: await ownCertificates(),
      });
    } catch (error) {
      throw error instanceof VerifierUsageError ? new UsageError(error.message) : error;
    }
  },
});
