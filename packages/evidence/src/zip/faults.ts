import { EvidenceError } from "../errors.ts";

/**
 * The reasons for refusing a zip: a closed list of names (docs/evidence-format.md, section 9.1), each with a sentence
 * that explains it.
 */
const faults = {
  "no-end":
    "no end of the directory as its last 22 bytes: it was cut short, or there are bytes after its end, such as a comment",
  parts: "several parts",
  zip64: "zip64 records, which are not read",
  directory: "a broken directory",
  "no-local-header": "a file that is not there",
  "extra-field": "an extra field that could change what a file is",
  comment: "a comment",
  flags: "flags other than bits 1, 2, 3 and 11",
  encrypted: "an encrypted file",
  attributes: "an entry that is not marked as what its name says, a plain file or a folder",
  name: "a name that is not the plain name of a file",
  "same-name": "two files of one name",
  "headers-differ": "a file of two descriptions: the directory and the file's own header differ",
  gap: "bytes that belong to no file",
  method: "a compression method other than stored and deflated",
  data: "a file that is not what the directory says",
} as const satisfies Readonly<Record<string, string>>;

export type ZipFault = keyof typeof faults;

/** The refusal of a zip; the message ends in the fault's name. */
export const refusal = (fault: ZipFault): EvidenceError =>
  new EvidenceError("zip", `the zip has ${faults[fault]} (${fault})`);
