import type { Claim } from "@signsealship/evidence/claim";
import { verifyCustody } from "@signsealship/evidence/envelope";
import { EvidenceError } from "@signsealship/evidence/errors";
import { readSealPurpose } from "@signsealship/evidence/seal";
import type { NamedBytes } from "./files.ts";

/** Whether a PDF was sealed as a custody certificate, before anything of it is verified. */
export async function isCustodyCertificate({ bytes }: NamedBytes): Promise<boolean> {
  try {
    return (await readSealPurpose(bytes))?.kind === "custody";
  } catch (error) {
    if (error instanceof EvidenceError) return false;
    throw error;
  }
}

/** What is said of a custody certificate beside its seal. @param others the PDFs that were dropped with it */
export async function custodyClaims(
  certificate: NamedBytes,
  others: readonly NamedBytes[],
  context: Parameters<typeof verifyCustody>[2],
): Promise<readonly Claim[]> {
  const [document, another] = others;
  const { claims } = await verifyCustody(certificate.bytes, another ? null : (document?.bytes ?? null), context);
  return claims;
}
