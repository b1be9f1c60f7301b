import type { Claim } from "../claim.ts";
import { isWithin } from "../pdf/changes/changes.ts";
import { lengthNotStated } from "../pdf/structure.ts";
import type { EarlierSignature } from "./earlier-signatures.ts";
import type { SealVerification } from "./verify-seal.ts";

export type ArchivalClaimName = "archival_time_stamp";

/** The findings about a whole file. They show whether the file ends with archival time stamps. */
type Whole = {
  readonly claims: readonly Claim[];
  readonly seal: SealVerification | null;
  readonly earlierSignatures: readonly EarlierSignature[];
};

/**
 * The length of the sealed file inside a file that ends with archival document time stamps. The last time stamp must be
 * trusted and cover the whole file. The last seal must be a trusted seal of the service. Between this seal and the last
 * time stamp, only validation data, metadata and intact time stamps are allowed.
 *
 * @returns null for any other file
 */
export function archivedLength({ claims, seal, earlierSignatures }: Whole): number | null {
  // `signature_structure` fails for every time stamp, because a time stamp does not state the length of the document.
  // If the claim fails for another reason, the time stamp is not placed as a seal would be.
  const structure = claims.find(({ name }) => name === "signature_structure");
  if (seal === null || !isTrustedStamp(seal) || structure?.why !== `${lengthNotStated}.`) return null;
  let length = 0;
  let sealed: EarlierSignature | null = null;
  for (const one of earlierSignatures) {
    if (one.revisionEnd === null) return null;
    if (one.pades?.format === "document-time-stamp" || one.revisionEnd <= length) continue;
    length = one.revisionEnd;
    sealed = one;
  }
  if (!sealed?.closes || !isWithin(sealed.laterChanges ?? "other", "validation")) return null;
  const last = earlierSignatures.filter(({ revisionEnd }) => (revisionEnd ?? 0) >= length);
  return last.every((one) => one.claims.every(({ state }) => state === "holds")) ? length : null;
}

const isTrustedStamp = ({ pades: { format, valid, timeStamps } }: SealVerification): boolean =>
  format === "document-time-stamp" && valid && timeStamps.every(({ trusted }) => trusted);

export function archivalClaim({ seal }: Whole, length: number): Claim<ArchivalClaimName> {
  const times = (seal?.pades.timeStamps ?? []).map(({ genTime }) => new Date(genTime ?? 0).toISOString());
  return {
    name: "archival_time_stamp",
    state: "holds",
    why: `Nothing follows the ${length} bytes of the sealed file but time stamps, data to validate them, and metadata, such as a title that anybody may have written. A trusted authority stamped the whole file at ${times.join(", ")}.`,
  };
}
