import { concatBytes, equalBytes, toHex } from "../bytes.ts";
import { fromHex, sha256 } from "../digest.ts";
import { EvidenceError } from "../errors.ts";

/** Limits of a signed note (C2SP signed-note). */
const maxSignatures = 32;
const maxNoteBytes = 64 * 1024;

const ed25519 = 0x01;
/** The signature type of an Ed25519 cosignature (C2SP tlog-cosignature), which states the time of cosigning. */
const timedEd25519 = 0x04;
const keyBytes = 32;
const timeBytes = 8;
const signatureBytes = 64;
const idBytes = 4;

/** A key that verifies notes. `name` is the signer's name; for a log, the log's origin. */
export type NoteKey = { readonly name: string; readonly id: Uint8Array; readonly publicKey: Uint8Array };

/** A signature line below a note, and the key that it names. */
export type NoteSignature = { readonly name: string; readonly id: Uint8Array; readonly signature: Uint8Array };

/** `text` ends with a line feed; the signatures are over `text`. */
export type Note = { readonly text: string; readonly signatures: readonly NoteSignature[] };

const isName = (name: string): boolean => /^[^\s+]+$/u.test(name);

/**
 * The note key for a public Ed25519 key and a name.
 * @throws EvidenceError `log`
 */
export const noteKeyOf = (name: string, publicKey: Uint8Array): Promise<NoteKey> => keyOfKind(name, ed25519, publicKey);

async function keyOfKind(name: string, kind: number, publicKey: Uint8Array): Promise<NoteKey> {
  if (!isName(name)) throw new EvidenceError("log", "the name of a key has no spaces and no plus sign");
  if (publicKey.length !== keyBytes) throw new EvidenceError("log", "an Ed25519 key is 32 bytes");
  const message = concatBytes([utf8(`${name}\n`), Uint8Array.of(kind), publicKey]);
  return { name, id: (await sha256(message)).subarray(0, idBytes), publicKey };
}

/** The form in which verifiers accept a note's key: `NAME+ID+KEY`. */
export const formatNoteKey = ({ name, id, publicKey }: NoteKey): string =>
  `${keyName({ name, id })}+${toBase64(concatBytes([Uint8Array.of(ed25519), publicKey]))}`;

/**
 * Parses the key of a note's signer.
 * @throws EvidenceError `log` for a text that is not the key of an Ed25519 signer, or whose id does not match
 */
export const parseNoteKey = (text: string): Promise<NoteKey> => parseKey(text, ed25519, "an Ed25519 key");

/**
 * The key of a witness.
 * @throws EvidenceError `log` for a text that is not a key for Ed25519 cosignatures
 */
export const parseWitnessKey = (text: string): Promise<NoteKey> =>
  parseKey(text, timedEd25519, "a key of Ed25519 cosignatures");

async function parseKey(text: string, kind: number, says: string): Promise<NoteKey> {
  // Base64 may contain plus signs, so only the first two plus signs are separators.
  const [, name = "", id = "", key = ""] = /^([^+]*)\+([0-9a-f]{8})\+(.*)$/su.exec(text) ?? [];
  const bytes = key === "" ? new Uint8Array(0) : fromBase64(key);
  if (bytes[0] !== kind) throw new EvidenceError("log", `the key is not NAME+ID+BASE64 of ${says}`);
  const parsed = await keyOfKind(name, kind, bytes.subarray(1));
  if (!equalBytes(parsed.id, fromHex(id, "log"))) throw new EvidenceError("log", "the id is not the one of this key");
  return parsed;
}

/** Writes a note: its text, an empty line, and its signature lines. */
export const formatNote = ({ text, signatures }: Note): string =>
  `${text}\n${signatures.map(formatSignature).join("")}`;

/** The note with only its first signature, which in a published checkpoint is the log's own. */
export const logSignedText = ({ text, signatures }: Note): string =>
  formatNote({ text, signatures: signatures.slice(0, 1) });

/** The line of a signature in a note, with its line feed. */
export const formatSignature = ({ name, id, signature }: NoteSignature): string =>
  `\u2014 ${name} ${toBase64(concatBytes([id, signature]))}\n`;

/** `NAME+ID`, which identifies each key that signs a note. */
export const keyName = ({ name, id }: Pick<NoteKey, "name" | "id">): string => `${name}+${toHex(id)}`;

/**
 * Parses a note without verifying its signatures.
 * @throws EvidenceError `log` or `limit`
 */
