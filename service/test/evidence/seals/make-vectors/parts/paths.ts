import { boolean, encode, integer, nullValue, OID, octetString, oid, raw, sequence } from "@signsealship/evidence/asn1";
import {
  authority,
  certificateOf,
  extension,
  type Stated,
  type Subject,
  signing,
  subject,
  usage,
  usages,
} from "../certificates.ts";
import { validFrom, validTo } from "../signers.ts";
import * as edit from "./der-edit.ts";
import type { Part } from "./part.ts";

const AT = "2026-06-01T00:00:00.000Z";
const hex = (der: Uint8Array): string => Buffer.from(der).toString("hex");
type Chain = {
  readonly leaf: Uint8Array;
  readonly others?: readonly Uint8Array[];
  readonly anchors: readonly Uint8Array[];
  readonly at?: string;
  readonly purpose?: string;
};
type Row = readonly [name: string, chain: Chain, expect: Part["expect"]];

const leaf = subject("path leaf");
const root = subject("path root");
const middle = subject("path middle");
const instant = (ms: number) => new Date(ms).toISOString();
/** A path of one certificate, which is trusted itself. */
const alone = (stated: Stated, more: Partial<Chain> = {}): Chain => {
  const der = certificateOf(leaf, leaf, stated);
  return { leaf: der, anchors: [der], ...more };
};
/** A leaf and its issuer, which is trusted. */
const issued = (issuer: Stated, stated: Stated = {}, more: Partial<Chain> = {}): Chain => ({
  leaf: certificateOf(leaf, root, { serial: 2, ...stated }),
  anchors: [certificateOf(root, root, { extensions: authority(), ...issuer })],
  ...more,
});
const named = (name: string): Subject => ({ name, key: root.key });
const keyId = (value: number) => extension(OID.subjectKeyIdentifier, octetString(Uint8Array.of(value)), false);
const authorityKeyId = (value: number) =>
  extension(OID.authorityKeyIdentifier, sequence(raw(Uint8Array.of(0x80, 1, value))), false);

/** A chain of `length` certificates, of which the last one is trusted. */
function long(length: number): Chain {
  const subjects = Array.from({ length }, (_, index) => subject(`path ${index}`));
  const ders = subjects.map((one, index) =>
    certificateOf(one, subjects[index + 1] ?? one, {
      serial: index + 1,
      extensions: index === 0 ? [signing] : authority(),
    }),
  );
  const [first = new Uint8Array(0)] = ders;
  return { leaf: first, others: ders.slice(1, -1), anchors: ders.slice(-1) };
}

/**
 * `count` certificates that have the issuer's name but did not issue the leaf, followed by the real issuer's
 * certificate.
 */
function crowd(count: number): Chain {
  const other = subject("path stranger");
  const strangers = Array.from({ length: count }, (_, index) =>
    certificateOf({ name: middle.name, key: subject(`path stranger ${index}`).key }, other, {
      serial: index + 1,
      extensions: authority(),
    }),
  );
  const own = certificateOf(middle, root, { serial: 9, extensions: authority() });
  return {
    leaf: certificateOf(leaf, middle, {}),
    others: [...strangers, own],
    anchors: [certificateOf(root, root, { extensions: authority() })],
  };
}

