import { sha256Hex } from "../../src/digest.ts";
import { buildManifest, type ManifestInput, manifestBytes } from "../../src/manifest/build.ts";
import type { ChainVersion } from "../../src/manifest/chain.ts";

export const roomCode = "0123456789abcdef0123456789abcdef01234567";
export const hash = (digit: string) => digit.repeat(64);

/** The content of a room with unsorted orders, an artifact of each kind, and an order without artifacts. */
export function snapshot(changes: Partial<ManifestInput> = {}): ManifestInput {
  return {
    roomCode,
    roomName: "Maple Street 12 – Käufer & 売主 😀",
    reference: null,
    version: 1,
    prevManifestSha256: null,
    generatedAt: new Date("2026-01-31T23:59:59.987Z"),
    documents: [
      { orderCode: "b".repeat(40), label: null, status: "QuoteReady", originalSha256: hash("1"), sealedSha256: null },
      {
        orderCode: "a".repeat(40),
        label: 'Deed "A"\u007f',
        status: "Completed",
        originalSha256: hash("2"),
        sealedSha256: hash("3"),
        envelopeVerifyCode: "abcdefghijklmnopqrstuvwxyz",
        custodyCertSha256: hash("4"),
      },
    ],
    ...changes,
  };
}

/** The first versions of one room's chain, as records contain them. */
export async function chainOf(count: number): Promise<(ChainVersion & { readonly manifestSha256: string })[]> {
  const chain: (ChainVersion & { readonly manifestSha256: string })[] = [];
  for (let version = 1; version <= count; version++) {
    const prevManifestSha256 = chain.at(-1)?.manifestSha256 ?? null;
    const bytes = manifestBytes(buildManifest(snapshot({ version, prevManifestSha256 })));
    chain.push({ version, bytes, manifestSha256: await sha256Hex(bytes) });
  }
  return chain;
}
