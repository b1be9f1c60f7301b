/** The reasons why no vector can kill certain mutants of the transparency log, with the mutants' operands by file. */
export const LOG_REASONS: readonly (readonly [reason: string, mutants: Readonly<Record<string, readonly string[]>>])[] =
  [
    [
      "It passes on an error that is no refusal, which no vector causes.",
      {
        "log/note.ts": ["!(error instanceof DOMException)"],
        "log/retraction.ts": ["!(error instanceof EvidenceError)"],
        "log/verify-log-proof.ts": ["!(error instanceof EvidenceError)"],
        "log/witness-policy.ts": ["!(error instanceof EvidenceError)"],
      },
    ],
    [
      "The writer alone asks it. The reader's own bound has a vector.",
      { "log/entry.ts": ["line.length > maxEntryBytes"], "log/tiles.ts": ["entry.length > maxEntryBytes"] },
    ],
    [
      "What is left is refused by the next rule: no checkpoint, no origin, no path of the tile that it names, an entry behind the end.",
      {
        "log/checkpoint.ts": ["end < 0"],
        "log/note.ts": ["end < 1"],
        "log/tiles.ts": ['level === ""', "low === undefined"],
      },
    ],
    ["Ed25519 refuses a signature of another length.", { "log/note.ts": ["signature.length !== signatureBytes"] }],
    [
      "It narrows for the type checker, or saves work: whoever calls it has asked before.",
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
      "Other hashes lead to another root, which is compared at the end.",
      { "log/tree.ts": ["ranges.length !== proof.length", "!proof.every(isHash)"] },
    ],
    [
      "It chooses the words of a claim that fails all the same.",
      { "log/verify-log-proof.ts": ["ofOrigin.length === 0", "fitting.length === 0"] },
    ],
    [
      "Every engine that runs the vectors has Ed25519.",
      {
        "log/verify-log-proof.ts": [
          'verdicts.includes("unchecked")',
          'cosigned.some(({ verdict }) => verdict === "unchecked")',
        ],
      },
    ],
    [
      "A member that is missing is undefined, which the next rule refuses.",
      { "seal/trust-list.ts": ['"key" in entry', '"environment" in entry'] },
    ],
  ];
