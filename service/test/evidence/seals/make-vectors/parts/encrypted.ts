import { createCipheriv, createHash } from "node:crypto";
import { attached } from "./attachments.ts";
import type { Part } from "./part.ts";
import { no, type Objects, pdf, streamed, yes } from "./pdf-files.ts";

type Dictionary = {
  readonly v: number;
  readonly r: number;
  readonly key: Buffer;
  readonly more?: string;
  readonly u: Buffer;
};

const PADDING = Buffer.from("28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a", "hex");
const OWNER = Buffer.alloc(32, 1);
const PERMISSIONS = -4;
const UE = Buffer.alloc(32, 7);
const IV = Buffer.alloc(16, 9);
const CONTENT = "4 0 << /FT /Tx >>";
const FORM = "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [4 0 R] >> >>";

const md5 = (...parts: readonly Uint8Array[]): Buffer => createHash("md5").update(Buffer.concat(parts)).digest();
const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest();
const hex = (bytes: Uint8Array): string => `<${Buffer.from(bytes).toString("hex")}>`;

function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const swap = (one: number, other: number) => {
    [state[one], state[other]] = [state[other] ?? 0, state[one] ?? 0];
  };
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + (state[i] ?? 0) + (key[i % key.length] ?? 0)) & 255;
    swap(i, j);
  }
  let j = 0;
  return Buffer.from(data).map((byte, index) => {
    const i = (index + 1) & 255;
    j = (j + (state[i] ?? 0)) & 255;
    swap(i, j);
    return byte ^ (state[((state[i] ?? 0) + (state[j] ?? 0)) & 255] ?? 0);
  }) as Buffer;
}

/**
 * An encryption dictionary for the empty user password, by algorithms 2, 4 and 5 of ISO 32000-2. Nonexistent versions
 * and revisions are written as requested.
 */
function byMd5(v: number, r: number, length: number, more = ""): Dictionary {
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE(PERMISSIONS);
  let key = md5(PADDING, OWNER, permissions).subarray(0, length);
  if (r >= 3) for (let i = 0; i < 50; i++) key = md5(key).subarray(0, length);
  let u = r === 2 ? rc4(key, PADDING) : md5(PADDING);
  if (r >= 3) {
    for (let i = 0; i < 20; i++) {
      u = rc4(
        key.map((byte) => byte ^ i),
        u,
      );
    }
  }
  return { v, r, key, more, u: r === 2 ? u : Buffer.concat([u, Buffer.alloc(16)]) };
}

/**
 * A dictionary for the empty user password by algorithm 2.A, revision 5. /U consists of the SHA-256 of the validation
 * salt, and of both salts. `key` is the SHA-256 of the key salt.
 */
function bySha256(v: number, more: string): Dictionary {
  const salts = Buffer.from("validatekeysalts");
  return { v, r: 5, key: sha256(salts.subarray(8)), more, u: Buffer.concat([sha256(salts.subarray(0, 8)), salts]) };
}

const text = ({ v, r, u, more = "" }: Dictionary): string =>
  `<< /Filter /Standard /V ${v} /R ${r} /O ${hex(OWNER)} /U ${hex(u)} /P ${PERMISSIONS} ${more} >>`;
const inTrailer = (
  dictionary: Dictionary,
  ...[objects, catalog]: readonly [objects: Objects, catalog: string] | []
): string => pdf(objects, `/Encrypt ${text(dictionary)} `, catalog);

/** A file whose one field is in an object stream of these bytes. */
function held(dictionary: Dictionary, data: Uint8Array): string {
  const stream = Buffer.from(data).toString("latin1");
  const body = `<< /Type /ObjStm /N 1 /First 4 /Length ${data.length} >>\nstream\n${stream}\nendstream`;
  return streamed(
    (size) => `/Size ${size} /W [1 2 0] /Encrypt ${text(dictionary)}`,
    (rows) => [...rows.slice(0, 4), [2, 0, 3], ...rows.slice(5)].map((row) => [...row]),
    [
      [3, body],
      [4, "null"],
    ],
    FORM,
  );
}

const filter = (method: string): string => `/CF << /A << /CFM /${method} >> >> /StmF /A`;
const objectKey = (key: Uint8Array, salt = ""): Buffer =>
  md5(key, Uint8Array.from([3, 0, 0, 0, 0]), Buffer.from(salt)).subarray(0, Math.min(key.length + 5, 16));
