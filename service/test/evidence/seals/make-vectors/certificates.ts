import {
  bitString,
  boolean,
  type DerValue,
  encode,
  explicit,
  integer,
  OID,
  octetStringOf,
  oid,
  raw,
  sequence,
  set,
  time,
  utf8String,
} from "@signsealship/evidence/asn1";
import { fixedKey, sealKeyOver, validFrom, validTo } from "./signers.ts";

type Key = ReturnType<typeof fixedKey>;
export type Subject = { readonly name: string; readonly key: Key };

/** The contents of a vector certificate; by default those of a certificate for signing documents. */
export type Stated = {
  readonly serial?: number;
  readonly from?: number;
  readonly until?: number;
  readonly extensions?: readonly DerValue[];
  /** A public key to state instead of the subject's. */
  readonly spki?: Uint8Array;
  /** A value to write instead of the issuer's signature. */
  readonly signature?: Uint8Array;
};

export const nameOf = (text: string): DerValue => sequence(set(sequence(oid(OID.commonName), utf8String(text))));
export const extension = (type: string, value: DerValue, critical = true): DerValue =>
  sequence(oid(type), ...(critical ? [boolean(true)] : []), octetStringOf(value));
export const usage = (bits: number, unused: number): DerValue =>
  extension(OID.keyUsage, bitString(Uint8Array.of(bits), unused));
export const signing: DerValue = usage(0xc0, 6);
export const usages = (critical: boolean, ...purposes: readonly string[]): DerValue =>
  extension(OID.extKeyUsage, sequence(...purposes.map((one) => oid(one))), critical);
export const authority = (pathLength?: number): DerValue[] => [
  extension(OID.basicConstraints, sequence(boolean(true), ...(pathLength === undefined ? [] : [integer(pathLength)]))),
  usage(0x04, 2),
];

/** DER of a certificate, the same in each run. */
export function certificateOf(subject: Subject, issuer: Subject, stated: Stated = {}): Uint8Array {
  const { serial = 1, from = validFrom, until = validTo, extensions = [signing], spki, signature } = stated;
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const tbs = encode(
    sequence(
      explicit(0, integer(2)),
      integer(serial),
      algorithm,
      nameOf(issuer.name),
      sequence(time(from), time(until)),
      nameOf(subject.name),
      raw(spki ?? sealKeyOver(subject.key).publicKey),
      ...(extensions.length === 0 ? [] : [explicit(3, sequence(...extensions))]),
    ),
  );
  return encode(sequence(raw(tbs), algorithm, bitString(signature ?? issuer.key.sign(tbs))));
}

export const subject = (name: string): Subject => ({ name, key: fixedKey(name) });
