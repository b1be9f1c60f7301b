import { parseCertificate } from "@signsealship/evidence/x509";
import type { Context } from "../context.ts";
import { createNodeCrypto } from "../node-crypto.ts";

/** A context as it is handed to a worker: certificates as DER. */
export type WorkerContext = Omit<Context, "trust" | "crypto" | "doc"> & {
  readonly sealAnchors: readonly Uint8Array[];
  readonly tsaAnchors: readonly Uint8Array[];
  readonly blockHeaders: ReadonlyMap<number, Uint8Array>;
};

/** The context for a worker; the file of `--doc` is about one target and stays behind. */
export function workerContextOf({ at, trustPath, tsaTrustPath, trust }: Context): WorkerContext {
  return {
    at,
    trustPath,
    tsaTrustPath,
    sealAnchors: trust.sealAnchors.map(({ der }) => der.slice()),
    tsaAnchors: trust.tsaAnchors.map(({ der }) => der.slice()),
    blockHeaders: trust.blockHeaders ?? new Map(),
  };
}

/** The context from what a worker was handed. */
export function contextFrom({ sealAnchors, tsaAnchors, blockHeaders, ...rest }: WorkerContext): Context {
  const trust = {
    sealAnchors: sealAnchors.map(parseCertificate),
    tsaAnchors: tsaAnchors.map(parseCertificate),
    blockHeaders,
  };
  return { ...rest, trust, doc: null, crypto: createNodeCrypto() };
}
