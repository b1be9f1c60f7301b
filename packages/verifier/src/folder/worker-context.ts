import type { TrustedLog } from "@signsealship/evidence/log";
import { parseCertificate } from "@signsealship/evidence/x509";
import type { Context } from "../context.ts";
import { createNodeCrypto } from "../node-crypto.ts";

/** A context in the form that is sent to workers, with certificates as DER. */
export type WorkerContext = Omit<Context, "trust" | "crypto" | "doc"> & {
  readonly sealAnchors: readonly Uint8Array[];
  readonly signerAnchors: readonly Uint8Array[];
  readonly tsaAnchors: readonly Uint8Array[];
  readonly retired: readonly {
    readonly certificate: Uint8Array;
    readonly retiredAt: number;
    readonly reason: string;
  }[];
  readonly blockHeaders: ReadonlyMap<number, Uint8Array>;
  readonly logs: readonly TrustedLog[];
};

/**
 * Prepares the context for a worker. The file of `--doc` is omitted, because it applies to a single target and not to a
 * folder.
 */
export function workerContextOf({ at, trustPath, tsaTrustPath, trust }: Context): WorkerContext {
  return {
    at,
    trustPath,
    tsaTrustPath,
    sealAnchors: trust.sealAnchors.map(({ der }) => der.slice()),
    signerAnchors: (trust.signerAnchors ?? []).map(({ der }) => der.slice()),
    tsaAnchors: trust.tsaAnchors.map(({ der }) => der.slice()),
    retired: (trust.retired ?? []).map(({ certificate, ...rest }) => ({
      ...rest,
      certificate: certificate.der.slice(),
    })),
    blockHeaders: trust.blockHeaders ?? new Map(),
    logs: trust.logs ?? [],
  };
}

/** Restores the context in a worker. */
export function contextFrom({
  sealAnchors,
  signerAnchors,
  tsaAnchors,
  retired,
  blockHeaders,
  logs,
  ...rest
}: WorkerContext): Context {
  const trust = {
    sealAnchors: sealAnchors.map(parseCertificate),
    signerAnchors: signerAnchors.map(parseCertificate),
    tsaAnchors: tsaAnchors.map(parseCertificate),
    retired: retired.map(({ certificate, ...one }) => ({ ...one, certificate: parseCertificate(certificate) })),
    blockHeaders,
    logs,
  };
  return { ...rest, trust, doc: null, crypto: createNodeCrypto() };
}
