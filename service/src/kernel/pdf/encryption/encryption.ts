import type { PdfFile } from "../file.ts";
import { resolve, resolveDict } from "../objects.ts";
import { PdfRefusal } from "../refusal.ts";
import { stringBytes } from "../strings.ts";
import { asInteger, asName, asSignedInteger, type Dict, elements, entry, isArray, isString } from "../values.ts";
import { aes128Cipher, aes256Cipher, type Cipher, type Encryption, rc4Cipher } from "./ciphers.ts";
import { type KeyEntries, openByEmptyPassword, permissionsGenuine } from "./file-key.ts";

/**
 * Bits 4 and 6 of P, the document's permissions (ISO 32000-2, table 22). Adding a form field, such as a signature
 * field, needs both.
 */
const MAY_ADD_FIELDS = 0b101000;

/**
 * The encryption of a document; null when it is not encrypted. An encrypted document is accepted only if two conditions
 * are met. The empty user password must open it. Its permissions must allow adding a signature field, or its owner
 * password must be empty, too.
 * @param file the document, with its sections, newest first
 * @throws PdfRefusal `encrypted` for any other encrypted document
 */
export function openEncryption(file: PdfFile): Encryption | null {
  const [newest, ...older] = file.sections;
  const encrypt = newest && entry(newest.trailer, "Encrypt");
  const newestText = encrypt?.bytes.toString("latin1", encrypt.start, encrypt.end);
  for (const { trailer } of older) {
    const other = entry(trailer, "Encrypt");
    // Some readers take Encrypt only from the newest trailer, others from older trailers too. If the trailers differ,
    // these two kinds of readers decrypt the file differently.
    if (other && other.bytes.toString("latin1", other.start, other.end) !== newestText) {
      throw refused(`the trailer at ${trailer.start} and the newest one name different Encrypt dictionaries`);
    }
  }
  if (!newest || !encrypt) return null;
  const dict = resolveDict(file, encrypt, "Encrypt")?.dict;
  if (!dict || (dict.bytes !== file.bytes && dict.bytes !== encrypt.bytes)) {
    throw refused(`the Encrypt dictionary that the trailer at ${newest.trailer.start} names can't be read`);
  }
  return fromDictionary(file, dict, idOf(newest.trailer));
}

const refused = (detail: string) => new PdfRefusal("encrypted", detail);

function fromDictionary(file: PdfFile, dict: Dict, id: Buffer): Encryption {
  const filter = asName(resolve(file, entry(dict, "Filter")));
  if (filter !== "Standard") throw refused(`the Encrypt dictionary at ${dict.start} asks for the handler ${filter}`);
  const version = asInteger(resolve(file, entry(dict, "V"))) ?? 0;
  const entries = keyEntries(file, dict, version, id);
  const opened = openByEmptyPassword(entries);
  if (!opened) throw refused("it needs a password to be opened");
  const { fileKey, owner } = opened;
  if (!permissionsGenuine(fileKey, entries)) {
    throw refused(`the permissions of the Encrypt dictionary at ${dict.start} are not those its key vouches for`);
  }
  if (!owner && (entries.permissions & MAY_ADD_FIELDS) !== MAY_ADD_FIELDS) {
    throw refused(`its permissions (P ${entries.permissions}) don't let a signature field be added`);
  }
  if (version < 4) return { strings: rc4Cipher(fileKey), streams: rc4Cipher(fileKey) };
  const cipher = (key: string) => filterCipher(file, dict, asName(resolve(file, entry(dict, key))), version, fileKey);
  return { strings: cipher("StrF"), streams: cipher("StmF") };
}

function keyEntries(file: PdfFile, dict: Dict, version: number, id: Buffer): KeyEntries {
  const revision = asInteger(resolve(file, entry(dict, "R"))) ?? 0;
  const bits = version === 1 ? 40 : version === 2 ? (asInteger(resolve(file, entry(dict, "Length"))) ?? 40) : 128;
  const isSupported = version === 5 ? revision === 5 || revision === 6 : revision >= 2 && revision <= 4;
  const usable = [1, 2, 4, 5].includes(version) && isSupported && bits >= 40 && bits <= 128 && bits % 8 === 0;
  const permissions = asSignedInteger(resolve(file, entry(dict, "P")));
  if (!usable || permissions === undefined) {
    const parameters = `V ${version}, R ${revision}, P ${permissions} and a key of ${bits} bits`;
    throw refused(`the Encrypt dictionary at ${dict.start} has ${parameters}`);
  }
  const bytes = (key: string) => {
    const value = resolve(file, entry(dict, key));
    return value && isString(value) ? stringBytes(value) : Buffer.alloc(0);
  };
  const metadata = resolve(file, entry(dict, "EncryptMetadata"));
  return {
    revision,
    keyLength: bits / 8,
    o: bytes("O"),
    u: bytes("U"),
    ue: bytes("UE"),
    oe: bytes("OE"),
    perms: bytes("Perms"),
    // Some producers write P as an unsigned number of 32 bits, so it is converted to a signed one.
    permissions: permissions | 0,
    encryptMetadata: metadata?.bytes.toString("latin1", metadata.start, metadata.end) !== "false",
    id,
  };
}

/** The cipher of the crypt filter with that name (7.6.6); null for Identity, which doesn't encrypt. */
function filterCipher(file: PdfFile, dict: Dict, name = "Identity", version: number, fileKey: Buffer): Cipher | null {
  if (name === "Identity") return null;
  const filters = resolveDict(file, entry(dict, "CF"), "CF");
  const filter = filters && resolveDict(file, entry(filters.dict, name), "a crypt filter");
  const method = filter && asName(resolve(file, entry(filter.dict, "CFM")));
  if (version === 4 && method === "V2") return rc4Cipher(fileKey);
  if (version === 4 && method === "AESV2") return aes128Cipher(fileKey);
  if (version === 5 && method === "AESV3") return aes256Cipher(fileKey);
  throw refused(`the Encrypt dictionary at ${dict.start} has a crypt filter by ${method}`);
}

function idOf(trailer: Dict): Buffer {
  const id = entry(trailer, "ID");
  const first = id && isArray(id) ? elements(id).next().value : undefined;
  return first && isString(first) ? stringBytes(first) : Buffer.alloc(0);
}
