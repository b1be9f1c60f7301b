import { revisionKinds } from "@signsealship/evidence/envelope";
import { type Static, Type } from "typebox";
import {
  environment,
  nullable,
  oneOf,
  sha256,
  text,
  timestamp,
  verifyCode,
} from "../../../kernel/http/schema-parts.ts";
import { type EnvelopeRecord, envelopeStatuses } from "./record.ts";

const bytes = Type.Integer({ minimum: 1, description: "The size in bytes.", examples: [84_213] });
const signerNumber = () =>
  Type.Integer({ minimum: 1, maximum: 10, description: "The signer's place, from 1.", examples: [1] });

export const EnvelopeVerification = Type.Object(
  {
    verifyCode: verifyCode(),
    environment: environment("`test`: signed and sealed with test keys; it means nothing outside of testing."),
    status: oneOf(envelopeStatuses, "Where signing stands.", ["Completed"]),
    partnerName: text("The firm that had it signed.", "Harbor Title Co."),
    createdAt: timestamp("When signing began."),
    endedAt: nullable(timestamp("When it ended; null while it is open.")),
    signers: Type.Array(
      Type.Object({
        n: signerNumber(),
        name: text("The signer's name, masked.", "J*** D***"),
        email: text("The signer's email address, masked.", "j***@example.com"),
        routingOrder: Type.Integer({ description: "Those of the lowest number sign first.", examples: [1] }),
        signedAt: nullable(timestamp("When this person signed; null before.")),
      }),
      { description: "Who signs." },
    ),
    document: nullable(
      Type.Object({
        originalSha256: sha256("SHA-256 of the document as it came, hex."),
        sealedSha256: sha256("SHA-256 of the sealed document, hex."),
        bytes,
      }),
      "What was signed; null until signing is completed.",
    ),
    revisions: Type.Array(
      Type.Object({
        number: Type.Integer({ minimum: 0, description: "Its number; 0 is the document as it came.", examples: [0] }),
        kind: oneOf(revisionKinds, "What made it.", ["original"]),
        signer: nullable(Type.Integer(), "Whose signature made it; null where none did."),
        bytes,
        sha256: sha256("SHA-256 of the first `bytes` bytes of the sealed document, hex."),
      }),
      { description: "The states of the file; empty until the envelope is completed." },
    ),
    custodyCertSha256: nullable(sha256("SHA-256 of the sealed custody certificate, hex; null before it is made.")),
    certificateDeletedAtUtc: Type.Optional(
      timestamp("When the retention plan deleted the custody certificate; absent when it did not."),
    ),
    trail: Type.Object(
      {
        records: Type.Integer({ description: "How many records there are.", examples: [7] }),
        lastSha256: nullable(sha256("SHA-256 of the last record, hex. It commits to all before it; null without any.")),
      },
      { description: "The chained records of what happened." },
    ),
    claims: Type.Array(
      Type.Object({
        name: text("The claim's stable name."),
        state: oneOf(["holds", "fails", "unchecked"], "What the check found.", ["holds"]),
        why: text("What was checked, in one sentence."),
      }),
      { description: "What was checked for this answer, from what is stored." },
    ),
    chainOk: Type.Boolean({ description: "Whether no claim fails.", examples: [true] }),
  },
  { $id: "EnvelopeVerification", description: "How a document was signed." },
);
export type EnvelopeVerification = Static<typeof EnvelopeVerification>;

export function verificationView({
  branding: _,
  createdAt,
  endedAt,
  signers,
  revisions,
  claims,
  certificateDeletedAt,
  ...record
}: EnvelopeRecord): EnvelopeVerification {
  return {
    ...record,
    createdAt: createdAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    signers: signers.map((signer) => ({ ...signer, signedAt: signer.signedAt?.toISOString() ?? null })),
    revisions: [...revisions],
    claims: [...claims],
    ...(certificateDeletedAt && { certificateDeletedAtUtc: certificateDeletedAt.toISOString() }),
  };
}
