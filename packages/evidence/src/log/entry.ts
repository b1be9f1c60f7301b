import { EvidenceError } from "../errors.ts";

// The lines of the transparency log. A line is ASCII: a kind, its fields and a line feed. A line has only one form, so
// anyone with a sealed file can compute the file's line with `sha256sum`.

const maxEntryBytes = 512;

type Rule = { readonly form: RegExp; readonly says: string };

const hash: Rule = { form: /^[0-9a-f]{64}$/, says: "a SHA-256 in lowercase hex" };
const date: Rule = { form: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/, says: "a date such as 2026-01-31" };
const time: Rule = {
  form: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/,
  says: "a time such as 2026-01-31T12:00:00Z",
};
const count: Rule = { form: /^(0|[1-9]\d{0,14})$/, says: "a whole number without leading zeros" };
const noteKey: Rule = { form: /^[!-*,-~]+\+[0-9a-f]{8}\+[A-Za-z0-9+/]+={0,2}$/, says: "the key of a signed note" };
const origin: Rule = { form: /^[!-*,-~]{1,250}$/, says: "the name of a log" };
const wordOf = (...words: readonly string[]): Rule => ({
  form: new RegExp(`^(${words.join("|")})$`),
  says: words.join(" or "),
});

/** The reasons for retracting a seal. */
export const retractionReasons = [
  "superseded",
  "wrong-document",
  "key-compromise",
  "court-order",
  "withdrawn",
] as const;

export type RetractionReason = (typeof retractionReasons)[number];

/** The reasons for ending a log. */
export const logEndReasons = ["rotation", "key-compromise", "lost"] as const;

export type LogEndReason = (typeof logEndReasons)[number];

const grammar = {
  "seal/v1": { sealedSha256: hash },
  "closing/v1": { sealedSha256: hash, link: hash },
  "retract/v1": {
    sealedSha256: hash,
    reason: wordOf(...retractionReasons),
  },
  "cert/v1": { certificateSha256: hash, change: wordOf("use", "end"), at: time },
  "logkey/v1": { key: noteKey, change: wordOf("next", "end") },
  "end/v1": { origin, size: count, root: hash, reason: wordOf(...logEndReasons) },
  "policy/v1": { sha256: hash },
  "verifier/v1": { sha256: hash },
  "audit/v1": { day: date, head: hash },
  "notices/v1": { day: date, head: hash },
  "artifact/v1": { commitment: hash },
  "import/v1": { count },
} satisfies Record<string, Record<string, Rule>>;

type Grammar = typeof grammar;
type EntryKind = keyof Grammar;

/** An entry of the log. Its `kind` determines its other fields. */
export type LogEntry = {
  [Kind in EntryKind]: { readonly kind: Kind } & { readonly [Field in keyof Grammar[Kind]]: string };
}[EntryKind];

const isKind = (text: string): text is EntryKind => Object.hasOwn(grammar, text);

const rulesOf = (kind: EntryKind): [string, Rule][] => Object.entries(grammar[kind]);

/**
 * Writes the line of an entry, with its line feed.
 * @throws EvidenceError `log` for a field in a wrong form (the message names the field and the required form); `limit`
 * for a line that is too long
 */
export function formatEntry({ kind, ...fields }: LogEntry): string {
  const values = new Map<string, string>(Object.entries(fields));
  const words = rulesOf(kind).map(([name, rule]) => checked(kind, name, rule, values.get(name) ?? ""));
  const line = `${[kind, ...words].join(" ")}\n`;
  if (line.length > maxEntryBytes) throw new EvidenceError("limit", `a line is at most ${maxEntryBytes} bytes`);
  return line;
}

/**
 * Parses the entry in a line.
 * @throws EvidenceError `log` for a line that does not match the grammar exactly, `limit` for a line that is too long
 */
export function parseEntry(line: string): LogEntry {
  if (line.length > maxEntryBytes) throw new EvidenceError("limit", `a line is at most ${maxEntryBytes} bytes`);
  if (!/^[\x20-\x7e]*\n$/.test(line)) throw new EvidenceError("log", "an entry is one line of ASCII with a line feed");
  const [kind = "", ...words] = line.slice(0, -1).split(" ");
  if (!isKind(kind)) throw new EvidenceError("log", "the kind of the entry is not known");
  const rules = rulesOf(kind);
  if (words.length !== rules.length)
    throw new EvidenceError("log", `${kind} has ${rules.length} field${rules.length === 1 ? "" : "s"}`);
  const fields = rules.map(([name, rule], i) => [name, checked(kind, name, rule, words[i] ?? "")]);
  return { kind, ...Object.fromEntries(fields) } as LogEntry;
}

function checked(kind: string, name: string, { form, says }: Rule, value: string): string {
  if (!form.test(value)) throw new EvidenceError("log", `${name} of ${kind} is ${says}`);
  return value;
}

/** True if a text has the form of a note's key. Does not check the key's id. */
export const isNoteKey = (text: unknown): text is string => typeof text === "string" && noteKey.form.test(text);

/** The log's line for a sealed file. */
export const sealEntry = (sealedSha256: string): string => formatEntry({ kind: "seal/v1", sealedSha256 });

/**
 * The text whose SHA-256 is the `link` in the log's line of a closing passport version. Anyone with a version can
 * compute the link of the next version. Two lines with the same link prove that the room has two histories.
 * @param before `prevManifestSha256` of the version, or the room's code for version 1
 */
export const closingLinkText = (before: string): string => `signsealship closing/v1\n${before}\n`;
