import { sealReasons } from "@signsealship/evidence/seal";
import { withAttachment } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import { collection, intact, type Made, notCovered, verified, verifiedTest } from "./case.ts";
import { document, oddSeal, sealed, zooFile } from "./sealing.ts";

/** Seals with each purpose in /Reason, and with none. */
export async function purposes(): Promise<Made> {
  const { add, put, made, slug } = collection("purposes");
  for (const [kind, reasons] of Object.entries(sealReasons)) {
    // Seals for these purposes are verified together with an attachment. Other source files make their vectors.
    if (["closing", "custody", "journal", "receipt", "certificate"].includes(kind)) continue;
    for (const reason of Object.values(reasons)) {
      const test = reason !== reasons.live;
      add({
        name: reason,
        kind: "sealed_pdf",
        files: { sealed: put(`${slug(reason)}.pdf`, await sealed(document(), { reason })) },
        expect: test ? verifiedTest() : verified(),
        teaches: test ? "A test's seal is never verified without saying so." : "A purpose that a verifier takes.",
      });
    }
  }
  const none = intact({ seal_purpose: "fails" });
  const odd: readonly (readonly [string, string | null])[] = [
    ["another text", "Something else"],
    ["another case", "proof passport"],
    ["a space behind", "Proof passport "],
    ["an environment of its own", "Proof passport (live)"],
    ["empty", ""],
    ["none at all", null],
  ];
  for (const [name, reason] of odd) {
    const bytes = oddSeal(document(), { reason });
    add({
      name: `/Reason: ${name}`,
      kind: "sealed_pdf",
      files: { sealed: put(`reason-${slug(name)}.pdf`, bytes) },
      expect: none,
      teaches: "Only the texts of section 2.5 are purposes; without one the verdict is intact at most.",
    });
  }
  // An error that prevents reading the attachments must not prevent reading the purpose.
  const attachedTwice = withAttachment(Buffer.from("{}"), {
    names: "<< /EmbeddedFiles << /Names [(manifest.json) 101 0 R (manifest.json) 101 0 R] >> >>",
  });
  for (const [name, original] of [
    ["an encrypted document", zooFile("encrypted-open-aes-128")],
    ["a document with two manifests attached", attachedTwice],
  ] as const) {
    const reason = sealReasons.proof.test;
    add({
      name: `a test's seal of ${name}`,
      kind: "sealed_pdf",
      files: { sealed: put(`test-${slug(name)}.pdf`, await sealed(original, { reason })) },
      expect: verifiedTest(),
      teaches: "A test's seal is never verified without saying so, whatever else is in the file.",
    });
  }
  const twice = oddSeal(document(), {
    reason: "Proof passport",
    dictionary: (text) => text.replace("/M(D:20260101000000Z)", "/Reason(Signed)/M()  ".padEnd(21)),
  });
  add({
    name: "/Reason twice",
    kind: "sealed_pdf",
    files: { sealed: put("reason-twice.pdf", twice) },
    expect: notCovered,
    teaches: "A key that stands twice in the signature dictionary makes the signature unusable (repeated-key).",
  });
  return made();
}
