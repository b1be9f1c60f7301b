import type { EvidenceCrypto } from "../crypto-port.ts";
import { type Budget, COST, spend } from "../pdf/budget.ts";
import type { LaterChanges } from "../pdf/changes/changes.ts";
import type { PdfDocument } from "../pdf/document.ts";
import type { RangedSignature } from "../pdf/structure.ts";
import { type PadesVerification, verifyPades } from "./pades.ts";
import { isTrustedSeal, type OwnSeal, sealFormOf } from "./permitted-changes.ts";
import type { SealTrust } from "./verify-seal.ts";

type Judged = { readonly pades: PadesVerification; readonly own: OwnSeal | null };

/** The findings on each signature whose /ByteRange is valid. */
export async function judgeEach(
  document: PdfDocument,
  all: readonly RangedSignature[],
  changes: ReadonlyMap<RangedSignature, LaterChanges | undefined>,
  { trust, at, crypto: uncharged }: { readonly trust: SealTrust; readonly at: number; readonly crypto: EvidenceCrypto },
): Promise<ReadonlyMap<RangedSignature, Judged>> {
  const digests = await signedDigests(document, all, uncharged);
  const crypto = charged(uncharged, document.budget);
  const judged = new Map<RangedSignature, Judged>();
  for (const signature of all) {
    const { byteRange, dictionary, start } = signature;
    if (!byteRange.ok) continue;
    const { range } = byteRange;
    spend(document.budget, COST.signature + COST.signatureByte * range.contents.length);
    const value = digests.get(signature);
    const pades = await verifyPades({
      dictionary,
      range,
      sealAnchors: [],
      tsaAnchors: trust.tsaAnchors,
      at,
      crypto,
      ...(value !== undefined && { rangeDigest: { hash: "SHA-256", value } }),
    });
    const purpose = sealFormOf(dictionary);
    // A seal makes its document final even if the seal's revision is unknown. Otherwise somebody could hide changes by
    // breaking an object.
    const revision = changes.get(signature)?.revision ?? -1;
    const isSeal = purpose !== null && start !== undefined;
    const isOwn = isSeal && (await isTrustedSeal(dictionary, pades, trust, at, crypto));
    judged.set(signature, { pades, own: isOwn ? { start, revision, purpose } : null });
  }
  return judged;
}

/**
 * SHA-256 of each signature's signed bytes. The common prefix up to the first gap is hashed once, so many signatures of
 * a large document cost little more than one.
 */
async function signedDigests(
  { budget }: PdfDocument,
  signatures: readonly RangedSignature[],
  crypto: EvidenceCrypto,
): Promise<Map<RangedSignature, Uint8Array>> {
  const ranged = signatures.flatMap((signature) =>
    signature.byteRange.ok ? [{ signature, signed: signature.byteRange.range.signedBytes }] : [],
  );
  const shared = Math.max(0, ...ranged.map(({ signed: [head] }) => head.length));
  const own = ranged.reduce((sum, { signed: [, rest] }) => sum + rest.length, 0);
  spend(budget, (shared + own) / COST.hashedBytes);
  const digests = await crypto.digests(
    "SHA-256",
    ranged.map(({ signed }) => signed),
  );
  return new Map(ranged.map(({ signature }, index) => [signature, digests[index] ?? new Uint8Array(0)]));
}

/** Wraps a crypto port, so that `digest` and `verify` subtract the hashed bytes from the budget. */
function charged(crypto: EvidenceCrypto, budget: Budget): EvidenceCrypto {
  const charge = (bytes: readonly Uint8Array[]) =>
    spend(budget, bytes.reduce((sum, { length }) => sum + length, 0) / COST.hashedBytes);
  return {
    ...crypto,
    digest(hash, chunks) {
      charge(chunks);
      return crypto.digest(hash, chunks);
    },
    verify(input) {
      charge([input.data]);
      return crypto.verify(input);
    },
  };
}
