import { sealReasons } from "@signsealship/evidence/seal";
import { signPdf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { tokenOver } from "../../../../../packages/evidence/test/signer.ts";
import { collection, type Made, notVerified, verified } from "./case.ts";
import { document, sealed } from "./sealing.ts";
import { seal, stampedAt, stranger, tsa } from "./signers.ts";

type Step = (pdf: Uint8Array) => Uint8Array | Promise<Uint8Array>;

const sealedAs =
  (kind: keyof typeof sealReasons, environment: "live" | "test" = "live"): Step =>
  (pdf) =>
    sealed(pdf, { reason: sealReasons[kind][environment] });
const foreign = { signer: stranger, originalLength: "absent", reserve: 900 } as const;
const visibly: Step = (pdf) => signPdf(pdf, { ...foreign, visible: true });
const invisibly: Step = (pdf) => signPdf(pdf, foreign);
const stamped: Step = (pdf) =>
  signPdf(pdf, {
    ...foreign,
    subFilter: "ETSI.RFC3161",
    dictionary: (text) => text.replace("/Type /Sig ", "/Type /DocTimeStamp "),
    contents: (signed) => tokenOver(signed, tsa, stampedAt),
  });
const forged: Step = (pdf) => signPdf(pdf, { signer: stranger, reason: sealReasons.proof.live, reserve: 900 });
const shownSeal: Step = (pdf) =>
  signPdf(pdf, { signer: seal, reason: sealReasons.proof.live, reserve: 900, visible: true });

const PERMITTED: Readonly<Record<string, readonly Step[]>> = {
  "a proof seal": [sealedAs("signed"), sealedAs("proof")],
  "a document time stamp, then a proof seal": [sealedAs("notarized"), stamped, sealedAs("proof")],
  "a notary's visible signature that the notary's seal ends": [sealedAs("signed"), visibly, sealedAs("notarized")],
};

const REFUSED: Readonly<Record<string, readonly Step[]>> = {
  "a visible signature": [sealedAs("signed"), visibly, sealedAs("proof")],
  "an invisible signature of a stranger": [sealedAs("signed"), invisibly, sealedAs("proof")],
  "a seal by a stranger's certificate": [sealedAs("signed"), forged, sealedAs("proof")],
  "a seal that shows": [sealedAs("signed"), shownSeal, sealedAs("proof")],
  "a notarization of the test environment": [
    sealedAs("signed"),
    visibly,
    sealedAs("notarized", "test"),
    sealedAs("proof"),
  ],
  "a visible signature behind the notary's seal": [sealedAs("notarized"), visibly, sealedAs("proof")],
  "a visible signature behind a proof seal": [sealedAs("proof"), visibly, sealedAs("notarized")],
};

/** Vectors of documents that were changed after a seal of the service. Such a seal finalizes the document. */
export async function finished(): Promise<Made> {
  const { add, put, made, slug } = collection("finished");
  for (const [cases, state] of [
    [PERMITTED, "holds"],
    [REFUSED, "fails"],
  ] as const) {
    for (const [name, steps] of Object.entries(cases)) {
      let pdf = document();
      for (const step of steps) pdf = await step(pdf);
      const later = { revision_covered: "holds", signature_valid: "holds", later_changes_permitted: state } as const;
      add({
        name: `behind a seal of the service: ${name}`,
        kind: "sealed_pdf",
        files: { sealed: put(`${slug(name)}.pdf`, pdf) },
        expect: { ...(state === "holds" ? verified() : notVerified()), earlier: [later] },
        teaches: "Behind a seal come time stamps and invisible seals of the service alone, and a notary behind Signed.",
      });
    }
  }
  return made();
}
