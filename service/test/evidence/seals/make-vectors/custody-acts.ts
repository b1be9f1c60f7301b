import { type DerValue, integer, OID, oid, sequence, set, utf8String } from "@signsealship/evidence/asn1";
import type { JsonObject } from "@signsealship/evidence/manifest";
import { sealReasons } from "@signsealship/evidence/seal";
import { sealedFor, withAttachment } from "../../../../../packages/evidence/test/seal/closing-pdf.ts";
import {
  appendRevision,
  bodyOf,
  bytesOf,
  endOf,
  latin1,
  type NewObject,
} from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import type { CustodyRow } from "./custody-more.ts";
import { HOLE, ranged } from "./earlier-steps.ts";
import * as edit from "./parts/der-edit.ts";
import * as by from "./signed-envelope.ts";
import { seal, stamp } from "./signers.ts";

const noActs = { act_certificate: "fails", act_place: "fails", act_time_stamp: "fails" } as const;

/**
 * Adds a second signature over an act's revision. The form lists the new signature's field first, but in the file, the
 * new signature comes after the act's.
 */
export const twoOverOne: NonNullable<by.Doing["written"]> = {
  objects: (list) => [
    ...list.map(([number, body]): NewObject => [number, body.replace("/Fields [", "/Fields [40 0 R ")]),
    [40, "<< /FT /Sig /T (b) /V 41 0 R >>"],
    [41, `<< /Type /Sig /SubFilter /adbe.pkcs7.sha1 /Contents <3003020100> /ByteRange [0 ${HOLE}] >>`],
  ],
  append: (pdf, objects) => ranged(appendRevision(pdf, objects)),
};

/** Removes the value of the newest field. */
const takenAway = (file: Uint8Array): Uint8Array => {
  const pdf = latin1(file);
  const field = endOf(pdf).size - 1;
  return bytesOf(appendRevision(pdf, [[field, bodyOf(pdf, field).replace(/ \/V \d+ 0 R/, "")]]));
};

const commonName = (value: DerValue): DerValue => set(sequence(oid(OID.commonName), value));
/** Repeats the time-stamp token. */
const stampedAgain = (cms: Uint8Array): Uint8Array => edit.withEdit(cms, [1, 0, 4, 0, 6, 0], edit.repeated(2));

/** Acts without a signature of their own, or with another act's signature. */
export function oddActs(ann: by.Doing, bob: by.Doing): readonly CustodyRow[] {
  const honest = by.signedEnvelope([ann, bob]);
  const bad = (name: string, files: CustodyRow[1], changes: CustodyRow[3], teaches: string): CustodyRow => [
    name,
    files,
    "not_verified",
    changes,
    teaches,
  ];
  const named = (...names: readonly DerValue[]) => by.signerOf("Ann Lee", 34, { subjectName: sequence(...names) });
  const certified = (name: string, ...names: readonly DerValue[]): CustodyRow =>
    bad(
      name,
      by.signedEnvelope([{ ...ann, by: named(...names) }, bob]),
      { act_certificate: "fails" },
      "The certificate has one name, the signer's.",
    );
  const ofNobody = (records: readonly JsonObject[]) =>
    records.map((record, index) => (index === 1 ? { ...record, signer: 9 } : record));
  const fromFirstAct = (envelope: JsonObject) => ({
    ...envelope,
    revisions: (envelope["revisions"] as readonly JsonObject[]).slice(2).map((one, number) => ({ ...one, number })),
  });
  const greek = "\u03a9mega";
  return [
    bad(
      "an act recorded for nobody",
      by.signedEnvelope([ann, bob], { records: ofNobody }),
      { acts_recorded: "fails", ...noActs },
      "An act is of one of the signers.",
    ),
    bad(
      "a table that begins with the first act",
      by.signedEnvelope([ann, bob], { evidence: fromFirstAct }),
      { trail_begins: "fails", acts_recorded: "fails", revision_table: "fails", document_acts: "fails", ...noActs },
      "An act follows a revision.",
    ),
    bad(
      "a document whose last act a later revision took away",
      by.signedEnvelope([ann, bob], { beforeSeal: takenAway }),
      { document_acts: "fails", document_signatures: "fails", ...noActs },
      "The newest form holds every act.",
    ),
    bad(
      "a document that ends with its last act",
      { certificate: honest.certificate, document: honest.states.at(-1) ?? honest.document },
      {
        document_hash: "fails",
        document_revisions: "fails",
        document_seal: "fails",
        document_signatures: "fails",
        ...noActs,
      },
      "What covers the whole file is its seal, and no act.",
    ),
    bad(
      "two signatures over the revision of an act",
      by.signedEnvelope([ann, { ...bob, written: twoOverOne }]),
      { document_acts: "fails", document_signatures: "fails", ...noActs },
      "Of two signatures over an act's revision nobody can say which is the act.",
    ),
    bad(
      "an act without its certificate",
      by.signedEnvelope([{ ...ann, cms: (der) => edit.withEdit(der, [1, 0, 3], edit.dropped) }, bob]),
      { act_certificate: "fails", document_signatures: "fails" },
      "The signer's certificate is included.",
    ),
    certified("a certificate of two names", commonName(utf8String("Ann Lee")), commonName(utf8String("Bob Ray"))),
    certified("a certificate whose name is a number", commonName(integer(1))),
    bad(
      "two time stamps in one act",
      by.signedEnvelope([{ ...ann, token: stamp, cms: stampedAgain }, bob]),
      { act_time_stamp: "fails" },
      "An act has one time stamp, or none.",
    ),
    [
      "an earlier signing in what was sent",
      by.signedEnvelope([bob], { original: by.signedEnvelope([ann]).states[0] ?? honest.document }),
      "verified",
      {},
      "Acts of an earlier signing are a part of what was sent.",
    ],
    [
      "signed by a name of Greek letters that is certified in another form",
      by.signedEnvelope([{ name: `${greek}@example.com`, by: by.signerOf(`${greek} at example.com`, 35) }, bob]),
      "verified",
      {},
      "Of the form of section 4.4: letters stay, an at sign does not.",
    ],
  ];
}

/** A custody certificate whose /Names has /EmbeddedFiles twice. */
export const twiceAttached = (): Uint8Array => {
  const names = "<< /EmbeddedFiles << /Names [(envelope.json) 101 0 R] >> /EmbeddedFiles << /Names [] >> >>";
  const pdf = withAttachment(Uint8Array.from(Buffer.from("{}")), { name: "(envelope.json)", names });
  return sealedFor(sealReasons.custody.live, { signer: seal }, pdf);
};
