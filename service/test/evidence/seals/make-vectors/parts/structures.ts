import { readFileSync } from "node:fs";
import * as edit from "./der-edit.ts";
import type { Part, PartKind } from "./part.ts";

const vectors = new URL("../../../../../../packages/evidence/vectors/", import.meta.url);
const read = (name: string) => Uint8Array.from(readFileSync(new URL(name, vectors)));

/** A valid structure: its members by their paths, and the edits that every reader must reject or accept. */
type Structure = {
  readonly kind: PartKind;
  readonly title: string;
  readonly der: Uint8Array;
  /** Constructed values with a closed definition: an additional member is rejected. */
  readonly closed: Readonly<Record<string, readonly number[]>>;
  /** Values of one type: any other tag is rejected. */
  readonly typed: Readonly<Record<string, readonly number[]>>;
  /** Required members: an edit that removes one is rejected. */
  readonly required: Readonly<Record<string, readonly number[]>>;
  /** Further rejected edits, for reasons that `closed`, `typed` and `required` don't cover. */
  readonly refused: Readonly<Record<string, readonly [path: readonly number[], change: edit.Edit]>>;
  readonly accepted: Readonly<Record<string, readonly [path: readonly number[], change: edit.Edit]>>;
};

const NULL = "0500";
const EMPTY_OID = "0600";
const hexByte = (value: number): string => value.toString(16).padStart(2, "0");
const oidOf = (content: string) => edit.becomes("06", (content.length / 2).toString(16).padStart(2, "0"), content);
/** Nested values with an empty innermost value. */
const nested =
  (depth: number): edit.Edit =>
  () => {
    let value: edit.Tree = { tag: 0x30, content: new Uint8Array(0) };
    for (let level = 1; level < depth; level++) value = { tag: 0x30, content: [value] };
    return [value];
  };

const TIME = [0, 4, 0] as const;
const utc =
  (text: string): edit.Edit =>
  () => [{ tag: 0x17, content: Buffer.from(text) }];
const generalized =
  (text: string): edit.Edit =>
  () => [{ tag: 0x18, content: Buffer.from(text) }];

/** Violations of DER's general rules, which apply to every structure. */
const anyDer: Structure["refused"] = {
  "a value behind its end": [[], (_, encoding) => [encoding, Buffer.from(NULL, "hex")]],
  "a length in more octets than it needs": [[0], edit.overlong],
  "a short length in two octets": [[0, 2], edit.overlong],
  "an indefinite length": [[0], edit.indefinite],
  "a length of five octets": [
    [],
    ({ content }, encoding) => [
      Buffer.concat([
        Buffer.from("308500000001b1", "hex"),
        content instanceof Uint8Array ? content : encoding.subarray(4),
      ]),
    ],
  ],
  "cut by a byte": [[], (_, encoding) => [encoding.subarray(0, -1)]],
  "cut within its length": [[], () => [Buffer.from("3082", "hex")]],
  "cut behind its tag": [[], () => [Buffer.from("30", "hex")]],
  "of no bytes": [[], edit.dropped],
  "a tag of number 31": [[0], (value) => [value, Buffer.from("1f2000", "hex")]],
  "a tag of 0": [[0, 1], edit.tagged(0)],
  "a SEQUENCE that is said to be primitive": [[0], edit.tagged(0x10)],
};

