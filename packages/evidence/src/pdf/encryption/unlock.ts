import { concatBytes, toHex } from "../../bytes.ts";
import { EvidenceError } from "../../errors.ts";
import { spend } from "../budget.ts";
import { dictionaryIn, lookUp, openDocument, type PdfDocument, resolve } from "../document.ts";
import { readIndirectObject } from "../lexer.ts";
import { stringBytes } from "../text.ts";
import { integerOf, nameOf, type PdfDictionary, unambiguous } from "../values.ts";
import { decryptAesCbc, withoutPadding } from "./aes.ts";
import type { Decryption } from "./decryption.ts";
import { fileKeyOf, type KeyEntries } from "./file-key.ts";
import { md5 } from "./md5.ts";
import { rc4 } from "./rc4.ts";

/** Decrypts the data of one object; null when it can't be ciphertext. */
type Cipher = (data: Uint8Array, number: number, generation: number) => Uint8Array | null;

/** The cost of deriving a key, in units of `Budget`. Revision 6 encrypts and hashes a few hundred kilobytes or more. */
const KEY_COST = 1024 * 1024;

/**
 * Opens a PDF like `openDocument`, and decrypts it with the empty user password (ISO 32000-2 section 7.6.4).
 *
 * @param earlier another opening of the same file, which shares its budget and its derived keys
 * @throws EvidenceError `pdf` as `openDocument` does; `unsupported` when a password is needed, or for encryption other
 * than the standard handler's versions 1, 2, 4 and 5
 */
export async function openUnlocked(
  bytes: Uint8Array,
  earlier?: Pick<PdfDocument, "budget" | "keys">,
): Promise<PdfDocument> {
  const document = openDocument(bytes, earlier);
  if (document.decryption === undefined) return document;
  document.decryption = undefined;
  const dictionary = unambiguous(encryptionDictionary(document), "/Encrypt");
  document.decryption = await decryptionBy(document, dictionary);
  return document;
}

/** The value of the trailer's /Encrypt. Its strings are never encrypted, so it can't be in an object stream. */
function encryptionDictionary(document: PdfDocument): PdfDictionary {
  const value = document.trailer.entries.get("Encrypt");
  if (value?.kind === "dictionary") return value;
  const entry = value?.kind === "reference" ? lookUp(document, value.number) : undefined;
  const object =
    entry?.type === "offset"
      ? readIndirectObject(document.bytes, entry.offset + document.base, document.budget)
      : undefined;
  if (object?.value.kind !== "dictionary" || value?.kind !== "reference" || object.number !== value.number) {
    throw new EvidenceError("pdf", "/Encrypt leads to no dictionary");
  }
  return object.value;
}

async function decryptionBy(document: PdfDocument, dictionary: PdfDictionary): Promise<Decryption> {
  const filter = nameOf(dictionary, "Filter");
  if (filter !== "Standard") throw unsupported("by another handler than the standard one");
  const version = integerOf(dictionary, "V") ?? 0;
  const fileKey = await fileKeyIn(document, keyEntries(document, dictionary, version));
  if (fileKey === null) throw unsupported("with a password");
  const cipher = (key: string): Cipher | undefined =>
    version < 4 ? rc4Cipher(fileKey) : filterCipher(document, dictionary, nameOf(dictionary, key), version, fileKey);
  const strings = cipher("StrF");
  const streams = cipher("StmF");
  return {
    strings: (number, generation) => strings && ((data) => strings(data, number, generation) ?? data),
    stream(data, number, generation) {
      const clear = streams === undefined ? data : streams(data, number, generation);
      if (clear === null) throw new EvidenceError("pdf", `the encrypted stream ${number} is broken`);
      return clear;
    },
  };
}

