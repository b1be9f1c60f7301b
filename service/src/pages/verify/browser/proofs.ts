import type { Claim } from "@signsealship/evidence/claim";
import { checkpointTokenNames, evidenceNames } from "@signsealship/evidence/records";
import { type DetachedEvidence, type ProofVerification, verifyProof } from "@signsealship/evidence/seal";
import { kindOf, type NamedBytes } from "./files.ts";
import { type FailedOutcome, failed } from "./outcome.ts";
import type { CheckContext } from "./trust.ts";

const evidencePieces: readonly string[] = [evidenceNames.token, evidenceNames.ots, evidenceNames.logProof];

/**
 * The names of files about the log's checkpoint. They are not limited to one of each kind, because a checkpoint may
 * have several time stamps.
 */
const checkpointPieces: readonly string[] = [...checkpointTokenNames, evidenceNames.checkpointOts];

/** The time stamps and proofs among the files that belong to one sealed PDF. */
export function evidenceIn(files: readonly NamedBytes[]): DetachedEvidence {
  const own = (kind: string) => files.find((one) => !checkpointPieces.includes(one.name) && kindOf(one) === kind);
  const [token, proof] = [own("der"), own("ots")];
  const logProof = files.find((one) => kindOf(one) === "log");
  const checkpointOts = files.find(({ name }) => name === evidenceNames.checkpointOts);
  const tokens = files.filter(({ name }) => checkpointTokenNames.includes(name)).map(({ bytes }) => bytes);
  return {
    ...(token && { timeStampToken: token.bytes }),
    ...(proof && { otsProof: proof.bytes }),
    ...(logProof && { logProof: logProof.bytes }),
    checkpoint: { tokens, ...(checkpointOts && { ots: checkpointOts.bytes }) },
  };
}

/**
 * Keeps one time stamp, one OpenTimestamps proof and one log proof in `companions`, and removes further ones. Prefers
 * files with the names of the evidence format. Files about the log's checkpoint all stay.
 * @returns the removed files, as failures: they were not checked
 */
export function withoutSeconds(companions: NamedBytes[]): FailedOutcome[] {
  const rank = ({ name }: NamedBytes) => (evidencePieces.includes(name) ? 0 : 1);
  const single = companions.filter(({ name }) => !checkpointPieces.includes(name));
  single.sort((a, b) => rank(a) - rank(b));
  const seconds = (["der", "ots", "log"] as const).flatMap((kind) =>
    single.filter((one) => kindOf(one) === kind).slice(1),
  );
  for (const file of seconds) companions.splice(companions.indexOf(file), 1);
  return seconds.map((file) =>
    failed(file, "Another file of this kind was checked. Choose this one with the PDF alone."),
  );
}

/**
 * Removes the time stamps and proofs of a closing certificate from `companions`, and returns them.
 * @param named the proofs whose file names begin with the certificate's file name
 * @param isAlone true if there is no other PDF, so that all time stamps and proofs must be the certificate's
 */
export function extractProofs(companions: NamedBytes[], named: readonly NamedBytes[], isAlone: boolean): NamedBytes[] {
  const proofs = isAlone ? companions.filter((file) => ["der", "ots", "log"].includes(kindOf(file))) : [...named];
  for (const proof of proofs) if (companions.includes(proof)) companions.splice(companions.indexOf(proof), 1);
  return proofs;
}

/** The result of verifying a closing certificate together with its proofs. `claims`: only those about the proofs. */
export type ProvenCertificate = { claims: readonly Claim[]; verification: ProofVerification };

const isByProofs = (name: string): boolean =>
  name.startsWith("log_") || name === "anchored_in_block" || name === "separate_time_stamp_valid";

/**
 * Verifies the proofs of a closing certificate, as for any sealed PDF. The claims' names begin with the certificate's
 * version, as in the other claims about it.
 */
export async function checkProofs(
  certificate: Uint8Array,
  proofs: readonly NamedBytes[],
  version: number | null,
  { trust, at, crypto }: CheckContext,
): Promise<ProvenCertificate> {
  const verification = await verifyProof(certificate, trust, at, { crypto, detached: evidenceIn(proofs) });
  const claims = verification.claims
    .filter(({ name }) => isByProofs(name))
    .map((claim) => ({ ...claim, name: `certificate.v${version ?? "?"}.${claim.name}` }));
  return { claims, verification };
}
