import type { Claim } from "../claim.ts";
import { sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import type { Manifest } from "../manifest/schema.ts";
import { openUnlocked } from "../pdf/encryption/unlock.ts";
import { walkFields } from "../pdf/field-texts.ts";
import { lastIndexOfText } from "../pdf/search.ts";
import { nameOf } from "../pdf/values.ts";
import type { SealPurpose } from "./purpose.ts";
import type { ProofVerification } from "./verify-proof.ts";

/** The purposes of seals on documents that the service itself makes. No manifest lists such a document. */
const unlisted: ReadonlySet<SealPurpose["kind"]> = new Set(["closing", "custody", "receipt", "journal", "certificate"]);

/** True if a manifest may list a file whose seal has this purpose, or a file without a seal. */
export const mayBeListed = (purpose: SealPurpose | null | undefined): boolean =>
  purpose == null || !unlisted.has(purpose.kind);

/** Manifests that are trusted to list a room's documents. The newest is the last one. */
export type RoomManifests = {
  readonly manifests: readonly Manifest[];
  /** The sentence for a file that no manifest names: "The closing certificate on this page does not name this file." */
  readonly unnamed: string;
};

/**
 * States which document of a closing a file is, according to the manifests of its room.
 *
 * The claim is unchecked for a file that no manifest lists, because the document may have been finished after the
 * manifests. The claim fails for a file that begins with a listed document and was then changed, with two exceptions.
 * - It holds if the service sealed the listed document, or a verified seal for the notarization covers the change.
 * - It is unchecked for `notarized_elsewhere`, and for an unsigned file with an empty signature field.
 *
 * A proof passport's seal is not enough, because anybody can get such a seal.
 * @param verification the result for the same bytes
 */
export async function roomDocumentClaim(
  bytes: Uint8Array,
  verification: ProofVerification,
  { manifests, unnamed }: RoomManifests,
): Promise<Claim<"document_of_this_room">> {
  const { sealedSha256, docSha256 } = verification;
  const name = "document_of_this_room";
  const namedBy = (hashes: readonly string[]) =>
    manifests.toReversed().flatMap((manifest) => wordsIn(manifest, hashes) ?? [])[0];
  // Archival time stamps may follow the sealed file, so the hash of the whole file is compared as well.
  const whole = namedBy([sealedSha256, await sha256Hex(bytes)]);
  if (whole !== undefined) return { name, state: "holds", why: whole };
  const within = docSha256 === null ? undefined : namedBy([docSha256]);
  const beginning = within ?? namedBy(await beginningsOf(bytes, verification));
  const kind = verification.seal?.purpose?.kind;
  const unsealed = verification.verdict === "unsigned" ? await unsealedBeginning(bytes, namedBy) : undefined;
  if (unsealed !== undefined) return { name, state: "fails", why: `${unsealed} ${changed}` };
  if (
    beginning !== undefined &&
    kind === "notarized" &&
    verification.verdict === "verified" &&
    isUnchanged(verification)
  )
    return { name, state: "holds", why: `${beginning} ${notListedYet}` };
  // True if the seal of the whole file is intact and is not that of a proof passport. If `within` is set, this seal
  // directly covers the listed file.
  const isOurs = kind !== undefined && kind !== "proof" && verification.verdict !== "not_verified";
  if (within !== undefined && isOurs) return { name, state: "holds", why: within };
  if (beginning !== undefined && kind !== "notarized_elsewhere")
    return { name, state: "fails", why: `${beginning} ${changed}` };
  return { name, state: "unchecked", why: unnamed };
}

const changed = "The chosen file begins with it, and was changed afterwards.";

const notListedYet =
  "The chosen file continues it, and was sealed as notarized; this version of the closing does not list that file yet.";

/** For each earlier seal of the service: the hash of the file's bytes up to the end of that seal's revision. */
async function beginningsOf(bytes: Uint8Array, { earlierSignatures }: ProofVerification): Promise<string[]> {
  const ends = earlierSignatures.flatMap(({ closes, revisionEnd }) =>
    closes && revisionEnd !== null && revisionEnd < bytes.length ? [revisionEnd] : [],
  );
  return Promise.all(ends.map((end) => sha256Hex(bytes.subarray(0, end))));
}

const endOfFile = "%%EOF";
/** The most end-of-file markers that are tried. Limits the hashing of a file with many revisions. */
const maxEnds = 8;

/**
 * For a file without any signature: the listed document that the file begins with, if other bytes follow that document.
 * The document may end at any of the last end-of-file markers, with or without a line end.
 *
 * A signed file is not examined, because the service may have made the manifest before it sealed the file. A file with
 * an empty signature field is not examined either. The service adds such fields before it shows a document to its
 * signers, and the signers can then download that document.
 */
async function unsealedBeginning(
  bytes: Uint8Array,
  namedBy: (hashes: readonly string[]) => string | undefined,
): Promise<string | undefined> {
  let at = bytes.length;
  // The position of a missing marker is -1. A prefix that ends there is shorter than any listed file, so it matches
  // none.
  const markers = Array.from({ length: maxEnds }, () => (at = lastIndexOfText(bytes, endOfFile, at, 0)));
  for (const marker of markers)
    for (const lineEnd of [0, 1, 2]) {
      const named = namedBy([await sha256Hex(bytes.subarray(0, marker + endOfFile.length + lineEnd))]);
      if (named !== undefined) return (await awaitsSignature(bytes)) ? undefined : named;
    }
  return undefined;
}

/** True if the file has an empty signature field. */
async function awaitsSignature(bytes: Uint8Array): Promise<boolean> {
  let awaits = false;
  try {
    walkFields(await openUnlocked(bytes), ({ field, held }) => {
      awaits ||= nameOf(field, "FT") === "Sig" && (held === undefined || held.kind === "null");
    });
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
  }
  return awaits;
}

const isUnchanged = ({ earlierSignatures }: ProofVerification): boolean =>
  earlierSignatures.every(({ claims }) =>
    claims.every(({ name, state }) => name !== "later_changes_permitted" || state !== "fails"),
  );

const files = [
  ["notarizedSha256", "the notarized file"],
  ["sealedSha256", "the signed file"],
  ["originalSha256", "the file as it was uploaded"],
] as const;

/** "Document 1 of 3 of closing 2026-1187 (Warranty deed): the notarized file."; null for another file. */
function wordsIn({ documents, passport }: Manifest, hashes: readonly string[]): string | null {
  for (const [index, document] of documents.entries())
    for (const [member, file] of files) {
      if (!hashes.includes(document[member] ?? "")) continue;
      const of = `Document ${index + 1} of ${documents.length} of closing ${passport.reference ?? passport.roomName}`;
      return `${of}${document.label === null ? "" : ` (${document.label})`}: ${file}.`;
    }
  return null;
}
