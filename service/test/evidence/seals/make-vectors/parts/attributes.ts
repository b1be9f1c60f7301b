import { integer, nullValue, OID, octetString, oid, raw, sequence } from "@signsealship/evidence/asn1";
import { certificateOf, extension, nameOf, signing, subject } from "../certificates.ts";
import * as edit from "./der-edit.ts";
import {
  attribute,
  attributes,
  CONTENT,
  contentType,
  digestOf,
  directory,
  ess,
  essOf,
  essV1,
  type FormRow,
  issuerSerial,
  own,
  SHA384,
  SHA512_256,
  sha,
  signer,
} from "./form.ts";

const unusable = ["signedAttributes", "contentType", "messageDigest"];
const unbound = ["signingCertificate"];

/** Vectors for the signer that a CMS names and for the signed attributes (docs/evidence-format.md, section 3.2). */
export function ofAttributes(): readonly FormRow[] {
  const bound = essOf(own);
  const hash = octetString(sha("sha256", own));
  const other = subject("vector signer, another key");
  const sameName = certificateOf(
    { name: signer.name, key: other.key },
    { name: signer.name, key: other.key },
    { serial: 21 },
  );
  const identified = certificateOf(signer, signer, {
    serial: 22,
    extensions: [signing, extension(OID.subjectKeyIdentifier, octetString(Uint8Array.of(1, 2, 3)), false)],
  });
  const byKey = (hex: string) => raw(edit.implicitOf(0, Buffer.from(hex, "hex")));
  const nobody = ["signerCertificate", "algorithms", "signature", "signingCertificate"];
  return [
    ["as it should be", {}, []],
    ["attributes in another order", { attributes: [contentType, digestOf(), bound].toReversed() }, []],
    ["an attribute that nobody knows", attributes(contentType, digestOf(), bound, attribute("1.2.3.4", nullValue)), []],
    ["no contentType", attributes(digestOf(), bound), unusable],
    ["contentType twice", attributes(contentType, contentType, digestOf(), bound), unusable],
    [
      "contentType of two values",
      attributes(attribute(OID.idContentType, oid(OID.idData), oid(OID.idData)), digestOf(), bound),
      unusable,
    ],
    [
      "contentType, and once more without a value",
      attributes(contentType, attribute(OID.idContentType), digestOf(), bound),
      unusable,
    ],
    ["contentType of no value", attributes(attribute(OID.idContentType), digestOf(), bound), unusable],
    [
      "a contentType that is a text",
      attributes(attribute(OID.idContentType, octetString(Uint8Array.of(1))), digestOf(), bound),
      unusable,
    ],
    [
      "a contentType that is another",
      attributes(attribute(OID.idContentType, oid(OID.idCtTSTInfo)), digestOf(), bound),
      ["contentType"],
    ],
    ["an eContentType that is another", { eContentType: OID.idCtTSTInfo }, ["contentType"]],
    [
      "both types another",
      {
        ...attributes(attribute(OID.idContentType, oid(OID.idCtTSTInfo)), digestOf(), bound),
        eContentType: OID.idCtTSTInfo,
      },
      ["contentType"],
    ],
    ["no messageDigest", attributes(contentType, bound), unusable],
    ["messageDigest twice", attributes(contentType, digestOf(), digestOf(), bound), unusable],
    [
      "a messageDigest that is an integer",
      attributes(contentType, attribute(OID.idMessageDigest, integer(1)), bound),
      unusable,
    ],
    [
      "a messageDigest of other bytes",
      attributes(contentType, attribute(OID.idMessageDigest, octetString(sha("sha256", "other"))), bound),
      ["messageDigest"],
    ],
    [
      "a messageDigest with an octet more",
      attributes(
        contentType,
        attribute(OID.idMessageDigest, octetString(Uint8Array.of(...sha("sha256", CONTENT), 0))),
        bound,
      ),
      ["messageDigest"],
    ],
    [
      "a signing-certificate-v2 with a value behind its policies",
      attributes(
        contentType,
        digestOf(),
        attribute(OID.idAaSigningCertificateV2, sequence(sequence(sequence(hash)), sequence(), nullValue)),
      ),
      unbound,
    ],
    [
      "issuerSerial with a value more",
      attributes(
        contentType,
        digestOf(),
        ess(hash, sequence(sequence(directory(signer.name)), integer(21), nullValue)),
      ),
      unbound,
    ],
    ["no signing-certificate", attributes(contentType, digestOf()), unbound],
    ["signing-certificate-v2 twice", attributes(contentType, digestOf(), bound, bound), unbound],
    ["signing-certificate twice", attributes(contentType, digestOf(), bound, essV1(own), essV1(own)), unbound],
    ["a signing-certificate-v2 of another hash", attributes(contentType, digestOf(), essOf(identified)), unbound],
    [
      "a signing-certificate-v2 without certificates",
      attributes(contentType, digestOf(), attribute(OID.idAaSigningCertificateV2, sequence(sequence()))),
      unbound,
    ],
    [
      "a signing-certificate-v2 that can't be read",
      attributes(contentType, digestOf(), attribute(OID.idAaSigningCertificateV2, nullValue)),
      unbound,
    ],
    [
      "a signing-certificate-v2 with a value more",
      attributes(contentType, digestOf(), ess(hash, sequence(), nullValue)),
      unbound,
    ],
    [
      "a signing-certificate-v2 with a value behind its issuer",
      attributes(contentType, digestOf(), ess(hash, issuerSerial(directory(signer.name), 21), nullValue)),
      unbound,
    ],
    [
      "signing-certificate-v2 by SHA-1",
      attributes(contentType, digestOf(), ess(sequence(oid(OID.sha1)), octetString(sha("sha1", own)))),
      unbound,
    ],
    [
      "signing-certificate-v2 by a hash that is not read",
      attributes(contentType, digestOf(), ess(sequence(oid(SHA512_256)), hash)),
      unbound,
    ],
    [
      "signing-certificate-v2 by SHA-384",
      attributes(contentType, digestOf(), ess(sequence(oid(SHA384)), octetString(sha("sha384", own)))),
      [],
    ],
    [
      "issuerSerial that fits",
      attributes(contentType, digestOf(), ess(hash, issuerSerial(directory(signer.name), 21))),
      [],
    ],
    [
      "issuerSerial without a directory name",
      attributes(contentType, digestOf(), ess(hash, issuerSerial(raw(edit.implicitOf(2, Buffer.from("x"))), 21))),
      [],
    ],
    [
      "issuerSerial of another serial number",
      attributes(contentType, digestOf(), ess(hash, issuerSerial(directory(signer.name), 22))),
      unbound,
    ],
    [
      "issuerSerial of another issuer",
      attributes(contentType, digestOf(), ess(hash, issuerSerial(directory("another"), 21))),
      unbound,
    ],
    ["signing-certificate by SHA-1, alone", attributes(contentType, digestOf(), essV1(own)), []],
    [
      "both, and the older one of another certificate",
      attributes(contentType, digestOf(), bound, essV1(identified)),
      unbound,
    ],
    [
      "both, and the newer one of another certificate",
      attributes(contentType, digestOf(), essOf(identified), essV1(own)),
      unbound,
    ],
    ["a certificate twice", { certificates: [own, own] }, []],
    ["two certificates of one issuer and serial number", { certificates: [own, sameName] }, nobody],
    ["a signer that is not included", { certificates: [identified] }, nobody],
    ["a serial number of another issuer", { sid: sequence(nameOf("another"), integer(21)) }, nobody],
    ["a key identifier", { certificate: identified, sid: byKey("010203") }, []],
    ["a key identifier of another", { certificate: identified, sid: byKey("010204") }, nobody],
    ["a key identifier, and a certificate without", { sid: byKey("010203") }, nobody],
    [
      "no signed attributes",
      { bare: true },
      ["signedAttributes", "contentType", "messageDigest", "signature", "signingCertificate"],
    ],
  ];
}