function rows(): readonly Row[] {
  const chain = (extensions: Stated["extensions"], top = authority()): Chain => ({
    leaf: certificateOf(leaf, middle, {}),
    others: [certificateOf(middle, root, { serial: 3, extensions: extensions ?? [] })],
    anchors: [certificateOf(root, root, { extensions: top })],
  });
  /** A leaf, its issuer, and a trusted certificate for `top`, which issued the issuer. */
  const overOne = (top: Subject): Chain => ({
    leaf: certificateOf(leaf, middle, {}),
    others: [certificateOf(middle, top, { serial: 3, extensions: authority() })],
    anchors: [certificateOf(top, top, { serial: 4, extensions: authority() })],
  });
  const rsaSpki = (exponent: number) =>
    encode(
      sequence(
        sequence(oid(OID.rsaEncryption), nullValue),
        raw(edit.bits(encode(sequence(integer((1n << 2047n) + 1n), integer(exponent))))),
      ),
    );
  const constraints = (hex: string) => raw(Uint8Array.from(Buffer.from(hex, "hex")));
  const noMail = constraints("3013a00b30098107696e76616c6964a10430028100");
  const noServers = constraints("3013a00b30098207696e76616c6964a10430028200");
  const excluding = (value: typeof noMail, critical = true): Stated => ({
    extensions: [...authority(), extension(OID.nameConstraints, value, critical)],
  });
  const stamping = { purpose: "timeStamping" } as const;
  const unknown = extension("1.2.3.4", nullValue);
  const wrong = certificateOf(leaf, root, {});
  const forged = Uint8Array.from(wrong, (octet, index) => (index === wrong.length - 1 ? octet ^ 1 : octet));
  return [
    ["trusted itself", alone({}), "accepted"],
    ["without extensions", alone({ extensions: [] }), "accepted"],
    ["with contentCommitment alone", alone({ extensions: [usage(0x40, 6)] }), "accepted"],
    ["with keyEncipherment alone", alone({ extensions: [usage(0x20, 5)] }), "refused"],
    ["a critical extension that is not known", alone({ extensions: [signing, unknown] }), "refused"],
    ["the same, not critical", alone({ extensions: [signing, extension("1.2.3.4", nullValue, false)] }), "accepted"],
    [
      "the same, said not to be critical",
      alone({ extensions: [signing, sequence(oid("1.2.3.4"), boolean(false), octetString(Uint8Array.of(5, 0)))] }),
      "accepted",
    ],
    [
      "a critical subjectAltName",
      alone({ extensions: [signing, extension(OID.subjectAltName, sequence())] }),
      "accepted",
    ],
    [
      "nameConstraints that are not critical",
      alone({ extensions: [signing, extension(OID.nameConstraints, sequence(), false)] }),
      "refused",
    ],
    ["the second before notBefore", alone({}, { at: instant(validFrom - 1) }), "refused"],
    ["at notBefore", alone({}, { at: instant(validFrom) }), "accepted"],
    ["within the second of notAfter", alone({}, { at: instant(validTo + 999) }), "accepted"],
    ["the second after notAfter", alone({}, { at: instant(validTo + 1000) }), "refused"],
    ["for documents", alone({ extensions: [signing, usages(false, OID.kpDocumentSigning)] }), "accepted"],
    ["for any use", alone({ extensions: [signing, usages(false, OID.anyExtendedKeyUsage)] }), "accepted"],
    ["for servers", alone({ extensions: [signing, usages(false, "1.3.6.1.5.5.7.3.1")] }), "refused"],
    [
      "for time stamps, asked for documents",
      alone({ extensions: [signing, usages(true, OID.kpTimeStamping)] }),
      "refused",
    ],
    ["for time stamps", alone({ extensions: [signing, usages(true, OID.kpTimeStamping)] }, stamping), "accepted"],
    [
      "for time stamps, not critical",
      alone({ extensions: [signing, usages(false, OID.kpTimeStamping)] }, stamping),
      "refused",
    ],
    [
      "for time stamps and more",
      alone({ extensions: [signing, usages(true, OID.kpTimeStamping, OID.kpDocumentSigning)] }, stamping),
      "refused",
    ],
    [
      "for documents, asked for time stamps",
      alone({ extensions: [signing, usages(true, OID.kpDocumentSigning)] }, stamping),
      "refused",
    ],
    ["without usages, asked for time stamps", alone({}, stamping), "refused"],
    ["by a root", issued({}), "accepted"],
    [
      "by a root, another one trusted",
      { ...issued({}), anchors: [certificateOf(middle, middle, { extensions: authority() })] },
      "refused",
    ],
    ["a signature that is not the root's", { ...issued({}), leaf: forged }, "refused"],
    ["by a root that is no authority", issued({ extensions: [usage(0x04, 2)] }), "refused"],
    [
      "by a root that says that it is no authority",
      issued({ extensions: [extension(OID.basicConstraints, sequence(boolean(false))), usage(0x04, 2)] }),
      "refused",
    ],
    [
      "by a root that may not sign certificates",
      issued({ extensions: [...authority().slice(0, 1), signing] }),
      "refused",
    ],
    ["by a root without keyUsage", issued({ extensions: authority().slice(0, 1) }), "accepted"],
    ["by a root that ran out", issued({ until: Date.UTC(2026, 0, 1) }), "refused"],
    ["by a root of later", issued({ from: Date.UTC(2026, 8, 1) }), "refused"],
    [
      "by a root with a critical extension that is not known",
      issued({ extensions: [...authority(), unknown] }),
      "refused",
    ],
    ["by a root for servers", issued({ extensions: [...authority(), usages(false, "1.3.6.1.5.5.7.3.1")] }), "refused"],
    [
      "by a root for any use",
      issued({ extensions: [...authority(), usages(false, OID.anyExtendedKeyUsage)] }),
      "accepted",
    ],
    [
      "by a root for any use, asked for time stamps",
      issued(
        { extensions: [...authority(), usages(false, OID.anyExtendedKeyUsage)] },
        { extensions: [signing, usages(true, OID.kpTimeStamping)] },
        stamping,
      ),
      "accepted",
    ],
    [
      "key identifiers that are equal",
      issued({ extensions: [...authority(), keyId(1)] }, { extensions: [signing, authorityKeyId(1)] }),
      "accepted",
    ],
    [
      "key identifiers that differ",
      issued({ extensions: [...authority(), keyId(1)] }, { extensions: [signing, authorityKeyId(2)] }),
      "refused",
    ],
    ["a key identifier of the issuer alone", issued({ extensions: [...authority(), keyId(1)] }), "accepted"],
    [
      "an issuer of another name",
      { ...issued({}), anchors: [certificateOf(named("Path root"), named("Path root"), { extensions: authority() })] },
      "refused",
    ],
    ["by one of the same name, by another key", overOne({ name: middle.name, key: root.key }), "accepted"],
    ["by one of the same key, by another name", overOne({ name: root.name, key: middle.key }), "accepted"],
    ["a key with an exponent of 3", alone({ spki: rsaSpki(3) }), "accepted"],
    ["a key with an exponent of 1", alone({ spki: rsaSpki(1) }), "refused"],
    ["by a root that excludes mail addresses", issued(excluding(noMail)), "accepted"],
    ["by a root that excludes mail addresses, not critically", issued(excluding(noMail, false)), "refused"],
    ["by a root that excludes servers", issued(excluding(noServers)), "refused"],
    [
      "by a root that excludes mail addresses, with other names",
      issued(excluding(noMail), { extensions: [signing, extension(OID.subjectAltName, sequence(), false)] }),
      "refused",
    ],
    ["over one in between", chain(authority()), "accepted"],
    ["over one in between, path length 1", chain(authority(), authority(1)), "accepted"],
    ["over one in between, path length 0", chain(authority(), authority(0)), "refused"],
    ["over one in between that is no authority", chain([signing]), "refused"],
    ["over one in between, which is left out", { ...chain(authority()), others: [] }, "refused"],
    ["eight certificates", long(8), "accepted"],
    ["nine certificates", long(9), "refused"],
    ["60 issuers of one name", crowd(60), "accepted"],
    ["64 issuers of one name before the right one", crowd(64), "refused"],
  ];
}

/** Certificate paths: a leaf, further certificates, and trusted certificates (docs/evidence-format.md, section 4.2). */
export const paths = (): Part[] =>
  rows().map(([name, chain, expect]) => ({
    name: `path: ${name}`,
    kind: "path",
    hex: hex(chain.leaf),
    others: (chain.others ?? []).map(hex),
    anchors: chain.anchors.map(hex),
    at: chain.at ?? AT,
    purpose: chain.purpose ?? "documentSigning",
    expect,
    teaches: "The chain rule of section 4.2.",
  }));
