/** The reasons why no vector can kill certain mutants of the seal checks, with the mutants' operands by file. */
export const SEAL_REASONS: readonly (readonly [
  reason: string,
  mutants: Readonly<Record<string, readonly string[]>>,
])[] = [
  [
    "It only narrows a type: an opened document has a newest section, and a section without a first object has no second one.",
    {
      "pdf/seal-tail.ts": ["section === undefined", "first === undefined"],
      "pdf/structure.ts": ["newest === undefined"],
    },
  ],
  [
    "It only narrows a type: a signature with a usable range is in the file itself, not in an object stream.",
    {
      "pdf/structure.ts": ["seal.start === undefined"],
      "seal/earlier-signatures.ts": ["start !== undefined", "input.seal?.start !== undefined"],
      "seal/judged-signatures.ts": ["start !== undefined"],
      "seal/verify-proof.ts": ["!signature.byteRange.ok"],
    },
  ],
  [
    "A claim of the last seal fails for every later change except validation data, and the next rule requires its claims to hold.",
    {
      "seal/archival.ts": [
        'format === "document-time-stamp"',
        '!isWithin(sealed.laterChanges ?? "other", "validation")',
      ],
    },
  ],
  [
    "It only chooses the words: a file that ends with archival time stamps is verified anyway.",
    { "envelope/custody.ts": ["sealedBytes === signed"] },
  ],
  [
    "It only chooses the words: no object begins at null, so the next rule refuses it.",
    { "pdf/seal-tail.ts": ["at === null"] },
  ],
  [
    "It only narrows a type: null counts as byte 0, and every file is longer than its last three lines.",
    { "pdf/seal-tail.ts": ["end !== null"] },
  ],
  [
    "If original_document_hash fails, so does the verdict, and the format does not say what becomes of signature_structure.",
    { "pdf/structure.ts": ['boundary.kind === "wrong"'] },
  ],
  [
    "It only narrows a type: no position is equal to undefined, so the next rule refuses it.",
    { "pdf/structure.ts": ["length === undefined"] },
  ],
  [
    "Only a bound on cost or a defect of the verifier gets here. No vector is that large, and no known file causes a defect.",
    {
      "pdf/reach-over.ts": ["error instanceof EvidenceError", 'error.code !== "limit"'],
      "pdf/changes/changes.ts": ['error.code !== "limit"'],
    },
  ],
  [
    "Beyond the end, the search finds nothing either. The rule only keeps the cost from becoming negative.",
    { "pdf/reach-over.ts": ["data > end"] },
  ],
  [
    "It only narrows a type: a value that begins with << is a dictionary, and only a dictionary has data.",
    { "pdf/changes/lost.ts": ['value.kind !== "dictionary"', 'after.value.kind !== "dictionary"'] },
  ],
  ["It only avoids sorting the objects if nothing was lost.", { "pdf/changes/lost.ts": ["found.length === 0"] }],
  [
    "A trailer that can't be read is refused either as lost or by the error itself.",
    { "pdf/changes/lost.ts": ['error instanceof EvidenceError && error.code !== "limit"'] },
  ],
  [
    "It avoids opening an earlier state of the document, in which only a signature with a usable range would be found.",
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
    "A bound on cost: more than 64 signatures are refused later, when they are counted.",
    { "seal/vanished-signatures.ts": ["!opened.has(end) && opened.size >= max"] },
  ],
  [
    "Both operands are always true together: only a usable range is judged, and only a stated length is hashed.",
    {
      "seal/earlier-signatures.ts": ["!byteRange.ok", "pades === null"],
      "seal/judged-signatures.ts": ["!byteRange.ok"],
      "seal/verify-proof.ts": ['boundary.kind === "not-stated"', "docSha256 === null"],
    },
  ],
  [
    "It only narrows a type: every usable range has a digest and was compared.",
    { "seal/judged-signatures.ts": ["value !== undefined"], "seal/permitted-changes.ts": ["later === undefined"] },
  ],
  ["Without anchors, no path leads to one.", { "seal/permitted-changes.ts": ["anchors.length === 0"] }],
  [
    "Defense in depth: the removal of a signature is a change of the level `other`, or leaves no revision of it. Neither is ever permitted.",
    { "seal/permitted-changes.ts": ["gone"] },
  ],
  [
    "A revision that is not covered counts as a change of the level `other`, which is never permitted.",
    { "seal/permitted-changes.ts": ["!later.covered"] },
  ],
  [
    "Only the signing page and the service use it, for their own documents, and no claim of the format depends on it; or it rethrows a bound on cost or a defect.",
    { "pdf/changes/changes.ts": ["revision < 0", "error instanceof EvidenceError"] },
  ],
  [
    "The claim fails anyway: there is no level, a token is not intact, or another claim fails as well.",
    {
      "seal/verify-seal.ts": ["!valid", "level !== null", "failed !== undefined"],
      "seal/verify-proof.ts": ['MUST_HOLD.some((name) => state(name) !== "holds")'],
      "seal/detached-evidence.ts": ["failed !== undefined", "!verification.intact"],
    },
  ],
  [
    "A signature on another curve has an s above half the order of P-256, which the next rule refuses.",
    { "seal/seal-contents.ts": ["algorithm === null", 'publicKey.type === "ec"', 'publicKey.curve === "P-256"'] },
  ],
  [
    "Rewritten with only one token, the value differs, which the next rule refuses.",
    { "seal/seal-contents.ts": ["another !== undefined"] },
  ],
  [
    "A signature that was verified is DER with exactly two numbers.",
    { "seal/seal-contents.ts": ["fields.end()", "error instanceof EvidenceError"] },
  ],
  [
    "A signature without signed attributes has no signing-certificate attribute, and so is not valid PAdES.",
    { "seal/pades.ts": ['format === "pkcs7"'] },
  ],
  [
    "A signature dictionary with a repeated key has no usable range, so this member of it is never read.",
    {
      "seal/carried-note.ts": ['dictionary.repeated.includes("SSSLogCheckpoint")'],
      "seal/purpose.ts": ['!dictionary.repeated.includes("Reason")'],
      "seal/claimed-time.ts": ['!dictionary.repeated.includes("M")'],
    },
  ],
  [
    "Without it, a block would count although its proof fails. That failure makes the verdict not_verified anyway.",
    { "seal/detached-evidence.ts": ['name === "anchored_in_block"', 'state === "holds"'] },
  ],
  [
    "For a key of 16 bytes, each such position is a multiple of the key's length, which the condition before handles.",
    { "pdf/encryption/aes.ts": ["key.length === 32"] },
  ],
  [
    "A seal whose reason is not one of the service's is not verified, and a file without a seal does not name an original.",
    { "seal/room-document.ts": ["kind !== undefined"] },
  ],
  [
    "It only narrows a type: no manifest lists an empty file, and the hash of the whole file was compared before.",
    { "seal/room-document.ts": ["revisionEnd !== null", "revisionEnd < bytes.length"] },
  ],
];
