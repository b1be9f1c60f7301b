import type { Hash } from "node:crypto";
import type { SealReason } from "@signsealship/evidence/seal";
import { PdfRefusal, refuseCostly } from "../../kernel/pdf/refusal.ts";
import type { Tail } from "../../kernel/pdf/revision/revision.ts";
import type { Clock } from "../../kernel/platform/clock.ts";
import { isServiceError, ServiceError } from "../../kernel/platform/errors.ts";
import { hashYielding } from "../../kernel/platform/hash-yielding.ts";
import type { Random } from "../../kernel/platform/random.ts";
import {
  ownBuffer,
  runOr,
  type Task,
  type TaskCall,
  type Workers,
  wasTooCostly,
} from "../../kernel/platform/workers/task.ts";
import type { CheckInput, CheckOutput } from "./check-task.ts";
import { type CmsSigner, createCmsSigner, type SealSignature } from "./cms/cms.ts";
import type { SealIdentity } from "./identity.ts";
import { drawLengths } from "./pdf/decoys.ts";
import type { SealLock } from "./pdf/objects.ts";
import type { PrepareInput, PrepareOutput } from "./pdf/prepare-task.ts";
import { completeSeal, hashTail, type PreparedSeal } from "./pdf/seal-pdf.ts";
import { sealRefusal } from "./refusals.ts";
import { SealNotVerified } from "./self-check.ts";

/** A verified time-stamp token over a signature value: DER, the authority's URL, and the time. */
export type TimeStamp = { readonly token: Uint8Array; readonly authority: string; readonly genTime: Date };

/**
 * Asks the time-stamping authorities one after the other for a token over the message; null when none returns a valid
 * token. Never rejects.
 */
export type Stamp = (message: Uint8Array) => Promise<TimeStamp | null>;

export type SealInput = {
  readonly bytes: Buffer;
  /** The state of a SHA-256 hash that was updated with exactly `bytes`, if the caller has one. */
  readonly hash?: Hash;
  /**
   * The number of free bytes after `bytes` in the same buffer. If the appended revision fits there, the document need
   * not be copied.
   */
  readonly spare?: number;
  /** The reason that PDF readers show for the signature. */
  readonly reason: SealReason;
  /** True if the service made the document itself; a field in it may then be reserved for the seal. */
  readonly isOwn?: boolean;
  /** The lock that the seal sets; none by default. */
  readonly locks?: SealLock;
  /** False to add no time stamp; by default, one is added when authorities are configured. */
  readonly timeStamped?: boolean;
  /** The owner of the document. The workers serve the owners in turn, so that one owner can't delay the others. */
  readonly holder?: string;
};

/** A sealed document that the verifier has accepted. Hashes are lowercase hex SHA-256. */
export type Sealed = {
  /** The whole file: the document, followed by the appended revision. */
  readonly bytes: Buffer;
  readonly docSha256: string;
  readonly sealedSha256: string;
  readonly sealedAt: Date;
  readonly timeStamp: TimeStamp | null;
};

/**
 * Seals one document.
 * @throws ServiceError `validation` naming what is wrong with the document; `unavailable` when the seal can't be made
 * now
 */
export type SealDocument = (input: SealInput) => Promise<Sealed>;

/**
 * The number of bytes that a signature reserves for its time-stamp token. Tokens of public authorities have 4 to 6 KB.
 * After a longer token, later seals reserve more.
 */
export const usualTokenBytes = 6 * 1024;
const tokenMargin = 512;
const maxTokenBytes = 48 * 1024;

/**
 * Creates the sealer. The sealer appends a PAdES signature to a document: B-T with a time stamp, otherwise B-B. It
 * returns the result only after the verifier has accepted it.
 * @param deps `stamp` is null when no time-stamping authorities are configured; `tokenRoom` the bytes reserved for the
 * first token
 */
export function createSealer(deps: {
  identity: SealIdentity;
  workers: Workers;
  clock: Clock;
  random: Pick<Random, "below">;
  stamp: Stamp | null;
  tokenRoom?: number;
  /** Returns the newest checkpoint of the log for these seals, from memory; null when there is none. */
  newestCheckpoint?: () => string | null;
  /**
   * Called when the verifier refuses a seal because of its time stamp; the document is then sealed without a time
   * stamp.
   */
  onUnfitTimeStamp?: (authority: string, why: string) => void;
}): SealDocument {
  const { identity, workers, clock, stamp, random, newestCheckpoint = () => null } = deps;
  const signer = createCmsSigner(identity);
  const leaf = identity.chain[0].der;
  let tokenRoom = deps.tokenRoom ?? usualTokenBytes;

  async function seal(input: SealInput): Promise<Sealed> {
    const stampThis = input.timeStamped === false ? null : stamp;
    const claims = { at: clock(), checkpoint: newestCheckpoint() };
    const tools = { signer, workers, random, stamp: stampThis };
    let signed = await sign(tools, input, claims, tokenRoom);
    if (signed.timeStamp && signed.timeStamp.token.length > signed.room) {
      tokenRoom = Math.min(signed.timeStamp.token.length + tokenMargin, maxTokenBytes);
      signed = await sign(tools, input, claims, tokenRoom);
    }
    const { prepared, signature, room } = signed;
    const timeStamp = signed.timeStamp && signed.timeStamp.token.length <= room ? signed.timeStamp : null;
    const { docSha256, sealedSha256, tail } = completeSeal(prepared, signature.cms(timeStamp?.token));
    const bytes = joined(input, tail);
    try {
      const sealed = { leaf, docSha256, sealedSha256, timeStamped: timeStamp !== null, at: clock() };
      await checkIn(workers, { holder: holderOf(input), bytes, input: sealed });
    } catch (error) {
      // A bad token must not prevent the seal, so the document is sealed once more, without the token.
      if (!(error instanceof SealNotVerified) || timeStamp === null) throw error;
      const { spare: _, hash: __, ...rest } = input;
      const plain = await seal({ ...rest, timeStamped: false });
      deps.onUnfitTimeStamp?.(timeStamp.authority, error.why);
      return plain;
    }
    return { bytes, docSha256, sealedSha256, sealedAt: claims.at, timeStamp };
  }

  return (input) =>
    seal(input).catch((error) => {
      throw sealRefusal(error);
    });
}

