import { equalBytes, toHex } from "../bytes.ts";
import { type Claim, claim } from "../claim.ts";
import { sha256 } from "../digest.ts";
import { EvidenceError } from "../errors.ts";
import { applyOp } from "./ops.ts";
import { parseDetached } from "./parse.ts";
import type { Attestation, DetachedTimestamp, Timestamp } from "./timestamp.ts";

/** Bitcoin block headers (80 bytes each) by height, from a source that the caller trusts. */
export type BlockHeaders = ReadonlyMap<number, Uint8Array>;

/** A claim about a proof. `blockTime` is the time in the header of a confirming block, epoch ms. */
export type OtsClaim = Claim & { readonly blockTime?: number };

const headerBytes = 80;
const merkleRootAt = 36;
const timeAt = 68;

/**
 * Verifies a detached proof of a SHA-256 digest against block headers.
 *
 * - `ots.format`: the proof can be read.
 * - `ots.digest`: it is a proof of this digest. If one of these two fails, no other claim is made.
 * - `ots.bitcoin`, one for each Bitcoin attestation: compares the attested message with the merkle root in the header
 *   for its height. Unchecked without that header.
 * - `ots.pending`, `ots.litecoin`, `ots.ethereum` and `ots.unknown`, one for each attestation of that kind: always
 *   unchecked.
 *
 * The caller must make sure that each header is in the best chain. For this purpose, `why` of a confirmed block
 * contains the block's hash.
 *
 * @param input `proof` the bytes of the `.ots` file; `digest` the 32 bytes that it should cover
 * @throws EvidenceError `ots` for a header that is not 80 bytes
 */
export async function verifyOts(input: {
  readonly proof: Uint8Array;
  readonly digest: Uint8Array;
  readonly headers: BlockHeaders;
}): Promise<OtsClaim[]> {
  const parsed = tryParse(input.proof);
  if (parsed instanceof EvidenceError) {
    return [{ name: "ots.format", state: "fails", why: `The proof cannot be read: ${parsed.message}.` }];
  }
  const claims: OtsClaim[] = [{ name: "ots.format", state: "holds", why: "The proof can be read." }];
  const sameDigest = parsed.fileHashOp === "sha256" && equalBytes(parsed.digest, input.digest);
  claims.push(
    claim(
      "ots.digest",
      sameDigest,
      `The proof is about SHA-256 ${toHex(input.digest)}.`,
      `The proof is about ${parsed.fileHashOp} ${toHex(parsed.digest)}.`,
    ),
  );
  if (!sameDigest) return claims;
  for (const commitment of await commitments(parsed)) claims.push(await attestationClaim(commitment, input.headers));
  return claims;
}

function tryParse(proof: Uint8Array) {
  try {
    return parseDetached(proof);
  } catch (error) {
    if (error instanceof EvidenceError) return error;
    throw error;
  }
}

async function attestationClaim({ attestation, message }: Commitment, headers: BlockHeaders): Promise<OtsClaim> {
  switch (attestation.kind) {
    case "bitcoin":
      return bitcoinClaim(message, attestation.height, headers.get(attestation.height));
    case "pending":
      return unchecked("ots.pending", `The calendar ${attestation.uri} has promised a proof of ${toHex(message)}.`);
    case "unknown":
      return unchecked("ots.unknown", `An attestation of the unknown kind ${attestation.tag}.`);
    default:
      return unchecked(
        `ots.${attestation.kind}`,
        `Block ${attestation.height} of ${attestation.kind} is not looked up.`,
      );
  }
}

async function bitcoinClaim(message: Uint8Array, height: number, header: Uint8Array | undefined): Promise<OtsClaim> {
  const name = "ots.bitcoin";
  if (header === undefined) {
    return unchecked(
      name,
      `No header of Bitcoin block ${height} was given; its merkle root must be ${rootHex(message)}.`,
    );
  }
  if (header.length !== headerBytes) throw new EvidenceError("ots", `a block header is ${headerBytes} bytes`);
  const root = header.subarray(merkleRootAt, timeAt);
  if (!equalBytes(message, root)) {
    return {
      name,
      state: "fails",
      why: `Bitcoin block ${height} has the merkle root ${rootHex(root)}, and the proof leads to ${rootHex(message)}.`,
    };
  }
  const seconds = new DataView(header.buffer, header.byteOffset).getUint32(timeAt, true);
  const blockTime = seconds * 1000;
  const time = new Date(blockTime).toISOString().replace(".000Z", "Z");
  const hash = rootHex(await sha256(await sha256(header)));
  return {
    name,
    state: "holds",
    why: `Bitcoin block ${height} of ${time} (${hash}) commits to the digest.`,
    blockTime,
  };
}

/** Writes a hash as hex in the byte order of Bitcoin tools: last byte first. */
function rootHex(hash: Uint8Array): string {
  return toHex(hash.toReversed());
}

function unchecked(name: string, why: string): Claim {
  return { name, state: "unchecked", why };
}

/** An attestation and the message it attests to. */
export type Commitment = { readonly message: Uint8Array; readonly attestation: Attestation };

/** Every attestation of a parsed proof with its message, in the proof's order. Each operation runs once. */
export async function commitments(proof: DetachedTimestamp): Promise<Commitment[]> {
  const found: Commitment[] = [];
  await walk(proof.timestamp, proof.digest, found);
  return found;
}

async function walk(timestamp: Timestamp, message: Uint8Array, found: Commitment[]): Promise<void> {
  for (const branch of timestamp) {
    if ("attestation" in branch) found.push({ message, attestation: branch.attestation });
    else await walk(branch.next, await applyOp(branch.op, message), found);
  }
}

/**
 * The calendars with pending attestations in a parsed proof, each with the message to ask it about (its commitment).
 * The request is `GET {uri}/timestamp/{hex}` with `commitment` as lowercase hex. A calendar stays listed after a block
 * attestation arrived, because the proof does not say whose promise that attestation fulfills.
 *
 * The URIs come from the proof. Callers must compare them with their own list of calendars.
 */
export async function pendingAttestations(
  proof: DetachedTimestamp,
): Promise<{ readonly uri: string; readonly commitment: Uint8Array; readonly commitmentHex: string }[]> {
  const all = await commitments(proof);
  return all.flatMap(({ message, attestation }) =>
    attestation.kind === "pending"
      ? [{ uri: attestation.uri, commitment: message, commitmentHex: toHex(message) }]
      : [],
  );
}
