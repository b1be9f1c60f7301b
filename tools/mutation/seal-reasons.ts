/** The reasons why no vector can kill certain mutants of the seal checks, with the mutants' operands by file. */
export const SEAL_REASONS: readonly (readonly [
  reason: string,
  mutants: Readonly<Record<string, readonly string[]>>,
])[] = [
  [
    "It narrows for the type checker: a document that was opened has a newest section, and without a first object it names no second.",
    {
      "pdf/seal-tail.ts": ["section === undefined", "first === undefined"],
      "pdf/structure.ts": ["newest === undefined"],
    },
  ],
  [
    "It narrows for the type checker: a signature whose range is usable stands in the file itself.",
    {
      "pdf/structure.ts": ["seal.start === undefined"],
      "seal/earlier-signatures.ts": ["start !== undefined", "input.seal?.start !== undefined"],
      "seal/judged-signatures.ts": ["start !== undefined"],
      "seal/verify-proof.ts": ["!signature.byteRange.ok"],
    },
  ],
  [
    "A claim of the last seal fails for any change behind it but validation data, which is asked next.",
    {
      "seal/archival.ts": [
        'format === "document-time-stamp"',
        '!isWithin(sealed.laterChanges ?? "other", "validation")',
      ],
    },
  ],
  [
    "It chooses the words: a file that archival time stamps end is verified.",
    { "envelope/custody.ts": ["sealedBytes === signed"] },
  ],
  ["It chooses the words: no object begins at null, which is refused next.", { "pdf/seal-tail.ts": ["at === null"] }],
  [
    "It narrows for the type checker: null stands for byte 0, and no file is as short as its last three lines.",
    { "pdf/seal-tail.ts": ["end !== null"] },
  ],
  [
    "Where original_document_hash fails, and the verdict with it, the format leaves open what signature_structure says.",
    { "pdf/structure.ts": ['boundary.kind === "wrong"'] },
  ],
  [
    "It narrows for the type checker: no place is equal to what is no number, which the next rule asks.",
    { "pdf/structure.ts": ["length === undefined"] },
  ],
  [
    "A bound on cost ends it, or a defect of the verifier: no vector is so large, and no file is known to cause one.",
    {
      "pdf/reach-over.ts": ["error instanceof EvidenceError", 'error.code !== "limit"'],
      "pdf/changes/changes.ts": ['error.code !== "limit"'],
    },
  ],
  [
    "Behind the end no word is found, either: it keeps the work from being counted backwards.",
    { "pdf/reach-over.ts": ["data > end"] },
  ],
  [
    "It narrows for the type checker: what begins with << is a dictionary, and nothing else has data.",
    { "pdf/changes/lost.ts": ['value.kind !== "dictionary"', 'after.value.kind !== "dictionary"'] },
  ],
  ["It saves the sorting of objects where nothing was lost.", { "pdf/changes/lost.ts": ["found.length === 0"] }],
  [
    "A trailer that can't be read is refused as lost, or else by the error.",
    { "pdf/changes/lost.ts": ['error instanceof EvidenceError && error.code !== "limit"'] },
  ],
  [
    "It saves the opening of a state of the document: only a signature whose range is usable is found in it.",
    {
      "seal/vanished-signatures.ts": [
        "numbers.length === 4",
        "start === 0",
        "gapStart < gapEnd",
        "end <= bytes.length",
        "at < end",
        "fits",
        "bytes[gapStart] === 0x3c",
        "bytes[gapEnd - 1] === 0x3e",
      ],
    },
  ],
  [
    "It bounds the work: more than 64 signatures are refused where they are counted, behind it.",
    { "seal/vanished-signatures.ts": ["!opened.has(end) && opened.size >= max"] },
  ],
  [
    "Either is so where the other is: only a usable range is judged, and only a stated length is hashed.",
    {
      "seal/earlier-signatures.ts": ["!byteRange.ok", "pades === null"],
      "seal/judged-signatures.ts": ["!byteRange.ok"],
      "seal/verify-proof.ts": ['boundary.kind === "not-stated"', "docSha256 === null"],
    },
  ],
  [
    "It narrows for the type checker: every usable range has a digest, and was compared.",
    { "seal/judged-signatures.ts": ["value !== undefined"], "seal/permitted-changes.ts": ["later === undefined"] },
  ],
  ["Without anchors there is no path to one.", { "seal/permitted-changes.ts": ["anchors.length === 0"] }],
  [
    "Defense in depth: taking a signature away is a change of the level `other`, or leaves no revision of it, and nothing permits either.",
    { "seal/permitted-changes.ts": ["gone"] },
  ],
  [
    "What is not covered counts as a change of the level `other`, which nothing permits.",
    { "seal/permitted-changes.ts": ["!later.covered"] },
  ],
  [
    "The signing page and the service ask it of their own documents, and no claim of the format rests on it; or it passes on a bound on cost or a defect.",
    { "pdf/changes/changes.ts": ["revision < 0", "error instanceof EvidenceError"] },
  ],
  [
    "Without it the claim fails all the same: no level, a token that is not intact, or a claim that fails beside it.",
    {
      "seal/verify-seal.ts": ["!valid", "level !== null", "failed !== undefined"],
      "seal/verify-proof.ts": ['MUST_HOLD.some((name) => state(name) !== "holds")'],
      "seal/detached-evidence.ts": ["failed !== undefined", "!verification.intact"],
    },
  ],
  [
    "A signature of another curve has a greater s than half the order of P-256, which is refused next.",
    { "seal/seal-contents.ts": ["algorithm === null", 'publicKey.type === "ec"', 'publicKey.curve === "P-256"'] },
  ],
  [
    "Written with one token alone the value is not the same, which is refused next.",
    { "seal/seal-contents.ts": ["another !== undefined"] },
  ],
  [
    "A signature that was verified is DER of two numbers and no more.",
    { "seal/seal-contents.ts": ["fields.end()", "error instanceof EvidenceError"] },
  ],
  [
    "A signature without signed attributes has no signing-certificate, without which it is not valid in PAdES.",
    { "seal/pades.ts": ['format === "pkcs7"'] },
  ],
  [
    "A signature dictionary in which a key stands twice has no usable range, and is never asked for it.",
    {
      "seal/carried-note.ts": ['dictionary.repeated.includes("SSSLogCheckpoint")'],
      "seal/purpose.ts": ['!dictionary.repeated.includes("Reason")'],
      "seal/claimed-time.ts": ['!dictionary.repeated.includes("M")'],
    },
  ],
  [
    "Without it a block would count whose proof fails elsewhere, and then the verdict is not_verified.",
    { "seal/detached-evidence.ts": ['name === "anchored_in_block"', 'state === "holds"'] },
  ],
  [
    "In a key of 16 bytes each such place is a multiple of its length, which is asked before.",
    { "pdf/encryption/aes.ts": ["key.length === 32"] },
  ],
  [
    "A seal whose reason is none of the service's is not verified, and a file without a seal names no original.",
    { "seal/room-document.ts": ["kind !== undefined"] },
  ],
  [
    "It narrows for the type checker: no manifest lists an empty file, or the hash of the whole file, which was asked before.",
    { "seal/room-document.ts": ["revisionEnd !== null", "revisionEnd < bytes.length"] },
  ],
];