export function parseNote(note: string): Note {
  if (note.length > maxNoteBytes) throw new EvidenceError("limit", `a note is at most ${maxNoteBytes} bytes`);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the format forbids them
  if (/[\x00-\x09\x0b-\x1f\x7f\ufffd]/.test(note)) throw new EvidenceError("log", "a note has no control characters");
  const end = note.lastIndexOf("\n\n");
  if (end < 1 || !note.endsWith("\n")) throw new EvidenceError("log", "a note is a text, a blank line and signatures");
  const lines = note.slice(end + 2, -1).split("\n");
  if (lines.length > maxSignatures) throw new EvidenceError("limit", `a note has at most ${maxSignatures} signatures`);
  const signatures = lines.map(signatureOf);
  const keys = new Set(signatures.map(keyName));
  if (keys.size < signatures.length) throw new EvidenceError("log", "a key signed the note twice");
  return { text: note.slice(0, end + 1), signatures };
}

function signatureOf(line: string): NoteSignature {
  const [, name = "", encoded = ""] = /^\u2014 ([^ ]+) ([A-Za-z0-9+/=]+)$/u.exec(line) ?? [];
  if (!isName(name)) throw new EvidenceError("log", "a line below the note is not a signature");
  const bytes = fromBase64(encoded);
  if (bytes.length <= idBytes) throw new EvidenceError("log", "a signature below the note is too short");
  return { name, id: bytes.subarray(0, idBytes), signature: bytes.subarray(idBytes) };
}

/**
 * The result of looking for a key's signature on a note. `absent`: no signature line names the key. `unchecked`: this
 * JavaScript engine does not support Ed25519.
 */
export type NoteVerdict = "signed" | "wrong" | "absent" | "unchecked";

/** Verifies the signature that a key made on a note. The signature line is found by the key's name and id. */
export async function verifyNote({ text, signatures }: Note, key: NoteKey): Promise<NoteVerdict> {
  const line = lineOf(signatures, key);
  return line === undefined ? "absent" : verifyEd25519(key, line, text);
}

/**
 * The result for a cosignature. `at` is the time that the witness states, in seconds since 1970; null unless `signed`.
 */
type Cosigned = { readonly verdict: NoteVerdict; readonly at: number | null };

/** Verifies a witness's cosignature of a checkpoint: C2SP tlog-cosignature. */
export async function verifyCosignature({ text, signatures }: Note, key: NoteKey): Promise<Cosigned> {
  const line = lineOf(signatures, key);
  if (line === undefined) return { verdict: "absent", at: null };
  if (line.length !== timeBytes + signatureBytes) return { verdict: "wrong", at: null };
  const at = new DataView(line.buffer, line.byteOffset).getBigUint64(0);
  const verdict = await verifyEd25519(key, line.subarray(timeBytes), `cosignature/v1\ntime ${at}\n${text}`);
  // A time after `latestSecond` can't be written as a calendar date, so the cosignature is treated as wrong.
  if (verdict === "signed" && at > latestSecond) return { verdict: "wrong", at: null };
  return { verdict, at: verdict === "signed" ? Number(at) : null };
}

/** The last second of the year 9999. */
const latestSecond = 253_402_300_799n;

const lineOf = (signatures: Note["signatures"], key: NoteKey): Uint8Array | undefined =>
  signatures.find(({ name, id }) => name === key.name && equalBytes(id, key.id))?.signature;

async function verifyEd25519({ publicKey }: NoteKey, signature: Uint8Array, text: string): Promise<NoteVerdict> {
  if (signature.length !== signatureBytes) return "wrong";
  const own = (bytes: Uint8Array) => new Uint8Array(bytes);
  try {
    const imported = await crypto.subtle.importKey("raw", own(publicKey), { name: "Ed25519" }, false, ["verify"]);
    const isSigned = await crypto.subtle.verify({ name: "Ed25519" }, imported, own(signature), own(utf8(text)));
    return isSigned ? "signed" : "wrong";
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    return error.name === "NotSupportedError" ? "unchecked" : "wrong";
  }
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

export function toBase64(bytes: Uint8Array): string {
  let characters = "";
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}

/**
 * The bytes of base64 in its only permitted form: padded, without spaces, and with no bit set beyond the last byte.
 * @throws EvidenceError `log`
 */
export function fromBase64(text: string): Uint8Array {
  try {
    const characters = atob(text);
    // A loop, because every verification of a seal decodes the seal's checkpoint. `Uint8Array.from` with a function
    // would take four times as long.
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i);
    if (btoa(characters) === text) return bytes;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  }
  throw new EvidenceError("log", "not base64 in its one form");
}
