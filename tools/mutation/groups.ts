/** Mutants that no vector can distinguish from the verifier: a reason, and the mutants' operands by file. */
type Group = readonly [reason: string, rules: Readonly<Record<string, readonly string[]>>];

const HAS_MEMBER = `expect(Object.hasOwn(object, name), \`\${path}.\${name}\`)`;

export const GROUPS: readonly Group[] = [
  [
    "It only narrows a type: the value is always present here.",
    {
      "asn1/ber.ts": ["tag === undefined", "part.body instanceof Uint8Array"],
      "asn1/time.ts": ["tens === undefined", "ones === undefined", "octet !== undefined"],
      "claim.ts": ["claims.length > 0"],
      "envelope/act-claims.ts": ["!signer", "certificate === null", "genTime !== null"],
      "envelope/signing-complete.ts": ["leaf === null", "revisionEnd !== null", "at !== null"],
      "rfc3161/token.ts": ["eContent !== null"],
      "webcrypto.ts": ["only !== undefined"],
      "seal/verify-seal.ts": ["signedData !== null", "certificate !== null"],
      "seal/trust-list.ts": ["certificate !== undefined"],
      "manifest/chain.ts": ["first === undefined", "last === undefined"],
      "seal/permitted-changes.ts": ["genTime !== null"],
      "seal/detached-evidence.ts": ["genTime !== null"],
    },
  ],
  [
    "Without it, the value ends beyond the limit, or too few bytes are left. A later rule refuses both.",
    {
      "asn1/ber.ts": ["first === undefined", "start + 2 > limit", "at > limit", "!Number.isSafeInteger(length)"],
      "asn1/der.ts": ["first === undefined", "count > 4"],
      "asn1/time.ts": ["at + 2 > end"],
      "ots/bytes.ts": ["length > source.length - at", "value === undefined"],
      "ots/parse.ts": ["!isHashOp(fileHashOp)"],
      "zip/directory.ts": ["at + 46 > end", "at + 46 + nameLength > end", "offset + 30 > bytes.length"],
      "zip/zip.ts": ["end > bytes.length", "at + 16 <= bytes.length"],
    },
  ],
  [
    "Every caller has already checked the tag of the value.",
    {
      "asn1/der.ts": ["(node.tag & 0x20) === 0"],
      "asn1/values.ts": ['expect(node, TAG.boolean, "a boolean")'],
    },
  ],
  ["No structure of the format is nested this deeply.", { "asn1/der.ts": ["node.depth >= MAX_DEPTH"] }],
  [
    "A day that the month does not have falls in another month, and hour 24 falls on another day. One of the three comparisons is enough.",
    { "asn1/time.ts": ["date.getUTCDate() === day", "date.getUTCHours() === hour"] },
  ],
  [
    "It only serves writing or sorting, and refuses nothing that a verifier reads.",
    {
      "asn1/oid.ts": [
        "!/^(?:0|[1-9]\\d{0,38})$/.test(text)",
        "root < 2 && second > 39",
        "root === undefined",
        "root > 2",
        "second === undefined",
        'typeof arc === "bigint"',
        "arc > MAX_ARC",
      ],
      "digest.ts": ["/[^0-9a-f]/.test(hex)", "hex.length % 2 !== 0"],
      "ots/attestation.ts": ['"height" in a', '"height" in b', '"uri" in a', '"uri" in b'],
      "ots/ops.ts": ['"arg" in a', '"arg" in b'],
      "rfc3161/token.ts": ["input.imprint.length !== 32", "input.nonce.length === 0"],
      "manifest/canonical-json.ts": ["!needsEscape.test(string)"],
    },
  ],
  [
    "Parsed JSON contains only plain objects and the other types of JSON.",
    {
      "manifest/canonical-json.ts": [
        "prototype !== Object.prototype && prototype !== null",
        'typeof value !== "object"',
      ],
    },
  ],
  [
    "A text, a number or a list has none of the members, so the check of the first member refuses it.",
    {
      "envelope/validate.ts": ["!Array.isArray(value)", 'typeof value === "object"'],
      "envelope/member.ts": ["Array.isArray(value)", "!Object.hasOwn(value, name)"],
      "manifest/validate.ts": ["Object.getPrototypeOf(value) === Object.prototype", 'typeof value === "object"'],
      "records/json.ts": ["Array.isArray(value)", 'typeof value !== "object"'],
    },
  ],
  [
    "Each member has its own check, which refuses a missing member.",
    {
      "envelope/validate.ts": [HAS_MEMBER],
      "manifest/validate.ts": [HAS_MEMBER],
      "seal/trust-list.ts": ['"pem" in entry'],
    },
  ],
  [
    "Canonical JSON can't express a lone surrogate, so the evidence is refused anyway.",
    { "envelope/validate.ts": ["value.isWellFormed()"] },
  ],
  [
    "The next operand is enough: the last record can't be the first of two seals, and it exists even if there is no seal.",
    { "envelope/verify-envelope.ts": ["seals.length === 1"] },
  ],
  [
    "It only sorts files for the command line and the page. The reader of each kind checks the rules of that kind.",
    {
      "records/evidence-files.ts": [
        "Array.isArray(value)",
        "bytes.length > maxBytes",
        'has("chainOk")',
        'has("coverage")',
        'has("documents")',
        'has("manifest")',
        'has("passport")',
        'typeof value !== "object"',
        "value === null",
      ],
    },
  ],
  [
    "A message is never empty: it begins with a digest, and no operation has an empty result.",
    { "ots/ops.ts": ["messageLength === 0"] },
  ],
  [
    "A message is a digest, or the result of an earlier operation that had to meet the same bound.",
    {
      "ots/ops.ts": ["messageLength > otsLimits.messageBytes"],
      "ots/parse.ts": ["messageLength > otsLimits.messageBytes"],
    },
  ],
  [
    "The caller supplies the header, so a wrong length is the caller's mistake and not a claim about the file.",
    { "ots/verify.ts": ["header.length !== headerBytes"] },
  ],
  [
    "A hash of another length differs from the expected hash, so the comparison fails anyway.",
    {
      "rfc3161/verify.ts": [
        '"sha256" in input.stamped && hash !== "SHA-256"',
        "hash === null",
        "hashedMessage.length !== HASH_LENGTH[hash]",
      ],
      "manifest/chain.ts": ["!isSha256Hex(stated)"],
    },
  ],
  [
    "If one of these claims is unchecked, another of them fails.",
    {
      "rfc3161/verify.ts": ["!MUST_HOLD.has(one.name)"],
      "seal/verify-seal.ts": ["timeStamps.some(({ intact }) => !intact)"],
    },
  ],
  [
    "It only produces text for people, and never changes a verdict.",
    {
      "rfc3161/token.ts": ["readBoolean(ordering)"],
      "x509/certificate.ts": ["serialNumber.length > 1", "serialNumber[0] === 0"],
    },
  ],
  [
    "A key that does not fit its algorithm is refused before it verifies anything.",
    { "webcrypto.ts": ['info.type !== "rsa"', "isEcdsa"] },
  ],
  [
    "A key on a curve has no length in bits, so both comparisons after it are false.",
    { "x509/signature-policy.ts": ['key.type === "ec"'] },
  ],
  [
    "Another rule refuses the same: MD5 is not a supported digest, and SHA-1 is refused under every name.",
    {
      "cms/verify.ts": ['digestAlgorithm === "SHA-1"', "digestOid === OID.md5", "digestAlgorithm === null"],
    },
  ],
  [
    "It only chooses the words of the claim, which holds or fails without it.",
    { "cms/verify.ts": ["bound.holds", "bound.version === 1"] },
  ],
  [
    "The number that announces zip64 also exceeds another bound: 64 files, the offsets, or the sizes.",
    {
      "zip/directory.ts": ["count === ZIP64_16", "size === ZIP64_32", "offset === ZIP64_32", "compressed === ZIP64_32"],
    },
  ],
  [
    "A bound on cost: no vector is that large.",
    {
      "zip/directory.ts": ["requireBounded(entries, file.maxBytes)", "size > zipLimits.entryBytes", "total > maxBytes"],
    },
  ],
  [
    "An extra field moves the bytes after it in the directory, or is missing from one of the two headers. Other rules refuse both.",
    { "zip/directory.ts": ["view.getUint16(at + 30, true) !== 0", "view.getUint16(offset + 28, true) !== 0"] },
  ],
  [
    "It rethrows a defect of the verifier, which would otherwise count as a refusal.",
    {
      "zip/zip.ts": ["!(error instanceof EvidenceError)"],
      "seal/verify-proof.ts": ["!(error instanceof EvidenceError)"],
      "seal/attached-record.ts": ["!(error instanceof EvidenceError)"],
      "seal/room-document.ts": ["!(error instanceof EvidenceError)"],
    },
  ],
  [
    "The second of two versions with the same number is not the successor of the first, which the next rule refuses as a gap.",
    { "manifest/chain.ts": ["twice !== undefined"] },
  ],
  [
    "A bound on cost: of this many versions, two have the same number, or one has a number that is too large.",
    {
      "manifest/chain.ts": ["input.versions.length > maxVersionsAtOnce"],
      "seal/verify-closing.ts": ["input.versions.length > maxVersionsAtOnce"],
    },
  ],
  [
    "A manifest whose link does not fit its version can't be read, and a record states a version within the bounds.",
    {
      "manifest/chain.ts": [
        "previous === null",
        "versions.some((version) => !Number.isInteger(version) || version < 1 || version > manifestLimits.versions)",
      ],
    },
  ],
  [
    "Its callers use it only for receipts and proof certificates.",
    { "seal/attached-record.ts": ['purpose.kind !== "certificate"'] },
  ],
  [
    "The next check fails the same claim: an unknown environment is not the seal's, and a text has no member `file`.",
    {
      "seal/attached-record.ts": [
        'expect(environment === "live" || environment === "test", "environment")',
        'typeof value === "object"',
      ],
    },
  ],
  [
    "A sealed file whose document's hash is not known is not verified, so its record decides nothing.",
    { "seal/attached-record.ts": ["docSha256 !== null"] },
  ],
  [
    "If no signature ends at the last byte, the format does not say whether a purpose is read.",
    { "seal/closing-certificate.ts": ["byteRange.range.end === document.bytes.length"] },
  ],
  [
    "Without versions, the claim about the chain fails. If a seal is not intact, a claim other than trust fails.",
    { "seal/verify-closing.ts": ["checked.length === 0", 'trust?.state === "fails"'] },
  ],
  [
    "A missing member and an undefined one have the same effect.",
    { "seal/verify-closing.ts": ["input.roomCode !== undefined"] },
  ],
  [
    "It only chooses between two words for an outdated algorithm.",
    { "x509/signature-policy.ts": ["oids.some((oid) => oid === OID.md5 || oid === OID.md5WithRsa)"] },
  ],
  [
    "If this hash is not supported, neither is the digest of the signature nor the key. The signature is refused under another name.",
    { "x509/algorithms.ts": ["hash === null"] },
  ],
  ["It only saves a copy if there is enough room.", { "inflate.ts": ["needed <= state.output.length"] }],
  [
    "Every token is judged, and every genuine token has a time.",
    { "envelope/act-claims.ts": ["token === undefined", "judged === undefined", "judged.genTime === null"] },
  ],
  [
    "It chooses between two ways to say that the claim holds, or checks a member that only this kind of revision has.",
    { "envelope/act-claims.ts": ['retired.state !== "holds"', 'revision.kind === "signed"'] },
  ],
  [
    "Fewer bytes have another hash, so the comparison fails anyway.",
    { "envelope/signed-document.ts": ["bytes > document.length"] },
  ],
  [
    "Without a TSTInfo, the claim about the content type has already failed.",
    { "rfc3161/verify.ts": ["genTime === undefined", "tstInfo === null"] },
  ],
  [
    "Section 2.3 of the format has the rules for the padding of /Contents. No reader of the product relies on this check.",
    { "cms/signed-data.ts": ["bytes[at] !== 0"] },
  ],
  [
    "It checks an act while the signer makes it, before a sealed file exists. act-fields.test.ts has a document for each rule.",
    {
      "envelope/act-fields.ts": [
        "replaced === null",
        "kind === undefined",
        "keys === null",
        "isFilling",
        "areStates(fieldTexts(document), fields)",
        "chosen.has(radio)",
        "index < 0",
        "old === undefined",
        "was",
        "is",
        "error instanceof EvidenceError",
        "names.has(number)",
        "names.get(number) !== name",
      ],
    },
  ],
  [
    "It only chooses the reason that is reported.",
    { "pdf/structure.ts": ["coveringFile(length, signatures).length > 1"] },
  ],
];
