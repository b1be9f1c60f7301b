import { cmsOver, testSigner, tokenOver } from "../../../../../packages/evidence/test/signer.ts";
import type { State } from "./case.ts";
import {
  bypassed,
  damaged,
  type Earlier,
  type EarlierRow,
  emptied,
  locked,
  proof,
  rewritten,
  type Step,
  sealedAs,
  sha256,
  signed,
  state,
  unlocked,
  visible,
} from "./earlier-steps.ts";
import { issue, type Subject } from "./issued.ts";
import { document } from "./sealing.ts";
import { fixedKey, pem, seal, stampedAt, tsa, validFrom } from "./signers.ts";

const root: Subject = { name: "Test root", key: fixedKey("root") };
const leaf: Subject = { name: "Test issued seal", key: fixedKey("issued seal") };
const rootCertificate = issue(root, root, { serial: 11, isAuthority: true });
const bySeal = {
  key: leaf.key.key,
  sign: leaf.key.sign,
  certificate: issue(leaf, root, { serial: 14, isAuthority: false }),
};
const bySigner = { ...bySeal, certificate: issue(leaf, root, { serial: 16, isAuthority: false, isSigners: true }) };
const farTsa = testSigner("tsa", validFrom, Date.UTC(2060, 0, 1), fixedKey("far tsa"));

/** Documents that an earlier seal of the service has finalized (docs/evidence-format.md, section 7.2). */
export function earlierSeals(): readonly EarlierRow[] {
  const ends = "A seal of the service ends the document that it seals (7.2).";
  const broken = "What can't be judged is not permitted, and a seal of the service permits no more for it (7.1, 7.2).";
  return [
    {
      name: "a seal of the service, and another page",
      steps: [sealedAs("signed"), rewritten, proof],
      earlier: [state("fails")],
      respected: ["fails"],
      teaches: ends,
    },
    {
      name: "a seal of the service over a document with a broken font, and another page",
      steps: [damaged, sealedAs("signed"), rewritten, proof],
      earlier: [{ signature_valid: "holds", later_changes_permitted: "fails" }],
      respected: ["fails"],
      teaches: broken,
    },
    {
      name: "a seal of the service that the sections lead past",
      steps: [sealedAs("signed"), bypassed, proof],
      earlier: [{ signature_present: "fails", signature_valid: "holds", later_changes_permitted: "fails" }],
      respected: ["fails"],
      teaches: broken,
    },
    {
      name: "a seal of the service that is not valid, then a visible signature",
      steps: [sealedAs("signed", { contents: (bytes) => cmsOver(sha256(bytes.subarray(1)), seal) }), visible, proof],
      earlier: [state("holds", "fails"), state("holds")],
      teaches: "One that is not valid is judged as any other signature (7.2).",
    },
    {
      name: "a signer's certificate in the form of a seal, then a visible signature",
      steps: [sealedAs("signed", { signer: bySigner }), visible, sealedAs("proof", { signer: bySeal })],
      earlier: [state("holds"), state("holds")],
      trust: ["trust/root.pem"],
      teaches: "A signer's certificate makes no seal of the service (7.2).",
    },
    {
      name: "a document time stamp in the form of a seal, then a visible signature",
      steps: [
        sealedAs("signed", {
          subFilter: "ETSI.RFC3161",
          contents: (bytes) => tokenOver(bytes, tsa, stampedAt),
        }),
        visible,
        proof,
      ],
      earlier: [state("holds"), state("holds")],
      teaches: "A time stamp has no seal's certificate (7.2).",
    },
    {
      name: "a seal of the service with a token that nobody trusts, then a visible signature",
      steps: [
        sealedAs("signed", { stamp: (value) => tokenOver(value, farTsa, Date.UTC(2050, 0, 1)), reserve: 1900 }),
        visible,
        proof,
      ],
      respected: ["fails"],
      teaches: "Its certificate counts at the instant of a trusted time stamp in it, else of its /M (7.2).",
    },
    {
      name: "signed, notarized, and then a visible signature",
      steps: [sealedAs("signed"), visible, sealedAs("notarized"), visible, proof],
      earlier: [state("fails"), state("holds"), state("fails"), state("holds")],
      respected: ["fails", "fails"],
      teaches:
        "Behind a seal for Signed the table alone decides as far as the last seal for Notarized, and no further (7.2).",
    },
    {
      name: "notarized, then signed and notarized",
      steps: [sealedAs("notarized"), sealedAs("signed"), visible, sealedAs("notarized")],
      earlier: [state("fails"), state("holds"), state("holds")],
      respected: ["fails", "holds"],
      teaches: "The seal for Notarized that ends a notarization is a later one (7.2).",
    },
    {
      name: "a seal of the service, then a stranger's invisible signature over the whole file",
      steps: [proof, signed()],
      earlier: [state("fails")],
      respected: ["fails"],
      verdict: "not_verified",
      teaches: "What covers the whole file counts as a seal when it is in the form of one (7.2).",
    },
  ];
}

/** Signatures whose lock states a permission, in files where later revisions can't be compared with the signed one. */
export function lockedRows(): readonly EarlierRow[] {
  const teaches = "What can't be judged is not permitted, whatever states the permission (7).";
  const uncovered: Earlier = { revision_covered: "fails", signature_valid: "holds", later_changes_permitted: "fails" };
  const gone: Earlier = { signature_present: "fails", signature_valid: "holds", later_changes_permitted: "fails" };
  const row = (
    name: string,
    steps: readonly Step[],
    earlier: Earlier,
    respected: readonly State[] = ["fails"],
  ): EarlierRow => ({
    name: `a lock with /P 2, ${name}`,
    steps: [...steps, proof],
    earlier: [earlier],
    respected,
    teaches,
  });
  return [
    row("and nothing more", [locked], state("holds"), ["holds"]),
    row("and another page", [locked, rewritten], state("fails")),
    row("over a document with a broken font", [damaged, locked, rewritten], uncovered),
    row("over a document with a broken font, the lock taken away", [damaged, locked, unlocked, rewritten], uncovered),
    row("that the sections lead past", [locked, bypassed], gone),
    row("and a broken font behind it", [locked, damaged, rewritten], state("fails")),
  ];
}

/** Texts on the page that a search could mistake for signatures. */
export function textRows(): readonly EarlierRow[] {
  const teaches = "A signature that is gone was one over a revision of its own (7).";
  const passing = (): Uint8Array => {
    const digits = (value: number) => String(value).padStart(6, "0");
    const text = (numbers: readonly number[]) => document(`<00>/ByteRange [${numbers.map(digits).join(" ")}]`);
    const at = Buffer.from(text([0, 0, 0, 0])).indexOf("<00>/ByteRange");
    return text([0, at, at + 4, 60]);
  };
  const row = (name: string, pdf: () => Uint8Array): EarlierRow => ({
    name,
    steps: [pdf, proof],
    earlier: [],
    teaches,
  });
  return [
    row("a text that begins as a /ByteRange", () => document("/ByteRange [0 7x")),
    row("a text that passes for a signature over what is no document", passing),
    row("a signature without a value, taken away", () =>
      emptied(signed({ contents: () => Uint8Array.of(255, 255) })(document())),
    ),
  ];
}

export const earlierRoot = pem(rootCertificate.der);
