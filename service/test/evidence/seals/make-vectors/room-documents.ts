import { sealReasons } from "@signsealship/evidence/seal";
import { roomCode } from "../../../../../packages/evidence/test/manifest/manifests.ts";
import { closingCertificate, sealedFor } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import { appendRevision, bytesOf, latin1, signPdf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { archivedBy } from "./archived.ts";
import { collection, type Made, type State, type Verdict } from "./case.ts";
import { hexOf } from "./evidence.ts";
import { manifest } from "./rooms.ts";
import { document } from "./sealing.ts";
import { otherTsa, seal, stranger } from "./signers.ts";

type Row = readonly [
  name: string,
  document: Uint8Array,
  verdict: Verdict,
  claim: State,
  teaches: string,
  certificate?: Uint8Array,
];

const by = (reason: string, pdf: Uint8Array, signer = seal) => sealedFor(reason, { signer }, pdf);
const { signed: asSigned, notarized: asNotarized, proof: asProof } = sealReasons;

const uploaded = document("Warranty deed");
const signed = by(asSigned.live, uploaded);
const notarized = by(asNotarized.live, signed);
const painted = (pdf: Uint8Array): Uint8Array => {
  const content = "BT /F1 18 Tf 72 720 Td (Void) Tj ET";
  return bytesOf(appendRevision(latin1(pdf), [[6, `<< /Length ${content.length} >>\nstream\n${content}\nendstream`]]));
};
const withField = (pdf: Uint8Array, type: "Sig" | "Tx", value = ""): Uint8Array =>
  bytesOf(
    appendRevision(latin1(pdf), [
      [1, "<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [9 0 R] >> >>"],
      [9, `<< /Type /Annot /Subtype /Widget /FT /${type}${value} /T (signer 1) /Rect [0 0 0 0] >>`],
    ]),
  );
const byStranger = (pdf: Uint8Array): Uint8Array =>
  signPdf(pdf, { signer: stranger, originalLength: "absent", reserve: 900 });

/** The hashes of a closing's first document. */
type Hashes = { originalSha256: string; sealedSha256: string | null; notarizedSha256?: string };
const certificateOver = (hashes: Hashes, reason: string = sealReasons.closing.live): Uint8Array => {
  const deed = { orderCode: "a".repeat(40), label: "Warranty deed", status: "Completed", ...hashes };
  const other = { orderCode: "b".repeat(40), label: null, status: "QuoteReady", originalSha256: "1".repeat(64) };
  const documents = [deed, { sealedSha256: null, ...other }];
  return closingCertificate(manifest({ roomCode, reference: "2026-1187", documents }), { signer: seal }, reason);
};

const original = { originalSha256: hexOf(uploaded) };
/** A closing certificate from the time between the document's signing and its notarization. */
const early = certificateOver({ ...original, sealedSha256: hexOf(signed) });
const late = certificateOver({ ...original, sealedSha256: hexOf(signed), notarizedSha256: hexOf(notarized) });
const forged = by(asSigned.live, uploaded, stranger);
const listsForged = certificateOver({ ...original, sealedSha256: hexOf(forged) });
/** A closing certificate from before anybody signed the document. */
const listsUploaded = certificateOver({ ...original, sealedSha256: null });
const withoutLineEnd = uploaded.subarray(0, latin1(uploaded).trimEnd().length);
const listsWithoutLineEnd = certificateOver({ originalSha256: hexOf(withoutLineEnd), sealedSha256: null });
const withTwo = bytesOf(`${latin1(withoutLineEnd)}\r\n`);
const listsWithTwo = certificateOver({ originalSha256: hexOf(withTwo), sealedSha256: null });
const signedBefore = byStranger(uploaded);
const listsSignedBefore = certificateOver({ originalSha256: hexOf(signedBefore), sealedSha256: null });
const testSigned = by(asSigned.test, uploaded);
const ofTest = certificateOver({ ...original, sealedSha256: hexOf(testSigned) }, sealReasons.closing.test);

const whole = "The closing certificate names the hash of the whole file.";
const ended = "The service's own seal of a notarized document says what follows the listed file.";
const notEnded = "Only a seal of the order says that what follows belongs there.";
const continued = "Nothing says that what follows the listed file belongs there.";
const elsewhere = "Nothing is wrong with either file: they do not belong together.";

/** One vector for each row of the table about a closing's documents (docs/evidence-format.md, section 20.2). */
const rows: readonly Row[] = [
  ["the listed signed file", signed, "verified", "holds", whole],
  ["the listed notarized file", notarized, "verified", "holds", whole, late],
  ["the listed signed file, and a later certificate", signed, "verified", "holds", whole, late],
  [
    "the listed file as it was uploaded",
    uploaded,
    "verified",
    "holds",
    "The certificate vouches for a file without a seal.",
  ],
  ["the listed signed file of a test", testSigned, "verified_test", "holds", "A test vouches for nothing.", ofTest],
  ["the listed signed file with an archival time stamp", archivedBy()(signed), "verified", "holds", whole],
  ["a notarized file that continues the listed one", notarized, "verified", "holds", ended],
  [
    "a notarized file that continues the listed one, with an archival time stamp",
    archivedBy()(notarized),
    "verified",
    "holds",
    ended,
  ],
  [
    "the listed signed file with an archival time stamp, then sealed as notarized",
    by(asNotarized.live, archivedBy()(signed)),
    "verified",
    "holds",
    ended,
  ],
  [
    "the listed uploaded file, sealed as signed after the certificate was made",
    signed,
    "verified",
    "holds",
    "The service sealed the listed file itself.",
    listsUploaded,
  ],
  [
    "the listed uploaded file, signed by a stranger before, sealed as signed, then for a proof passport",
    by(asProof.live, by(asSigned.live, signedBefore)),
    "unchecked",
    "unchecked",
    "Only a seal of the service ends what a certificate can name.",
    listsSignedBefore,
  ],
  [
    "the listed file, sealed for a reason that is not the service's",
    by("Approved", signed),
    "not_verified",
    "fails",
    "Such a seal says nothing of the order.",
  ],
  ["the listed file, sealed for a proof passport", by(asProof.live, signed), "not_verified", "fails", notEnded],
  [
    "the listed file, painted over, then sealed for a proof passport",
    by(asProof.live, painted(signed)),
    "not_verified",
    "fails",
    notEnded,
  ],
  [
    "a notarized file, painted over, then sealed for a proof passport",
    by(asProof.live, painted(notarized)),
    "not_verified",
    "fails",
    notEnded,
  ],
  [
    "the listed file, painted over, then sealed as notarized",
    by(asNotarized.live, painted(signed)),
    "not_verified",
    "fails",
    "A seal of a notarized document permits no change below it.",
  ],
  ["the listed file, then a stranger's signature", byStranger(signed), "not_verified", "fails", notEnded],
  [
    "the listed file, sealed as notarized by a stranger",
    by(asNotarized.live, signed, stranger),
    "not_verified",
    "fails",
    "Anybody can write that reason.",
  ],
  ["the listed file, painted over", painted(signed), "not_verified", "fails", notEnded],
  [
    "the listed file with a time stamp of an unknown authority",
    archivedBy(otherTsa)(signed),
    "not_verified",
    "fails",
    "Anybody can make such a time stamp.",
  ],
  ["the listed uploaded file, painted over", painted(uploaded), "not_verified", "fails", continued, listsUploaded],
  [
    "a listed uploaded file that ends without a line end, painted over twice",
    painted(painted(withoutLineEnd)),
    "not_verified",
    "fails",
    continued,
    listsWithoutLineEnd,
  ],
  [
    "a listed uploaded file that ends with two characters of a line end, painted over",
    painted(withTwo),
    "not_verified",
    "fails",
    continued,
    listsWithTwo,
  ],
  [
    "the listed uploaded file, prepared for its signers",
    withField(uploaded, "Sig"),
    "unchecked",
    "unchecked",
    "The service appends empty signature fields before anybody signs.",
    listsUploaded,
  ],
  [
    "the listed uploaded file, painted over, with a field for text",
    withField(uploaded, "Tx"),
    "not_verified",
    "fails",
    continued,
    listsUploaded,
  ],
  [
    "the listed uploaded file, painted over, with text as a signature",
    withField(uploaded, "Sig", " /V (Jane Doe)"),
    "not_verified",
    "fails",
    continued,
    listsUploaded,
  ],
  [
    "a file without a seal that continues none that is listed",
    painted(document("Note")),
    "unchecked",
    "unchecked",
    "The certificate does not name what it begins with.",
  ],
  ["a genuine document of another closing", by(asSigned.live, document("Note")), "unchecked", "unchecked", elsewhere],
  [
    "a listed file whose seal is a stranger's",
    forged,
    "not_verified",
    "holds",
    "The certificate names the hash, and says nothing of the seal in the file.",
    listsForged,
  ],
  [
    "a file without a seal that is not listed",
    document("Note"),
    "unchecked",
    "unchecked",
    "The certificate does not name it, so nothing says that it is a part of this closing.",
  ],
];

export function roomDocuments(): Made {
  const { add, put, slug, made } = collection("room-documents");
  const known = new Map<Uint8Array, string>();
  const once = (name: string, bytes: Uint8Array): string => {
    const path = known.get(bytes) ?? put(name, bytes);
    known.set(bytes, path);
    return path;
  };
  for (const [name, bytes, verdict, state, teaches, certificate = early] of rows)
    add({
      name,
      kind: "room_document",
      files: {
        certificate: once(`${slug(name)}-certificate.pdf`, certificate),
        document: once(`${slug(name)}.pdf`, bytes),
      },
      expect: { verdict, claims: { document_of_this_room: state } },
      teaches,
    });
  return made();
}
