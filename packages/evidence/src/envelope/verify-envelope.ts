import { equalBytes } from "../bytes.ts";
import { type Claim, claim } from "../claim.ts";
import { sha256Hex } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { canonicalJsonBytes, type JsonValue } from "../manifest/canonical-json.ts";
import { memberOf } from "./member.ts";
import type { EnvelopeEvidence, EnvelopeRevision, TrailEntry } from "./schema.ts";
import { envelopeBytes, parseEnvelope } from "./validate.ts";

export type EnvelopeClaimName =
  | "envelope_readable"
  | "envelope_canonical"
  | "trail_chain"
  | "trail_begins"
  | "trail_sealed"
  | "acts_recorded"
  | "act_hashes"
  | "revision_table";

export type VerifiedEnvelope = {
  /** The parsed evidence; null when it can't be read. */
  readonly envelope: EnvelopeEvidence | null;
  readonly claims: readonly Claim<EnvelopeClaimName>[];
};

/**
 * Verifies `envelope.json` alone (docs/evidence-format.md, section 20.2). Each record of the trail must state the hash
 * of the previous record. The hash of each act must equal the hash in the act's record. Revisions, signers and document
 * must match the records.
 *
 * Two things are verified elsewhere. `verifySignedDocument` compares `envelope.json` with the document. The custody
 * certificate's seal proves that the service made `envelope.json`.
 */
export async function verifyEnvelope(bytes: Uint8Array): Promise<VerifiedEnvelope> {
  const envelope = tryParse(bytes);
  if (envelope instanceof EvidenceError) {
    const why = `The envelope's evidence cannot be read: ${envelope.message}.`;
    return { envelope: null, claims: [{ name: "envelope_readable", state: "fails", why }] };
  }
  return {
    envelope,
    claims: [
      { name: "envelope_readable", state: "holds", why: "It is the evidence of an envelope." },
      canonicalClaim(envelope, bytes),
      await verifyTrail(envelope),
      beginsClaim(envelope),
      sealedClaim(envelope),
      actsClaim(envelope),
      await actHashesClaim(envelope),
      tableClaim(envelope),
    ],
  };
}