/** Derives the key, once for all revisions of a file; null when a password is needed. */
async function fileKeyIn({ keys, budget }: PdfDocument, entries: KeyEntries): Promise<Uint8Array | null> {
  const { o, u, ue, id, ...plain } = entries;
  const name = JSON.stringify([plain, ...[o, u, ue, id].map(toHex)]);
  const cached = keys.get(name);
  if (cached !== undefined) return cached;
  spend(budget, KEY_COST);
  const key = await fileKeyOf(entries);
  keys.set(name, key);
  return key;
}

function unsupported(how: string): EvidenceError {
  return new EvidenceError("unsupported", `it is encrypted ${how}`);
}

function keyEntries(document: PdfDocument, dictionary: PdfDictionary, version: number): KeyEntries {
  const revision = integerOf(dictionary, "R") ?? 0;
  const permissions = integerOf(dictionary, "P");
  const bits = version === 1 ? 40 : version === 2 ? (integerOf(dictionary, "Length") ?? 40) : 128;
  const isSupported = version === 5 ? revision === 5 || revision === 6 : revision >= 2 && revision <= 4;
  const usable = [1, 2, 4, 5].includes(version) && isSupported && bits >= 40 && bits <= 128 && bits % 8 === 0;
  if (!usable || permissions === undefined) throw unsupported(`by version ${version}, revision ${revision}`);
  const bytes = (key: string): Uint8Array => {
    const value = dictionary.entries.get(key);
    return value?.kind === "string" ? stringBytes(value) : new Uint8Array(0);
  };
  const id = document.trailer.entries.get("ID");
  const first = id?.kind === "array" ? id.items[0] : undefined;
  const metadata = resolve(document, dictionary.entries.get("EncryptMetadata"));
  return {
    revision,
    keyLength: bits / 8,
    o: bytes("O"),
    u: bytes("U"),
    ue: bytes("UE"),
    permissions: permissions | 0,
    encryptMetadata: !(metadata?.kind === "boolean" && !metadata.value),
    id: first?.kind === "string" ? stringBytes(first) : new Uint8Array(0),
  };
}

/**
 * The cipher of the crypt filter with this name (ISO 32000-2, section 7.6.6); undefined for Identity, which does not
 * encrypt.
 */
function filterCipher(
  document: PdfDocument,
  dictionary: PdfDictionary,
  name = "Identity",
  version: number,
  fileKey: Uint8Array,
): Cipher | undefined {
  if (name === "Identity") return undefined;
  const filters = dictionaryIn(document, dictionary, "CF");
  const filter = filters && dictionaryIn(document, filters, name);
  const method = filter && nameOf(filter, "CFM");
  if (version === 4 && method === "V2") return rc4Cipher(fileKey);
  if (version === 4 && method === "AESV2") return aesCipher((...object) => objectKey(fileKey, "sAlT", ...object));
  if (version === 5 && method === "AESV3") return aesCipher(() => fileKey);
  throw unsupported("by an unknown crypt filter");
}

function rc4Cipher(fileKey: Uint8Array): Cipher {
  return (data, ...object) => rc4(objectKey(fileKey, "", ...object), data);
}

/**
 * Decrypts with AES (ISO 32000-2, algorithms 1 and 1.A). The data is an initialization vector, then whole blocks with
 * PKCS#7 padding.
 */
function aesCipher(keyOf: (number: number, generation: number) => Uint8Array): Cipher {
  return (data, ...object) => {
    if (data.length % 16 !== 0) return null;
    return withoutPadding(decryptAesCbc(keyOf(...object), data.subarray(0, 16), data.subarray(16)));
  };
}

/** Derives the key of one object (ISO 32000-2, algorithm 1, steps a to d). */
function objectKey(fileKey: Uint8Array, salt: string, number: number, generation: number): Uint8Array {
  const numbers = [number, number >> 8, number >> 16, generation, generation >> 8].map((value) => value & 0xff);
  const salted = Uint8Array.from([...numbers, ...new TextEncoder().encode(salt)]);
  return md5(concatBytes([fileKey, salted])).subarray(0, Math.min(fileKey.length + 5, 16));
}
