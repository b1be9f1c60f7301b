/** The closing certificate, as deliveries and zips contain it, and as the web form that sends documents offers it. */
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import {
  type CertificateDeps,
  certificateOfRoom,
  type ListedFile,
  listsDocument,
  openCertificate,
  readManifest,
  type StoredVersion,
} from "../closing-passports/closing-passports.ts";

export const closingCertificatePath = "Certificates/Closing certificate.pdf";

export const certificateEntry = ({ sha256, deletedAt }: { sha256: string; deletedAt: Date | null }) => ({
  path: closingCertificatePath,
  kind: "closing_certificate",
  sha256,
  deletedAt,
});

/** A certificate with its file, which is null after the retention plan deleted it. */
export type OpenedCertificate = { record: StoredVersion; file: StoredFile | null };

/**
 * Opens the file of a certificate. Null when there is no record, and when the file is missing or altered although the
 * retention plan didn't delete it.
 */
export async function openedCertificate(
  deps: CertificateDeps,
  record: StoredVersion | null,
): Promise<OpenedCertificate | null> {
  if (!record) return null;
  const file = record.deletedAt ? null : await openCertificate(deps, record);
  return file || record.deletedAt ? { record, file } : null;
}

const documentsIn = ({ manifest }: StoredVersion) => readManifest(manifest)?.documents ?? [];

type OrderToSend = { code: string; title: string | null; final: ListedFile | null };

const lists = (record: StoredVersion, { code, final }: OrderToSend): boolean =>
  final !== null && listsDocument(documentsIn(record), code, final);

/**
 * The reason why the room has no certificate to send. `altered`: somebody changed the certificate's record in the
 * database.
 */
export type NoCertificate = "not_sealed" | "deleted" | "altered";

/** The newest certificate, as the web form that sends documents offers it. */
export type CertificateOffer = {
  version: number;
  /** True if the certificate lists the present version of every document that can be sent. */
  isCurrent: boolean;
  /** The number of orders that the certificate's codes open, although their documents can't be sent from this room. */
  others: number;
};

/**
 * The room's newest certificate, or the reason why there is none to send.
 * @param newest null when the room has no certificate, its record was altered, or no document can be sent
 * @param versions the number of certificates that were sealed for the room
 * @param sendable the orders whose documents can be sent
 * @param ofRoom the codes of all orders in the room; the certificate contains the room's code, which grants access to
 * them
 */
export function offerOf(
  { newest, versions }: { newest: StoredVersion | null; versions: number },
  sendable: readonly OrderToSend[],
  ofRoom: readonly string[],
): CertificateOffer | NoCertificate {
  if (versions === 0) return "not_sealed";
  if (newest === null) return "altered";
  if (newest.deletedAt) return "deleted";
  const codes = new Set([...documentsIn(newest).map(({ orderCode }) => orderCode), ...ofRoom]);
  for (const { code } of sendable) codes.delete(code);
  return {
    version: newest.version,
    isCurrent: sendable.every((order) => lists(newest, order)),
    others: codes.size,
  };
}

/**
 * The hash of the certificate to send. The version must be the newest one, and the one that the sender saw, because
 * each version may reveal other orders.
 * @throws ServiceError `conflict` if the room's newest certificate is missing, deleted or altered. Also for another
 * version, and for a document that the certificate does not list
 */
export async function certificateToSend(
  deps: CertificateDeps,
  roomId: string,
  { version, orders }: { version: string; orders: readonly OrderToSend[] },
): Promise<string> {
  const newest = await openedCertificate(deps, await certificateOfRoom(deps, roomId, null));
  if (!newest?.file)
    throw new ServiceError("conflict", "This closing has no certificate to send. Seal one first, or send none.");
  const { record } = newest;
  if (version !== String(record.version))
    throw new ServiceError(
      "conflict",
      `The newest closing certificate is version ${record.version} now. Read what it leads to, then choose it again.`,
    );
  const unlisted = orders.find((order) => !lists(record, order));
  if (unlisted)
    throw new ServiceError(
      "conflict",
      `Version ${version} of the closing certificate does not list ${unlisted.title ?? "a chosen document"} as it is now. Seal a new version first, or send none.`,
    );
  return record.sealedSha256;
}
