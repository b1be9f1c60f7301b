import { type Claim, claim } from "@signsealship/evidence/claim";
import { sha256Hex } from "@signsealship/evidence/digest";
import { EvidenceError } from "@signsealship/evidence/errors";
import { parseProofRecord, recordClaims } from "@signsealship/evidence/records";
import type { ProofVerification } from "@signsealship/evidence/seal";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import { kindOf, type NamedBytes } from "./files.ts";

/**
 * The findings from proof records and seal certificates that were dropped together with a PDF. As on the command line,
 * they can only lower the verdict.
 */
export type CompanionFindings = {
  readonly claims: readonly Claim[];
  readonly fails: boolean;
  readonly isTest: boolean;
};

/** Compares a sealed PDF with the files dropped together with it. */
export async function companionFindings(
  companions: readonly NamedBytes[],
  verification: ProofVerification,
): Promise<CompanionFindings> {
  const claims: Claim[] = [];
  let isTest = false;
  for (const file of companions) {
    const kind = kindOf(file);
    if (kind === "certificates") claims.push(await certificatesClaim(file, verification));
    if (kind !== "record") continue;
    try {
      const record = parseProofRecord(file.bytes);
      const { sealedSha256, docSha256 } = verification;
      isTest ||= record.isTest;
      claims.push(...recordClaims(record, { sealedSha256, docSha256: docSha256 ?? undefined }));
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      claims.push({ name: "record_readable", state: "fails", why: `The record cannot be read: ${error.message}.` });
    }
  }
  return { claims, isTest, fails: claims.some(({ state }) => state === "fails") };
}

async function certificatesClaim({ bytes }: NamedBytes, { seal }: ProofVerification): Promise<Claim> {
  const name = "certificates_are_the_seals";
  const own = seal?.pades.certificate;
  try {
    const [leaf] = parseCertificatesPem(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    const same = leaf !== undefined && !!own && (await sha256Hex(leaf.der)) === (await sha256Hex(own.der));
    const good = "The certificate file is that of the seal. Being here does not make it trusted.";
    return claim(name, same, good, "The certificate file is not that of the seal.");
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return { name, state: "fails", why: `The certificate file cannot be read: ${error.message}.` };
  }
}
