import { forgeries } from "../../../../../packages/evidence/test/seal/forge.ts";
import { asTheSealer, FORGERS, SPELLINGS } from "../moved-gap/forger.ts";
import {
  changedBytes,
  collection,
  type Expectation,
  type Made,
  notCovered,
  notVerified,
  unreadable,
  unsigned,
  verified,
} from "./case.ts";
import { document, oddSeal, sealed } from "./sealing.ts";

/** The expected result of an attack for which the format alone does not decide the claims. So they are left open. */
const refused: Expectation = { verdict: "not_verified", claims: {} };
const otherBytes = notVerified(changedBytes);

const ATTACKS: Readonly<Record<string, { readonly expect: Expectation; readonly teaches: string }>> = {
  "incremental saving": { expect: notCovered, teaches: "The seal is the signature that ends at the last byte." },
  "signature wrapping": {
    expect: unreadable,
    teaches: "An object that is not where its entry says is an error, not something to search for.",
  },
  "universal forgery: /ByteRange": {
    expect: notCovered,
    teaches: "A /ByteRange that breaks a rule of section 2.3 is of no use.",
  },
  "universal forgery: /Contents": {
    expect: notCovered,
    teaches: "/Contents is the one hexadecimal string in the gap, a DER SEQUENCE and zeros.",
  },
  shadow: { expect: notCovered, teaches: "Nothing may follow the seal, whatever it hides or shows." },
  "certified document": { expect: notCovered, teaches: "A seal permits no later annotation." },
  "cross-references": { expect: notCovered, teaches: "The sections lead to one seal, in one place." },
  "swapped signature": { expect: otherBytes, teaches: "A seal vouches for the bytes that it was made over." },
  "odd bytes": { expect: notCovered, teaches: "No byte is another." },
};

/** The expected results of single attacks, where they differ from the result of their class. */
const OTHERWISE: Readonly<Record<string, Expectation>> = {
  "a revision that changes nothing": refused,
  "the signed rest repeated at the end": notCovered,
  "/ByteRange twice": unreadable,
  "upper-case digits": notVerified({ signature_structure: "fails" }),
  "hide and replace: the sections before bypassed": unsigned,
  "the signature freed": unsigned,
  "the startxref of the revision before": unsigned,
  "an entry that points into the gap": unreadable,
  "an entry that points to the end of the gap": unreadable,
  "a /Prev that points to itself": unreadable,
  "an object in the gap": refused,
  "another document in front": notCovered,
  "the last revision cut in half": unsigned,
  "cut in the middle of the value": unsigned,
  "another version in the header": otherBytes,
  "another claimed time": otherBytes,
  "another original length": notVerified({
    ...changedBytes,
    seal_place: "fails",
    original_document_hash: "fails",
    signature_structure: null,
  }),
  "another format": notVerified({ ...changedBytes, signature_structure: null }),
  "line ends turned": unreadable,
};

/** Forgeries of every published class, derived from one good seal, which is also in the folder. */
export function forged(): Made {
  const { add, put, made, slug } = collection("forged");
  const genuine = oddSeal(document("Contract"));
  add({
    name: "the file that the forgeries are made of",
    kind: "sealed_pdf",
    files: { sealed: put("genuine.pdf", genuine) },
    expect: verified(),
    teaches: "What follows differs from this.",
  });
  for (const { attack, name, bytes } of forgeries(genuine, oddSeal(document("Contrast")))) {
    const kind = ATTACKS[attack];
    if (kind === undefined) throw new Error(`no expectation for ${attack}`);
    add({
      name: `${attack}: ${name}`,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}.pdf`, bytes) },
      expect: OTHERWISE[name] ?? kind.expect,
      teaches: kind.teaches,
    });
  }
  return made();
}

/**
 * Pairs of files with the same signed bytes, but with the signature value in different places (docs/evidence-format.md,
 * section 2.9).
 */
export async function movedGaps(): Promise<Made> {
  const { add, put, made, slug } = collection("moved-gap");
  const seal = async (original: Buffer) => Buffer.from(await sealed(original));
  for (const [name, forge] of Object.entries(FORGERS)) {
    const { genuine, forged: moved } = await forge(seal, asTheSealer);
    add({
      name: `the value where the sealer put it: ${name}`,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}-genuine.pdf`, genuine) },
      expect: verified(),
      teaches: "A document that was made for a forgery is itself what was sealed.",
    });
    add({
      name: `the value moved: ${name}`,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}-forged.pdf`, moved) },
      expect: notVerified({ seal_place: "fails", signature_structure: "fails", original_document_hash: null }),
      teaches:
        "Digest and signature fit, and the whole file is covered: only the place that the seal signs is another.",
    });
  }
  for (const [how, spelling] of Object.entries(SPELLINGS)) {
    const [[name, forge] = ["", null]] = Object.entries(FORGERS);
    if (forge === null) throw new Error("no forger");
    const { forged: moved } = await forge(seal, spelling);
    add({
      name: `the value moved: ${name}, ${how}`,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(`${name} ${how}`)}-forged.pdf`, moved) },
      expect: refused,
      teaches: "The same by another spelling of the dictionary around the moved value.",
    });
  }
  return made();
}