type Signed = { prepared: PreparedSeal; signature: SealSignature; timeStamp: TimeStamp | null; room: number };

type Tools = { signer: CmsSigner; workers: Workers; random: Pick<Random, "below">; stamp: Stamp | null };

/** Two statements that a seal makes: its time, and the newest checkpoint of the log. */
type SealClaims = { at: Date; checkpoint: string | null };

async function sign(tools: Tools, input: SealInput, claims: SealClaims, tokenRoom: number): Promise<Signed> {
  const { signer, stamp } = tools;
  const prepared = await prepare(tools, input, claims, signer.maxLength(stamp ? tokenRoom : undefined));
  const signature = await signer.sign(prepared);
  const timeStamp = stamp && (await stamp(signature.signature));
  return { prepared, signature, timeStamp, room: tokenRoom };
}

async function prepare(
  { workers, random }: Tools,
  input: SealInput,
  { at, checkpoint }: SealClaims,
  needed: number,
): Promise<PreparedSeal> {
  const { bytes, reason, isOwn = false, locks } = input;
  const docHash = input.hash ?? (await hashYielding(bytes));
  const docSha256 = docHash.copy().digest("hex");
  const work = {
    docSha256,
    at,
    reason,
    isOwn,
    ...(locks && { locks }),
    ...(checkpoint !== null && { checkpoint }),
    draws: drawLengths(random, needed),
  };
  const tail = await prepareIn(workers, { holder: holderOf(input), bytes, input: work });
  if (tail) return hashTail(tail, docHash, bytes.length);
  throw new SealNotVerified("it holds numbers that name another place for the signature", true);
}

/** The owner for whom the workers do the task. All documents without an owner count as those of one owner. */
const holderOf = ({ holder = "" }: SealInput): string => holder;

function joined({ bytes, spare = 0 }: SealInput, tail: Buffer): Buffer {
  if (tail.length > spare) return Buffer.concat([bytes, tail]);
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length + tail.length);
  tail.copy(whole, bytes.length);
  return whole;
}

const task: Task<CheckInput, CheckOutput> = {
  name: "check a seal",
  module: import.meta.resolve("./check-task.ts"),
  limitMs: 30_000,
};

/**
 * Runs the self-check in a worker.
 * @throws SealNotVerified; PdfRefusal when the document takes too long to read
 */
async function checkIn(workers: Workers, call: TaskCall<CheckInput>): Promise<void> {
  const failed = await runOr(workers, task, call, refuseCostly);
  if (failed) throw new SealNotVerified(failed.why, failed.documentAtFault);
}

/**
 * Seals a document that this service made. If the work exceeds its limits, for example on a busy machine, retries it
 * once, because no caller could correct the document.
 * @throws ServiceError `unavailable` when the retry exceeds the limits too
 * @throws Error for a document that can't be sealed
 */
export const sealOwnDocument = (seal: SealDocument, input: SealInput): Promise<Sealed> => {
  const own = { ...input, isOwn: true, locks: "document" } as const;
  return seal(own)
    .catch((error: unknown) => {
      if (wasTooCostly(error)) return seal(own);
      throw error;
    })
    .catch((error: unknown) => {
      if (wasTooCostly(error)) {
        throw new ServiceError("unavailable", "The seal can't be made now. Try again later.", { cause: error });
      }
      if (isServiceError(error, "validation")) {
        throw new Error("a document of our own cannot be sealed", { cause: error });
      }
      throw error;
    });
};

const prepareTask: Task<PrepareInput, PrepareOutput> = {
  name: "prepare a seal",
  module: import.meta.resolve("./pdf/prepare-task.ts"),
  limitMs: 15_000,
};

/**
 * Builds, in a worker, the revision to append to a document.
 * @returns null when, for every set of lengths, the file contains other numbers that would pass as the seal's
 * /ByteRange
 * @throws PdfRefusal when the document can't be extended unchanged, or takes too long to read
 */
async function prepareIn(workers: Workers, call: TaskCall<PrepareInput>): Promise<Tail | null> {
  const output = await runOr(workers, prepareTask, call, refuseCostly);
  if (output === "decoys") return null;
  if ("refusal" in output) throw new PdfRefusal(output.refusal.reason, output.refusal.detail);
  return { ...output.tail, tail: ownBuffer(output.tail.tail) };
}
