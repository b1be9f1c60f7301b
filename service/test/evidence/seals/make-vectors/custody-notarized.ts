import { sealReasons } from "@signsealship/evidence/seal";
import { sealedFor } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import { archivedBy, paintedOver } from "./archived.ts";
import type { CustodyRow } from "./custody-more.ts";
import * as by from "./signed-envelope.ts";
import { otherTsa, seal, stranger } from "./signers.ts";

const notContinued = { absent: ["document_continues"] } as const;

/**
 * Documents that begin with the signed document's bytes, or seem to. Section 20.2 of docs/evidence-format.md defines
 * which of them continue the signed document.
 */
export function notarized(ann: by.Doing, bob: by.Doing): readonly CustodyRow[] {
  const honest = by.signedEnvelope([ann, bob]);
  const { certificate, document: signed } = honest;
  const endedBy = (reason: string, document = signed, signer = seal): CustodyRow[1] => ({
    certificate,
    document: sealedFor(reason, { signer }, document),
  });
  const whole = (
    name: string,
    files: CustodyRow[1],
    changes: CustodyRow[3],
    teaches: string,
    more: CustodyRow[5] = {},
  ): CustodyRow => [
    name,
    files,
    "not_verified",
    { document_seal: "fails", ...changes },
    teaches,
    { ...notContinued, ...more },
  ];
  const another = { document_hash: "fails" } as const;
  const changedLetter = {
    ...another,
    document_revisions: "fails",
    act_certificate: "fails",
    document_signatures: "fails",
  } as const;
  const letter = Uint8Array.from(signed);
  letter[Buffer.from(letter).indexOf("/MediaBox") + 1] = 0x6d;
  const notarizedDocument = sealedFor(sealReasons.notarized.live, { signer: seal }, signed);
  const archived = (document: Uint8Array, by = archivedBy()): CustodyRow[1] => ({
    certificate,
    document: by(document),
  });
  return [
    [
      "a notarized document that an archival time stamp ends",
      archived(notarizedDocument),
      "verified",
      { document_continues: "holds" },
      "The time stamp changes nothing: the seal below it says what follows the signed document.",
    ],
    [
      "the signed document with an archival time stamp",
      archived(signed),
      "verified",
      { document_continues: "holds" },
      "Nothing but the time stamp follows the signed document.",
    ],
    whole(
      "a notarized document with a time stamp of an unknown authority",
      archived(notarizedDocument, archivedBy(otherTsa)),
      another,
      "Anybody can make such a time stamp.",
    ),
    whole(
      "a notarized document, painted over, then a time stamp",
      archived(paintedOver(notarizedDocument)),
      { ...another, document_signatures: "fails" },
      "A time stamp says when somebody painted over it.",
    ),
    whole(
      "the signed document, painted over, then a time stamp",
      archived(paintedOver(signed)),
      { ...another, document_signatures: "fails" },
      "A time stamp says when somebody painted over it.",
    ),
    whole(
      "a signed document, sealed for a proof passport, then a time stamp",
      archived(sealedFor(sealReasons.proof.live, { signer: seal }, signed)),
      another,
      "The time stamp ends no seal of the order.",
    ),
    [
      "the document of another signing, with an archival time stamp",
      archived(by.signedEnvelope([ann]).document),
      "not_verified",
      {
        ...changedLetter,
        document_acts: "fails",
        act_place: "fails",
        act_time_stamp: "fails",
      },
      "Only what continues the file named says so.",
      { ...notContinued, anotherFile: true },
    ],
    [
      "a notarized document that continues the signed one",
      endedBy(sealReasons.notarized.live),
      "verified",
      { document_continues: "holds" },
      "The signed document is the beginning, and the service's own seal says what follows.",
    ],
    [
      "a notarized document, and no certificate is trusted",
      endedBy(sealReasons.notarized.live),
      "intact",
      { document_continues: "unchecked", seal_certificate_trusted: "unchecked", act_certificate: "unchecked" },
      "Anybody may have made the seal that ends it: nobody says that what follows belongs there.",
      { trust: [] },
    ],
    whole(
      "a notarized document, sealed by a stranger",
      endedBy(sealReasons.notarized.live, signed, stranger),
      another,
      "Anybody can write that reason: only a seal that holds says that what follows belongs there.",
    ),
    whole(
      "a signed document, sealed once more for a proof passport",
      endedBy(sealReasons.proof.live),
      another,
      "Anybody may have a proof seal: it does not say that what follows belongs there.",
    ),
    whole(
      "a document notarized as a test",
      endedBy(sealReasons.notarized.test),
      another,
      "Document and envelope are of one environment.",
    ),
    whole(
      "a notarized document that begins with another letter",
      endedBy(sealReasons.notarized.live, letter),
      changedLetter,
      "It begins with another document than the one named.",
      { anotherFile: true },
    ),
    whole(
      "a notarized document that begins with another letter, sealed by a stranger",
      endedBy(sealReasons.notarized.live, letter, stranger),
      changedLetter,
      "Nobody trusted says that it is the document of another signing.",
    ),
    whole(
      "a document sealed as notarized at once",
      by.signedEnvelope([ann, bob], { documentReason: sealReasons.notarized.live }),
      {},
      "It is the document named and continues none, and the seal that ends a signing is another.",
    ),
  ];
}