const certificate: Structure = {
  kind: "certificate",
  title: "certificate",
  der: read("x509/p256.der"),
  closed: {
    Certificate: [],
    TBSCertificate: [0],
    "the version's tag": [0, 0],
    validity: [0, 4],
    subjectPublicKeyInfo: [0, 6],
    "the extensions' tag": [0, 7],
    Extension: [0, 7, 0, 0],
    "the signature algorithm": [1],
  },
  typed: {
    tbsCertificate: [0],
    serialNumber: [0, 1],
    signature: [0, 2],
    "the algorithm's identifier": [1, 0],
    issuer: [0, 3],
    validity: [0, 4],
    notBefore: [0, 4, 0],
    notAfter: [0, 4, 1],
    subject: [0, 5],
    subjectPublicKeyInfo: [0, 6],
    "the key's algorithm": [0, 6, 0],
    subjectPublicKey: [0, 6, 1],
    Extensions: [0, 7, 0],
    Extension: [0, 7, 0, 1],
    extnID: [0, 7, 0, 1, 0],
    extnValue: [0, 7, 0, 1, 2],
    signatureAlgorithm: [1],
    signatureValue: [2],
  },
  required: {
    signatureValue: [2],
    signatureAlgorithm: [1],
    serialNumber: [0, 1],
    subject: [0, 5],
    notAfter: [0, 4, 1],
    subjectPublicKey: [0, 6, 1],
    extnValue: [0, 7, 0, 1, 2],
  },
  refused: {
    ...anyDer,
    "version 4": [[0, 0, 0], edit.holding("03")],
    "an outer algorithm that is not the inner": [[1, 0], edit.holding("2a8648ce3d040303")],
    "an empty serial number": [[0, 1], edit.holding("")],
    "a serial number with a zero before it": [[0, 1], edit.holding("0001")],
    "a negative serial number with FF before it": [[0, 1], edit.holding("ff80")],
    "a version of two octets": [[0, 0, 0], edit.holding("0002")],
    "a version of five octets": [[0, 0, 0], edit.holding("0100000002")],
    "a negative version": [[0, 0, 0], edit.holding("ff")],
    "an object identifier of no octets": [[0, 7, 0, 2, 0], edit.becomes(EMPTY_OID)],
    "an object identifier of 65 octets": [[0, 7, 0, 2, 0], oidOf("2a".padEnd(130, "01"))],
    "an object identifier that is padded": [[0, 7, 0, 2, 0], oidOf("2a8048ce3d040302")],
    "an object identifier that is cut off": [[0, 7, 0, 2, 0], oidOf("2a8648ce3d0403ff")],
    "an object identifier with an arc of 130 bits": [[0, 7, 0, 2, 0], oidOf(`2a87${"ff".repeat(17)}7f`)],
    "a time of twelve characters": [TIME, utc("24010100000Z")],
    "a time without seconds": [TIME, utc("2401010000Z")],
    "a time without Z": [TIME, utc("2401010000000")],
    "a time with an offset": [TIME, utc("240101000000+0000")],
    "a time with a letter": [TIME, utc("24010100000aZ")],
    "a time with a slash for its tens": [TIME, utc("240101/00000Z")],
    "a time with a character behind nine": [TIME, utc("2401010000:0Z")],
    "30 February": [TIME, utc("240230000000Z")],
    "month 13": [TIME, utc("241301000000Z")],
    "day 0": [TIME, utc("240100000000Z")],
    "24 hours": [TIME, utc("240101240000Z")],
    "60 minutes": [TIME, utc("240101006000Z")],
    "60 seconds": [TIME, utc("240101000060Z")],
    "a time with an empty fraction": [TIME, generalized("20240101000000.Z")],
    "a time with a fraction that ends in 0": [TIME, generalized("20240101000000.50Z")],
    "a time with a fraction of 13 digits": [TIME, generalized("20240101000000.1234567890123Z")],
    "a time with a letter in its fraction": [TIME, generalized("20240101000000.1aZ")],
    "a time that ends in its fraction": [TIME, generalized("20240101000000.5")],
    "a time that is empty": [TIME, utc("")],
    "a boolean of 01": [[0, 7, 0, 1, 1], edit.holding("01")],
    "a boolean of two octets": [[0, 7, 0, 1, 1], edit.holding("ffff")],
    "an object identifier with an arc of 129 bits": [[0, 7, 0, 2, 0], oidOf(`6984${"80".repeat(17)}00`)],
    "a time whose first digit is a colon": [TIME, utc(":00101000000Z")],
    "a time whose first digit is a slash": [TIME, utc("/90101000000Z")],
    "a time with a Z more": [TIME, utc("990101000000ZZ")],
    "a UTCTime with a fraction": [TIME, utc("990101000000.5Z")],
    "a signature that ends behind the certificate": [
      [2],
      (_, encoding) => [Uint8Array.from(encoding, (octet, index) => (index === 1 ? octet + 1 : octet))],
    ],
    "a keyUsage with eight unused bits, none set": [[0, 7, 0, 1, 2], edit.holding("03020800")],
    "an extension twice": [[0, 7, 0, 2], edit.repeated(2)],
    "65 extensions": [
      [0, 7, 0, 2],
      () => Array.from({ length: 62 }, (_, index) => Buffer.from(`300906035505${hexByte(index)}04020500`, "hex")),
    ],
    "a basicConstraints with a value more": [[0, 7, 0, 0, 1], edit.holding("30020500")],
    "a basicConstraints that is no SEQUENCE": [[0, 7, 0, 0, 1], edit.holding("0500")],
    "a basicConstraints with bytes behind": [[0, 7, 0, 0, 1], edit.holding("30000500")],
    "a basicConstraints with a boolean of 01": [[0, 7, 0, 0, 1], edit.holding("3003010101")],
    "a path length of -1": [[0, 7, 0, 0, 1], edit.holding("30060101ff0201ff")],
    "a keyUsage of no octets": [[0, 7, 0, 1, 2], edit.holding("0300")],
    "a keyUsage that is no bit string": [[0, 7, 0, 1, 2], edit.holding("04020780")],
    "a keyUsage with eight unused bits": [[0, 7, 0, 1, 2], edit.holding("03020880")],
    "a keyUsage with unused bits of nothing": [[0, 7, 0, 1, 2], edit.holding("030107")],
    "a keyUsage with unused bits that are set": [[0, 7, 0, 1, 2], edit.holding("03020781")],
    "a keyUsage of nine octets": [[0, 7, 0, 1, 2], edit.holding("030a00800000000000000001")],
    "an extKeyUsage that is a SET": [[0, 7, 0, 2], edit.becomes("30100603551d250409310706052b01050503")],
    "an extKeyUsage of integers": [[0, 7, 0, 2], edit.becomes("300c0603551d2504053003020101")],
    "a subjectKeyIdentifier that is an INTEGER": [[0, 7, 0, 2, 1], edit.holding("020101")],
    "an authorityKeyIdentifier with a value more": [[0, 7, 0, 3, 1], edit.holding("30058001010500")],
    "a public key that does not end at an octet": [
      [0, 6, 1],
      ({ content }) => [
        {
          tag: 3,
          content: Buffer.concat([Uint8Array.of(1), (content as Uint8Array).subarray(1, -1), Uint8Array.of(0)]),
        },
      ],
    ],
    "a public key of another length": [
      [0, 6, 1],
      ({ content }) => [{ tag: 3, content: (content as Uint8Array).subarray(0, -1) }],
    ],
    "a compressed public key": [
      [0, 6, 1],
      ({ content }) => [{ tag: 3, content: Buffer.concat([Uint8Array.of(0, 3), (content as Uint8Array).subarray(2)]) }],
    ],
    "a serial number of 70,000 octets": [[0, 1], edit.holding("01".repeat(70_000))],
  },
  accepted: {
    "of a serial number of one octet": [[0, 1], edit.holding("00")],
    "of version 1, without extensions": [
      [0],
      ({ tag, content }) => [{ tag, content: (content as readonly edit.Tree[]).slice(1, -1) }],
    ],
    "a time of 1999": [TIME, utc("990101000000Z")],
    "a time of the year 2050, with a fraction": [TIME, generalized("20500101000000.123456789012Z")],
    "names that are bytes": [[0, 5, 0], nested(3)],
    "an extension that nobody knows": [[0, 7, 0, 2], edit.becomes("3009060355050504020500")],
    "an object identifier with an arc of 128 bits": [[0, 7, 0, 2, 0], oidOf(`6983${"ff".repeat(17)}7f`)],
  },
};

