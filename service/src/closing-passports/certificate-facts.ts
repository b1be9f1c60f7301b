import { nameText } from "@signsealship/evidence/x509";
import { authorityName, leafOf, type Stamp } from "../seals/seals.ts";
import type { CertificateContent } from "./certificate/content.ts";
import type { Snapshot } from "./store.ts";

/** What is on record of the documents, by the order's code. */
export const detailsOf = (documents: Snapshot["documents"]): CertificateContent["details"] =>
  Object.fromEntries(
    documents.map(({ orderCode, title, pages, signers }) => {
      const iso = (instant: string | null) => instant && new Date(instant).toISOString();
      return [
        orderCode,
        { title, pages, signers: signers.map(({ name, signedAt }) => ({ name, signedAt: iso(signedAt) })) },
      ];
    }),
  );

/** @param chainPem PEM of the seal's certificates */
export function issuerOf({ chainPem, baseUrl }: { chainPem: string; baseUrl: string }): CertificateContent["issuer"] {
  const { certificate, fingerprint } = leafOf(chainPem);
  return { url: baseUrl, certificate: nameText(certificate.subject), fingerprint };
}

/** The certificate's own time stamp comes after its last letter: one that it can name is of the manifest. */
export async function stampManifest(stamp: Stamp | null, bytes: Uint8Array): Promise<CertificateContent["timeStamp"]> {
  const had = stamp && (await stamp(bytes));
  if (!had) return null;
  return { name: authorityName(had), authority: had.authority, at: had.genTime, token: had.token };
}
