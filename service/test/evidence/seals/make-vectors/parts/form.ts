import { createHash } from "node:crypto";
import {
  type DerValue,
  encode,
  implicit,
  integer,
  OID,
  octetString,
  oid,
  raw,
  sequence,
  set,
  setOf,
} from "@signsealship/evidence/asn1";
import { parseCertificate } from "@signsealship/evidence/x509";
import { withLowS } from "../../../../../../packages/evidence/test/signer.ts";
import { certificateOf, nameOf, subject } from "../certificates.ts";
import * as edit from "./der-edit.ts";

export const CONTENT = "What is signed.\n";
export const sha = (hash: string, bytes: Uint8Array | string) =>
  Uint8Array.from(createHash(hash).update(bytes).digest());
export const signer = subject("vector signer");
export const own = certificateOf(signer, signer, { serial: 21 });
export const MD5 = "1.2.840.113549.2.5";
export const SHA384 = "2.16.840.1.101.3.4.2.2";
export const SHA512_256 = "2.16.840.1.101.3.4.2.6";

export const attribute = (type: string, ...values: DerValue[]) => sequence(oid(type), set(...values));
export const contentType = attribute(OID.idContentType, oid(OID.idData));
export const digestOf = (hash = "sha256") => attribute(OID.idMessageDigest, octetString(sha(hash, CONTENT)));
export const ess = (...members: DerValue[]) =>
  attribute(OID.idAaSigningCertificateV2, sequence(sequence(sequence(...members))));
export const essOf = (certificate: Uint8Array) => ess(octetString(sha("sha256", certificate)));
export const essV1 = (certificate: Uint8Array) =>
  attribute(OID.idAaSigningCertificate, sequence(sequence(sequence(octetString(sha("sha1", certificate))))));
export const issuerSerial = (issuer: DerValue, serial: number) => sequence(sequence(issuer), integer(serial));
export const directory = (name: string) => raw(edit.explicitOf(4, encode(nameOf(name))));

export type Form = {
  readonly attributes?: readonly DerValue[];
  readonly bare?: boolean;
  readonly certificates?: readonly Uint8Array[];
  readonly certificate?: Uint8Array;
  readonly sid?: DerValue;
  readonly digest?: DerValue;
  readonly algorithm?: DerValue;
  readonly eContentType?: string;
  readonly sign?: (data: Uint8Array) => Uint8Array;
};

export const SHA256: DerValue = sequence(oid(OID.sha256));
export const ecdsa: DerValue = sequence(oid(OID.ecdsaWithSha256));

/** A good CMS, except for the deviations in `form`. */
export function cms(form: Form): Uint8Array {
  const { certificate = own } = form;
  const signedAttrs = setOf([...(form.attributes ?? [contentType, digestOf(), essOf(certificate)])]);
  const { issuer, serialNumber } = parseCertificate(certificate);
  const data = form.bare === true ? Buffer.from(CONTENT) : encode(signedAttrs);
  const signature = (form.sign ?? ((bytes) => withLowS(signer.key.sign(bytes))))(data);
  const signerInfo = sequence(
    integer(1),
    form.sid ?? sequence(raw(issuer), integer(serialNumber)),
    form.digest ?? SHA256,
    ...(form.bare === true ? [] : [implicit(0, signedAttrs)]),
    form.algorithm ?? ecdsa,
    octetString(signature),
  );
  return encode(
    sequence(
      oid(OID.idSignedData),
      raw(
        edit.explicitOf(
          0,
          encode(
            sequence(
              integer(1),
              set(form.digest ?? SHA256),
              sequence(oid(form.eContentType ?? OID.idData)),
              implicit(0, set(...(form.certificates ?? [certificate]).map(raw))),
              set(signerInfo),
            ),
          ),
        ),
      ),
    ),
  );
}

export type FormRow = readonly [name: string, form: Form, notHolding: readonly string[]];
export const attributes = (...list: readonly DerValue[]): Form => ({ attributes: list });