const AES = byMd5(4, 4, 16, filter("AESV2"));

/** Encrypts a text of whole blocks with AES. @returns the initialization vector, then the blocks */
function aes(padded: string): Buffer {
  const cipher = createCipheriv("aes-128-cbc", objectKey(AES.key, "sAlT"), IV).setAutoPadding(false);
  return Buffer.concat([IV, cipher.update(padded, "latin1"), cipher.final()]);
}

function padded(content: string): string {
  const count = 16 - (content.length % 16);
  return content + String.fromCharCode(count).repeat(count);
}

const identity = (more = ""): Dictionary => byMd5(4, 4, 16, more);
const FIELD = "<< /FT /Tx /T (a) >>";

/**
 * An /Encrypt that encrypts nothing, because both of its filters are /Identity. Its key is that of a document without
 * an /ID.
 */
export const encryptsNothing = text(identity("/StmF /Identity /StrF /Identity"));

/**
 * Vectors of encryption dictionaries. Section 2.8 of docs/evidence-format.md defines the dictionaries with which the
 * verifier opens a file.
 */
export const encryptedParts = (): Part[] => [
  yes("encrypted: AES in an object stream", held(AES, aes(padded(CONTENT)))),
  yes(
    "encrypted: RC4 in a crypt filter",
    held(byMd5(4, 4, 16, filter("V2")), rc4(objectKey(AES.key), Buffer.from(CONTENT))),
  ),
  no("encrypted: an object stream that is not", held(AES, Buffer.from(CONTENT))),
  no(
    "encrypted: an object stream behind whole blocks",
    held(AES, Buffer.concat([aes(padded(CONTENT)), IV.subarray(3)])),
  ),
  no("encrypted: padding of 32 bytes", held(AES, aes(CONTENT.padEnd(64, " ")))),
  yes("encrypted: nothing is, by /Identity", held(identity(), Buffer.from(CONTENT))),
  yes("encrypted: strings are not", inTrailer(identity("/StrF /Identity"), [[4, FIELD]], FORM)),
  no("encrypted: by a crypt filter that is not there", inTrailer(identity("/CF << /B << /CFM /AESV2 >> >> /StmF /A"))),
  no("encrypted: a length of 32 bits", inTrailer(byMd5(2, 3, 4, "/Length 32"))),
  no("encrypted: a length of 44 bits", inTrailer(byMd5(2, 3, 5, "/Length 44"))),
  yes("encrypted: a length of 40 bits", inTrailer(byMd5(2, 3, 5, "/Length 40"))),
  no("encrypted: revision 1", inTrailer(byMd5(1, 1, 5))),
  yes("encrypted: revision 2", inTrailer(byMd5(1, 2, 5))),
  yes("encrypted: metadata in words", inTrailer(identity("/EncryptMetadata true"))),
  yes("encrypted: metadata that are not, before revision 4", inTrailer(byMd5(2, 3, 5, "/EncryptMetadata false"))),
  yes("encrypted: metadata that are not, in revision 2", inTrailer(byMd5(1, 2, 5, "/EncryptMetadata false"))),
  yes("encrypted: revision 5", inTrailer(bySha256(5, `/UE ${hex(UE)}`))),
  no("encrypted: revision 5 under version 4", inTrailer(bySha256(4, `/UE ${hex(UE)}`))),
  no("encrypted: a /U of 40 bytes", inTrailer(shortened(bySha256(5, `/UE ${hex(UE)}`)))),
  no("encrypted: a /UE of 16 bytes", inTrailer(bySha256(5, `/UE ${hex(UE.subarray(16))}`))),
  no("encrypted: by an array", pdf([[3, "[]"]], "/Encrypt 3 0 R ")),
  no("encrypted: by a number", pdf([], "/Encrypt 3 ")),
  yes("encrypted: by a dictionary of its own", pdf([[3, text(identity())]], "/Encrypt 3 0 R ")),
  attached("encrypted, although nothing is", "refused", undefined, `/Encrypt ${text(identity())} `),
  no(
    "encrypted: by a dictionary under another number",
    pdf([[3, text(identity())]], "/Encrypt 3 0 R ").replace("\n3 0 obj", "\n4 0 obj"),
  ),
];

function shortened(dictionary: Dictionary): Dictionary {
  return { ...dictionary, u: dictionary.u.subarray(0, 40) };
}
