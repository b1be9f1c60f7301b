import { hash } from "node:crypto";
import { deflateSync } from "node:zlib";
import type { ObjectWriter } from "@signsealship/certificate/pdf-file";
import { textString, withElements, withEntries } from "../edit.ts";
import type { Ref, Span } from "../lexer.ts";
import { LIMITS } from "../limits.ts";
import { resolve } from "../objects.ts";
import { PdfRefusal } from "../refusal.ts";
import { asRef, type Dict, entry, isArray } from "../values.ts";
import type { PdfLookup } from "../xref/lookup.ts";
import { type NewObject, refuseStream } from "./new-object.ts";
import { stringEncryption } from "./string-encryption.ts";

/** Collects the objects of a revision: new objects, and new versions of existing dictionaries and arrays. */
export type RevisionWriter = ObjectWriter & {
  /** Reserves a number for an object that the caller writes itself. */
  number: () => Ref;
  /**
   * Converts a text to a value in PDF syntax, for a key of an existing dictionary. The value is encrypted if the
   * dictionary's other strings are.
   */
  text: (ref: Ref, dict: Dict, text: string) => string;
  /**
   * Sets keys of an object's dictionary to values in PDF syntax. A later call for the same object adds to the earlier
   * changes.
   * @throws PdfRefusal `needs_repair` for a stream, and when an earlier call gave a key another value
   */
  set: (ref: Ref, dict: Dict, entries: Readonly<Record<string, string>>) => void;
  /**
   * Appends references to the array under a key of a dictionary. The array may be direct, an object of its own, or
   * missing.
   * @param keep called for a direct or missing array, with the array's new text; the caller sets that text under the
   * key
   */
  append: (dict: Dict, key: string, refs: readonly string[], keep: (array: string) => void) => void;
  objects: () => NewObject[];
};

type Changed = { ref: Ref; dict: Dict; entries: Record<string, string> };

/** Collects the changes of existing dictionaries and arrays. */
function createChanges(file: PdfLookup["file"]): Pick<RevisionWriter, "set" | "append" | "objects"> {
  const dictionaries = new Map<number, Changed>();
  const arrays = new Map<number, { ref: Ref; array: Span; added: string[] }>();
  return {
    set(ref, dict, entries) {
      refuseStream(dict, ref);
      const changed = dictionaries.get(ref.num);
      for (const [key, value] of Object.entries(entries)) {
        const other = changed?.entries[key];
        if (other !== undefined && other !== value)
          throw new PdfRefusal("needs_repair", `object ${ref.num} is two things at once`);
      }
      dictionaries.set(ref.num, { ref, dict, entries: { ...changed?.entries, ...entries } });
    },
    append(dict, key, refs, keep) {
      const value = entry(dict, key);
      const array = resolve(file, value);
      if (!array) return keep(`[${refs.join(" ")}]`);
      if (!isArray(array))
        throw new PdfRefusal("needs_repair", `/${key} of the dictionary at ${dict.start} is not an array`);
      const ref = asRef(value);
      if (!ref) return keep(withElements(array, refs));
      refuseStream(array, ref);
      const existing = arrays.get(ref.num);
      // Two dictionaries, such as two pages, may share one array object. So a reference that was already added is not
      // added again.
      const added = [...(existing?.added ?? []), ...refs.filter((each) => !existing?.added.includes(each))];
      arrays.set(ref.num, { ref, array, added });
    },
    objects() {
      const changed = [...dictionaries.values()].map(
        ({ ref, dict, entries }): NewObject => ({
          ref,
          body: withEntries(dict, entries),
          clear: dict.bytes !== file.bytes,
        }),
      );
      const grown = [...arrays.values()].map(
        ({ ref, array, added }): NewObject => ({
          ref,
          body: withElements(array, added),
          clear: array.bytes !== file.bytes,
        }),
      );
      const twice = grown.find(({ ref }) => dictionaries.has(ref.num));
      if (twice) throw new PdfRefusal("needs_repair", `object ${twice.ref.num} is two things at once`);
      return [...changed, ...grown];
    },
  };
}

/**
 * Creates the writer of one revision.
 * @param docSha256 hex SHA-256 of the document; for an encrypted document it determines the initialization vectors
 */
export function createRevisionWriter(look: PdfLookup, docSha256: string): RevisionWriter {
  const { file } = look;
  const cipher = file.encryption?.streams;
  const objects = new Map<number, NewObject>();
  const changes = createChanges(file);
  let next = look.nextObject;

  const number = (): Ref => {
    if (next >= LIMITS.objectNumber) throw new PdfRefusal("too_complex", `object numbers up to ${next}`);
    return { num: next++, gen: 0 };
  };
  const written = ({ num, gen }: Ref) => `${num} ${gen} R`;
  const put = (ref: Ref, body: string, stream?: string) =>
    void objects.set(ref.num, { ref, body, clear: true, ...(stream !== undefined && { stream }) });
  const add = (body: string): string => {
    const ref = number();
    put(ref, body);
    return written(ref);
  };

  return {
    number,
    add,
    reserve() {
      const ref = number();
      return { ref: written(ref), fill: (body) => put(ref, body) };
    },
    stream(entries, data, { compress = true } = {}) {
      const ref = number();
      const plain = typeof data === "string" ? Buffer.from(data, "latin1") : Buffer.from(data);
      const coded = compress ? deflateSync(plain) : plain;
      const iv = hash("sha256", `${docSha256} ${ref.num} stream`, "buffer").subarray(0, 16);
      const bytes = cipher ? cipher.encrypt(coded, ref, iv) : coded;
      const filter = compress ? "/Filter/FlateDecode" : "";
      put(ref, `<<${entries}${filter}/Length ${bytes.length}>>`, bytes.toString("latin1"));
      return written(ref);
    },
    text(ref, dict, text) {
      const value = textString(text);
      // A dictionary from an object stream was read as clear text. Its strings are encrypted later, when the whole
      // object is written.
      if (dict.bytes !== file.bytes) return value;
      return stringEncryption(look, `${docSha256} ${text}`)(value, ref);
    },
    set: changes.set,
    append: changes.append,
    objects: () => [...objects.values(), ...changes.objects()],
  };
}