function tryParse(bytes: Uint8Array): EnvelopeEvidence | EvidenceError {
  try {
    const envelope = parseEnvelope(bytes);
    // Throws for numbers and member names without a single canonical JSON form. A file that contains one is not
    // evidence.
    envelopeBytes(envelope);
    return envelope;
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

const canonicalClaim = (envelope: EnvelopeEvidence, bytes: Uint8Array) =>
  claim(
    "envelope_canonical",
    equalBytes(bytes, envelopeBytes(envelope)),
    "The bytes are the canonical JSON of the evidence.",
    "The bytes are not the canonical JSON of the evidence.",
  );

/** Verifies that each record of a trail states its position, the envelope, and the hash of the previous record. */
export async function verifyTrail({
  trail,
  verifyCode,
}: Pick<EnvelopeEvidence, "trail" | "verifyCode">): Promise<Claim<"trail_chain">> {
  const name = "trail_chain";
  let before: string | null = null;
  for (const [index, entry] of trail.entries()) {
    const position = index + 1;
    const fault = faultOf(entry, { position, envelope: verifyCode, previousSha256: before });
    if (fault !== null) return { name, state: "fails", why: `Record ${position} of the trail ${fault}.` };
    before = await hashOf(entry);
  }
  const why = `Records 1 to ${trail.length} of the trail each name the hash of the one before.`;
  return { name, state: "holds", why };
}

type Linked = Pick<EnvelopeEvidence["trail"][number], "position" | "envelope" | "previousSha256">;

/** Compares a record with its expected place in the trail. @returns the fault in words; null without one */
function faultOf(entry: Linked, expected: Linked): string | null {
  if (entry.position !== expected.position) return `names position ${entry.position}`;
  if (entry.envelope !== expected.envelope) return `is of the envelope ${entry.envelope}`;
  if (entry.previousSha256 !== expected.previousSha256) return "does not name the hash of the record before it";
  return null;
}

/** SHA-256 of a value's canonical JSON. */
const hashOf = (value: JsonValue): Promise<string> => sha256Hex(canonicalJsonBytes(value));

function beginsClaim({ trail: [first], orderCode, document, revisions }: EnvelopeEvidence) {
  const [original, prepared] = revisions;
  const created = first?.event === "created" && first.orderCode === orderCode;
  const same =
    created &&
    memberOf(first.document, "sha256") === document.originalSha256 &&
    states(first.document, original) &&
    states(first.revision, prepared);
  return claim(
    "trail_begins",
    same && original?.kind === "original" && prepared?.kind === "prepared",
    "The trail begins with the order's document, and how it was prepared.",
    "The trail does not begin with the document and the preparation that the table of revisions names.",
  );
}

function sealedClaim({ trail, document, revisions }: EnvelopeEvidence) {
  const seals = trail.filter(({ event }) => event === "sealed");
  const [sealed, last] = [trail.at(-1), revisions.at(-1)];
  const same =
    seals.length === 1 &&
    sealed === seals[0] &&
    last?.kind === "sealed" &&
    last.sha256 === document.sealedSha256 &&
    last.bytes === document.bytes &&
    states(sealed?.document, last);
  return claim(
    "trail_sealed",
    same,
    "The trail ends with the seal over the document, after all acts.",
    "The trail does not end with the seal over the document that is named.",
  );
}

const actsOf = ({ trail }: EnvelopeEvidence): TrailEntry[] => trail.filter(({ event }) => event === "signed");

/**
 * Verifies that each signer has exactly one act, and that every act is by a listed signer. The table of revisions must
 * list the revision before and the revision after each act.
 */
function actsClaim(envelope: EnvelopeEvidence): Claim<"acts_recorded"> {
  const name = "acts_recorded";
  const { signers, revisions, orderCode, verifyCode } = envelope;
  const acts = actsOf(envelope);
  const fault = acts.findIndex((entry, index) => {
    const signer = signers.find(({ n }) => n === entry.signer);
    const { act } = entry;
    const [before, after] = [revisions[index + 1], revisions[index + 2]];
    return !(
      signer !== undefined &&
      memberOf(act, "at") === signer.signedAt &&
      after?.kind === "signed" &&
      after.signer === signer.n &&
      states(entry.revision, after) &&
      states(memberOf(act, "revision"), before) &&
      memberOf(act, "orderCode") === orderCode &&
      memberOf(act, "envelope") === verifyCode &&
      (["n", "name", "email"] as const).every((each) => memberOf(memberOf(act, "signer"), each) === signer[each])
    );
  });
  if (fault >= 0) return { name, state: "fails", why: `Act ${fault + 1} is not the one that signers and table name.` };
  const everyone = acts.length === signers.length && new Set(acts.map(({ signer }) => signer)).size === signers.length;
  return claim(
    name,
    everyone,
    `Each of the ${signers.length} signers has one act, on the state of the file that the one before left.`,
    "There is not one act of each signer.",
  );
}

async function actHashesClaim(envelope: EnvelopeEvidence): Promise<Claim<"act_hashes">> {
  const name = "act_hashes";
  for (const [index, { act, actSha256 }] of actsOf(envelope).entries()) {
    if (act === undefined || (await hashOf(act)) !== actSha256)
      return { name, state: "fails", why: `Act ${index + 1} does not have the hash that its record states.` };
  }
  return { name, state: "holds", why: "Each act has the hash that its record states." };
}

function tableClaim(envelope: EnvelopeEvidence) {
  const { revisions } = envelope;
  const kinds = revisions.map(({ kind }) => kind).join(" ");
  const grows = revisions.every(({ number, bytes, sha256 }, index) => {
    const before = revisions[index - 1];
    // Revision 1 may equal the original, because a document with its own signature fields may need no preparation.
    const isSame = number === 1 && bytes === before?.bytes && sha256 === before.sha256;
    return isSame || bytes > (before?.bytes ?? 0);
  });
  const acts = actsOf(envelope).length;
  return claim(
    "revision_table",
    grows && kinds === `original prepared ${"signed ".repeat(acts)}sealed`,
    "The table of revisions goes from the original to the seal, each longer than the one before.",
    "The table of revisions does not go from the original to the seal.",
  );
}

/**
 * True if a record states the size and hash of this revision. If the record states the revision's number, it must match
 * as well.
 */
function states(record: JsonValue | undefined, revision: EnvelopeRevision | undefined): boolean {
  const number = memberOf(record, "number");
  return (
    revision !== undefined &&
    memberOf(record, "bytes") === revision.bytes &&
    memberOf(record, "sha256") === revision.sha256 &&
    (number === undefined || number === revision.number)
  );
}
