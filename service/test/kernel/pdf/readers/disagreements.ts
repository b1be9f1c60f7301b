import type { Read, Reading } from "./reading.ts";

/** For each error message: why one reader rejects a file that the other reads. */
type Kind = readonly [refusal: RegExp, reason: string];

/**
 * The verifier is strict: a file that two readers could interpret differently is not evidence. The sealer accepts such
 * a file if the difference doesn't affect its seal.
 */
const VERIFIER_ALONE: readonly Kind[] = [
  [/^limit: /, "A bound on cost: the two have bounds of their own."],
  [/stands twice in /, "The sealer looks for a key twice where it reads that key."],
  [
    /: (?:entries of odd length|broken entr(?:y|ies))$/,
    "The sealer walks rows that are not equally far apart, and reads a row when it is asked for.",
  ],
  [/no PDF header$/, "The sealer searches the first 1,024 bytes for where the header begins, and not for its end."],
  [
    /an odd \/(?:Size|Index|W|Prev|XRefStm)$/,
    "The sealer takes /Size of a stream for no more than a number of objects.",
  ],
  [
    /is not where the cross-reference section says$/,
    "To the sealer a reference of another generation is null, and it reads a header whose obj runs into its value.",
  ],
  [/a dictionary key that is not a name at byte/, "To the sealer a reference of another generation is null."],
  [/unterminated string at byte/, "The sealer reads as little of a lock as it needs."],
  [/malformed number at byte/, "The sealer skips numbers that it does not need."],
  [/no object at byte/, "The sealer does not read what stands behind a value."],
  [
    /^pdf: (?:startxref|\/Prev|\/XRefStm) does not lead to a cross-reference (?:section|stream)$/,
    "The sealer takes the keyword xref though a digit follows it, and an odd header of a stream's object or of its data.",
  ],
  [
    /^pdf: compressed stream: |^unsupported: a structural stream with an unknown predictor$|no direct \/Length$/,
    "The sealer decodes the rows of a cross-reference stream when it is asked for one.",
  ],
  [/^pdf: no catalog$/, "The sealer follows an object that is a reference itself."],
  [/an object twice in an object stream$/, "The sealer goes by the index, as the cross-reference section does."],
];

/** The sealer must be able to extend a document, so it refuses some files that the verifier reads. */
const SEALER_ALONE: readonly Kind[] = [
  [/^too_complex: /, "A bound on cost: the two have bounds of their own."],
  [/ stands twice in /, "The verifier refuses a key twice where it rests on it; a seal must not continue any."],
  [/^encrypted: /, "The document opens, but its permissions do not let a signature be added, or they were forged."],
  [/leads to no catalog$|where the catalog belongs$|the catalog is not a dictionary/, "A signature needs a catalog."],
  [/after the last cross-reference section$/, "Lost objects: the verifier judges them with the later changes."],
  [
    /are not an array$|is not a dictionary|its own descendant$/,
    "A seal must not continue an odd form; the verifier finds no signature in it.",
  ],
  [/hexadecimal string at \d+ is not well-formed$/, "The verifier judges the digits of a signature value apart."],
  [
    /^needs_repair: object \d+ \d+ is not at \d+$/,
    "The sealer reads the catalog at once; the verifier when it is asked.",
  ],
  [/does not end where its Length says$|compressed stream at \d+ is damaged$/, "zlib is stricter than RFC 1951 asks."],
  [
    /^needs_repair: (?:the string at \d+ has no end|no stream with a length at \d+)$/,
    "The sealer reads the catalog at once.",
  ],
  [/^needs_repair: no (?:object|number) at \d+$/, "The verifier reads as little of an object as it needs."],
  [/the dictionary at \d+ is not well-formed$/, "The verifier reads as little of an object as it needs."],
  [
    /the object stream \d+ is missing$|the object stream at \d+ has a damaged header$|no object stream(?: at \d+)?$|is not where its object stream should have it$/,
    "The sealer reads the catalog at once; the verifier when it is asked.",
  ],
  [
    /the cross-reference table is not well-formed at \d+$/,
    "The sealer walks rows that are not equally far apart, and takes the keyword xref though a digit follows it.",
  ],
  [
    /the cross-reference stream at \d+ is not well-formed$/,
    "The sealer wants rows with a second field: else no object is placed.",
  ],
  [/no offset after the startxref/, "The sealer reads numbers of ten digits, as rows have them; the verifier 15."],
];