const parameters = [0, 6, 0, 1] as const;
const rsaKey: Structure = {
  kind: "certificate",
  title: "certificate by an RSA key",
  der: read("x509/rsa.der"),
  closed: {},
  typed: {},
  required: {},
  refused: {
    "a key with a value more": [[0, 6, 1], edit.holding(`003008020103020103${NULL}`)],
    "a key that is no SEQUENCE": [[0, 6, 1], edit.holding("000500")],
    "a key of one integer": [[0, 6, 1], edit.holding("003003020103")],
    "a negative modulus": [[0, 6, 1], edit.holding("0030060201ff020103")],
    "a key of octet strings": [[0, 6, 1], edit.holding("003006040103040103")],
  },
  accepted: { "parameters that are absent": [parameters, edit.dropped] },
};

const SIGNER = [1, 0, 4, 0] as const;
const cms: Structure = {
  kind: "cms",
  title: "CMS",
  der: read("cms/p256.der"),
  closed: {
    ContentInfo: [],
    "the content's tag": [1],
    SignedData: [1, 0],
    encapContentInfo: [1, 0, 2],
    SignerInfo: SIGNER,
    issuerAndSerialNumber: [...SIGNER, 1],
    Attribute: [...SIGNER, 3, 0],
  },
  typed: {
    "the content's type": [0],
    content: [1],
    SignedData: [1, 0],
    version: [1, 0, 0],
    digestAlgorithms: [1, 0, 1],
    encapContentInfo: [1, 0, 2],
    eContentType: [1, 0, 2, 0],
    signerInfos: [1, 0, 4],
    SignerInfo: SIGNER,
    "the signer's version": [...SIGNER, 0],
    sid: [...SIGNER, 1],
    "the sid's issuer": [...SIGNER, 1, 0],
    "the sid's serial number": [...SIGNER, 1, 1],
    Attribute: [...SIGNER, 3, 0],
    "an attribute's type": [...SIGNER, 3, 0, 0],
    "an attribute's values": [...SIGNER, 3, 0, 1],
    signature: [...SIGNER, 5],
  },
  required: {
    content: [1],
    digestAlgorithms: [1, 0, 1],
    encapContentInfo: [1, 0, 2],
    signerInfos: [1, 0, 4],
    signature: [...SIGNER, 5],
    "an attribute's values": [...SIGNER, 3, 0, 1],
  },
  refused: {
    "an algorithm with a value more": [[...SIGNER, 2], edit.longerBy(NULL + NULL)],
    "the type of enveloped data": [[0], edit.holding("2a864886f70d010703")],
    "parameters of RSASSA-PSS with a value more": [[...SIGNER, 4], edit.becomes("300f06092a864886f70d01010a30020500")],
    "no content in its tag": [[1], edit.holding("")],
    "a tag of 0 among the certificates": [[1, 0, 3], edit.longerBy("0000")],
    "a tag of number 31 among the certificates": [[1, 0, 3], edit.longerBy("bf00")],
    "33 signers": [SIGNER, edit.repeated(33)],
    "65 attributes": [[...SIGNER, 3, 0], edit.repeated(62)],
    "65 certificates": [[1, 0, 3, 0], edit.repeated(64)],
    "values nested 41 deep": [[1, 0, 3, 0], nested(45)],
    "10,001 digest algorithms": [[1, 0, 1, 0], edit.repeated(10_001)],
    "a certificate that can't be read, needed or not": [[1, 0, 3, 1, 0], edit.tagged(0x31)],
  },
  accepted: {
    "no attributes": [[...SIGNER, 3], edit.dropped],
    "no certificates": [[1, 0, 3], edit.dropped],
    "revocation lists, which are passed over here": [[1, 0, 3], (value) => [value, Buffer.from("a100", "hex")]],
    "an attribute certificate, which is passed over here": [
      [1, 0, 3, 1],
      (value) => [value, Buffer.from("a200", "hex")],
    ],
  },
};

