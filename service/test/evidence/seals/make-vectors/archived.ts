import { sealReasons } from "@signsealship/evidence/seal";
import {
  appendRevision,
  bodyOf,
  bytesOf,
  latin1,
  type SignOptions,
  signPdf,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { tokenOver } from "../../../../../packages/evidence/test/signer.ts";
import { collection, type Expectation, type Made, notCovered, verified, verifiedTest } from "./case.ts";
import { document, oddSeal } from "./sealing.ts";
import { otherTsa, stampedAt, stranger, tsa } from "./signers.ts";

type Step = (pdf: Uint8Array) => Uint8Array;

const sealedAs =
  (kind: keyof typeof sealReasons, environment: "live" | "test" = "live"): Step =>
  (pdf) =>
    oddSeal(pdf, { reason: sealReasons[kind][environment] });
const foreign = { signer: stranger, originalLength: "absent", reserve: 900 } as const;

/** Ends a file with a document time stamp. @param over changes the bytes that the token covers */
export const archivedBy =
  (authority = tsa, over = (signed: Uint8Array) => signed, more: Partial<SignOptions> = {}): Step =>
  (pdf) =>
    signPdf(pdf, {
      ...foreign,
      subFilter: "ETSI.RFC3161",
      dictionary: (text) => text.replace("/Type /Sig ", "/Type /DocTimeStamp "),
      contents: (signed) => tokenOver(over(signed), authority, stampedAt),
      ...more,
    });
const archived: Step = archivedBy();
const unreadableStamp: Step = archivedBy(tsa, undefined, { contents: () => bytesOf("0") });
/** A time stamp with the word `startxref` in its dictionary, before the signature's value. */
const misplacedStamp: Step = archivedBy(tsa, undefined, {
  dictionary: (text) =>
    text.replace("/Type /Sig ", "/Type /DocTimeStamp ").replace("D:20260101000000Z", "startxref20260101"),
});
const brokenStamp: Step = archivedBy(tsa, (signed) => signed.subarray(1));
const withStore: Step = (pdf) => {
  const text = latin1(pdf);
  const catalog = bodyOf(text, 1).replace("<<", "<< /DSS 95 0 R");
  return bytesOf(
    appendRevision(text, [
      [95, "<< /Certs [] >>"],
      [1, catalog],
    ]),
  );
};

/** Draws a note over the page in a revision of its own. */
export const paintedOver = (pdf: Uint8Array): Uint8Array => {
  const text = latin1(pdf);
  const page = bodyOf(text, 5).replace("/Annots [", "/Annots [96 0 R ");
  return bytesOf(
    appendRevision(text, [
      [96, "<< /Type /Annot /Subtype /Text /Rect [9 9 30 30] /Contents (Void) >>"],
      [5, page],
    ]),
  );
};
const visibly: Step = (pdf) => signPdf(pdf, { ...foreign, visible: true });
const invisibly: Step = (pdf) => signPdf(pdf, foreign);
const withoutRange: Step = (pdf) => bytesOf(latin1(invisibly(pdf)).replace("/ByteRange [0", "/ByteRange [1"));
const oneByteMore: Step = (pdf) => Uint8Array.from([...pdf, 0x0a]);
const forged: Step = (pdf) => signPdf(pdf, { signer: stranger, reason: sealReasons.notarized.live, reserve: 900 });

const stampAtEnd: Expectation = {
  verdict: "not_verified",
  claims: { pdf_readable: "holds", whole_file_covered: "holds", seal_signature_valid: "fails" },
};

const signatureAtEnd: Expectation = {
  verdict: "not_verified",
  claims: { pdf_readable: "holds", whole_file_covered: "holds", seal_certificate_trusted: "fails" },
};

const ACCEPTED: Readonly<Record<string, readonly Step[]>> = {
  "a notarized document": [sealedAs("notarized"), archived],
  "a signed document": [sealedAs("signed"), archived],
  "a notarized document with a security store": [sealedAs("notarized"), withStore, archived],
  "a notarized document that was stamped twice": [sealedAs("notarized"), archived, withStore, archived],
  "a document that a notary signed in sight, and that was sealed": [
    sealedAs("signed"),
    visibly,
    sealedAs("notarized"),
    archived,
  ],
  "a notarization that was taken in": [sealedAs("notarized_elsewhere"), archived],
};

const REFUSED: Readonly<Record<string, readonly [steps: readonly Step[], expect?: Expectation]>> = {
  "by an authority that is not trusted": [[sealedAs("notarized"), archivedBy(otherTsa)]],
  "behind a stamp by an authority that is not trusted": [[sealedAs("notarized"), archivedBy(otherTsa), archived]],
  "whose token can't be read": [[sealedAs("notarized"), unreadableStamp]],
  "that is misplaced": [[sealedAs("notarized"), misplacedStamp]],
  "behind a signature without a range": [[withoutRange, sealedAs("notarized"), archived]],
  "that is an invisible signature": [[sealedAs("notarized"), invisibly], signatureAtEnd],
  "over other bytes": [[sealedAs("notarized"), brokenStamp]],
  "behind a stamp over other bytes": [[sealedAs("notarized"), brokenStamp, archived]],
  "behind a note over the page": [[sealedAs("notarized"), paintedOver, archived]],
  "behind a signature that shows": [[sealedAs("notarized"), visibly, archived]],
  "behind an invisible signature of a stranger": [[sealedAs("notarized"), invisibly, archived]],
  "behind a stamp, a note and a proof seal": [
    [sealedAs("notarized"), archived, paintedOver, sealedAs("proof"), archived],
  ],
  "behind a note between the seals": [[sealedAs("signed"), paintedOver, sealedAs("notarized"), archived]],
  "behind a stranger's seal": [[forged, archived]],
  "behind a proof seal": [[sealedAs("proof"), archived]],
  "behind a custody seal": [[sealedAs("custody"), archived]],
  "behind no seal": [[archived]],
  "that a security store follows": [[sealedAs("notarized"), archived, withStore], notCovered],
  "that a byte follows": [[sealedAs("notarized"), archived, oneByteMore], notCovered],
};

/** Documents of orders, each ended by archival document time stamps. */
export function archivedFiles(): Made {
  const { add, put, made, slug } = collection("archived");
  const make = (steps: readonly Step[]) => steps.reduce((pdf, step) => step(pdf), document());
  const holds = { archival_time_stamp: "holds" } as const;
  for (const [name, steps] of Object.entries(ACCEPTED))
    add({
      name: `archived: ${name}`,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}.pdf`, make(steps)) },
      expect: verified(holds),
      teaches: "Behind the seal of an order's document come validation data and time stamps alone: the seal is judged.",
    });
  const ofTest = put("of-the-test-environment.pdf", make([sealedAs("notarized", "test"), archived]));
  add({
    name: "archived: a notarized document of the test environment",
    kind: "sealed_pdf",
    files: { sealed: ofTest },
    expect: verifiedTest(holds),
    teaches: "A time stamp does not make a test document a live one.",
  });
  const kept = `archived/${slug("a notarized document")}.pdf`;
  for (const [name, trust] of [
    ["no authority is trusted", { tsaTrust: [] }],
    ["no certificate of a seal is trusted", { trust: [] }],
  ] as const)
    add({
      name: `archived: a notarized document, and ${name}`,
      kind: "sealed_pdf",
      files: { sealed: kept },
      expect: stampAtEnd,
      absent: ["archival_time_stamp"],
      teaches: "Anybody can add a time stamp of an own authority, or make the seal below it.",
      ...trust,
    });
  for (const [name, [steps, expect = stampAtEnd]] of Object.entries(REFUSED))
    add({
      name: `archived: a time stamp ${name}`,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}.pdf`, make(steps)) },
      expect,
      absent: ["archival_time_stamp"],
      teaches: "A time stamp says when, and not that what it is over belongs there.",
    });
  return made();
}
