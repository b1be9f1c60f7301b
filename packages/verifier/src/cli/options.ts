import { EvidenceError } from "@signsealship/evidence/errors";
import type { Certificate } from "@signsealship/evidence/x509";
import { parseCertificatesPem } from "@signsealship/evidence/x509";
import type { Context } from "../context.ts";
import { UsageError } from "../errors.ts";
import { parseHeaders } from "../files/block-headers.ts";
import { readBounded } from "../files/read-file.ts";
import { createNodeCrypto } from "../node-crypto.ts";

/** The options of `verify`, in the shape of `node:util` parseArgs. */
export const verifyOptions = {
  trust: { type: "string" },
  "tsa-trust": { type: "string" },
  at: { type: "string" },
  headers: { type: "string" },
  doc: { type: "string" },
  with: { type: "string", multiple: true },
} as const;

export const verifyFlags =
  "[--trust PEM] [--tsa-trust PEM] [--doc FILE] [--headers FILE] [--at INSTANT] [--with TARGET ...]";

/** The options as they stand on the command line. */
export type VerifyValues = {
  readonly trust?: string | undefined;
  readonly "tsa-trust"?: string | undefined;
  readonly at?: string | undefined;
  readonly headers?: string | undefined;
  readonly doc?: string | undefined;
  readonly with?: readonly string[] | undefined;
};

const MAX_SIDE_FILE = 16 * 1024 * 1024;

/**
 * Reads what the options name.
 *
 * @param fallback a PEM file of seal certificates to trust when `--trust` is not given; null for none
 * @throws UsageError naming the option
 */
export async function contextOf(values: VerifyValues, now: number, fallback: string | null): Promise<Context> {
  const trustPath = values.trust ?? fallback;
  const trusted = trustPath === null ? [] : await readCertificates("--trust", trustPath);
  const headers = values.headers === undefined ? null : await readText(values.headers);
  const doc = values.doc === undefined ? null : { path: values.doc, bytes: await readBounded(values.doc) };
  return {
    trust: {
      // Of an installation's own chain the seal's certificate alone: trusting its issuers would trust whomever they issue to.
      sealAnchors: values.trust === undefined ? trusted.slice(0, 1) : trusted,
      tsaAnchors: values["tsa-trust"] === undefined ? [] : await readCertificates("--tsa-trust", values["tsa-trust"]),
      blockHeaders: headers === null ? new Map() : parseHeaders(headers),
    },
    at: values.at === undefined ? now : instantOf(values.at),
    crypto: createNodeCrypto(),
    doc,
    trustPath,
    tsaTrustPath: values["tsa-trust"] ?? null,
  };
}

async function readText(path: string): Promise<string> {
  return new TextDecoder().decode(await readBounded(path, MAX_SIDE_FILE));
}

async function readCertificates(option: string, path: string): Promise<Certificate[]> {
  const pem = await readText(path);
  try {
    return parseCertificatesPem(pem);
  } catch (error) {
    if (error instanceof EvidenceError) throw new UsageError(`${option}: ${path}: ${error.message}`);
    throw error;
  }
}

/** An ISO 8601 date or instant; without a zone it is UTC. */
function instantOf(text: string): number {
  const iso = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})?)?$/.exec(text);
  const zoned = iso === null || iso[1] === undefined || iso[4] !== undefined ? text : `${text}Z`;
  const instant = iso === null ? Number.NaN : Date.parse(zoned);
  if (Number.isNaN(instant)) throw new UsageError("--at must be an instant such as 2026-01-31T12:00:00Z");
  return instant;
}
