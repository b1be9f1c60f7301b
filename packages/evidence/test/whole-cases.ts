import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import index from "../vectors/whole/index.json" with { type: "json" };

type Claim = { readonly claim: string; readonly state: string };

/** A case of the test vectors of whole files: see their README. File names are relative to the index's folder. */
export type WholeCase = {
  readonly name: string;
  readonly kind: string;
  /** The files of the case, by their roles. */
  readonly files: Readonly<Record<string, string | readonly string[]>>;
  /** The files of trusted seal certificates, and of trusted time-stamping authorities. */
  readonly trust: readonly string[];
  readonly tsaTrust: readonly string[];
  readonly at: string;
  /** Trusted block headers: 80 bytes in hex, by height. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Expected hashes of the file. */
  readonly expected?: { readonly sealedSha256?: string; readonly docSha256?: string };
  /** The requested verify code. */
  readonly code?: string;
  readonly verdict: string;
  readonly claims: readonly Claim[];
  /** True if the document is genuine but from another signing than the one that the custody certificate describes. */
  readonly anotherFile?: true;
  /** Names of claims that must be absent. */
  readonly absent?: readonly string[];
};

/** A verifier's result for a case. */
export type Outcome = { readonly verdict: string; readonly claims: readonly Claim[] };

export const wholeCases = index as readonly WholeCase[];
export const wholeFolder = new URL("../vectors/whole/", import.meta.url);

/** Reads a file that a case names. */
export const wholeFile = (name: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(readFileSync(new URL(name, wholeFolder)));

/** The files of one role in the case, with their names; empty when the case has none. */
export const filesOf = ({ files }: WholeCase, role: string) =>
  [files[role] ?? []].flat().map((path) => ({ path, bytes: wholeFile(path) }));

/**
 * Asserts that the claims in the case have exactly the expected results, and that the claims in `absent` are absent.
 * @throws AssertionError otherwise
 */
export function assertClaims(outcome: Outcome, one: WholeCase): void {
  const names = new Set([...one.claims.map(({ claim }) => claim), ...(one.absent ?? [])]);
  const statesOf = (claims: readonly Claim[]) =>
    claims
      .filter(({ claim }) => names.has(claim))
      .map(({ claim, state }) => `${claim}: ${state}`)
      .toSorted();
  assert.deepEqual(statesOf(outcome.claims), statesOf(one.claims));
}
