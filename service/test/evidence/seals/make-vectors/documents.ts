import { collection, type Expectation, type Made, type State, verified } from "./case.ts";
import { sealed, zooFile } from "./sealing.ts";

/** Documents of all kinds from testing/inputs/zoo, with the lesson of each for the author of a verifier. */
const KINDS: Readonly<Record<string, string>> = {
  "incremental-table": "A table of several revisions, continued by a table.",
  "incremental-stream": "A cross-reference stream, continued by one.",
  "incremental-mixed": "Tables and streams in one file: the newest section's kind is continued.",
  hybrid: "A hybrid file gets a table; what its /XRefStm names counts where the table says free or nothing.",
  "qpdf-object-streams": "Objects in object streams, page and catalog among them.",
  "qpdf-form-object-streams": "A form in an object stream.",
  "catalog-in-object-stream": "The new catalog stands in the file, the old one in an object stream.",
  "no-final-newline": "One LF is put between the original and the tail, and only here.",
  "no-eof-marker": "The last startxref counts, not %%EOF.",
  "junk-before": "Offsets count from %PDF- where only that leads to a section.",
  "junk-before-absolute": "Offsets count from byte 0 although %PDF- stands later.",
  "junk-before-xref-stream": "The same with a cross-reference stream.",
  "junk-bom": "%PDF- begins within the first 1,024 bytes.",
  "table-19-bytes": "Rows of a table that are 19 bytes apart are tolerated.",
  "table-21-bytes": "And those that are 21 bytes apart.",
  "table-crlf": "Rows that end in CR and LF.",
  "repeated-key": "A key that stands twice where the way does not lead.",
  "prev-zero": "/Prev 0 means that there is no earlier section.",
  generation: "Objects of another generation than 0.",
  "form-direct": "A form that is a direct dictionary in the catalog.",
  "form-hierarchy": "Fields below fields.",
  "form-indirect-arrays": "/Fields and /Annots are objects of their own.",
  "form-shared-array": "/Fields and /Annots are one and the same array.",
  "names-escaped": "Names written with # are the names that they stand for.",
  "comments-everywhere": "Comments are white space.",
  "encrypted-open-rc4-40": "Encrypted, RC4 of 40 bits: the empty user password opens it.",
  "encrypted-open-rc4-128": "Encrypted, RC4 of 128 bits.",
  "encrypted-open-aes-128": "Encrypted, AES of 128 bits: /Reason is an encrypted string.",
  "encrypted-open-aes-256": "Encrypted, AES of 256 bits, revision 6.",
  "encrypted-open-aes-256-r5": "Encrypted, AES of 256 bits, revision 5.",
  "encrypted-open-aes-128-object-streams": "Encrypted object streams lead to the signature.",
  "encrypted-open-no-id": "Without an /ID the key is made from the empty string.",
};

const whole = {
  revision_covered: "holds",
  signature_valid: "holds",
  later_changes_permitted: "holds",
} as const satisfies Record<string, State>;
const certified: Expectation = { ...verified({ certification_respected: "holds" }), earlier: [whole] };

/** Documents that were signed before they were sealed. */
const SIGNED: Readonly<Record<string, { readonly expect: Expectation; readonly teaches: string }>> = {
  "signed-once": { expect: { ...verified(), earlier: [whole] }, teaches: "An earlier signature without a permission." },
  "signed-twice": {
    expect: { ...verified(), earlier: [whole, whole] },
    teaches: "Each earlier signature is verified over its own revision.",
  },
  "signed-xref-stream": { expect: { ...verified(), earlier: [whole] }, teaches: "The same over a stream." },
  "certified-default": { expect: certified, teaches: "A DocMDP without /P means P 2: a seal is within it." },
  "certified-p2": { expect: certified, teaches: "P 2 permits signatures: a seal is within it." },
  "certified-p3": { expect: certified, teaches: "P 3 permits signatures: a seal is within it." },
  "locked-fields": {
    expect: { ...verified(), earlier: [{ ...whole, later_changes_permitted: "fails" }] },
    teaches: "A lock of all fields locks the seal's own: a finding, since no permission (/P) is stated.",
  },
};

/** Seals of documents of all kinds. */
export async function documents(): Promise<Made> {
  const { add, put, made } = collection("documents");
  const one = async (name: string, expect: Expectation, teaches: string) =>
    add({
      name,
      kind: "sealed_pdf",
      files: { sealed: put(`${name}.pdf`, await sealed(zooFile(name))) },
      expect,
      teaches,
    });
  for (const [name, teaches] of Object.entries(KINDS)) await one(name, verified(), teaches);
  for (const [name, { expect, teaches }] of Object.entries(SIGNED)) await one(name, expect, teaches);
  return made();
}
