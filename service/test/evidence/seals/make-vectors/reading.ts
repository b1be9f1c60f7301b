import {
  appendRevision,
  bodyOf,
  bytesOf,
  latin1,
  type NewObject,
  signPdf,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { collection, type Expectation, type Made, notCovered, unreadable, verified } from "./case.ts";
import { document, oddSeal, sealed, stamped } from "./sealing.ts";
import { stamp, tsa } from "./signers.ts";

const plain = latin1(document());
const revised = (objects: readonly NewObject[], trailer = ""): string => appendRevision(plain, objects, trailer);
const catalogWith = (entries: string): NewObject => [1, bodyOf(plain, 1).replace(/ >>$/, ` ${entries} >>`)];
const field = (more: string): NewObject => [90, `<< /FT /Tx /T (a) ${more}>>`];

/**
 * Documents that section 2.6 of docs/evidence-format.md rejects although their seal is good, and similar ones that it
 * accepts.
 */
const WAYS: readonly (readonly [name: string, pdf: string, expect: Expectation, teaches: string])[] = [
  [
    "an object twice in a section",
    revised([
      [6, bodyOf(plain, 6)],
      [6, bodyOf(plain, 6)],
    ]),
    unreadable,
    "Which of the two counts is a reader's choice.",
  ],
  [
    "a section numbered twice, but in two revisions",
    appendRevision(revised([[6, bodyOf(plain, 6)]]), [[6, bodyOf(plain, 6)]]),
    verified(),
    "The newer revision counts.",
  ],
  [
    "a key twice in the catalog",
    revised([catalogWith("/Lang (en) /Lang (de)")]),
    unreadable,
    "Whatever the key: of two values one reader takes the first, another the last.",
  ],
  [
    "a key twice in the catalog, once escaped",
    revised([catalogWith("/Lang (en) /L#61ng (de)")]),
    unreadable,
    "Escapes in names are undone before they are compared.",
  ],
  [
    "a key twice in a page",
    revised([[5, bodyOf(plain, 5).replace(/ >>$/, " /Rotate 0 /Rotate 0 >>")]]),
    verified(),
    "In what the way does not reach it is not looked for.",
  ],
  [
    "a key twice in a trailer",
    revised([], " /Root 1 0 R"),
    unreadable,
    "Each trailer is on the way, an older one, too.",
  ],
  [
    "a /Prev that leads nowhere",
    revised([[6, bodyOf(plain, 6)]]).replace(/\/Prev \d+/, (found) => "/Prev 5".padEnd(found.length)),
    unreadable,
    "Every section is read before anything else is asked.",
  ],
];

/** Vectors about how a PDF is read, and about signatures that cover a whole file without sealing it. */
export async function reading(): Promise<Made> {
  const { add, put, made, slug } = collection("reading");
  const one = (name: string, bytes: Uint8Array, expect: Expectation, teaches: string) =>
    add({ name, kind: "sealed_pdf", files: { sealed: put(`${slug(name)}.pdf`, bytes) }, expect, teaches });
  for (const [name, pdf, expect, teaches] of WAYS) {
    one(name, oddSeal(bytesOf(pdf)), expect, teaches);
  }
  const twice = revised([catalogWith("/AcroForm << /SigFlags 3 /Fields [90 0 R] >>"), field("/T (b) ")]);
  one("a key twice in a field", oddSeal(bytesOf(twice)), unreadable, "The fields are on the way to the signatures.");
  const good = revised([catalogWith("/AcroForm << /SigFlags 3 /Fields [90 0 R 90 0 R] >>"), field("")]);
  one("a field that is listed twice", oddSeal(bytesOf(good)), verified(), "It is looked at once (tolerated, 9).");
  const before = (count: number) => Uint8Array.from([...Buffer.alloc(count, 0x78), ...document()]);
  one(
    "1,019 bytes before %PDF-",
    await sealed(before(1019)),
    verified(),
    "All five characters are within the first 1,024 bytes.",
  );
  one(
    "1,020 bytes before %PDF-",
    Uint8Array.from([...Buffer.alloc(1020, 0x78), ...oddSeal(document())]),
    { verdict: "not_a_pdf", claims: {} },
    "The fifth character is not.",
  );
  const seal = await stamped(document());
  const whole = { revision_covered: "holds", signature_valid: "holds", later_changes_permitted: "holds" } as const;
  one(
    "a sealed PDF sealed again",
    await sealed(seal),
    { ...verified(), earlier: [whole] },
    "The seal of before is an earlier signature.",
  );
  const stampedOver = signPdf(oddSeal(document()), {
    signer: tsa,
    subFilter: "ETSI.RFC3161",
    originalLength: "absent",
    contents: stamp,
    reserve: 900,
  });
  one(
    "a document time stamp over a sealed PDF",
    stampedOver,
    {
      verdict: "not_verified",
      claims: {
        pdf_readable: "holds",
        whole_file_covered: "holds",
        document_unchanged_since_seal: "unchecked",
        seal_signature_valid: "fails",
      },
    },
    "It says when, and is no seal: the seal no longer covers the whole file.",
  );
  one("a comment over a sealed PDF", bytesOf(`${latin1(seal)}%`), notCovered, "One byte is enough.");
  return made();
}
