import type { TitleOf } from "../orders/orders.ts";
import { authorityName, type Stamp } from "../seals/seals.ts";
import type { CertificateContent } from "./certificate/content.ts";
import type { Snapshot } from "./store.ts";

/** What is on record of the documents, by the order's code. */
export const detailsOf = (titleOf: TitleOf, documents: Snapshot["documents"]): CertificateContent["details"] =>
  Object.fromEntries(
    documents.map(({ orderCode: code, fileName, docSlug, externalReference, pages, signers, takenIn }) => {
      const title = titleOf({ code, documentName: fileName === null ? null : Buffer.from(fileName, "hex"), docSlug });
      const iso = (instant: string | null) => instant && new Date(instant).toISOString();
      const people = signers.map(({ name, signedAt }) => ({ name, signedAt: iso(signedAt) }));
      return [code, { title: title ?? externalReference, pages, signers: people, takenIn }];
    }),
  );

/** The certificate's own time stamp comes after its last letter: one that it can name is of the manifest. */
export async function stampManifest(stamp: Stamp | null, bytes: Uint8Array): Promise<CertificateContent["timeStamp"]> {
  const had = stamp && (await stamp(bytes));
  if (!had) return null;
  return { name: authorityName(had), authority: had.authority, at: had.genTime, token: had.token };
}
