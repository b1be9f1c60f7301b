/** Mutants that no vector can distinguish from the verifier: a reason, and the mutants' operands by file. */
type Group = readonly [reason: string, rules: Readonly<Record<string, readonly string[]>>];

const HAS_MEMBER = `expect(Object.hasOwn(object, name), \`\${path}.\${name}\`)`;

export const GROUPS: readonly Group[] = [
  [
    "Narrowing for the type checker: the values before it are always there.",
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
    "What is cut leads to an end behind the limit, or to too few bytes for the rule after it, which refuses the same.",
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
    "Every caller has asked for the tag of the value before.",
    {
      "asn1/der.ts": ["(node.tag & 0x20) === 0"],
      "asn1/values.ts": ['expect(node, TAG.boolean, "a boolean")'],
    },
  ],
  ["No structure of the format is read so deep.", { "asn1/der.ts": ["node.depth >= MAX_DEPTH"] }],
  [
    "A day that a month does not have is in another month, and hour 24 on another day: one of three comparisons is enough.",
    { "asn1/time.ts": ["date.getUTCDate() === day", "date.getUTCHours() === hour"] },
  ],
  [
    "It writes what the service sends or puts in order, and refuses nothing of what a verifier is given.",
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
    "JSON that was parsed has plain objects, lists, texts and numbers alone.",
    {
      "manifest/canonical-json.ts": [
        "prototype !== Object.prototype && prototype !== null",
        'typeof value !== "object"',
      ],
    },
  ],
  [
    "A text, a number or a list has none of the members: the check of the first one refuses it.",
    {
      "envelope/validate.ts": ["!Array.isArray(value)", 'typeof value === "object"'],
      "envelope/member.ts": ["Array.isArray(value)", "!Object.hasOwn(value, name)"],
      "manifest/validate.ts": ["Object.getPrototypeOf(value) === Object.prototype", 'typeof value === "object"'],
      "records/json.ts": ["Array.isArray(value)", 'typeof value !== "object"'],
    },
  ],
  [
    "Each member has a check of its own, which one that is absent fails.",
    {
      "envelope/validate.ts": [HAS_MEMBER],
      "manifest/validate.ts": [HAS_MEMBER],
      "seal/trust-list.ts": ['"pem" in entry'],
    },
  ],
  [
    "Canonical JSON has no text for a lone surrogate: the evidence is refused beside it.",
    { "envelope/validate.ts": ["value.isWellFormed()"] },
  ],
  [
    "The last record can't be the first of two seals, nor be one of none.",
    { "envelope/verify-envelope.ts": ["seals.length === 1"] },
  ],
  [
    "It sorts files for the command line and the page; the rules of each kind are asked of what it hands on.",
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
    "Messages are never empty: a digest begins them, and no operation leaves nothing.",
    { "ots/ops.ts": ["messageLength === 0"] },
  ],
  [
    "A message is the result of an operation before it, which was held to the same bound, or a digest.",
    {
      "ots/ops.ts": ["messageLength > otsLimits.messageBytes"],
      "ots/parse.ts": ["messageLength > otsLimits.messageBytes"],
    },
  ],
  [
    "It is a mistake of the caller, who brought the header, and no claim about the file.",
    { "ots/verify.ts": ["header.length !== headerBytes"] },
  ],
  [
    "A hash of another length is not equal to the one that is compared with it.",
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
    "Where one of these claims is left open, another of them fails.",
    {
      "rfc3161/verify.ts": ["!MUST_HOLD.has(one.name)"],
      "seal/verify-seal.ts": ["timeStamps.some(({ intact }) => !intact)"],
    },
  ],
  [
    "It is told to people, and moves no verdict.",
    {
      "rfc3161/token.ts": ["readBoolean(ordering)"],
      "x509/certificate.ts": ["serialNumber.length > 1", "serialNumber[0] === 0"],
    },
  ],
  [
    "Keys and algorithms that do not fit are refused before anything is verified by them.",
    { "webcrypto.ts": ['info.type !== "rsa"', "isEcdsa"] },
  ],
  ["A curve's key has no length in bits to compare.", { "x509/signature-policy.ts": ['key.type === "ec"'] }],
  [
    "MD5 is no digest that is read, and SHA-1 is refused under every name: another rule beside it says so.",
    {
      "cms/verify.ts": ['digestAlgorithm === "SHA-1"', "digestOid === OID.md5", "digestAlgorithm === null"],
    },
  ],
  [
    "It chooses the words of the claim, which fails or holds without it.",
    { "cms/verify.ts": ["bound.holds", "bound.version === 1"] },
  ],
  [
    "A number of 32 or 16 bits that says zip64 is past another bound: more than 64 files, a place or a size that does not fit.",
    {
      "zip/directory.ts": ["count === ZIP64_16", "size === ZIP64_32", "offset === ZIP64_32", "compressed === ZIP64_32"],
    },
  ],
  [
    "A bound on cost: a file of that size is not among the vectors.",
    {
      "zip/directory.ts": ["requireBounded(entries, file.maxBytes)", "size > zipLimits.entryBytes", "total > maxBytes"],
    },
  ],
  [
    "An extra field moves what follows in the directory, or is not in both headers: the rules of both refuse it.",
    { "zip/directory.ts": ["view.getUint16(at + 30, true) !== 0", "view.getUint16(offset + 28, true) !== 0"] },
  ],
  [
    "It keeps an error of our own from passing for a refusal.",
    {
      "zip/zip.ts": ["!(error instanceof EvidenceError)"],
      "seal/verify-proof.ts": ["!(error instanceof EvidenceError)"],
      "seal/attached-record.ts": ["!(error instanceof EvidenceError)"],
      "seal/room-document.ts": ["!(error instanceof EvidenceError)"],
    },
  ],
  [
    "Two versions of one number leave no number after the first, which is refused as a gap.",
    { "manifest/chain.ts": ["twice !== undefined"] },
  ],
  [
    "A bound on cost: so many versions have a number twice, or one that is too large.",
    {
      "manifest/chain.ts": ["input.versions.length > maxVersionsAtOnce"],
      "seal/verify-closing.ts": ["input.versions.length > maxVersionsAtOnce"],
    },
  ],
  [
    "A manifest of another version that links to none can't be read, and a record states a version within the bounds.",
    {
      "manifest/chain.ts": [
        "previous === null",
        "versions.some((version) => !Number.isInteger(version) || version < 1 || version > manifestLimits.versions)",
      ],
    },
  ],
  [
    "Its callers ask it of receipts and of proof certificates alone.",
    { "seal/attached-record.ts": ['purpose.kind !== "certificate"'] },
  ],
  [
    "An environment that is not known is not the seal's, and a text has no file: what is asked next fails the same claim.",
    {
      "seal/attached-record.ts": [
        'expect(environment === "live" || environment === "test", "environment")',
        'typeof value === "object"',
      ],
    },
  ],
  [
    "A sealed file whose own hash can't be told is not verified: what its record says of it decides nothing.",
    { "seal/attached-record.ts": ["docSha256 !== null"] },
  ],
  [
    "Where no signature ends at the last byte the format leaves open whether a purpose is read.",
    { "seal/closing-certificate.ts": ["byteRange.range.end === document.bytes.length"] },
  ],
  [
    "Of no versions the chain fails, and of a seal that is not intact a claim besides trust.",
    { "seal/verify-closing.ts": ["checked.length === 0", 'trust?.state === "fails"'] },
  ],
  [
    "A member that is absent and one that is undefined are the same.",
    { "seal/verify-closing.ts": ["input.roomCode !== undefined"] },
  ],
  [
    "It chooses between two words for what is too old.",
    { "x509/signature-policy.ts": ["oids.some((oid) => oid === OID.md5 || oid === OID.md5WithRsa)"] },
  ],
  [
    "Of a hash that is not read neither the digest beside it nor a key is: the signature is refused under another name.",
    { "x509/algorithms.ts": ["hash === null"] },
  ],
  ["It saves a copy where there is room.", { "inflate.ts": ["needed <= state.output.length"] }],
  [
    "A token is judged where there is one, and has a time where it is genuine.",
    { "envelope/act-claims.ts": ["token === undefined", "judged === undefined", "judged.genTime === null"] },
  ],
  [
    "It chooses between two ways to say that it holds, or asks what no other kind of revision has.",
    { "envelope/act-claims.ts": ['retired.state !== "holds"', 'revision.kind === "signed"'] },
  ],
  ["Fewer bytes have another hash.", { "envelope/signed-document.ts": ["bytes > document.length"] }],
  [
    "Without a TSTInfo the content type has failed.",
    { "rfc3161/verify.ts": ["genTime === undefined", "tstInfo === null"] },
  ],
  [
    "The padding of /Contents is read by the rules of section 2.3; no reader of the product asks for it here.",
    { "cms/signed-data.ts": ["bytes[at] !== 0"] },
  ],
  [
    "It judges an act while the signer makes it, before there is a sealed file: act-fields.test.ts has a document for each rule.",
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
  ["It chooses which reason is told.", { "pdf/structure.ts": ["coveringFile(length, signatures).length > 1"] }],
];
