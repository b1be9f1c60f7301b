import {
  bitString,
  type DerValue,
  encode,
  explicit,
  integer,
  OID,
  primitive,
  raw,
  sequence,
  time,
} from "@signsealship/evidence/asn1";
import { signatureAlgorithm } from "../algorithms.ts";
import type { Authority } from "./authority.ts";
import { authorityKeyIdentifier, distributionPoint, extension } from "./write.ts";

/** A revoked certificate: its serial number, and the time of the revocation in epoch milliseconds. */
type RevokedCertificate = { readonly serialNumber: Uint8Array; readonly at: number };

type CrlFields = {
  /** The list's URL. The list covers only certificates that name this URL. */
  readonly place: string;
  readonly revoked: readonly RevokedCertificate[];
  /** The number of the list. It increases with each list at the URL. */
  readonly number: number;
  /** The time when the list was made. This and `nextUpdate` are in epoch milliseconds. */
  readonly thisUpdate: number;
  readonly nextUpdate: number;
};

/** CRLReason cessationOfOperation: the key was not compromised, but is no longer used. */
const reason = extension(OID.cRLReason, false, primitive(0x0a, Uint8Array.of(5)));

/**
 * Writes and signs a certificate revocation list (RFC 5280, section 5) for one distribution point.
 * @returns DER
 * @throws {SealKeyError} when the authority's key does not sign
 */
export async function writeCrl({ key, chain }: Authority, fields: CrlFields): Promise<Uint8Array> {
  const { place, revoked, number, thisUpdate, nextUpdate } = fields;
  const algorithm = signatureAlgorithm(key.algorithm);
  const entries = revoked.map(({ serialNumber, at }) => sequence(integer(serialNumber), time(at), sequence(reason)));
  const extensions: DerValue[] = [
    authorityKeyIdentifier(key.publicKey),
    extension(OID.cRLNumber, false, integer(number)),
    extension(OID.issuingDistributionPoint, true, sequence(distributionPoint(place))),
  ];
  const tbsCertList = encode(
    sequence(
      integer(1),
      algorithm,
      raw(chain[0].subject),
      time(thisUpdate),
      time(nextUpdate),
      // RFC 5280, section 5.1.2.6: when nothing is revoked, the sequence of entries must be absent instead of empty.
      ...(entries.length > 0 ? [sequence(...entries)] : []),
      explicit(0, sequence(...extensions)),
    ),
  );
  const signature = await key.sign(tbsCertList);
  return encode(sequence(raw(tbsCertList), algorithm, bitString(signature)));
}
