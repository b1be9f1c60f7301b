/** The reasons why no vector can kill certain mutants of the PDF readers, with the mutants' operands by file. */
export const PDF_REASONS: readonly (readonly [reason: string, mutants: Readonly<Record<string, readonly string[]>>])[] =
  [
    [
      "It narrows for the type checker: without it the next operand is undefined, and says the same.",
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
      "A member that is absent and one that is undefined are the same.",
      {
        "pdf/changes/locks.ts": ['nameOf(parameters, "Action")'],
        "pdf/changes/reach.ts": ["parent", 'typeof above === "number"', "owner !== undefined", "value"],
      },
    ],
    [
      "It saves work: what it leaves out would be found to be the same.",
      {
        "pdf/byte-range.ts": ["(bytes.byteOffset + at) % 4 !== 0"],
        "pdf/changes/judge.ts": ["old === now", "!oldNumbers.has(item.number)"],
        "pdf/changes/rules/structure.ts": ['item.kind === "reference"'],
      },
    ],
    [
      "A bound on cost, which a verifier may have wider (2.6).",
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
      "It passes on what is no refusal: a defect of the verifier itself, which no file is known to cause.",
      {
        "pdf/changes/changes.ts": ["!(error instanceof EvidenceError)"],
        "pdf/revisions.ts": ["!(error instanceof EvidenceError)"],
      },
    ],
    [
      "No number that is not in the range can lead to a place in the file, which is asked as well.",
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
      "The DER reader refuses the same of the value.",
      {
        "pdf/byte-range.ts": ["first === 0x80", "first > 0x84", "octets.length < first - 0x80", "octets[0] === 0"],
      },
    ],
    [
      "A signature without a place in the file is covered by no revision, and is no seal: both are asked as well.",
      { "pdf/byte-range.ts": ["!inFile"] },
    ],
    [
      "A trailer with a key twice is refused when its section is read.",
      { "pdf/changes/judge.ts": ["later.trailer.repeated.length > 0"] },
    ],
    [
      "An object that is not where its section says is read again for the next revision, and refused.",
      { "pdf/changes/judge.ts": ["one.generation === other.generation", "one.index === other.index"] },
    ],
    [
      "A catalog that is none has lost its /Pages, or gains one: that is refused as a change of it.",
      { "pdf/changes/rules/catalog.ts": ["old === undefined", "now === undefined"] },
    ],
    ["Its value is not used: it is called either way.", { "pdf/changes/reach.ts": ["lead.by(by, value, role)"] }],
    [
      "A signature that is elsewhere in the revision it signs, or that nothing names there, is another one or named by a later change, which nothing permits.",
      { "pdf/changes/changes.ts": ["view.get(number)?.start !== start", "certification.number === number"] },
    ],
    [
      "The signature that ends at the last byte is the seal, of which no later changes are asked.",
      { "pdf/changes/history.ts": ["end < bytes.length"] },
    ],
    [
      "A field that is a stream, or becomes one, is refused by the rule of the field itself.",
      { "pdf/changes/signature-field.ts": ["stored.data === undefined"] },
    ],
    [
      "What is read up to a limit is an array or a number: a hexadecimal string that runs past it is neither.",
      { "pdf/lexer.ts": ["close >= cursor.limit"] },
    ],
    [
      "It decides of data that are zeros alone, which hold no object and draw nothing.",
      { "pdf/encryption/aes.ts": ["count < 1"] },
    ],
    [
      "The document that is skimmed ends in a line end, or one follows it: no word runs past it.",
      { "pdf/skim.ts": ["cursor.position < limit"] },
    ],
    ["Behind the last byte there is no white space.", { "pdf/changes/rules/catalog.ts": ["at < text.length"] }],
    [
      "An object is known as a field, and has an owner, whenever it was a dictionary or a part of one in that role.",
      { "pdf/changes/rules/field.ts": ["old === undefined", "reached === undefined"] },
    ],
    [
      "An object in this role may not be freed, which is asked before.",
      { "pdf/changes/rules/field.ts": ["after === undefined"] },
    ],
    [
      "A key of a new form that is not known is refused as a change of it, too.",
      {
        "pdf/changes/rules/form.ts": ["old === undefined && [...now.entries.keys()].some((key) => !NEW_FORM.has(key))"],
      },
    ],
    [
      "What was no widget and is a field can't become one: a field's /Subtype may not change.",
      { "pdf/changes/rules/page.ts": ["isWidget(before)"] },
    ],
    ["Nothing is the same as an entry of no values.", { "pdf/changes/rules/structure.ts": ["at < before.length"] }],
    [
      "A field without a level is no new field, and the form's list may not gain it.",
      { "pdf/changes/signature-field.ts": ["signed === null"] },
    ],
    [
      "Without it nothing is found where the objects or the entries should be, which is refused.",
      {
        "pdf/document.ts": ["count === undefined", "first === undefined", "object.streamStart === undefined"],
        "pdf/object-stream.ts": ["number === undefined", "offset === undefined"],
        "pdf/xref.ts": ["length === undefined", "object.streamStart === undefined"],
        "pdf/revisions.ts": ["found.length === 0 && failure !== undefined"],
      },
    ],
    [
      "A cycle is cut off by the bound on sections, too.",
      { "pdf/document.ts": ["document.seen.has(revision.main.offset)"] },
    ],
    ["Read on from the first byte, the string is followed by no value.", { "pdf/lexer.ts": ["close < 0"] }],
    [
      "What is no name has no value that is a filter's, which is asked next.",
      { "pdf/stream.ts": ['filter.kind !== "name"'] },
    ],
    ["Before the first row there are zeros.", { "pdf/stream.ts": ["row > 0"] }],
    [
      "Where no number was taken the cursor has not moved, and neither white space nor another number follows.",
      { "pdf/lexer.ts": ["generation !== undefined", "number === undefined"], "pdf/xref.ts": ["first === undefined"] },
    ],
    [
      "Without white space behind it there are no digits of a generation.",
      { "pdf/lexer.ts": ["!isSpace(peek(cursor))"] },
    ],
    ["Before the first byte there is nothing that a text could equal.", { "pdf/search.ts": ["at < 0"] }],
    ["It saves the comparing of the whole text.", { "pdf/search.ts": ["code === sought"] }],
    [
      "A value of another kind has no such member, or one of another type.",
      {
        "pdf/same-value.ts": [
          'other.kind === "boolean"',
          'other.kind === "number"',
          'other.kind === "name"',
          'other.kind === "reference"',
        ],
      },
    ],
    ["It ends the search where the rule after it refuses the distance.", { "pdf/xref-row.ts": ["stride < 22"] }],
    ["A row without white space before it is refused as a row.", { "pdf/xref-row.ts": ["stride > ROW"] }],
    [
      "Without a count or a distance, or behind the file, no last row is found, which is refused next.",
      { "pdf/xref.ts": ["count === undefined", "stride === undefined", "end > cursor.limit"] },
    ],
    ["Behind the last byte neither a word nor a digit is found.", { "pdf/xref.ts": ["offset >= bytes.length"] }],
    [
      "It narrows for the type checker: what is looked up is never free.",
      { "pdf/document.ts": ['entry.type === "free"'] },
    ],
    [
      "Nothing but a dictionary has data, which is asked next.",
      {
        "pdf/document.ts": ['object.value.kind !== "dictionary"'],
      },
    ],
    [
      "Without data their end is not found, which is refused next.",
      { "pdf/attachment.ts": ["object.streamStart === undefined"] },
    ],
    [
      "It narrows for the type checker: only a reference leads to an object, which is asked before.",
      { "pdf/encryption/unlock.ts": ['value?.kind !== "reference"'] },
    ],
    [
      "A crypt filter that names no method has none of the methods that are supported.",
      { "pdf/encryption/unlock.ts": ['nameOf(filter, "CFM")'] },
    ],
  ];
