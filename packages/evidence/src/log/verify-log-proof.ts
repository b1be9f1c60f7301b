import { toHex } from "../bytes.ts";
import type { Claim } from "../claim.ts";
import { EvidenceError } from "../errors.ts";
import { type LogProof, parseCheckpoint, parseLogProof, type SignedCheckpoint } from "./checkpoint.ts";
import type { LogEndReason } from "./entry.ts";
import { type Note, type NoteVerdict, parseNoteKey, verifyCosignature, verifyNote } from "./note.ts";
import { retractionClaims } from "./retraction.ts";
import { leafHash, verifyInclusion } from "./tree.ts";
import { hasQuorum, type WitnessPolicy } from "./witness-policy.ts";

export type LogClaimName = "log_inclusion" | "log_checkpoint_signed" | "log_witnessed" | "log_not_retracted";

/**
 * A log whose checkpoints the caller trusts.
 *
 * - `key`: the log's public key (`NAME+ID+BASE64`).
 * - `environment`: the log contains only seals of this environment; null for any.
 * - `policy`: the witnesses, of which a quorum must have cosigned. Witnesses are required if any trusted log has a
 *   policy.
 * - `end`: the log's final state, after which the key signs no more checkpoints.
 */
export type TrustedLog = {
  readonly environment: "live" | "test" | null;
  readonly key: string;
  readonly policy?: WitnessPolicy;
  readonly end?: LogEnd;
};

/** The end of a log: the size of its last checkpoint, and that checkpoint's root in hex. */
export type LogEnd = { readonly size: number; readonly root: string; readonly reason: LogEndReason };

export type LogProofInput = {
  readonly proof: Uint8Array;
  /** The line with its line feed. */
  readonly entry: string;
  /** The environment in which the seal was made; null when the seal does not state it. */
  readonly environment: "live" | "test" | null;
  readonly logs: readonly TrustedLog[];
};

/**
 * Verifies a proof that a line is in a log. An unreadable proof gives only `log_inclusion`, which fails.
 *
 * - `log_inclusion`: the proof connects the line with the root of its checkpoint.
 * - `log_checkpoint_signed`: a trusted log signed that checkpoint; unchecked without trusted logs, without Ed25519, or
 *   when the ended log's key is in other hands.
 * - `log_witnessed`: witnesses in the caller's policy cosigned that checkpoint; present only when a trusted log has a
 *   policy.
 * - `log_not_retracted`: fails when a trusted log made the retraction in the proof; present only when the proof
 *   contains one.
 */
