import { revisionKinds } from "@signsealship/evidence/envelope";
import { type Static, Type } from "typebox";
import { environment, nullable, oneOf, sha256, timestamp, verifyCode } from "../../http/schema-parts.ts";
import { type EnvelopeRecord, envelopeStatuses } from "./record.ts";

const bytes = Type.Integer({ minimum: 1 });

export const EnvelopeVerification = Type.Object(
  {
    verifyCode: verifyCode(),
    environment: environment("`test`: signed and sealed with test keys; it means nothing outside of testing."),
    status: oneOf(envelopeStatuses),
    partnerName: Type.String(),
    createdAt: timestamp(),
    endedAt: nullable(timestamp()),
    signers: Type.Array(
      Type.Object({
        n: Type.Integer({ minimum: 1, maximum: 10 }),
        name: Type.String({ examples: ["J*** D***"], description: "Masked." }),
        email: Type.String({ examples: ["d***@example.com"], description: "Masked." }),
        routingOrder: Type.Integer(),
        signedAt: nullable(timestamp()),
      }),
    ),
    document: nullable(
      Type.Object({
        originalSha256: sha256("Of the document as it came."),
        sealedSha256: sha256("Of the sealed document."),
        bytes,
      }),
    ),
    revisions: Type.Array(
      Type.Object({
        number: Type.Integer({ minimum: 0, description: "0 is the document as it came." }),
        kind: oneOf(revisionKinds),
        signer: nullable(Type.Integer()),
        bytes,
        sha256: sha256("Of so many bytes of the sealed document."),
      }),
      { description: "The states of the file; empty until the envelope is completed." },
    ),
    custodyCertSha256: nullable(sha256("Of the sealed custody certificate.")),
    certificateDeletedAtUtc: Type.Optional(
      timestamp("When the retention plan deleted the custody certificate; absent when it did not."),
    ),
    trail: Type.Object({
      records: Type.Integer(),
      lastSha256: nullable(sha256("Of the last record: it commits to all before it.")),
    }),
    claims: Type.Array(
      Type.Object({ name: Type.String(), state: oneOf(["holds", "fails", "unchecked"]), why: Type.String() }),
      { description: "Computed for this answer from what is stored." },
    ),
    chainOk: Type.Boolean({ description: "No claim fails." }),
  },
  { $id: "EnvelopeVerification" },
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
