import { hash } from "node:crypto";
import { type Ref, skipSpace, skipValue } from "../lexer.ts";
import { stringBytes } from "../strings.ts";
import type { PdfLookup } from "../xref/lookup.ts";

/**
 * Returns a function that encrypts the strings in an object's latin1 text, with the cipher of the document's other
 * strings (ISO 32000-2 7.6.2). If the document's strings are not encrypted, that function returns the text unchanged.
 * @param docSha256 determines the initialization vectors, so that the same input gives the same seal and no vector
 * repeats
 */
export function stringEncryption(look: PdfLookup, docSha256: string): (text: string, object: Ref) => string {
  const cipher = look.file.encryption?.strings;
  if (!cipher) return (text) => text;
  return (text, object) => {
    let count = 0;
    return replaceStrings(Buffer.from(text, "latin1"), (clear) => {
      const seed = `${docSha256} ${object.num} ${object.gen} ${count++}`;
      const iv = hash("sha256", seed, "buffer").subarray(0, 16);
      return `<${cipher.encrypt(clear, object, iv).toString("hex")}>`;
    });
  };
}

function replaceStrings(bytes: Buffer, replacement: (clear: Buffer) => string): string {
  let text = "";
  let copied = 0;
  for (let at = skipSpace(bytes, 0); at < bytes.length; at = skipSpace(bytes, at)) {
    const isHex = bytes[at] === 0x3c && bytes[at + 1] !== 0x3c;
    if (bytes[at] === 0x28 || isHex) {
      const end = skipValue(bytes, at);
      text += bytes.toString("latin1", copied, at) + replacement(stringBytes({ bytes, start: at, end }));
      at = end;
      copied = end;
    } else at += bytes[at] === 0x3c ? 2 : 1;
  }
  return text + bytes.toString("latin1", copied);
}
