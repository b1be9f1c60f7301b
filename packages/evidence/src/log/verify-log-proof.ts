import type { Claim } from "../claim.ts";
import { EvidenceError } from "../errors.ts";
import { type LogProof, parseCheckpoint, parseLogProof, type SignedCheckpoint } from "./checkpoint.ts";
import { type Note, type NoteVerdict, parseNoteKey, verifyNote } from "./note.ts";
import { leafHash, verifyInclusion } from "./tree.ts";

export type LogClaimName = "log_inclusion" | "log_checkpoint_signed";

/** A log whose checkpoints the caller trusts, by its key (`NAME+ID+BASE64`). `environment` bounds which seals it may have; null for any. */
export type TrustedLog = { readonly environment: "live" | "test" | null; readonly key: string };

/**
 * Judges a proof that a line is in a log. `log_inclusion`: the proof leads from the line to the root of its checkpoint.
 * `log_checkpoint_signed`: a trusted log signed that checkpoint; unchecked without trusted logs.
 *
 * @param input `entry` the line with its line feed; `environment` what the seal was made in, null where it does not say so
 */
export async function verifyLogProof(input: {
  readonly proof: Uint8Array;
  readonly entry: string;
  readonly environment: "live" | "test" | null;
  readonly logs: readonly TrustedLog[];
}): Promise<Claim<LogClaimName>[]> {
  let proof: LogProof;
  let checkpoint: SignedCheckpoint;
  try {
    proof = parseLogProof(input.proof);
    checkpoint = parseCheckpoint(proof.checkpoint);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return [{ name: "log_inclusion", state: "fails", why: `The log proof cannot be read: ${error.message}.` }];
  }
  return [await inclusionClaim(proof, checkpoint, input.entry), await signedClaim(checkpoint, input)];
}

async function inclusionClaim(
  { index, hashes }: LogProof,
  { origin, size, root }: SignedCheckpoint,
  entry: string,
): Promise<Claim<LogClaimName>> {
  const name = "log_inclusion";
  const leaf = await leafHash(new TextEncoder().encode(entry));
  return (await verifyInclusion({ leafHash: leaf, index, size, root, proof: hashes }))
    ? { name, state: "holds", why: `Entry ${index} of the log ${origin}, which had ${size} entries, is this seal.` }
    : { name, state: "fails", why: `The proof does not lead from this seal to entry ${index} of the log ${origin}.` };
}

async function signedClaim(
  { origin, size, note }: SignedCheckpoint,
  { logs, environment }: Pick<Parameters<typeof verifyLogProof>[0], "logs" | "environment">,
): Promise<Claim<LogClaimName>> {
  const name = "log_checkpoint_signed";
  const fails = (why: string) => ({ name, state: "fails", why }) as const;
  const unchecked = (why: string) => ({ name, state: "unchecked", why }) as const;
  if (logs.length === 0) return unchecked(`No log was trusted, so nobody says that ${origin} signed.`);
  const ofOrigin = logs.filter(({ key }) => key.startsWith(`${origin}+`));
  if (ofOrigin.length === 0) return fails(`${origin} is not a trusted log.`);
  const fitting = ofOrigin.filter((log) => [null, log.environment].includes(log.environment && environment));
  if (fitting.length === 0) return fails(`The log ${origin} is not the one for ${environment} seals.`);
  const verdicts = await Promise.all(fitting.map(({ key }) => verdictOf(note, key)));
  if (verdicts.includes("wrong")) return fails(`A signature of the log ${origin} is not valid.`);
  if (verdicts.includes("signed"))
    return { name, state: "holds", why: `The log ${origin} signed the checkpoint of its first ${size} entries.` };
  if (verdicts.includes("unchecked")) return unchecked("This engine has no Ed25519.");
  return fails(`The log ${origin} did not sign the checkpoint.`);
}

/** A key that can't be read signed nothing. */
async function verdictOf(note: Note, key: string): Promise<NoteVerdict> {
  try {
    return await verifyNote(note, await parseNoteKey(key));
  } catch (error) {
    if (error instanceof EvidenceError) return "absent";
    throw error;
  }
}