export async function verifyLogProof(input: LogProofInput): Promise<Claim<LogClaimName>[]> {
  let proof: LogProof;
  let checkpoint: SignedCheckpoint;
  try {
    proof = parseLogProof(input.proof);
    checkpoint = parseCheckpoint(proof.checkpoint);
  } catch (error) {
    if (!(error instanceof EvidenceError)) throw error;
    return [{ name: "log_inclusion", state: "fails", why: `The log proof cannot be read: ${error.message}.` }];
  }
  return [
    await inclusionClaim(proof, checkpoint, input.entry),
    await signedClaim(checkpoint, input),
    ...(await witnessedClaims(checkpoint, input)),
    ...(await retractionClaims(proof, input.entry, (retracted) => signedClaim(retracted, input))),
  ];
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

export type LogTrust = Pick<LogProofInput, "logs" | "environment">;

const logsOf = (origin: string, { logs }: LogTrust): TrustedLog[] =>
  logs.filter(({ key }) => key.startsWith(`${origin}+`));

/** Verifies that a trusted log signed a checkpoint. */
export async function signedClaim(
  { origin, size, root, note }: SignedCheckpoint,
  { logs, environment }: LogTrust,
): Promise<Claim<LogClaimName>> {
  const name = "log_checkpoint_signed";
  const fails = (why: string) => ({ name, state: "fails", why }) as const;
  const unchecked = (why: string) => ({ name, state: "unchecked", why }) as const;
  if (logs.length === 0) return unchecked(`No log was trusted, so nobody says that ${origin} signed.`);
  const ofOrigin = logsOf(origin, { logs, environment });
  if (ofOrigin.length === 0) return fails(`${origin} is not a trusted log.`);
  const fitting = ofOrigin.filter((log) => [null, log.environment].includes(log.environment && environment));
  if (fitting.length === 0) return fails(`The log ${origin} is not the one for ${environment} seals.`);
  const verdicts = await Promise.all(fitting.map(({ key }) => verdictOf(note, key)));
  const end = fitting.find((log, i) => verdicts[i] === "signed" && log.end)?.end;
  if (verdicts.includes("wrong")) return fails(`A signature of the log ${origin} is not valid.`);
  if (end) {
    const isLast = size === end.size && toHex(root) === end.root;
    if (!isLast && size >= end.size && end.reason !== "lost")
      return fails(`The log ${origin} ended with ${end.size} entries, and this is another state, of ${size}.`);
    if (!isLast && end.reason === "key-compromise")
      return unchecked(`The key of ${origin} is in other hands. A new proof leads to its last state, which is known.`);
  }
  if (verdicts.includes("signed"))
    return { name, state: "holds", why: `The log ${origin} signed the checkpoint of its first ${size} entries.` };
  if (verdicts.includes("unchecked")) return unchecked("This engine has no Ed25519.");
  return fails(`The log ${origin} did not sign the checkpoint.`);
}

/** The claim `log_witnessed` if a trusted log has a policy; otherwise none. */
async function witnessedClaims(checkpoint: SignedCheckpoint, trust: LogTrust): Promise<Claim<LogClaimName>[]> {
  const policy = logsOf(checkpoint.origin, trust).find((log) => log.policy)?.policy;
  if (policy) return [await quorumClaim(checkpoint, policy)];
  const why = `The policy names no witnesses for ${checkpoint.origin}.`;
  return trust.logs.some((log) => log.policy) ? [{ name: "log_witnessed", state: "fails", why }] : [];
}

/**
 * Verifies the witnesses' cosignatures. An invalid cosignature fails the claim even if there are enough valid ones,
 * because nobody makes one by mistake.
 */
export async function quorumClaim(
  { origin, note }: Pick<SignedCheckpoint, "origin" | "note">,
  policy: WitnessPolicy,
): Promise<Claim<"log_witnessed">> {
  const name = "log_witnessed";
  const cosigned = await Promise.all(
    policy.witnesses.map(async (witness) => ({ witness, ...(await verifyCosignature(note, witness.key)) })),
  );
  const wrong = cosigned.find(({ verdict }) => verdict === "wrong");
  if (wrong) return { name, state: "fails", why: `The cosignature of ${wrong.witness.key.name} is not valid.` };
  if (cosigned.some(({ verdict }) => verdict === "unchecked"))
    return { name, state: "unchecked", why: "This engine has no Ed25519." };
  const signed = cosigned.filter(({ verdict }) => verdict === "signed");
  const count = `${signed.length} of ${policy.witnesses.length} witnesses cosigned the state of ${origin}`;
  if (!hasQuorum(policy, new Set(signed.map(({ witness }) => witness.name))))
    return { name, state: "fails", why: `${count}, which is less than the quorum ${policy.quorum}.` };
  const last = Math.max(...signed.map(({ at }) => at ?? 0));
  const when = signed.length > 0 ? `, the last one at ${new Date(last * 1_000).toISOString()}` : "";
  return { name, state: "holds", why: `${count}${when}.` };
}

/** Verifies a key's signature on a note. If the key is unreadable, the note is treated as not signed. */
async function verdictOf(note: Note, key: string): Promise<NoteVerdict> {
  try {
    return await verifyNote(note, await parseNoteKey(key));
  } catch (error) {
    if (error instanceof EvidenceError) return "absent";
    throw error;
  }
}
