import type { Claim } from "@signsealship/evidence/claim";
import { EvidenceError } from "@signsealship/evidence/errors";
import { type ProofTrust, readTrust, type TrustList } from "@signsealship/evidence/seal";
import type { createWebCrypto } from "@signsealship/evidence/webcrypto";
import type { ReadersTrust, VerifyConfig } from "./config.ts";
import { type FailedOutcome, sentence } from "./outcome.ts";

/** The context of every check. `at` is the time of the verification, in epoch ms. */
export type CheckContext = {
  config: VerifyConfig;
  trust: ProofTrust;
  at: number;
  crypto: ReturnType<typeof createWebCrypto>;
};

/**
 * The certificates that the page and its reader trust. Unreadable certificates are ignored, and listed among the
 * failures.
 */
export function trustFrom(config: VerifyConfig, fromReader: ReadersTrust, failures: FailedOutcome[]): ProofTrust {
  const read = (name: string, text: string): TrustList => {
    if (text.trim() === "") return nobody;
    try {
      return readTrust(text);
    } catch (error) {
      if (!(error instanceof EvidenceError)) throw error;
      failures.push({ kind: "failed", name, why: `${sentence(error.message)} It was ignored.` });
      return nobody;
    }
  };
  const lists = [
    read("The service's certificates", config.sealCertificates),
    read("Your seal certificate", fromReader.seal),
  ];
  const stampers = read("Your time-stamping certificate", fromReader.timeStamping).sealAnchors;
  return {
    sealAnchors: lists.flatMap(({ sealAnchors }) => sealAnchors),
    signerAnchors: lists.flatMap(({ signerAnchors }) => signerAnchors),
    retired: lists.flatMap(({ retired }) => retired),
    logs: lists.flatMap(({ logs }) => logs),
    tsaAnchors: [...lists.flatMap(({ tsaAnchors }) => tsaAnchors), ...stampers],
  };
}

const nobody: TrustList = { sealAnchors: [], signerAnchors: [], retired: [], tsaAnchors: [], logs: [] };

/**
 * A claim that states the origin of the trusted certificates. Certificates that were loaded with the page prove nothing
 * to a reader who doubts this service.
 */
export function trustClaim({ sealCertificates }: VerifyConfig): Claim[] {
  if (sealCertificates.trim() === "") return [];
  const why = "The certificates of the service that made this page are trusted.";
  return [{ name: "seal_certificate_source", state: "holds", why }];
}
