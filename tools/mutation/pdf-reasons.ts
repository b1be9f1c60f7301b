/** The reasons why no vector can kill certain mutants of the PDF readers, with the mutants' operands by file. */
export const PDF_REASONS: readonly (readonly [reason: string, mutants: Readonly<Record<string, readonly string[]>>])[] =
  [
    [
      "It only narrows a type: otherwise the next operand is undefined, with the same result.",
      {
        "pdf/byte-range.ts": ['item.kind !== "number"', 'contents.kind !== "string"'],
        "pdf/changes/changes.ts": ["number === undefined", 'certification?.kind === "reference"'],
        "pdf/changes/edges.ts": ['place.value.kind === "dictionary"', 'place.value.kind !== "dictionary"'],
        "pdf/changes/judge.ts": [
          "old === undefined",
          "now === undefined",
          "holder !== undefined",
          'item.kind === "reference"',
        ],
        "pdf/changes/rules/catalog.ts": ['value.kind !== "dictionary"'],
        "pdf/changes/rules/field.ts": [
          'value?.kind === "name"',
          'old.kind !== "dictionary"',
          'now.kind !== "dictionary"',
        ],
        "pdf/changes/rules/form.ts": ["flags !== null"],
        "pdf/changes/rules/page.ts": ["number !== undefined"],
        "pdf/changes/rules/store.ts": ['is?.kind === "name"', 'value.kind === "reference"'],
        "pdf/changes/rules/structure.ts": ["value === undefined"],
        "pdf/changes/signature-field.ts": [
          'item.kind !== "reference"',
          "signature === undefined",
          'stored?.value.kind === "dictionary"',
          "now === undefined",
        ],
        "pdf/changes/view.ts": [
          'entry.type === "free"',
          "value === undefined",
          'value.kind !== "dictionary"',
          "entryOf(hybrid, number)",
        ],
        "pdf/xref.ts": ['value.kind !== "number"', 'item.kind === "number"'],
        "pdf/lexer.ts": ['value.kind !== "dictionary"'],
      },
    ],
    [
      "A missing member and an undefined one have the same effect.",
      {
        "pdf/changes/locks.ts": ['nameOf(parameters, "Action")'],
        "pdf/changes/reach.ts": ["parent", 'typeof above === "number"', "owner !== undefined", "value"],
      },
    ],
    [
      "It only saves work: a comparison of the skipped items would find no difference.",
      {
        "pdf/byte-range.ts": ["(bytes.byteOffset + at) % 4 !== 0"],
        "pdf/changes/judge.ts": ["old === now", "!oldNumbers.has(item.number)"],
        "pdf/changes/rules/structure.ts": ['item.kind === "reference"'],
      },
    ],
    [
      "A bound on cost. A verifier may use a wider one (section 2.6 of the format).",
      {
        "pdf/attachment.ts": ["depth > MAX_DEPTH"],
        "pdf/budget.ts": ["budget.left < 0"],
        "pdf/changes/rules/structure.ts": [
          "depth > MAX_DEPTH",
          "inBefore === null",
          "inAfter === null",
          "others.length > MAX_DIRECT",
        ],
        "pdf/changes/signature-field.ts": ["kids.length > MAX_WIDGETS"],
        "pdf/field-texts.ts": ["++count > MAX_FIELDS", "depth > MAX_FIELD_DEPTH"],
        "pdf/signatures.ts": ["depth > MAX_FIELD_DEPTH"],
      },
    ],
    [
      "It rethrows an error that is not a refusal: a defect of the verifier, which no known file causes.",
      {
        "pdf/changes/changes.ts": ["!(error instanceof EvidenceError)"],
        "pdf/revisions.ts": ["!(error instanceof EvidenceError)"],
      },
    ],
    [
      "A number out of range can't lead to a position in the file, which another rule requires.",
      {
        "pdf/byte-range.ts": [
          "item.value < 0",
          "start === undefined",
          "gapStart === undefined",
          "gapEnd === undefined",
          "length === undefined",
          "gapStart >= gapEnd",
          "dictionary.end > end",
        ],
        "pdf/xref.ts": ["offset < 0", "value.value < 0", "index.length % 2 !== 0"],
        "pdf/cursor.ts": ["at >= 0", "code >= 0"],
      },
    ],
    [
      "The DER reader refuses the same values.",
      {
        "pdf/byte-range.ts": ["first === 0x80", "first > 0x84", "octets.length < first - 0x80", "octets[0] === 0"],
      },
    ],
    [
      "A signature in an object stream is not covered by a revision and is not a seal. Other rules check both.",
      { "pdf/byte-range.ts": ["!inFile"] },
    ],
    [
      "A trailer with a repeated key is already refused when its section is read.",
      { "pdf/changes/judge.ts": ["later.trailer.repeated.length > 0"] },
    ],
    [
      "An object that is not where its section says is read again for the next revision, and refused then.",
      { "pdf/changes/judge.ts": ["one.generation === other.generation", "one.index === other.index"] },
    ],
    [
      "If the catalog is not a dictionary, it has lost its /Pages or gains it, and that change is refused.",
      { "pdf/changes/rules/catalog.ts": ["old === undefined", "now === undefined"] },
    ],
    [
      "The function is called in any case, and its result is not used.",
      { "pdf/changes/reach.ts": ["lead.by(by, value, role)"] },
    ],
    [
      "If the signature is elsewhere in its own revision, or nothing there refers to it, then it is another signature, or a later change refers to it. Neither is permitted.",
      { "pdf/changes/changes.ts": ["view.get(number)?.start !== start", "certification.number === number"] },
    ],
    [
      "The signature that ends at the last byte is the seal, whose later changes are never examined.",
      { "pdf/changes/history.ts": ["end < bytes.length"] },
    ],
    [
      "The rule of the field itself refuses a field that is a stream or becomes one.",
      { "pdf/changes/signature-field.ts": ["stored.data === undefined"] },
    ],
    [
      "A limit is only set for reading an array or a number. A hexadecimal string that runs past it is neither.",
      { "pdf/lexer.ts": ["close >= cursor.limit"] },
    ],
    [
      "It only matters for data that consist of zeros, which contain no object and draw nothing.",
      { "pdf/encryption/aes.ts": ["count < 1"] },
    ],
    [
      "The skimmed document ends with a line end, or one follows it, so no word runs past the limit.",
      { "pdf/skim.ts": ["cursor.position < limit"] },
    ],
    ["There is no white space after the last byte.", { "pdf/changes/rules/catalog.ts": ["at < text.length"] }],
    [
      "Every object in this role that was a dictionary or a part of one is recorded as a field with an owner.",
      { "pdf/changes/rules/field.ts": ["old === undefined", "reached === undefined"] },
    ],
    [
      "An object in this role may not be freed, which an earlier rule checks.",
      { "pdf/changes/rules/field.ts": ["after === undefined"] },
    ],
    [
      "An unknown key of a new form is also refused as a change of the form.",
      {
        "pdf/changes/rules/form.ts": ["old === undefined && [...now.entries.keys()].some((key) => !NEW_FORM.has(key))"],
      },
    ],
    [
      "A field that was not a widget can't become one, because a field's /Subtype may not change.",
      { "pdf/changes/rules/page.ts": ["isWidget(before)"] },
    ],
    ["An empty entry is not equal to any other entry.", { "pdf/changes/rules/structure.ts": ["at < before.length"] }],
    [
      "A field without a level is not a new field, and the form's list may not gain it.",
      { "pdf/changes/signature-field.ts": ["signed === null"] },
    ],
    [
      "Without it, the objects or entries are not found at their expected position, which is refused.",
      {
        "pdf/document.ts": ["count === undefined", "first === undefined", "object.streamStart === undefined"],
        "pdf/object-stream.ts": ["number === undefined", "offset === undefined"],
        "pdf/xref.ts": ["length === undefined", "object.streamStart === undefined"],
        "pdf/revisions.ts": ["found.length === 0 && failure !== undefined"],
      },
    ],
    [
      "The bound on the number of sections also ends a cycle.",
      { "pdf/document.ts": ["document.seen.has(revision.main.offset)"] },
    ],
    [
      "Without it, reading continues at the first byte of the file, where no value follows the string.",
      { "pdf/lexer.ts": ["close < 0"] },
    ],
    [
      "A value that is not a name can't be equal to the filter's name, which the next operand requires.",
      { "pdf/stream.ts": ['filter.kind !== "name"'] },
    ],
    ["Positions before the first row count as zeros anyway.", { "pdf/stream.ts": ["row > 0"] }],
    [
      "If no number was read, the cursor has not moved, and neither white space nor another number follows.",
      { "pdf/lexer.ts": ["generation !== undefined", "number === undefined"], "pdf/xref.ts": ["first === undefined"] },
    ],
    [
      "Without white space after the number, no digits of a generation follow.",
      { "pdf/lexer.ts": ["!isSpace(peek(cursor))"] },
    ],
    ["There are no bytes before the first one, so the comparison fails anyway.", { "pdf/search.ts": ["at < 0"] }],
    ["It only avoids comparing the whole text.", { "pdf/search.ts": ["code === sought"] }],
    [
      "A value of another kind does not have this member, or has one of another type.",
      {
        "pdf/same-value.ts": [
          'other.kind === "boolean"',
          'other.kind === "number"',
          'other.kind === "name"',
          'other.kind === "reference"',
        ],
      },
    ],
    ["It only ends the search early: the next rule refuses such a distance.", { "pdf/xref-row.ts": ["stride < 22"] }],
    ["A row without white space before it is refused as a broken row.", { "pdf/xref-row.ts": ["stride > ROW"] }],
    [
      "Without a count or a distance, or beyond the file, no last row is found, which the next rule refuses.",
      { "pdf/xref.ts": ["count === undefined", "stride === undefined", "end > cursor.limit"] },
    ],
    ["After the last byte, neither a keyword nor a digit is found.", { "pdf/xref.ts": ["offset >= bytes.length"] }],
    [
      "It only narrows a type: an object that is looked up is never free.",
      { "pdf/document.ts": ['entry.type === "free"'] },
    ],
    [
      "Only a dictionary has data, which the next operand requires.",
      {
        "pdf/document.ts": ['object.value.kind !== "dictionary"'],
      },
    ],
    [
      "Without data, the end of the data is not found, which the next rule refuses.",
      { "pdf/attachment.ts": ["object.streamStart === undefined"] },
    ],
    [
      "It only narrows a type: only a reference leads to an object, which an earlier condition requires.",
      { "pdf/encryption/unlock.ts": ['value?.kind !== "reference"'] },
    ],
    [
      "A crypt filter without a method has none of the supported methods.",
      { "pdf/encryption/unlock.ts": ['nameOf(filter, "CFM")'] },
    ],
  ];