const response = read("rfc3161/p256.tsr");
const tsr: Structure = {
  kind: "time-stamp-response",
  title: "time-stamp response",
  der: response,
  closed: { TimeStampResp: [], PKIStatusInfo: [0] },
  typed: { PKIStatusInfo: [0], PKIStatus: [0, 0] },
  required: { PKIStatus: [0, 0], PKIStatusInfo: [0] },
  refused: {
    "a status text that is an INTEGER": [[0], edit.becomes("3008020100", "3003020101")],
    "a status text of half a character": [[0], edit.becomes("3008020100", "30031e0141")],
  },
  accepted: { "a status text": [[0], edit.becomes("3008020100", "30030c0141")] },
};

/** The TSTInfo of the response's token, by itself. */
function tstInfo(): Uint8Array {
  const { content } = edit.valueAt(response, [1, 1, 0, 2, 1, 0]);
  if (!(content instanceof Uint8Array)) throw new Error("a TSTInfo is in an octet string");
  return content;
}
const info: Structure = {
  kind: "tst-info",
  title: "TSTInfo",
  der: tstInfo(),
  closed: { TSTInfo: [], messageImprint: [2] },
  typed: { version: [0], policy: [1], messageImprint: [2], hashedMessage: [2, 1], serialNumber: [3], genTime: [4] },
  required: { version: [0], messageImprint: [2], genTime: [4] },
  refused: {
    "version 2": [[0], edit.holding("02")],
    "genTime as a UTCTime": [[4], utc("240101000000Z")],
    "an accuracy with a value more": [[5], edit.longerBy(NULL)],
    "an accuracy of -1": [[5], edit.holding("0201ff")],
    "an ordering of 01": [[6], edit.holding("01")],
    "a critical extension": [[7], (value) => [value, Buffer.from("a10c300a06035505010101ff0400", "hex")]],
    "an extension with a value more": [[7], (value) => [value, Buffer.from("a10b3009060355050104000500", "hex")]],
  },
  accepted: {
    "an extension that is not critical": [[7], (value) => [value, Buffer.from("a109300706035505010400", "hex")]],
    "no accuracy, ordering and nonce": [
      [],
      ({ tag, content }) => [{ tag, content: content.slice(0, 5) as edit.Tree[] }],
    ],
  },
};

