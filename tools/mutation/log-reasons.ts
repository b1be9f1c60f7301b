/** The reasons why no vector can kill certain mutants of the transparency log, with the mutants' operands by file. */
export const LOG_REASONS: readonly (readonly [reason: string, mutants: Readonly<Record<string, readonly string[]>>])[] =
  [
    [
      "It rethrows an error that is not a refusal. No vector causes such an error.",
      {
        "log/note.ts": ["!(error instanceof DOMException)"],
        "log/retraction.ts": ["!(error instanceof EvidenceError)"],
        "log/verify-log-proof.ts": ["!(error instanceof EvidenceError)"],
        "log/witness-policy.ts": ["!(error instanceof EvidenceError)"],
      },
    ],
    [
      "Only the writer checks it. The reader's own bound has a vector.",
      { "log/entry.ts": ["line.length > maxEntryBytes"], "log/tiles.ts": ["entry.length > maxEntryBytes"] },
    ],
    [
      "The next rule refuses the same input: a checkpoint or origin is missing, the path is not that of the tile, or an entry ends beyond the bundle.",
      {
        "log/checkpoint.ts": ["end < 0"],
        "log/note.ts": ["end < 1"],
        "log/tiles.ts": ['level === ""', "low === undefined"],
      },
    ],
    ["Ed25519 refuses a signature of any other length.", { "log/note.ts": ["signature.length !== signatureBytes"] }],
    [
      "It only narrows a type or saves work: each caller has already checked it.",
      {
        "log/tree.ts": [
          "oldSize === 0",
          "oldSize === size",
          "!isCount(index)",
          "!isCount(size)",
          "first !== undefined",
        ],
      },
    ],
    [
      "Other hashes lead to another root, and the roots are compared at the end.",
      { "log/tree.ts": ["ranges.length !== proof.length", "!proof.every(isHash)"] },
    ],
    [
      "It only chooses the words of a claim that fails anyway.",
      { "log/verify-log-proof.ts": ["ofOrigin.length === 0", "fitting.length === 0"] },
    ],
    [
      "Every engine that runs the vectors supports Ed25519.",
      {
        "log/verify-log-proof.ts": [
          'verdicts.includes("unchecked")',
          'cosigned.some(({ verdict }) => verdict === "unchecked")',
        ],
      },
    ],
    [
      "A missing member is undefined, which the next rule refuses.",
      { "seal/trust-list.ts": ['"key" in entry', '"environment" in entry'] },
    ],
  ];
