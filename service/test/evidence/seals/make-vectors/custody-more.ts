import type { JsonObject } from "@signsealship/evidence/manifest";
import { sealReasons } from "@signsealship/evidence/seal";
import { sealedFor } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import type { TestSigner } from "../../../../../packages/evidence/test/signer.ts";
import type { Expectation, State, VectorCase } from "./case.ts";
import { document } from "./sealing.ts";
import * as by from "./signed-envelope.ts";
import { seal, stampedAt, stranger } from "./signers.ts";

type Claims = Readonly<Record<string, State>>;
type Files = { readonly certificate: Uint8Array; readonly document?: Uint8Array };
/** A custody set. `changes` lists the claims whose state differs from that in a good set. */
export type CustodyRow = readonly [
  name: string,
  files: Files,
  verdict: Expectation["verdict"],
  changes: Claims,
  teaches: string,
  more?: Partial<Pick<VectorCase, "trust" | "tsaTrust" | "absent" | "anotherFile">>,
];

/** Custody sets with one difference each from a good set of these two signers. */
export function furtherCustody(ann: by.Doing, bob: by.Doing, stolen: string): readonly CustodyRow[] {
  const honest = by.signedEnvelope([ann, bob]);
  const stamped = { token: by.stampedBy() };
  const bad = (name: string, files: Files, changes: Claims, teaches: string): CustodyRow => [
    name,
    files,
    "not_verified",
    changes,
    teaches,
  ];
  const edited = (change: (envelope: JsonObject) => JsonObject) => by.signedEnvelope([ann, bob], { evidence: change });
  const inDocument = (changes: JsonObject) =>
    edited((envelope) => ({ ...envelope, document: { ...(envelope["document"] as JsonObject), ...changes } }));
  const forgedBy = { ...ann.by, sign: bob.by.sign ?? (() => new Uint8Array(0)), key: bob.by.key };
  const letter = Uint8Array.from(honest.document);
  letter[Buffer.from(letter).indexOf("/MediaBox") + 1] = 0x6d;
  const noFile = { document_hash: "fails", document_revisions: "fails", document_acts: "fails" } as const;
  const noActs = { act_certificate: "fails", act_place: "fails", act_time_stamp: "fails" } as const;
  return [
    bad(
      "an act that the signer's key did not sign",
      by.signedEnvelope([{ ...ann, by: forgedBy }, bob]),
      { act_certificate: "fails", document_signatures: "fails" },
      "The signature is by the key of the certificate.",
    ),
    bad(
      "a statement of half a place",
      by.signedEnvelope([{ ...ann, statement: (one) => ({ ...one, byteRange: one.byteRange.slice(0, 3) }) }, bob]),
      { act_place: "fails" },
      "A place has four numbers.",
    ),
    bad(
      "a certificate that had ended when it was stamped",
      by.signedEnvelope([{ ...ann, ...stamped, by: by.signerOf("Ann Lee", 33, { until: stampedAt - 60_000 }) }, bob]),
      { act_certificate: "fails" },
      "At a proven time the certificate counts, or it does not.",
    ),
    [
      "the authority's key stolen later, the authority of time unknown",
      by.signedEnvelope([ann, bob].map((one) => ({ ...one, ...stamped }))),
      "not_verified",
      { act_certificate: "fails", act_time_stamp: "unchecked" },
      "A token by nobody trusted proves no time.",
      { trust: [stolen], tsaTrust: [] },
    ],
    [
      "a time stamp, another authority of time trusted",
      by.signedEnvelope([{ ...ann, ...stamped }, bob]),
      "verified",
      { act_time_stamp: "unchecked" },
      "The token is the recorded one; whose word it is stays open.",
      { tsaTrust: ["trust/other-tsa.pem"] },
    ],
    bad(
      "a document sealed as a test",
      by.signedEnvelope([ann, bob], { documentReason: sealReasons.signed.test }),
      { document_seal: "fails" },
      "Document and envelope are of one environment.",
    ),
    bad(
      "a document with another letter",
      { certificate: honest.certificate, document: letter },
      {
        document_hash: "fails",
        document_revisions: "fails",
        act_certificate: "fails",
        document_seal: "fails",
        document_signatures: "fails",
      },
      "Its seal does not hold.",
    ),
    bad(
      "a document that is none",
      { certificate: honest.certificate, document: Buffer.from("no PDF\n") },
      { ...noFile, ...noActs, document_seal: "fails", document_signatures: "fails" },
      "What can't be read has no acts.",
    ),
    bad(
      "another length of the document named",
      inDocument({ bytes: honest.document.length + 1 }),
      { trail_sealed: "fails", document_hash: "fails" },
      "Length and hash are of the document.",
    ),
    bad(
      "another hash of the document named",
      inDocument({ sealedSha256: "ab".repeat(32) }),
      { trail_sealed: "fails", document_hash: "fails" },
      "Length and hash are of the document.",
    ),
    bad(
      "another hash of a revision named",
      edited((envelope) => ({
        ...envelope,
        revisions: (envelope["revisions"] as readonly JsonObject[]).map((one, index) =>
          index === 2 ? { ...one, sha256: "ab".repeat(32) } : one,
        ),
      })),
      { acts_recorded: "fails", document_revisions: "fails" },
      "Each revision is a beginning of the document.",
    ),
  ];
}

/** Files that are cut off after an act and end in a signature that is not the service's seal. */
export function falseEnds(ann: by.Doing, first: Uint8Array): readonly (readonly [name: string, bytes: Uint8Array])[] {
  const broken = { ...seal, sign: stranger.sign ?? (() => new Uint8Array(0)), key: stranger.key };
  const end = (signer: TestSigner) => sealedFor(sealReasons.signed.live, { signer }, first);
  return [
    ["cut behind the first act, ended by a signer", end(ann.by)],
    ["cut behind the first act, ended by a seal of another key", end(broken)],
  ];
}

/** A custody certificate to which nothing is attached. */
export const emptyCertificate = (): Uint8Array => sealedFor(sealReasons.custody.live, { signer: seal }, document());