/** Tags that occur nowhere in these structures. */
const OTHER_TAG = { primitive: 0x13, constructed: 0x34 } as const;

function partsOf({ kind, title, der, closed, typed, required, refused, accepted }: Structure): Part[] {
  const one = (name: string, bytes: Uint8Array, expect: Part["expect"], teaches: string): Part => ({
    name: `${title}: ${name}`,
    kind,
    hex: Buffer.from(bytes).toString("hex"),
    expect,
    teaches,
  });
  const otherTag: edit.Edit = (value) => [
    { tag: (value.tag & 0x20) === 0 ? OTHER_TAG.primitive : OTHER_TAG.constructed, content: value.content },
  ];
  const structure = "A structure has the parts that its definition names, in their order, and no more.";
  return [
    one("as it was made", der, "accepted", "What follows differs from this in one place."),
    ...Object.entries(closed).map(([name, path]) =>
      one(`a value more in ${name}`, edit.withEdit(der, path, edit.longerBy(NULL)), "refused", structure),
    ),
    ...Object.entries(typed).map(([name, path]) =>
      one(`${name} of another type`, edit.withEdit(der, path, otherTag), "refused", structure),
    ),
    ...Object.entries(required).map(([name, path]) =>
      one(`${name} missing`, edit.withEdit(der, path, edit.dropped), "refused", structure),
    ),
    ...Object.entries(refused).map(([name, [path, change]]) =>
      one(name, edit.withEdit(der, path, change), "refused", "DER has one form for one value (3.2, Encoding)."),
    ),
    ...Object.entries(accepted).map(([name, [path, change]]) =>
      one(name, edit.withEdit(der, path, change), "accepted", "What this format does not ask for is bytes."),
    ),
  ];
}

export const structures = (): Part[] => [certificate, rsaKey, cms, tsr, info].flatMap(partsOf);
