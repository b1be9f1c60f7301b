import { concatBytes, equalBytes } from "../../bytes.ts";
import { decryptAesCbc } from "./aes.ts";
import { md5 } from "./md5.ts";
import { rc4 } from "./rc4.ts";

/** The entries of a standard encryption dictionary (ISO 32000-2 table 21) from which the key is derived. */
export type KeyEntries = {
  readonly revision: number;
  /** Length of the file's key in bytes. */
  readonly keyLength: number;
  readonly o: Uint8Array;
  readonly u: Uint8Array;
  /** The value of the entry /UE, which only revisions 5 and 6 have. Empty in other revisions. */
  readonly ue: Uint8Array;
  readonly permissions: number;
  readonly encryptMetadata: boolean;
  /** The first element of the trailer's /ID. */
  readonly id: Uint8Array;
};

/**
 * The string that pads passwords to 32 bytes. The empty password consists only of this padding (ISO 32000-2, section
 * 7.6.4.3.2).
 */
const PADDING = Uint8Array.from([
  0x28, 0xbf, 0x4e, 0x5e, 0x4e, 0x75, 0x8a, 0x41, 0x64, 0x00, 0x4e, 0x56, 0xff, 0xfa, 0x01, 0x08, 0x2e, 0x2e, 0x00,
  0xb6, 0xd0, 0x68, 0x3e, 0x80, 0x2f, 0x0c, 0xa9, 0xfe, 0x64, 0x53, 0x69, 0x7a,
]);
const NONE = new Uint8Array(0);

/** The key for the empty user password; null when the document has another password. */
export async function fileKeyOf(entries: KeyEntries): Promise<Uint8Array | null> {
  return entries.revision >= 5 ? aes256Key(entries) : rc4Key(entries);
}

/** Derives the key of encryption revisions 2 to 4 (ISO 32000-2, algorithms 2 and 6). */
function rc4Key({ revision, keyLength, o, u, permissions, encryptMetadata, id }: KeyEntries): Uint8Array | null {
  const p = new Uint8Array(4);
  new DataView(p.buffer).setInt32(0, permissions, true);
  const plainMetadata = revision >= 4 && !encryptMetadata ? new Uint8Array(4).fill(0xff) : NONE;
  let key = md5(concatBytes([PADDING, o.subarray(0, 32), p, id, plainMetadata])).subarray(0, keyLength);
  if (revision >= 3) for (let i = 0; i < 50; i++) key = md5(key).subarray(0, keyLength);
  let expected = revision === 2 ? rc4(key, PADDING) : md5(concatBytes([PADDING, id]));
  if (revision >= 3) {
    for (let i = 0; i < 20; i++) {
      expected = rc4(
        key.map((byte) => byte ^ i),
        expected,
      );
    }
  }
  return equalBytes(u.subarray(0, expected.length), expected) ? key : null;
}

/** Derives the key of encryption revisions 5 and 6 (ISO 32000-2, algorithm 2.A). */
async function aes256Key({ revision, u, ue }: KeyEntries): Promise<Uint8Array | null> {
  if (u.length < 48 || ue.length < 32) return null;
  if (!equalBytes(await hash2B(revision, u.subarray(32, 40)), u.subarray(0, 32))) return null;
  const intermediate = await hash2B(revision, u.subarray(40, 48));
  return decryptAesCbc(intermediate, new Uint8Array(16), ue.subarray(0, 32));
}

/**
 * Hashes the empty user password with a salt (ISO 32000-2, algorithm 2.B). Revision 5 uses SHA-256 once; revision 6
 * adds at least 64 rounds.
 */
async function hash2B(revision: number, salt: Uint8Array): Promise<Uint8Array> {
  let key = await digest("SHA-256", Uint8Array.from(salt));
  if (revision === 5) return key;
  // There are at most 287 rounds, because `last` is a byte.
  for (let round = 1, last = 0; round <= 64 || last > round - 33; round++) {
    const repeated = concatBytes(Array.from({ length: 64 }, () => key));
    const encrypted = await encryptAesCbc(key.slice(0, 16), key.slice(16, 32), repeated);
    const sum = encrypted.subarray(0, 16).reduce((total, byte) => total + byte, 0);
    key = await digest((["SHA-256", "SHA-384", "SHA-512"] as const)[sum % 3] ?? "SHA-256", encrypted);
    last = encrypted.at(-1) ?? 0;
  }
  return key.subarray(0, 32);
}

async function digest(hash: string, bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest(hash, bytes));
}

/** Encrypts whole blocks only, so the padding block that Web Crypto appends is dropped. */
async function encryptAesCbc(
  key: Uint8Array<ArrayBuffer>,
  iv: Uint8Array<ArrayBuffer>,
  data: Uint8Array<ArrayBuffer>,
): Promise<Uint8Array<ArrayBuffer>> {
  const imported = await crypto.subtle.importKey("raw", key, "AES-CBC", false, ["encrypt"]);
  return new Uint8Array(await crypto.subtle.encrypt({ name: "AES-CBC", iv }, imported, data), 0, data.length);
}
