import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { EvidenceError } from "@signsealship/evidence/errors";
import { type Certificate, commonNameOf, parseCertificatesPem } from "@signsealship/evidence/x509";
import { StartupError } from "../../kernel/platform/errors.ts";

/** The trust anchors for an authority's tokens; empty when the authority is accepted without a root. */
export type AnchorsOf = (authority: string) => readonly Certificate[];

export type TsaTrustSettings = {
  readonly tsaUrls: readonly string[];
  /** TSA_TRUST: a PEM file of roots, used for all authorities. */
  readonly tsaTrust: string | null;
};

const shippedRoots = new URL("../../../data/tsa-roots/", import.meta.url);
/** The roots of the default authorities, by their hosts. */
const rootsOfHosts: Readonly<Record<string, string>> = {
  "freetsa.org": "freetsa.pem",
  "timestamp.digicert.com": "digicert.pem",
};
const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Reads the roots of time-stamping authorities. Answers over plain http can be forged, so an http authority on another
 * machine needs a known root.
 * @throws StartupError for unreadable roots, and for an http authority without a root
 */
export function openTsaTrust({ tsaUrls, tsaTrust }: TsaTrustSettings): AnchorsOf {
  const configured = tsaTrust === null ? null : readRoots(tsaTrust);
  const anchors = new Map(tsaUrls.map((url) => [url, configured ?? shippedRootsOf(url)]));
  for (const [url, roots] of anchors) {
    const { protocol, hostname } = new URL(url);
    if (roots.length > 0 || protocol === "https:" || loopback.test(hostname)) continue;
    throw new StartupError(`TSA_URLS must be https where TSA_TRUST does not name the roots; one is '${url}'`);
  }
  return (authority) => anchors.get(authority) ?? [];
}

function shippedRootsOf(url: string): Certificate[] {
  const { hostname } = new URL(url);
  const file = Object.hasOwn(rootsOfHosts, hostname) ? rootsOfHosts[hostname] : undefined;
  return file === undefined ? [] : parseCertificatesPem(readFileSync(new URL(file, shippedRoots), "utf8"));
}

/**
 * PEM of all trusted roots. The time stamps on other parties' signatures, such as a notary's, must chain to one of
 * them.
 */
export const tsaRootsPem = ({ tsaTrust }: Pick<TsaTrustSettings, "tsaTrust">): string =>
  (tsaTrust === null ? Object.values(rootsOfHosts).map((file) => new URL(file, shippedRoots)) : [tsaTrust])
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");

/** The roots as separate certificates, each with a name made from its common name. */
export const tsaRootCertificates = (settings: Pick<TsaTrustSettings, "tsaTrust">): { name: string; pem: string }[] =>
  parseCertificatesPem(tsaRootsPem(settings)).map(({ der, subject }) => ({
    name: `time stamp root ${commonNameOf(subject) ?? ""}`.trim(),
    pem: new X509Certificate(der).toString(),
  }));

function readRoots(path: string): Certificate[] {
  try {
    return parseCertificatesPem(readFileSync(path, "utf8"));
  } catch (error) {
    const why = error instanceof EvidenceError ? error.message : (error as NodeJS.ErrnoException).code;
    throw new StartupError(`TSA_TRUST must be a PEM file of certificates; ${path}: ${why}`);
  }
}
