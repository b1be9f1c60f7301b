import type { Hash } from "node:crypto";
import type { SealReason } from "@signsealship/evidence/seal";
import type { Clock } from "../platform/clock.ts";
import { hashYielding } from "../platform/hash-yielding.ts";
import type { Workers } from "../platform/workers/task.ts";
import { checkIn } from "./check.ts";
import { type CmsSigner, createCmsSigner, type SealSignature } from "./cms/cms.ts";
import type { SealIdentity } from "./identity.ts";
import type { SealLock } from "./pdf/objects.ts";
import { prepareIn } from "./pdf/prepare.ts";
import { completeSeal, hashTail, type PreparedSeal } from "./pdf/seal-pdf.ts";
import { sealRefusal } from "./refusals.ts";
import { SealNotVerified } from "./self-check.ts";

/** A time-stamp token over a signature value, checked: DER, the authority's URL and its time. */
export type TimeStamp = { readonly token: Uint8Array; readonly authority: string; readonly genTime: Date };

/** Asks one authority after the other for a token over the message; null when none gave one that holds. Never rejects. */
export type Stamp = (message: Uint8Array) => Promise<TimeStamp | null>;

export type SealInput = {
  readonly bytes: Buffer;
  /** SHA-256 state that was fed with exactly `bytes`, when it is known already. */
  readonly hash?: Hash;
  /** Bytes of the same memory after `bytes` that are the caller's too: a tail that fits there is not copied. */
  readonly spare?: number;
  /** What the seal is for; PDF readers show it as the reason of the signature. */
  readonly reason: SealReason;
  /** Whether the service made the document itself: a field in it may wait for the seal. */
  readonly isOwn?: boolean;
  /** What the seal locks; nothing by default. */
  readonly locks?: SealLock;
  /** False for a seal without a time stamp, though authorities are set. */
  readonly timeStamped?: boolean;
  /** Whose document it is: holders take turns. */
  readonly holder?: string;
};

/** A sealed document that the verifier has accepted. Hashes are lowercase hex SHA-256. */
export type Sealed = {
  /** The whole file: the document and the seal's tail. */
  readonly bytes: Buffer;
  readonly docSha256: string;
  readonly sealedSha256: string;
  readonly sealedAt: Date;
  readonly timeStamp: TimeStamp | null;
};

/**
 * Seals one document. @throws ServiceError `validation` naming what is wrong with the document; `unavailable` when the
 * seal key fails
 */
export type SealDocument = (input: SealInput) => Promise<Sealed>;

/** Tokens of public authorities take 4 to 6 KB; a longer one is made room for once it was seen. */
const usualTokenBytes = 6 * 1024;
const tokenMargin = 512;
const maxTokenBytes = 48 * 1024;
/** How much longer than needed the signature value's place and the tail may be: nobody is to know it beforehand. */
const spare = { reserve: 256, padding: 1024 };
const draws = 4;

/**
 * The sealer: appends a PAdES signature to a document, B-T when a time stamp was had and B-B otherwise, and lets the
 * verifier judge the outcome before it is given away.
 * @param deps `stamp` null when no authorities are set; `tokenRoom` bytes to hold ready for the first token;
 *   `randomBelow` a number from 0 to below its argument, which nobody can guess
 */
export function createSealer(deps: {
  identity: SealIdentity;
  workers: Workers;
  clock: Clock;
  randomBelow: (limit: number) => number;
  stamp: Stamp | null;
  tokenRoom?: number;
  /** Called when the verifier did not accept a seal because of its time stamp; the seal is then made without one. */
  onUnfitTimeStamp?: (authority: string, why: string) => void;
}): SealDocument {
  const { identity, workers, clock, stamp, randomBelow } = deps;
  const signer = createCmsSigner(identity);
  const leaf = identity.chain[0].der;
  let tokenRoom = deps.tokenRoom ?? usualTokenBytes;

  async function seal(input: SealInput): Promise<Sealed> {
    const stampThis = input.timeStamped === false ? null : stamp;
    const at = clock();
    let signed = await sign({ signer, workers, randomBelow, stamp: stampThis }, input, at, tokenRoom);
    if (signed.timeStamp && signed.timeStamp.token.length > signed.room) {
      tokenRoom = Math.min(signed.timeStamp.token.length + tokenMargin, maxTokenBytes);
      signed = await sign({ signer, workers, randomBelow, stamp: stampThis }, input, at, tokenRoom);
    }
    const { prepared, signature, room } = signed;
    const timeStamp = signed.timeStamp && signed.timeStamp.token.length <= room ? signed.timeStamp : null;
    const { docSha256, sealedSha256, tail } = completeSeal(prepared, signature.cms(timeStamp?.token));
    const bytes = joined(input, tail);
    try {
      const sealed = { leaf, docSha256, sealedSha256, timeStamped: timeStamp !== null, at: clock() };
      await checkIn(workers, { holder: holderOf(input), bytes, input: sealed });
    } catch (error) {
      // An odd token must not keep a document from being sealed: without it the seal stands or falls by itself.
      if (!(error instanceof SealNotVerified) || timeStamp === null) throw error;
      const { spare: _, hash: __, ...rest } = input;
      const plain = await seal({ ...rest, timeStamped: false });
      deps.onUnfitTimeStamp?.(timeStamp.authority, error.why);
      return plain;
    }
    return { bytes, docSha256, sealedSha256, sealedAt: at, timeStamp };
  }

  return (input) =>
    seal(input).catch((error) => {
      throw sealRefusal(error);
    });
}

type Signed = { prepared: PreparedSeal; signature: SealSignature; timeStamp: TimeStamp | null; room: number };

type Tools = { signer: CmsSigner; workers: Workers; randomBelow: (limit: number) => number; stamp: Stamp | null };

async function sign(tools: Tools, input: SealInput, at: Date, tokenRoom: number): Promise<Signed> {
  const { signer, stamp } = tools;
  const prepared = await prepare(tools, input, at, signer.maxLength(stamp ? tokenRoom : undefined));
  const signature = await signer.sign(prepared);
  const timeStamp = stamp && (await stamp(signature.signature));
  return { prepared, signature, timeStamp, room: tokenRoom };
}

/** Draws the lengths that the seal's numbers depend on, for a document that may hold some that name another place for it. */
async function prepare(
  { workers, randomBelow }: Tools,
  input: SealInput,
  at: Date,
  needed: number,
): Promise<PreparedSeal> {
  const { bytes, reason, isOwn = false, locks } = input;
  const docHash = input.hash ?? (await hashYielding(bytes));
  const docSha256 = docHash.copy().digest("hex");
  const lengths = Array.from({ length: draws }, () => ({
    reserve: needed + randomBelow(spare.reserve),
    padding: randomBelow(spare.padding),
  }));
  const work = { docSha256, at, reason, isOwn, ...(locks && { locks }), draws: lengths };
  const tail = await prepareIn(workers, { holder: holderOf(input), bytes, input: work });
  if (tail) return hashTail(tail, docHash, bytes.length);
  throw new SealNotVerified("it holds numbers that name another place for the signature", true);
}

/** What nobody sent is sealed in a turn of its own. */
const holderOf = ({ holder = "" }: SealInput): string => holder;

function joined({ bytes, spare = 0 }: SealInput, tail: Buffer): Buffer {
  if (tail.length > spare) return Buffer.concat([bytes, tail]);
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length + tail.length);
  tail.copy(whole, bytes.length);
  return whole;
}
