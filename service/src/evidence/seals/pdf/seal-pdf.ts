import { createHash, type Hash } from "node:crypto";
import type { ByteRange, Tail } from "../../../kernel/pdf/revision/revision.ts";
import { lookUpPdf } from "../../../kernel/pdf/xref/lookup.ts";
import type { SealDescription } from "./objects.ts";
import { buildTail } from "./tail.ts";

export type SealRequest = SealDescription & {
  /** The document, which is neither changed nor copied. */
  readonly original: Buffer;
  /**
   * The state of a SHA-256 hash that has read the whole original, if the caller has one. It is copied before use, and
   * saves hashing the original a second time.
   */
  readonly docHash?: Hash;
  /** The largest original accepted, in bytes; 35 MiB by default. */
  readonly maxBytes?: number;
};

/** A revision that is ready to be signed. */
export type PreparedSeal = Tail & {
  /** Hex SHA-256 of the original. */
  readonly docSha256: string;
  /** Length of the original in bytes. */
  readonly originalLength: number;
  /** SHA-256 of the bytes that the signature covers: the original, and the appended revision without its Contents. */
  readonly messageDigest: Buffer;
  readonly docHash: Hash;
};

/**
 * The parts of a sealed file, which is `original` followed by `tail`, the appended revision. Hashes are SHA-256 in
 * lowercase hex.
 */
export type Seal = {
  readonly docSha256: string;
  readonly sealedSha256: string;
  readonly tail: Buffer;
  readonly byteRange: ByteRange;
};

/** The CMS is longer than the space reserved for it; it needs `needed` bytes. */
export class ReserveTooSmall extends Error {
  readonly needed: number;

  constructor(needed: number, reserve: number) {
    super(`the CMS takes ${needed} bytes, ${reserve} are reserved`);
    this.name = "ReserveTooSmall";
    this.needed = needed;
  }
}

/**
 * Builds the revision to append to a document and hashes the bytes that its signature will cover.
 * @throws PdfRefusal when the document can't be extended unchanged
 */
export function prepareSeal(request: SealRequest): PreparedSeal {
  const look = lookUpPdf(request.original, request.maxBytes);
  const docHash = request.docHash ?? createHash("sha256").update(request.original);
  const tail = buildTail(look, request, docHash.copy().digest("hex"));
  return hashTail(tail, docHash, request.original.length);
}

/**
 * Hashes the bytes that the signature will cover.
 * @param docHash the state of a SHA-256 hash that has read the original
 */
export function hashTail(tail: Tail, docHash: Hash, originalLength: number): PreparedSeal {
  const messageDigest = docHash
    .copy()
    .update(tail.tail.subarray(0, tail.contentsStart))
    .update(tail.tail.subarray(tail.contentsEnd))
    .digest();
  const docSha256 = docHash.copy().digest("hex");
  return { ...tail, docSha256, originalLength, messageDigest, docHash };
}

/**
 * Writes the signature into the prepared revision, and returns the seal.
 * @param cms DER of a detached CMS over `messageDigest`
 * @throws ReserveTooSmall
 */
export function completeSeal(prepared: PreparedSeal, cms: Uint8Array): Seal {
  const { tail, contentsStart, contentsEnd, docSha256, byteRange } = prepared;
  const reserve = (contentsEnd - contentsStart - 2) / 2;
  if (cms.length > reserve) throw new ReserveTooSmall(cms.length, reserve);
  tail.write(Buffer.from(cms.buffer, cms.byteOffset, cms.length).toString("hex"), contentsStart + 1, "latin1");
  const sealedSha256 = prepared.docHash.copy().update(tail).digest("hex");
  return { docSha256, sealedSha256, tail, byteRange };
}

/**
 * Seals a document. `sign` gets the digest of the covered bytes and their place in the file, and returns a CMS in DER.
 * @throws PdfRefusal, ReserveTooSmall, and the errors of `sign`
 */
export async function sealPdf(
  request: SealRequest & { readonly sign: (prepared: PreparedSeal) => Uint8Array | Promise<Uint8Array> },
): Promise<Seal> {
  const prepared = prepareSeal(request);
  return completeSeal(prepared, await request.sign(prepared));
}