const isOneOf = (kinds: readonly Kind[], refusal: string): boolean => kinds.some(([pattern]) => pattern.test(refusal));

/** How two results differ, in words; null when they agree or differ in a listed way. */
function difference<T>(what: string, sealer: Read<T>, verifier: Read<T>, same = isSame<T>): string | null {
  if ("refusal" in sealer && "refusal" in verifier) return null;
  if ("refusal" in sealer)
    return isOneOf(SEALER_ALONE, sealer.refusal) ? null : `${what}: the sealer alone refuses: ${sealer.refusal}`;
  if ("refusal" in verifier)
    return isOneOf(VERIFIER_ALONE, verifier.refusal)
      ? null
      : `${what}: the verifier alone refuses: ${verifier.refusal}`;
  return same(sealer.value, verifier.value)
    ? null
    : `${what}: the sealer reads ${JSON.stringify(sealer.value)}, the verifier ${JSON.stringify(verifier.value)}`;
}

const isSame = <T>(one: T, other: T): boolean => JSON.stringify(one) === JSON.stringify(other);

/** All disagreements of the readers about a file, except those listed in this module. */
export function disagreements(file: string, sealer: Read<Reading>, verifier: Read<Reading>): string[] {
  const whole = difference("the file", sealer, verifier, () => true);
  if (whole !== null) return [whole];
  if ("refusal" in sealer || "refusal" in verifier) return [];
  const [one, other] = [sealer.value, verifier.value];
  const found = [
    ...(["sections", "entries"] as const).map((key) => difference(key, { value: one[key] }, { value: other[key] })),
    ...one.objects.map((object, number) => {
      const twin = other.objects[number] ?? { value: "null" };
      return difference(`object ${number}`, object, twin, (a, b) => a === b || isReference(file, number));
    }),
    difference("fields", one.fields, other.fields, (a, b) => isSame(a, b) || hasOddFields(file, one)),
    difference("signatures", one.signatures, other.signatures, (a, b) => a === b || hasOddFields(file, one)),
    permissions(file, one, other),
  ];
  return found.filter((text) => text !== null);
}

/**
 * True if an object is itself a reference. The sealer follows it. The verifier does not, because references to
 * references allow cycles.
 */
const isReference = (file: string, number: number): boolean =>
  new RegExp(`(?<!\\d)${number}\\s+\\d+\\s+obj\\s+\\d+\\s+\\d+\\s+R`).test(file);

/**
 * True if a cross-reference entry and its object state different generations. For a reference with the object's
 * generation, the sealer then reads null, and the verifier reads the object.
 */
const hasOddGeneration = (file: string, { entries }: Reading): boolean =>
  entries.some((entry, number) => {
    const generation = /^\d+ (\d+)$/.exec(entry)?.[1];
    return generation !== undefined && !new RegExp(`(?<!\\d)${number}\\s+0*${generation}\\s*obj`).test(file);
  });

/**
 * True if the readers may find different fields: the file has an indirect /FT, an entry with an odd generation, or an
 * object that is itself a reference. The verifier treats an indirect /FT as missing.
 */
const hasOddFields = (file: string, reading: Reading): boolean =>
  /\/FT\s*\d+\s+\d+\s+R/.test(file) ||
  hasOddGeneration(file, reading) ||
  reading.entries.some((_, number) => isReference(file, number));

/**
 * An unexpected difference of the permissions; null if there is none. The sealer may be stricter, because it applies
 * the lock of every signature field that has a value. The verifier applies only the locks of signed fields. The sealer
 * also stops reading once a document permits no changes. So the verifier may refuse a later part that the sealer did not
 * read.
 */
function permissions(file: string, one: Reading, { permission: verifier }: Reading): string | null {
  const { permission: sealer, signatures } = one;
  if ("value" in sealer && sealer.value === 1 && "refusal" in verifier) return null;
  const hasLock = "value" in signatures && signatures.value === 0 && /\/Lock\b/.test(file);
  return difference(
    "permission",
    sealer,
    verifier,
    (a, b) => a === b || hasOddGeneration(file, one) || (hasLock && (a ?? 4) < (b ?? 4)),
  );
}
